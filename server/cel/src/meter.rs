//! Resources of calls besides their cost: memory for results, and work that upstream's cost model does
//! not count.
//!
//! The cost model is upstream's, because it decides whether definitions are accepted. It charges some
//! calls by their input although their result is much larger. It charges comparisons of nested values
//! only by the number of their outermost elements.

use serde_json::Value as Json;

use crate::functions;
use crate::value::{ListValue, MapValue, Value};

/// Resources that an operation uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Memory for its results, in bytes.
    pub bytes: u64,
    /// Visited values and 64-byte chunks of text.
    pub visits: u64,
}

/// Size of a value in a list, in bytes.
const VALUE: u64 = size_of::<Value<'static>>() as u64;

/// Size of a created short string, in bytes.
const SHORT_TEXT: u64 = VALUE + 32;

/// Visits that compiling a regular expression counts for each of its bytes, and for each repetition.
const PATTERN_BYTE: u64 = 100;
const PATTERN_REPETITION: u64 = 100_000;

impl Weight {
    /// A created list of values.
    pub fn of_values(count: usize) -> Weight {
        Weight { bytes: (count as u64).saturating_mul(VALUE), visits: count as u64 }
    }

    fn bytes(bytes: u64) -> Weight {
        Weight { bytes, visits: bytes / 64 }
    }

    fn visits(visits: u64) -> Weight {
        Weight { bytes: 0, visits }
    }
}

/// Upper bound of the resources of a call, computed from its arguments before it runs.
pub(crate) fn of_call(function: &str, args: &[Value<'_>]) -> Weight {
    let text = |at: usize| args.get(at).and_then(Value::as_str).unwrap_or_default();
    let weight = match (function, args) {
        ("_+_", [Value::String(a), Value::String(b)]) => Weight::bytes(a.len() as u64 + b.len() as u64),
        ("_+_", [Value::Bytes(a), Value::Bytes(b)]) => Weight::bytes(a.len() as u64 + b.len() as u64),
        ("_+_", [Value::List(a), Value::List(b)]) => concatenation(a, b),
        ("_==_" | "_!=_", [a, b]) => Weight::visits(nodes(a).min(nodes(b))),
        ("@in", [value, Value::List(list)]) => Weight::visits(nodes(value).saturating_mul(list.len() as u64)),
        ("@in", [_, Value::Map(map)]) | ("_[_]" | "_[?_]" | "_?._", [Value::Map(map), _]) => search(map),
        ("cel.@mapInsert", [Value::Map(map), added @ ..]) => map_insertion(map, added),
        ("replace", _) => replacement(text(0), text(1), text(2)),
        ("join", [Value::List(list), ..]) => joined(list, text(1)),
        ("split", _) => {
            let parts = if text(1).is_empty() { text(0).len() } else { text(0).len() / text(1).len() + 1 };
            Weight::bytes(text(0).len() as u64 + parts as u64 * SHORT_TEXT)
        }
        ("strings.quote" | "jsonpatch.escapeKey", _) => Weight::bytes(2 * text(0).len() as u64),
        ("lowerAscii" | "upperAscii" | "trim" | "substring", _) => Weight::bytes(text(0).len() as u64),
        ("lists.range", [Value::Int(count)]) => Weight::of_values(usize::try_from(*count).unwrap_or_default()),
        ("slice" | "reverse" | "sort", [Value::List(list), ..]) => Weight::of_values(list.len()),
        ("flatten", [list, ..]) => Weight { bytes: nodes(list) * VALUE, visits: nodes(list) },
        ("distinct", [Value::List(list)]) => pairs(list, list),
        ("indexOf" | "lastIndexOf", [Value::List(list), value]) => {
            Weight::visits(nodes(value).saturating_mul(list.len() as u64))
        }
        ("sets.contains" | "sets.intersects" | "sets.equivalent", [Value::List(a), Value::List(b)]) => pairs(a, b),
        ("matches" | "find" | "findAll", _) => regex(text(0), text(1)),
        _ => Weight::default(),
    };
    let texts: usize = args.iter().filter_map(Value::as_str).map(str::len).sum();
    Weight { visits: weight.visits.saturating_add(texts as u64 / 64), ..weight }
}

/// Lookup of a key; maps that expressions created are searched linearly.
pub(crate) fn search(map: &MapValue<'_>) -> Weight {
    match map {
        MapValue::Entries(entries) => Weight::visits(entries.len() as u64),
        _ => Weight::default(),
    }
}

fn concatenation(a: &ListValue<'_>, b: &ListValue<'_>) -> Weight {
    let (a_length, b_length) = (a.len() as u64, b.len() as u64);
    let compared = if a.is_atomic() { 0 } else { a_length.saturating_mul(b_length) };
    let made = Weight::of_values(a.len() + b.len());
    Weight { visits: made.visits.saturating_add(compared), ..made }
}

/// The map is copied; the previous one is dropped.
fn map_insertion(map: &MapValue<'_>, added: &[Value<'_>]) -> Weight {
    let count = match added {
        [Value::Map(more)] => more.len(),
        _ => 1,
    };
    let compared = (map.len() as u64 + count as u64).saturating_mul(count as u64);
    Weight { visits: compared, ..Weight::of_values(2 * count) }
}

