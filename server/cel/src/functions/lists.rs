//! Lists: Kubernetes' functions and `ext.Lists` version 3.

use std::cmp::Ordering;
use std::sync::Arc;

use super::operators::add;
use super::{Function, index, int, list, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::Value;

type Outcome<'a> = Result<Value<'a>, Error>;

/// Maximum length of the result of `lists.range`, regardless of the cost limit.
const MAX_RANGE: i64 = 1_000_000;

const SUMMED: &[&str] =
    &["list<int>.() -> int", "list<uint>.() -> uint", "list<double>.() -> double", "list<duration>.() -> duration"];
const COMPARED: &[&str] = &[
    "list<int>.() -> int",
    "list<uint>.() -> uint",
    "list<double>.() -> double",
    "list<bool>.() -> bool",
    "list<duration>.() -> duration",
    "list<timestamp>.() -> timestamp",
    "list<string>.() -> string",
    "list<bytes>.() -> bytes",
];
const SORTED: &[&str] = &[
    "list<int>.() -> bool",
    "list<uint>.() -> bool",
    "list<double>.() -> bool",
    "list<bool>.() -> bool",
    "list<duration>.() -> bool",
    "list<timestamp>.() -> bool",
    "list<string>.() -> bool",
    "list<bytes>.() -> bool",
];
const SORTABLE: &[&str] = &[
    "list<int>.() -> list<int>",
    "list<uint>.() -> list<uint>",
    "list<double>.() -> list<double>",
    "list<bool>.() -> list<bool>",
    "list<duration>.() -> list<duration>",
    "list<timestamp>.() -> list<timestamp>",
    "list<string>.() -> list<string>",
    "list<bytes>.() -> list<bytes>",
];
const SEARCHED: &[&str] = &["list<A>.(A) -> int", "string.(string) -> int", "string.(string, int) -> int"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("isSorted", SORTED, is_sorted, Cost::Traverse),
    Function::new("sum", SUMMED, sum, Cost::Traverse),
    Function::new("min", COMPARED, |a| extreme(a, Ordering::Less, "min"), Cost::Traverse),
    Function::new("max", COMPARED, |a| extreme(a, Ordering::Greater, "max"), Cost::Traverse),
    Function::new("indexOf", SEARCHED, index_of, Cost::Traverse),
    Function::new("lastIndexOf", SEARCHED, last_index_of, Cost::Traverse),
    Function::new("slice", &["list<A>.(int, int) -> list<A>"], slice, Cost::Fixed(1)),
    Function::new("flatten", &["list<list<A>>.() -> list<A>", "list<dyn>.(int) -> list<dyn>"], flatten, Cost::Traverse),
    Function::new("lists.range", &["(int) -> list<int>"], range, Cost::Fixed(1)),
    Function::new("distinct", &["list<A>.() -> list<A>"], distinct, Cost::Traverse),
    Function::new(
        "reverse",
        &["list<A>.() -> list<A>"],
        |a| Ok(Value::list(list(&a[0])?.iter().rev().collect())),
        Cost::Traverse,
    ),
    Function::new("sort", SORTABLE, sort, Cost::Traverse),
    Function::new("first", &["list<A>.() -> optional<A>"], |a| end(list(&a[0])?.get(0)), Cost::Fixed(1)),
    Function::new("last", &["list<A>.() -> optional<A>"], |a| end(list(&a[0])?.iter().next_back()), Cost::Fixed(1)),
];

fn end<'a>(value: Option<Value<'a>>) -> Outcome<'a> {
    Ok(Value::Optional(value.map(Arc::new)))
}

fn order(a: &Value<'_>, b: &Value<'_>) -> Result<Ordering, Error> {
    a.compare(b).ok_or_else(Error::no_such_overload)
}

