//! Field paths in definitions, resolved in their schema (`cel.ValidFieldPath`).

use apimachinery::apiextensions::v1::JSONSchemaProps;

/// A resolved path.
pub struct Found<'s> {
    /// The names along the path.
    pub names: Vec<String>,
    pub schema: &'s JSONSchemaProps,
    /// The path for error messages.
    pub text: String,
}

/// Resolves a path such as `.spec.parts['a.b']`.
pub fn find<'s>(path: &str, schema: &'s JSONSchemaProps, brackets: bool) -> Result<Found<'s>, String> {
    let mut found = Found { names: Vec::new(), schema, text: String::new() };
    let mut tokens = tokens(path).into_iter();
    while let Some(token) = tokens.next() {
        match token {
            "[" if !brackets => return Err("array notation is not allowed".into()),
            "[" => {
                let quoted = tokens.next().ok_or("unexpected end of JSON path")?;
                let name = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let name = name.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                found.enter(&unescaped(name)?)?;
                match tokens.next() {
                    Some("]") => {}
                    Some(other) => return Err(format!("expected ] but got {other}")),
                    None => return Err("unexpected end of JSON path".into()),
                }
            }
            "." => found.enter(tokens.next().ok_or("unexpected end of JSON path")?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

impl Found<'_> {
    fn enter(&mut self, name: &str) -> Result<(), String> {
        let missing = || "does not refer to a valid field".to_owned();
        let additional = self.schema.additional_properties.as_ref().and_then(|of| of.schema.as_deref());
        if !self.schema.properties.is_empty() {
            self.schema = self.schema.properties.get(name).ok_or_else(missing)?;
            let dot = if self.text.is_empty() { "" } else { "." };
            self.text.push_str(&format!("{dot}{name}"));
        } else {
            self.schema = additional.ok_or_else(missing)?;
            self.text.push_str(&format!("[{name}]"));
        }
        self.names.push(name.to_owned());
        Ok(())
    }
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

fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(escaped @ ('\\' | '\'')) => escaped,
                _ => return Err("invalid string literal: invalid syntax".into()),
            }),
            c => out.push(c),
        }
    }
    Ok(out)
}
