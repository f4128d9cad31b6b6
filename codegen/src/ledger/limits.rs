//! Constraints of a group's fields as facts of the ledger, and the comparison of their strictness.

use super::text::{FactKey, GroupFacts, Word, quoted};
use crate::model::{Field, Struct, Union};

/// Constraints of a field: each word, and its value in the ledger (empty for a word without one).
pub fn of_field(field: &Field) -> Vec<(&'static str, String)> {
    let rules = &field.validation;
    let numbers = [
        ("min", rules.min.map(|number| number.to_string())),
        ("max", rules.max.map(|number| number.to_string())),
        ("min_length", rules.min_length.map(|number| number.to_string())),
        ("max_length", rules.max_length.map(|number| number.to_string())),
        ("max_bytes", rules.max_bytes.map(|number| number.to_string())),
        ("min_items", rules.min_items.map(|number| number.to_string())),
        ("max_items", rules.max_items.map(|number| number.to_string())),
    ];
    let texts = [("pattern", rules.pattern.as_deref().map(quoted)), ("format", rules.format.clone())];
    let flags = [("immutable", rules.immutable), ("unique", rules.unique)];
    let flags = flags.into_iter().map(|(word, is_set)| (word, is_set.then(String::new)));
    let all = numbers.into_iter().chain(texts).chain(flags);
    all.filter_map(|(word, value)| Some((word, value?))).collect()
}

/// Rules and unions of a struct: the word, the subject, and the rest of the line.
pub fn of_struct(one: &Struct) -> Vec<(Word, String, String)> {
    let rules = one.rules.iter().map(|rule| (Word::Rule, quoted(&rule.expression), String::new()));
    let unions = one.unions.iter().map(|union| {
        let presence = if union.zero_allowed { "zero_or_one" } else { "exactly_one" };
        (Word::Union, members(union), presence.to_string())
    });
    rules.chain(unions).collect()
}

/// Members of a union, sorted by name.
fn members(union: &Union) -> String {
    let mut names: Vec<&str> = union.members.iter().map(|(_, member)| member.as_str()).collect();
    names.sort_unstable();
    names.join(",")
}

/// How a constraint became tighter; `None` if every value that was valid still is.
pub fn tightened(key: &FactKey, before: Option<&str>, now: &str, old: &GroupFacts) -> Option<String> {
    match key.word {
        Word::Limit => limit(key, before, now),
        Word::Rule => before.is_none().then(|| format!("`{}` has the new rule {}", key.owner(), key.detail())),
        Word::Union => union(key, before, now, old),
        _ => None,
    }
}

fn limit(key: &FactKey, before: Option<&str>, now: &str) -> Option<String> {
    let word = key.detail();
    let shown = |value: &str| if value.is_empty() { word.to_string() } else { format!("{word} = {value}") };
    let field = key.subject.split(' ').next().unwrap_or_default();
    let Some(before) = before else { return Some(format!("`{field}` has the new constraint `{}`", shown(now))) };
    let number = |text: &str| text.parse::<i128>().unwrap_or_default();
    let is_tighter = match word {
        "min" | "min_length" | "min_items" => number(now) > number(before),
        "max" | "max_length" | "max_bytes" | "max_items" => number(now) < number(before),
        _ => now != before,
    };
    is_tighter.then(|| format!("`{field}` had the constraint `{}` and has now `{}`", shown(before), shown(now)))
}

/// How a union became tighter. Additional members do not tighten it if they are new fields.
fn union(key: &FactKey, before: Option<&str>, now: &str, old: &GroupFacts) -> Option<String> {
    let owner = key.owner();
    let was_field =
        |member: &str| old.contains_key(&FactKey::new(&key.version, Word::Field, format!("{owner}.{member}")));
    let known: Vec<&str> = key.detail().split(',').filter(|member| was_field(member)).collect();
    let grown_from = FactKey::new(&key.version, Word::Union, format!("{owner} {}", known.join(",")));
    match before.or_else(|| old.get(&grown_from).map(String::as_str)) {
        Some(before) if before == now || before == "exactly_one" => None,
        Some(_) => Some(format!("one of {} of `{owner}` has to be set now", key.detail())),
        None if known.len() < 2 && (now == "zero_or_one" || known.is_empty()) => None,
        None => Some(format!("`{owner}` has the new union of {}", key.detail())),
    }
}
