//! All functions that expressions may call: name, overloads, implementation, cost.

mod addresses;
mod arguments;
pub mod authorizer;
mod conversion;
mod dates;
mod formats;
mod function;
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

use crate::signature::{Overload, overload};

use arguments::{index, int, list, text};
pub(crate) use function::{Function, Run};
pub(crate) use operators::{lookup, usable};
pub(crate) use pattern::is_compiled;

/// A function with parsed overloads.
pub(crate) struct DeclaredFunction {
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

static TABLE: LazyLock<HashMap<&'static str, DeclaredFunction>> = LazyLock::new(|| {
    let functions = LIBRARIES.iter().flat_map(|library| library.iter());
    functions
        .map(|function| {
            let overloads = function.overloads.iter().map(|text| overload(text)).collect();
            (function.name, DeclaredFunction { function, overloads })
        })
        .collect()
});

/// The function with this name.
pub(crate) fn find(name: &str) -> Option<&'static DeclaredFunction> {
    TABLE.get(name)
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
