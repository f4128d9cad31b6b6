//! Maximum cost of an expression, estimated before evaluation (cel-go's `checker.Cost`, Kubernetes'
//! `CostEstimator`).
//!
//! The estimator visits nodes in the order of evaluation. For each node it records the path of the
//! value in the documents, its size, and the size of its elements. Peculiarities of upstream's estimate
//! are reproduced, because it decides whether definitions are accepted.

mod calls;
mod range;

use std::collections::{BTreeMap, HashMap};

use crate::ast::{Expr, ExprKind, Fold};
use crate::cost::{NEW_LIST, NEW_MAP, NEW_STRUCT, SELECT};
use crate::limits;
use crate::macros::RESULT;
use crate::types::Type;
use crate::value::Value;
use range::SizeEstimate;

/// Bounds of sizes, from a schema.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Maximum number of characters, bytes, items or members.
    pub most: u64,
    /// Minimum number of bytes of a value in JSON.
    pub least_bytes: u64,
    /// Bounds of the keys of maps.
    pub keys: Option<Box<Bounds>>,
    /// Bounds of the items of lists and the values of maps.
    pub items: Option<Box<Bounds>>,
    /// Bounds of fields, by their names in expressions.
    pub fields: BTreeMap<String, Bounds>,
}

/// Maximum cost of a checked expression with variables within these bounds.
pub(crate) fn estimate(expr: &Expr, types: &[Type], bounds: &Bounds) -> u64 {
    let mut estimator = Estimator {
        types,
        bounds,
        paths: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(expr)
}

/// A step from a variable to a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A field; the first step of a path is the name of its variable.
    Field(String),
    Items,
    Keys,
    /// Indexes of a list, which have no size.
    Indices,
}

/// Sizes of the keys and values of a list or map that an expression creates.
#[derive(Clone, Copy, Debug)]
struct Entries {
    of_map: bool,
    keys: SizeEstimate,
    values: SizeEstimate,
}

impl Entries {
    fn or(self, other: Entries) -> Entries {
        Entries { of_map: self.of_map, keys: self.keys.or(other.keys), values: self.values.or(other.values) }
    }
}

/// A variable of a macro.
struct Local {
    name: String,
    path: Vec<Step>,
    size: Option<SizeEstimate>,
    entries: Option<Entries>,
}

struct Estimator<'e> {
    types: &'e [Type],
    bounds: &'e Bounds,
    paths: HashMap<usize, Vec<Step>>,
    sizes: HashMap<usize, SizeEstimate>,
    entries: HashMap<usize, Entries>,
    locals: Vec<Local>,
}

