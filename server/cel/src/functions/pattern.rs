//! Regular expressions.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

use super::{Function, int, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::Value;

type Outcome<'a> = Result<Value<'a>, Error>;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("matches", &["(string, string) -> bool", "string.(string) -> bool"], matches, Cost::Regex),
    Function::new("find", &["string.(string) -> string"], find, Cost::Regex),
    Function::new(
        "findAll",
        &["string.(string) -> list<string>", "string.(string, int) -> list<string>"],
        find_all,
        Cost::Regex,
    ),
];

/// Maximum number of cached compiled patterns. Expressions have few patterns; patterns computed at
/// evaluation do not justify more memory.
const KEPT: usize = 256;
static PATTERNS: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);

/// Whether a pattern is in the cache of compiled patterns.
pub(crate) fn is_compiled(source: &str) -> bool {
    PATTERNS.lock().unwrap_or_else(PoisonError::into_inner).contains_key(source)
}

/// Maximum program size of a cached pattern, in bytes.
const KEPT_SIZE: usize = 256 << 10;

/// Maximum memory for lazily built states during matching, in bytes.
const STATES_SIZE: usize = 512 << 10;

fn builder(source: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(source);
    builder.dfa_size_limit(STATES_SIZE);
    builder
}

/// A compiled pattern.
pub(crate) fn pattern(source: &str) -> Result<Regex, regex::Error> {
    let kept = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = kept.get(source) {
        return Ok(found.clone());
    }
    drop(kept);
    let Ok(compiled) = builder(source).size_limit(KEPT_SIZE).build() else {
        // Large patterns are not cached.
        return builder(source).build();
    };
    let mut kept = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(source.to_owned(), compiled.clone());
    Ok(compiled)
}

fn matches<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let pattern = pattern(text(&args[1])?).map_err(|e| Error::failed(format!("error parsing regexp: {e}")))?;
    Ok(Value::Bool(pattern.is_match(text(&args[0])?)))
}

fn legal(source: &Value<'_>) -> Result<Regex, Error> {
    pattern(text(source)?).map_err(|e| Error::failed(format!("Illegal regex: {e}")))
}

fn find<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::string(legal(&args[1])?.find(text(&args[0])?).map_or("", |found| found.as_str())))
}

fn find_all<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let most = args.get(2).map(int).transpose()?.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let pattern = legal(&args[1])?;
    let found = pattern.find_iter(text(&args[0])?).take(most).map(|found| Value::string(found.as_str()));
    Ok(Value::list(found.collect()))
}
