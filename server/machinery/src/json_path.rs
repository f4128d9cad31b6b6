//! JSON paths as in `kubectl` and printer columns of custom resources (upstream:
//! `client-go/util/jsonpath`): `.spec.parts[0].name`,
//! `.status.conditions[?(@.type=="Ready")].status`.

mod parse;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// `*`
    Every,
    /// `[start:end:step]`; an index is a slice of one item.
    Slice(Slice),
    /// `[a,b]`
    Union(Vec<JsonPath>),
    /// `..`
    Descend,
    /// `[?(left operator right)]`
    Filter(Box<Filter>),
    /// A constant.
    Constant(Value),
    /// An unknown word, which has no value.
    Word,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
    is_index: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: JsonPath,
    operator: Operator,
    right: JsonPath,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// An unknown operator, such as `=`: it fails for every value.
    Unknown,
}

/// Limit on the values that the evaluation of one path visits; beyond it, the path finds nothing.
///
/// `..` visits all values below each value, so the cost of a path with several of them is a power
/// of the size of the document.
const MAX_VISITS: usize = 1 << 20;

/// The state of one evaluation.
struct Walk {
    /// The number of visits left.
    left: usize,
}

impl Walk {
    fn new() -> Self {
        Walk { left: MAX_VISITS }
    }

    fn visit(&mut self, values: usize) -> Option<()> {
        self.left = self.left.checked_sub(values)?;
        Some(())
    }
}

impl JsonPath {
    /// The name of the first member in the path.
    pub fn first(&self) -> Option<&str> {
        match self.0.first()? {
            Step::Field(name) => Some(name),
            _ => None,
        }
    }

    /// The first value at the path; `None` if there is none, or if a step does not match the type
    /// of a value.
    pub fn find<'v>(&'v self, root: &'v Value) -> Option<&'v Value> {
        self.all(root, &mut Walk::new())?.first().copied()
    }

    /// [`Self::find`], starting from the value of the first member in the path.
    pub fn find_below<'v>(&'v self, member: &'v Value) -> Option<&'v Value> {
        walk(self.0.get(1..)?, vec![member], &mut Walk::new())?.first().copied()
    }

    fn all<'v>(&'v self, root: &'v Value, visits: &mut Walk) -> Option<Vec<&'v Value>> {
        walk(&self.0, vec![root], visits)
    }
}

fn walk<'v>(steps: &'v [Step], mut here: Vec<&'v Value>, visits: &mut Walk) -> Option<Vec<&'v Value>> {
    for step in steps {
        let mut next = Vec::new();
        visits.visit(here.len())?;
        for value in here {
            step.take(value, &mut next, visits)?;
        }
        here = next;
    }
    Some(here)
}

impl Step {
    /// Appends the values that the step selects from a value; `None` if the step does not match its
    /// type.
    fn take<'v>(&'v self, value: &'v Value, out: &mut Vec<&'v Value>, visits: &mut Walk) -> Option<()> {
        match self {
            Step::Field(name) => out.extend(value.get(name.as_str())),
            Step::Every => out.extend(children(value, visits)?),
            Step::Slice(slice) => {
                let items = value.as_array()?;
                visits.visit(if slice.is_index { 1 } else { items.len() })?;
                slice.take(items, out)?;
            }
            Step::Union(paths) => {
                for path in paths {
                    out.extend(path.all(value, visits)?);
                }
            }
            Step::Descend => descend(value, out, visits)?,
            Step::Filter(filter) => {
                for item in value.as_array()? {
                    visits.visit(1)?;
                    if filter.holds(item, visits)? {
                        out.push(item);
                    }
                }
            }
            Step::Constant(constant) => out.push(constant),
            Step::Word => return None,
        }
        Some(())
    }
}

/// The items of a list, or the members of an object in name order.
fn children<'v>(value: &'v Value, visits: &mut Walk) -> Option<Vec<&'v Value>> {
    Some(match value {
        Value::Array(items) => {
            visits.visit(items.len())?;
            items.iter().collect()
        }
        Value::Object(members) => {
            visits.visit(members.len())?;
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            members.into_iter().map(|(_, value)| value).collect()
        }
        _ => Vec::new(),
    })
}

fn descend<'v>(value: &'v Value, out: &mut Vec<&'v Value>, visits: &mut Walk) -> Option<()> {
    out.push(value);
    for child in children(value, visits)? {
        descend(child, out, visits)?;
    }
    Some(())
}

impl Slice {
    fn take<'v>(&self, items: &'v [Value], out: &mut Vec<&'v Value>) -> Option<()> {
        let length = items.len() as i64;
        let from_end = |at: i64| if at < 0 { at + length } else { at };
        let start = from_end(self.start.unwrap_or(0));
        if self.is_index {
            out.push(items.get(usize::try_from(start).ok()?)?);
            return Some(());
        }
        let end = from_end(self.end.unwrap_or(length)).min(length);
        let step = usize::try_from(self.step.unwrap_or(1)).ok().filter(|step| *step > 0)?;
        if start < 0 || start > end {
            return None;
        }
        out.extend(items[start as usize..end as usize].iter().step_by(step));
        Some(())
    }
}

fn number_order(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

impl Filter {
    /// Whether an item satisfies the condition; `None` if this cannot be decided, which ends the
    /// evaluation.
    fn holds(&self, item: &Value, visits: &mut Walk) -> Option<bool> {
        let left = self.left.all(item, visits)?;
        if self.operator == Operator::Exists {
            return Some(!left.is_empty());
        }
        let left = match left.as_slice() {
            [] => return Some(false),
            [left] => left,
            _ => return None,
        };
        let right = self.right.all(item, visits)?;
        let right = match right.as_slice() {
            [] => return Some(false),
            [right] => right,
            _ => return None,
        };
        // Values of different types are not comparable, and booleans have no order.
        let is_equality = matches!(self.operator, Operator::Equal | Operator::NotEqual);
        let order = match (left, right) {
            (Value::Number(a), Value::Number(b)) if a.is_f64() == b.is_f64() => number_order(a, b)?,
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) if is_equality => a.cmp(b),
            _ => return None,
        };
        match self.operator {
            Operator::Equal => Some(order.is_eq()),
            Operator::NotEqual => Some(order.is_ne()),
            Operator::Less => Some(order.is_lt()),
            Operator::LessOrEqual => Some(order.is_le()),
            Operator::Greater => Some(order.is_gt()),
            Operator::GreaterOrEqual => Some(order.is_ge()),
            Operator::Exists | Operator::Unknown => None,
        }
    }
}
