//! A cell of a table.

use super::text::human_age;
use crate::scalar::Time;

/// The input of cells besides the object.
///
/// ```
/// use machinery::print::{Cell, PrintContext};
/// use machinery::scalar::Time;
///
/// let context = PrintContext { now: Time::from_unix(7200) };
/// assert_eq!(Cell::from(context.age(Time::from_unix(0))), Cell::Text("120m".into()));
/// ```
pub struct PrintContext {
    /// The time that ages refer to.
    pub now: Time,
}

impl PrintContext {
    /// The age of a time.
    pub fn age(&self, then: impl Into<Time>) -> String {
        human_age(self.now, then)
    }
}

/// A cell of a table row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// An absent value.
    Null,
    /// A text.
    Text(String),
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A boolean.
    Bool(bool),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(n: i64) -> Self {
        Cell::Int(n)
    }
}

impl From<i32> for Cell {
    fn from(n: i32) -> Self {
        Cell::Int(n.into())
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Self {
        Cell::Int(n as i64)
    }
}

impl From<bool> for Cell {
    fn from(v: bool) -> Self {
        Cell::Bool(v)
    }
}
