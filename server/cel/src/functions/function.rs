//! A function of the language.

use crate::cost::Cost;
use crate::error::Error;
use crate::value::Value;

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
    pub(super) const fn new(name: &'static str, overloads: &'static [&'static str], run: Run, cost: Cost) -> Self {
        Function { name, overloads, run, cost }
    }
}
