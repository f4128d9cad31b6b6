//! Parser of paths.

use serde_json::Value;

use super::{Filter, JsonPath, Operator, Slice, Step};

/// Characters that end a name.
const ENDS: &[char] = &[' ', '.', ',', '[', ']', '$', '@', '{', '}'];

impl JsonPath {
    /// Parses a path; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        path(text)
    }
}

fn path(text: &str) -> Option<JsonPath> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '@' | '$' | ' ' => &rest[1..],
            '.' if rest.starts_with("..") => {
                steps.push(Step::Descend);
                // A name without its own dot, or brackets, must follow.
                match rest[2..].chars().next()? {
                    '[' => &rest[2..],
                    _ => &rest[1..],
                }
            }
            '.' => {
                let (name, after) = name(&rest[1..]);
                match name.as_str() {
                    // `.` alone is the object itself.
                    "" => {}
                    "*" => steps.push(Step::Every),
                    _ => steps.push(Step::Field(name)),
                }
                after
            }
            '[' => {
                let (inside, after) = bracketed(rest)?;
                steps.push(brackets(inside)?);
                after
            }
            '"' | '\'' => {
                let end = rest[1..].find(first)? + 1;
                steps.push(Step::Constant(rest[1..end].into()));
                &rest[end + 1..]
            }
            _ => {
                let (word, after) = name(rest);
                steps.push(constant(&word)?);
                after
            }
        };
    }
    Some(JsonPath(steps))
}

/// Splits off a name and resolves its escapes.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            c if ENDS.contains(&c) => return (name, &text[at..]),
            c => name.push(c),
        }
    }
    (name, "")
}

/// Splits the text at the matching closing bracket.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut quote) = (0usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 1 => return Some((&text[1..at], &text[at + 1..])),
            (None, ']') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn brackets(inside: &str) -> Option<Step> {
    let inside = inside.trim();
    if let Some(condition) = inside.strip_prefix("?(") {
        return filter(condition.strip_suffix(')')?).map(|filter| Step::Filter(Box::new(filter)));
    }
    if inside == "*" {
        return Some(Step::Every);
    }
    if let Some(quoted) = inside.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''))
        && !quoted.contains('\'')
    {
        return Some(Step::Field(quoted.to_owned()));
    }
    if inside.contains(',') {
        let paths = inside.split(',').map(|part| brackets(part).map(|step| JsonPath(vec![step])));
        return paths.collect::<Option<Vec<_>>>().map(Step::Union);
    }
    slice(inside).map(Step::Slice)
}

fn slice(text: &str) -> Option<Slice> {
    let mut parts = text.split(':').map(|part| match part.trim() {
        "" => Some(None),
        digits => digits.parse().ok().map(Some),
    });
    let slice = Slice {
        start: parts.next()??,
        end: parts.next().unwrap_or(Some(None))?,
        step: parts.next().unwrap_or(Some(None))?,
        is_index: !text.contains(':'),
    };
    (parts.next().is_none() && !(slice.is_index && slice.start.is_none())).then_some(slice)
}

/// The operators. Other sequences of these characters are parsed as an unknown operator.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Parses a condition like upstream's `^([^!<>=]+)([!<>=]+)(.+?)$`, which ignores quotes.
fn filter(condition: &str) -> Option<Filter> {
    let is_operator = |c: char| "!<>=".contains(c);
    let start = condition.find(is_operator).filter(|start| *start > 0 && condition.len() > start + 1);
    let Some(start) = start else {
        return Some(Filter { left: path(condition)?, operator: Operator::Exists, right: JsonPath(Vec::new()) });
    };
    let run = &condition[start..];
    let length = run.find(|c| !is_operator(c)).unwrap_or(run.len() - 1);
    let (text, right) = run.split_at(length);
    let operator = OPERATORS.iter().find(|(known, _)| *known == text).map_or(Operator::Unknown, |(_, one)| *one);
    Some(Filter { left: path(&condition[..start])?, operator, right: path(right)? })
}

/// A number, a boolean, or another alphanumeric word.
fn constant(word: &str) -> Option<Step> {
    let number = || word.parse::<i64>().map(Value::from).or_else(|_| word.parse::<f64>().map(Value::from));
    match word {
        "true" => Some(Step::Constant(true.into())),
        "false" => Some(Step::Constant(false.into())),
        _ if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => Some(Step::Word),
        _ => number().ok().map(Step::Constant),
    }
}