fn replacement(of: &str, from: &str, to: &str) -> Weight {
    let count = if from.is_empty() { of.chars().count() + 1 } else { of.matches(from).count() };
    let grown = (count as u64).saturating_mul((to.len() as u64).saturating_sub(from.len() as u64));
    Weight::bytes(grown.saturating_add(of.len() as u64))
}

fn joined(list: &ListValue<'_>, by: &str) -> Weight {
    let texts: u64 = list.iter().map(|item| item.as_str().map_or(0, str::len) as u64).sum();
    Weight::bytes((list.len() as u64).saturating_mul(by.len() as u64).saturating_add(texts))
}

/// Comparison of each element of a list with each element of another.
fn pairs(a: &ListValue<'_>, b: &ListValue<'_>) -> Weight {
    let nodes: u64 = a.iter().map(|item| nodes(&item)).sum();
    Weight { bytes: a.len() as u64 * VALUE, visits: nodes.saturating_mul(b.len() as u64) }
}

fn regex(of: &str, pattern: &str) -> Weight {
    let compiled = if functions::is_compiled(pattern) {
        0
    } else {
        let repetitions = pattern.bytes().filter(|byte| *byte == b'{').count() as u64;
        pattern.len() as u64 * PATTERN_BYTE + repetitions * PATTERN_REPETITION
    };
    Weight { bytes: of.len() as u64, visits: compiled }
}

/// Number of values in a value, itself included.
fn nodes(value: &Value<'_>) -> u64 {
    match value {
        Value::List(ListValue::Json(items, _)) => 1 + items.iter().map(json_nodes).sum::<u64>(),
        Value::Map(MapValue::Json(members, _)) => 1 + members.values().map(json_nodes).sum::<u64>(),
        Value::Map(MapValue::Object(members, _)) => 1 + members.values().map(json_nodes).sum::<u64>(),
        Value::List(list) => 1 + list.iter().map(|item| nodes(&item)).sum::<u64>(),
        Value::Map(map) => 1 + map.entries().iter().map(|(key, value)| nodes(key) + nodes(value)).sum::<u64>(),
        Value::Optional(Some(inner)) => 1 + nodes(inner),
        _ => 1,
    }
}

fn json_nodes(value: &Json) -> u64 {
    match value {
        Json::Array(items) => 1 + items.iter().map(json_nodes).sum::<u64>(),
        Json::Object(members) => 1 + members.values().map(json_nodes).sum::<u64>(),
        _ => 1,
    }
}

/// Whether a created value is nested at most `depth` levels. Documents in it have their own limit.
pub(crate) fn is_shallow(value: &Value<'_>, depth: usize, visits: &mut u64) -> bool {
    let (Some(below), Some(left)) = (depth.checked_sub(1), visits.checked_sub(1)) else { return false };
    *visits = left;
    match value {
        Value::List(ListValue::Json(..)) | Value::Map(MapValue::Json(..) | MapValue::Object(..)) => true,
        Value::List(list) => list.iter().all(|item| is_shallow(&item, below, visits)),
        Value::Map(map) => map.entries().iter().all(|(_, value)| is_shallow(value, below, visits)),
        Value::Optional(Some(inner)) => is_shallow(inner, below, visits),
        _ => true,
    }
}
