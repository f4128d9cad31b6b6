//! Overloads of functions, parsed from their text form.

use std::sync::Arc;

use crate::types::Type;

/// An overload of a function.
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    /// Whether the first of `args` is the target of a member call.
    pub member: bool,
    pub args: Vec<Type>,
    pub result: Type,
}

/// Parses `target.(arguments) -> result`. The texts are constants of this crate; a missing type argument
/// is `dyn`.
pub(crate) fn overload(text: &'static str) -> Overload {
    let (call, result) = text.split_once(" -> ").unwrap_or((text, "dyn"));
    let (target, args) = call.trim_end_matches(')').split_once('(').unwrap_or(("", ""));
    let target = target.strip_suffix('.');
    let args = target.into_iter().map(read).chain(split(args).into_iter().map(read)).collect();
    Overload { member: target.is_some(), args, result: read(result) }
}

/// Splits a list of types at commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

fn read(text: &'static str) -> Type {
    if let Some((outer, inner)) = text.split_once('<') {
        let mut inner = split(inner.strip_suffix('>').unwrap_or(inner)).into_iter().map(read);
        let mut next = || inner.next().unwrap_or(Type::Dyn);
        return match outer {
            "list" => Type::list(next()),
            "map" => Type::map(next(), next()),
            "optional" => Type::optional(next()),
            _ => Type::Kind(Arc::new(next())),
        };
    }
    match text {
        "A" => Type::Param(0),
        "B" => Type::Param(1),
        "dyn" => Type::Dyn,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        _ => Type::named(text).unwrap_or(Type::Opaque(text)),
    }
}