fn is_sorted<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let items: Vec<Value<'a>> = list(&args[0])?.iter().collect();
    for pair in items.windows(2) {
        if order(&pair[0], &pair[1])?.is_gt() {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// The sum; zero for an empty list.
fn sum<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut items = list(&args[0])?.iter();
    let Some(first) = items.next() else { return Ok(Value::Int(0)) };
    items.try_fold(first, |total, item| add(&[total, item]))
}

fn extreme<'a>(args: &[Value<'a>], wanted: Ordering, name: &str) -> Outcome<'a> {
    let mut items = list(&args[0])?.iter();
    let first = items.next().ok_or_else(|| Error::failed(format!("{name} called on empty list")))?;
    items.try_fold(first, |best, item| Ok(if order(&item, &best)? == wanted { item } else { best }))
}

fn place<'a>(found: Option<usize>) -> Outcome<'a> {
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

fn index_of<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    if let Value::List(items) = &args[0] {
        return place(items.iter().position(|item| item.equals(&args[1])));
    }
    let (of, what) = (text(&args[0])?, text(&args[1])?);
    let start = args.get(2).map_or(Ok(0), |start| index(start, of.chars().count()))?;
    let from = byte_of(of, start);
    place(of[from..].find(what).map(|at| of[..from + at].chars().count()))
}

fn last_index_of<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    if let Value::List(items) = &args[0] {
        let items: Vec<Value<'a>> = items.iter().collect();
        return place(items.iter().rposition(|item| item.equals(&args[1])));
    }
    let (of, what) = (text(&args[0])?, text(&args[1])?);
    let count = of.chars().count();
    let last = args.get(2).map_or(Ok(count), |last| index(last, count))?;
    // A match may start at the last index and extend beyond it.
    let end = byte_of(of, last).saturating_add(what.len()).min(of.len());
    let end = (end..=of.len()).find(|end| of.is_char_boundary(*end)).unwrap_or(of.len());
    let found = of[..end].rfind(what).map(|at| of[..at].chars().count());
    place(found.filter(|found| *found <= last))
}

/// Byte offset of a character.
fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

fn slice<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (items, start, stop) = (list(&args[0])?, int(&args[1])?, int(&args[2])?);
    if start < 0 || stop < 0 {
        return Err(Error::failed(format!("cannot slice({start}, {stop}), negative indexes not supported")));
    }
    if start > stop {
        return Err(Error::failed(format!(
            "cannot slice({start}, {stop}), start index must be less than or equal to end index"
        )));
    }
    if stop as usize > items.len() {
        return Err(Error::failed(format!("cannot slice({start}, {stop}), list is length {}", items.len())));
    }
    Ok(Value::list((start as usize..stop as usize).filter_map(|at| items.get(at)).collect()))
}

fn flatten<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let depth = args.get(1).map_or(Ok(1), int)?;
    if depth < 0 {
        return Err(Error::failed("level must be non-negative"));
    }
    let mut out = Vec::new();
    gather(&args[0], depth, &mut out)?;
    Ok(Value::list(out))
}

fn gather<'a>(of: &Value<'a>, depth: i64, out: &mut Vec<Value<'a>>) -> Result<(), Error> {
    for item in list(of)?.iter() {
        match item {
            Value::List(_) if depth > 0 => gather(&item, depth - 1, out)?,
            _ => out.push(item),
        }
    }
    Ok(())
}

fn range<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let count = int(&args[0])?;
    if count > MAX_RANGE {
        return Err(Error::CostLimitExceeded);
    }
    Ok(Value::list((0..count).map(Value::Int).collect()))
}

fn distinct<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut out: Vec<Value<'a>> = Vec::new();
    for item in list(&args[0])?.iter() {
        if !out.iter().any(|o| o.equals(&item)) {
            out.push(item);
        }
    }
    Ok(Value::list(out))
}

fn sort<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut items: Vec<Value<'a>> = list(&args[0])?.iter().collect();
    for item in items.iter().skip(1) {
        order(&items[0], item)?;
    }
    items.sort_by(|a, b| a.compare(b).unwrap_or(Ordering::Equal));
    Ok(Value::list(items))
}
