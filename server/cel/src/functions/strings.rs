//! Strings: the standard functions and `ext.Strings` version 2.

use super::{Function, index, int, list, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{Text, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "contains",
        &["string.(string) -> bool"],
        |a| Ok(Value::Bool(text(&a[0])?.contains(text(&a[1])?))),
        Cost::Contains,
    ),
    Function::new(
        "startsWith",
        &["string.(string) -> bool"],
        |a| Ok(Value::Bool(text(&a[0])?.starts_with(text(&a[1])?))),
        Cost::Affix,
    ),
    Function::new(
        "endsWith",
        &["string.(string) -> bool"],
        |a| Ok(Value::Bool(text(&a[0])?.ends_with(text(&a[1])?))),
        Cost::Affix,
    ),
    Function::new("charAt", &["string.(int) -> string"], char_at, Cost::Fixed(1)),
    Function::new(
        "lowerAscii",
        &["string.() -> string"],
        |a| Ok(Value::string(text(&a[0])?.to_ascii_lowercase())),
        Cost::Resized(0),
    ),
    Function::new(
        "upperAscii",
        &["string.() -> string"],
        |a| Ok(Value::string(text(&a[0])?.to_ascii_uppercase())),
        Cost::Resized(0),
    ),
    Function::new("trim", &["string.() -> string"], |a| Ok(Value::string(text(&a[0])?.trim())), Cost::Resized(0)),
    Function::new(
        "replace",
        &["string.(string, string) -> string", "string.(string, string, int) -> string"],
        replace,
        Cost::Replace,
    ),
    Function::new(
        "split",
        &["string.(string) -> list<string>", "string.(string, int) -> list<string>"],
        split,
        Cost::Split,
    ),
    Function::new("substring", &["string.(int) -> string", "string.(int, int) -> string"], substring, Cost::Resized(0)),
    Function::new("join", &["list<string>.() -> string", "list<string>.(string) -> string"], join, Cost::Join),
    Function::new("strings.quote", &["(string) -> string"], quote, Cost::Scan(0)),
    Function::new("jsonpatch.escapeKey", &["(string) -> string"], escape_key, Cost::Resized(0)),
];

fn char_at<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let of = text(&args[0])?;
    let at = index(&args[1], of.chars().count())?;
    Ok(Value::string(of.chars().nth(at).map(|character| character.to_string()).unwrap_or_default()))
}

/// The requested number of parts or replacements; `None` (no limit) if the number is negative or not
/// given.
fn limit(args: &[Value<'_>], at: usize) -> Result<Option<usize>, Error> {
    args.get(at).map(int).transpose().map(|n| n.and_then(|n| usize::try_from(n).ok()))
}

fn replace<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (of, from, to) = (text(&args[0])?, text(&args[1])?, text(&args[2])?);
    Ok(Value::string(match limit(args, 3)? {
        None => of.replace(from, to),
        Some(count) => of.replacen(from, to, count),
    }))
}

fn split<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (of, by) = (text(&args[0])?, text(&args[1])?);
    let most = limit(args, 2)?.unwrap_or(usize::MAX);
    let parts: Vec<String> = if by.is_empty() {
        let characters: Vec<char> = of.chars().collect();
        let single = most.saturating_sub(1).min(characters.len());
        let rest: String = characters[single..].iter().collect();
        characters[..single].iter().map(char::to_string).chain((most > 0 && !rest.is_empty()).then_some(rest)).collect()
    } else if most == 0 {
        Vec::new()
    } else {
        of.splitn(most, by).map(str::to_owned).collect()
    };
    Ok(Value::list(parts.into_iter().map(Value::string).collect()))
}

fn substring<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let characters: Vec<char> = text(&args[0])?.chars().collect();
    let start = index(&args[1], characters.len())?;
    let end = match args.get(2) {
        Some(end) => index(end, characters.len())?,
        None => characters.len(),
    };
    if start > end {
        return Err(Error::failed(format!("invalid substring range. start: {start}, end: {end}")));
    }
    Ok(Value::string(characters[start..end].iter().collect::<String>()))
}

fn join<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let by = args.get(1).map(text).transpose()?.unwrap_or_default();
    let parts: Vec<Value<'a>> = list(&args[0])?.iter().collect();
    let parts = parts.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::string(parts.join(by)))
}

fn quote<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut out = String::from("\"");
    for c in text(&args[0])?.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    Ok(Value::string(out))
}

/// Escapes a key for JSON pointers.
fn escape_key<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::String(Text::Shared(text(&args[0])?.replace('~', "~0").replace('/', "~1").into())))
}