impl Estimator<'_> {
    fn cost(&mut self, expr: &Expr) -> u64 {
        limits::recurse(|| self.cost_of(expr))
    }

    fn cost_of(&mut self, expr: &Expr) -> u64 {
        match &expr.kind {
            // Upstream treats a type literal as an identifier.
            ExprKind::Literal(Value::Type(of)) => self.name(expr, &of.to_string()),
            ExprKind::Literal(_) => 0,
            ExprKind::Name(name) => self.name(expr, name),
            ExprKind::Select { operand, test: true, .. } => self.cost(operand),
            ExprKind::Select { operand, field, test: false } => {
                let cost = self.cost(operand);
                let path = self.path(operand).into_iter().chain([Step::Field(field.clone())]).collect();
                self.paths.insert(expr.id, path);
                let is_looked_up = matches!(self.of(operand), Type::Map(_) | Type::Object(_) | Type::Param(_));
                cost.saturating_add(if is_looked_up { SELECT } else { 0 })
            }
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::List(elements) => {
                let mut values = if elements.is_empty() { SizeEstimate::exactly(0) } else { SizeEstimate::NONE };
                let mut sum = NEW_LIST;
                for element in elements {
                    sum = sum.saturating_add(self.cost(&element.value));
                    values = values.or(self.size_or_unknown(&element.value));
                }
                self.entries.insert(expr.id, Entries { of_map: false, keys: SizeEstimate::exactly(1), values });
                sum
            }
            ExprKind::Map(entries) => {
                let none = if entries.is_empty() { SizeEstimate::exactly(0) } else { SizeEstimate::NONE };
                let (mut keys, mut values, mut sum) = (none, none, NEW_MAP);
                for entry in entries {
                    sum = sum.saturating_add(self.cost(&entry.key)).saturating_add(self.cost(&entry.value));
                    keys = keys.or(self.size_or_unknown(&entry.key));
                    values = values.or(self.size_or_unknown(&entry.value));
                }
                self.entries.insert(expr.id, Entries { of_map: true, keys, values });
                sum
            }
            ExprKind::Struct { fields, .. } => {
                fields.iter().fold(NEW_STRUCT, |sum, field| sum.saturating_add(self.cost(&field.value)))
            }
            ExprKind::Fold(fold) if is_binding(fold) => self.binding(expr, fold),
            ExprKind::Fold(fold) => self.fold(expr, fold),
        }
    }

    fn name(&mut self, expr: &Expr, name: &str) -> u64 {
        let path = match self.local(name) {
            Some(local) => local.path.clone(),
            None => vec![Step::Field(name.to_owned())],
        };
        self.paths.insert(expr.id, path);
        SELECT
    }

    /// A binding of a name to a value, which `optMap` expands to.
    fn binding(&mut self, expr: &Expr, fold: &Fold) -> u64 {
        let sum = self.cost(&fold.range).saturating_add(self.cost(&fold.start));
        self.push_value(&fold.accumulator, &fold.start);
        let sum = sum.saturating_add(self.cost(&fold.result));
        let (size, entries) = (self.size(&fold.result), self.entries_of(&fold.result));
        self.locals.pop();
        self.keep(expr, size, entries);
        sum
    }

    fn fold(&mut self, expr: &Expr, fold: &Fold) -> u64 {
        let sum = self.cost(&fold.range).saturating_add(self.cost(&fold.start));
        self.push_value(&fold.accumulator, &fold.start);
        let depth = self.locals.len();
        match &fold.second {
            Some(second) => {
                self.push_element(&fold.variable, &fold.range, Element::Key);
                self.push_element(second, &fold.range, Element::Value);
            }
            None => self.push_element(&fold.variable, &fold.range, Element::Only),
        }
        let each = self.cost(&fold.condition).saturating_add(self.cost(&fold.step));
        self.locals.truncate(depth);
        let sum = sum.saturating_add(self.cost(&fold.result));
        let steps = self.entries_of(&fold.step);
        self.locals.truncate(depth - 1);
        let count = self.size_or_unknown(&fold.range);
        match &fold.start.kind {
            ExprKind::Literal(_) => {
                let size = self.size(&fold.start);
                self.keep(expr, size, None);
            }
            ExprKind::List(_) | ExprKind::Map(_) => self.keep(expr, Some(count), steps),
            _ => {}
        }
        sum.saturating_add(count.most.saturating_mul(each))
    }

    fn push_value(&mut self, name: &str, value: &Expr) {
        let local = Local {
            name: name.to_owned(),
            path: self.path(value),
            size: self.size(value),
            entries: self.entries_of(value),
        };
        self.locals.push(local);
    }

    fn push_element(&mut self, name: &str, range: &Expr, element: Element) {
        let entries = self.entries_of(range);
        let of_map = entries.map_or(!matches!(self.of(range), Type::List(_)), |entries| entries.of_map);
        let (step, is_value) = match (element, of_map) {
            (Element::Key | Element::Only, true) => (Step::Keys, false),
            (Element::Key, false) => (Step::Indices, false),
            (Element::Value, _) | (Element::Only, false) => (Step::Items, true),
        };
        let mut path = self.path(range);
        path.push(step);
        let size = entries.map(|entries| if is_value { entries.values } else { entries.keys });
        self.locals.push(Local { name: name.to_owned(), path, size, entries: None });
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn of(&self, expr: &Expr) -> &Type {
        self.types.get(expr.id).unwrap_or(&Type::Dyn)
    }

    /// Path of a value; empty if an expression creates it.
    fn path(&self, expr: &Expr) -> Vec<Step> {
        if let ExprKind::Name(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn keep(&mut self, expr: &Expr, size: Option<SizeEstimate>, entries: Option<Entries>) {
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
        if let Some(entries) = entries {
            self.entries.insert(expr.id, entries);
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> SizeEstimate {
        self.size(expr).unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// Size of a value, if known.
    fn size(&mut self, expr: &Expr) -> Option<SizeEstimate> {
        if let Some(size) = self.sizes.get(&expr.id).copied().or_else(|| written(expr)) {
            return Some(size);
        }
        if let Some(size) = self.bounded(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.of(expr)) {
            return Some(SizeEstimate::exactly(1));
        }
        match &expr.kind {
            ExprKind::Name(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn entries_of(&self, expr: &Expr) -> Option<Entries> {
        let local = || match &expr.kind {
            ExprKind::Name(name) => self.local(name)?.entries,
            _ => None,
        };
        self.entries.get(&expr.id).copied().or_else(local)
    }

    /// Bounds of a path. The name of the variable is ignored: upstream treats each variable as the
    /// whole document.
    fn bounded(&self, path: &[Step]) -> Option<SizeEstimate> {
        let (_, steps) = path.split_first()?;
        let found = steps.iter().try_fold(self.bounds, |bounds, step| match step {
            Step::Field(name) => bounds.fields.get(name),
            Step::Items => bounds.items.as_deref(),
            Step::Keys => bounds.keys.as_deref(),
            Step::Indices => None,
        });
        found.map(|bounds| SizeEstimate::up_to(bounds.most))
    }
}

/// The part of a list or map that a macro variable denotes.
#[derive(Clone, Copy)]
enum Element {
    Key,
    Value,
    /// Items of lists, keys of maps.
    Only,
}

/// Whether a fold has an empty range, which binds a name to a value.
fn is_binding(fold: &Fold) -> bool {
    matches!(&fold.range.kind, ExprKind::List(elements) if elements.is_empty())
        && matches!(fold.condition.kind, ExprKind::Literal(Value::Bool(false)))
        && fold.accumulator != RESULT
}

/// Size of a literal.
fn written(expr: &Expr) -> Option<SizeEstimate> {
    let size = match &expr.kind {
        ExprKind::Literal(Value::Type(_) | Value::Optional(_) | Value::Opaque(_)) => return None,
        ExprKind::Literal(value) => value.size(),
        ExprKind::List(elements) => elements.len() as u64,
        ExprKind::Map(entries) => entries.len() as u64,
        _ => return None,
    };
    Some(SizeEstimate::exactly(size))
}

fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Timestamp | Type::Duration => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
