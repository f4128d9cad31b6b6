//! Field paths in definitions, resolved in their schema (`cel.ValidFieldPath`).

use apimachinery::apiextensions::v1::JSONSchemaProps;

use crate::error::{Error, Result};

/// A resolved path.
pub struct Found<'s> {
    /// The names along the path.
    pub names: Vec<String>,
    pub schema: &'s JSONSchemaProps,
    /// The path for error messages.
    pub text: String,
}

/// Resolves a path such as `.spec.parts['a.b']`.
///
/// # Errors
/// Returns an error if the path is malformed, or the schema has no such field.
pub fn find<'s>(path: &str, schema: &'s JSONSchemaProps, brackets: bool) -> Result<Found<'s>> {
    let mut found = Found { names: Vec::new(), schema, text: String::new() };
    let mut tokens = tokens(path).into_iter();
    while let Some(token) = tokens.next() {
        match token {
            "[" if !brackets => return Err(Error::Brackets),
            "[" => {
                let quoted = tokens.next().ok_or(Error::PathEnd)?;
                let name = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let name = name.ok_or_else(|| unexpected("single quoted string", quoted))?;
                found.enter(&unescaped(name)?)?;
                match tokens.next() {
                    Some("]") => {}
                    Some(other) => return Err(unexpected("]", other)),
                    None => return Err(Error::PathEnd),
                }
            }
            "." => found.enter(tokens.next().ok_or(Error::PathEnd)?)?,
            other => return Err(Error::PathStep { found: other.to_owned() }),
        }
    }
    Ok(found)
}

impl Found<'_> {
    fn enter(&mut self, name: &str) -> Result<()> {
        let additional = self.schema.additional_properties.as_ref().and_then(|of| of.schema.as_deref());
        if !self.schema.properties.is_empty() {
            self.schema = self.schema.properties.get(name).ok_or(Error::NoField)?;
            let dot = if self.text.is_empty() { "" } else { "." };
            self.text.push_str(&format!("{dot}{name}"));
        } else {
            self.schema = additional.ok_or(Error::NoField)?;
            self.text.push_str(&format!("[{name}]"));
        }
        self.names.push(name.to_owned());
        Ok(())
    }
}

fn unexpected(expected: &'static str, found: &str) -> Error {
    Error::PathToken { expected, found: found.to_owned() }
}

/// Splits a path at `.`, `[` and `]`. Quoted text is one token.
fn tokens(path: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '.' | '[' | ']' => 1,
            '\'' => {
                let bytes = rest.as_bytes();
                (1..bytes.len())
                    .find(|&at| bytes[at] == b'\'' && bytes[at - 1] != b'\\')
                    .map_or(rest.len(), |at| at + 1)
            }
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        tokens.push(&rest[..length]);
        rest = &rest[length..];
    }
    tokens
}

fn unescaped(text: &str) -> Result<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(escaped @ ('\\' | '\'')) => escaped,
                _ => return Err(Error::PathString),
            }),
            c => out.push(c),
        }
    }
    Ok(out)
}
