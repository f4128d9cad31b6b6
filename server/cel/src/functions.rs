//! All functions that expressions may call: name, overloads, implementation, cost.

mod addresses;
pub mod authorizer;
mod conversion;
mod dates;
mod formats;
mod lists;
mod operators;
mod optional;
mod pattern;
mod printf;
mod quantity;
mod semver;
mod sets;
mod strings;
mod url;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::cost::Cost;
use crate::error::Error;
use crate::signature::{Overload, overload};
use crate::value::{List, Value};

pub(crate) use operators::{lookup, usable};
pub(crate) use pattern::is_compiled;

/// Implementation of a function on the values of its target and arguments.
pub(crate) type Run = for<'a> fn(&[Value<'a>]) -> Result<Value<'a>, Error>;

/// A function. Overloads are written as `target.(arguments) -> result`, without `target.` for global
/// functions. `A` and `B` denote any type.
pub(crate) struct Function {
    pub name: &'static str,
    pub overloads: &'static [&'static str],
    pub run: Run,
    pub cost: Cost,
}

impl Function {
    const fn new(name: &'static str, overloads: &'static [&'static str], run: Run, cost: Cost) -> Self {
        Function { name, overloads, run, cost }
    }
}

/// A function with parsed overloads.
pub(crate) struct Declared {
    pub function: &'static Function,
    pub overloads: Vec<Overload>,
}

const LIBRARIES: [&[Function]; 15] = [
    operators::FUNCTIONS,
    conversion::FUNCTIONS,
    strings::FUNCTIONS,
    printf::FUNCTIONS,
    lists::FUNCTIONS,
    sets::FUNCTIONS,
    optional::FUNCTIONS,
    dates::FUNCTIONS,
    pattern::FUNCTIONS,
    url::FUNCTIONS,
    addresses::FUNCTIONS,
    quantity::FUNCTIONS,
    semver::FUNCTIONS,
    formats::FUNCTIONS,
    authorizer::FUNCTIONS,
];

static TABLE: LazyLock<HashMap<&'static str, Declared>> = LazyLock::new(|| {
    let functions = LIBRARIES.iter().flat_map(|library| library.iter());
    functions
        .map(|function| {
            let overloads = function.overloads.iter().map(|text| overload(text)).collect();
            (function.name, Declared { function, overloads })
        })
        .collect()
});

/// The function with this name.
pub(crate) fn find(name: &str) -> Option<&'static Declared> {
    TABLE.get(name)
}

fn text<'v>(value: &'v Value<'_>) -> Result<&'v str, Error> {
    value.as_str().ok_or_else(Error::no_such_overload)
}

fn int(value: &Value<'_>) -> Result<i64, Error> {
    match value {
        Value::Int(value) => Ok(*value),
        _ => Err(Error::no_such_overload()),
    }
}

fn list<'v, 'a>(value: &'v Value<'a>) -> Result<&'v List<'a>, Error> {
    match value {
        Value::List(list) => Ok(list),
        _ => Err(Error::no_such_overload()),
    }
}

/// An index into a list or string.
fn index(value: &Value<'_>, length: usize) -> Result<usize, Error> {
    let at = int(value)?;
    usize::try_from(at)
        .ok()
        .filter(|at| *at <= length)
        .ok_or_else(|| Error::failed(format!("index out of range: {at}")))
}

#[cfg(test)]
mod tests {
    use super::LIBRARIES;

    #[test]
    fn function_names_are_unique() {
        let mut names: Vec<&str> = LIBRARIES.iter().flat_map(|l| l.iter()).map(|f| f.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
