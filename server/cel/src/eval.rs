//! Evaluates checked expressions and counts their cost.

use std::collections::HashMap;

use crate::ast::{Call, Element, Expr, ExprKind, Fold, StructField};
use crate::cost::{APPEND, NEW_LIST, NEW_MAP, NEW_STRUCT, SELECT};
use crate::error::Error;
use crate::functions::{self, lookup, usable};
use crate::limits::{self, MAX_MEMORY, MAX_NESTED_EVALUATIONS, MAX_VALUE_DEPTH, MAX_VISITS};
use crate::macros::RESULT;
use crate::meter::{self, Weight};
use crate::types::Type;
use crate::value::{ListForString, MapValue, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

/// Allowed and remaining cost of evaluation, in units of upstream's cost model.
#[derive(Clone, Copy, Debug)]
pub struct CostBudget {
    /// Maximum cost of one expression.
    pub per_call: u64,
    /// Remaining cost of all expressions that share the budget.
    pub left: u64,
    /// Remaining visits of values that the cost model does not count. The cost model is upstream's and
    /// counts some operations too low.
    pub visits: u64,
    /// Number of running evaluations, each for a variable of the previous one.
    pub nested: usize,
}

impl Default for CostBudget {
    /// `PerCallLimit` and `RuntimeCELCostBudget`.
    fn default() -> Self {
        CostBudget { per_call: 1_000_000, left: 10_000_000, visits: MAX_VISITS, nested: 0 }
    }
}

/// Values of variables.
pub trait Variables<'a> {
    /// A variable by its name; an error if it cannot be evaluated.
    fn variable(&self, name: &str) -> Option<Outcome<'a>>;

    /// A field of a variable that is evaluated on first use, such as `variables.x`. Charges the budget
    /// for the evaluation.
    fn member(&self, _variable: &str, _field: &str, _budget: &mut CostBudget) -> Option<Outcome<'a>> {
        None
    }
}

impl<'a> Variables<'a> for [(&str, Value<'a>)] {
    fn variable(&self, name: &str) -> Option<Outcome<'a>> {
        self.iter().find(|(n, _)| *n == name).map(|(_, value)| Ok(value.clone()))
    }
}

impl<'a, const N: usize> Variables<'a> for [(&str, Value<'a>); N] {
    fn variable(&self, name: &str) -> Option<Outcome<'a>> {
        self.as_slice().variable(name)
    }
}

impl<'a> Variables<'a> for HashMap<&str, Value<'a>> {
    fn variable(&self, name: &str) -> Option<Outcome<'a>> {
        self.get(name).map(|value| Ok(value.clone()))
    }
}

/// Evaluates a tree, and charges the budget for its cost.
pub(crate) fn evaluate<'a>(
    expr: &'a Expr,
    types: &'a [Type],
    variables: &dyn Variables<'a>,
    budget: &mut CostBudget,
) -> Outcome<'a> {
    if budget.nested >= MAX_NESTED_EVALUATIONS {
        return Err(Error::failed("variables depend on each other too deeply"));
    }
    budget.nested += 1;
    let mut evaluation = Evaluation { types, variables, budget, spent: 0, memory: MAX_MEMORY, locals: Vec::new() };
    let outcome = evaluation.expr(expr).and_then(|value| evaluation.shallow(value));
    let spent = evaluation.spent;
    budget.left = budget.left.saturating_sub(spent);
    budget.nested -= 1;
    outcome
}

struct Evaluation<'v, 'a> {
    types: &'a [Type],
    variables: &'v dyn Variables<'a>,
    budget: &'v mut CostBudget,
    spent: u64,
    /// Remaining memory for values, in bytes.
    memory: u64,
    /// Variables of folds. An accumulator may be an error, which a later element can override.
    locals: Vec<(&'a str, Outcome<'a>)>,
}

impl<'a> Evaluation<'_, 'a> {
    fn spend(&mut self, cost: u64) -> Result<(), Error> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > self.budget.per_call.min(self.budget.left) { Err(Error::CostLimitExceeded) } else { Ok(()) }
    }

    /// Charges for the weight of an operation before the operation runs.
    fn weigh(&mut self, weight: Weight) -> Result<(), Error> {
        self.memory = self.memory.checked_sub(weight.bytes).ok_or(Error::CostLimitExceeded)?;
        self.budget.visits = self.budget.visits.checked_sub(weight.visits).ok_or(Error::CostLimitExceeded)?;
        Ok(())
    }

    /// Rejects a value that is nested too deeply, because another expression could nest it further.
    fn shallow(&mut self, value: Value<'a>) -> Outcome<'a> {
        let mut visits = self.budget.visits;
        let is_shallow = meter::is_shallow(&value, MAX_VALUE_DEPTH, &mut visits);
        self.budget.visits = visits;
        if is_shallow { Ok(value) } else { Err(Error::CostLimitExceeded) }
    }

    fn expr(&mut self, expr: &'a Expr) -> Outcome<'a> {
        match limits::recurse(|| self.expr_of(expr))? {
            value if value.is_list_for_string() => Err(Error::failed(ListForString::MESSAGE)),
            value => Ok(value),
        }
    }

    fn expr_of(&mut self, expr: &'a Expr) -> Outcome<'a> {
        match &expr.kind {
            ExprKind::Literal(value) => Ok(value.clone()),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Select { operand, field, test } => self.select(operand, field, *test),
            ExprKind::Call(call) => self.call(call),
            ExprKind::List(elements) => Ok(Value::list(self.elements(elements)?)),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct { fields, .. } => self.structure(expr.id, fields),
            ExprKind::Fold(fold) => self.fold(fold),
        }
    }

    fn elements(&mut self, elements: &'a [Element]) -> Result<Vec<Value<'a>>, Error> {
        self.spend(NEW_LIST)?;
        self.weigh(Weight::of_values(elements.len()))?;
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.expr(&element.value)?;
            items.extend(present(value, element.optional)?);
        }
        Ok(items)
    }

    /// `@result + [element]`, the step of a macro that builds a list. The list is moved out of the
    /// variable, which then receives the result of the step, so that the list grows in place. Elements
    /// cannot refer to the variable.
    fn append(&mut self, elements: &'a [Element]) -> Outcome<'a> {
        self.spend(SELECT)?;
        let so_far = self.locals.iter_mut().rev().find(|(name, _)| *name == RESULT);
        let (_, so_far) = so_far.ok_or_else(Error::no_such_overload)?;
        let so_far = std::mem::replace(so_far, Ok(Value::Null))?;
        let more = self.elements(elements)?;
        self.spend(APPEND)?;
        match so_far {
            Value::List(list) => Ok(Value::List(list.append(more))),
            _ => Err(Error::no_such_overload()),
        }
    }

    fn name(&mut self, name: &str) -> Outcome<'a> {
        self.spend(SELECT)?;
        if let Some((_, value)) = self.locals.iter().rev().find(|(local, _)| *local == name) {
            return value.clone();
        }
        self.variables.variable(name).unwrap_or_else(|| Err(Error::failed(format!("no such attribute(s): {name}"))))
    }

    fn select(&mut self, operand: &'a Expr, field: &str, test: bool) -> Outcome<'a> {
        if let ExprKind::Name(name) = &operand.kind
            && !test
            && !self.locals.iter().any(|(local, _)| local == name)
            && let Some(outcome) = self.variables.member(name, field, self.budget)
        {
            self.spend(2 * SELECT)?;
            return outcome;
        }
        let of = self.expr(operand)?;
        if !test {
            self.spend(SELECT)?;
        }
        match (of, test) {
            (Value::Map(map), true) => {
                self.weigh(meter::search(&map))?;
                Ok(Value::Bool(usable(map.field(field))?.is_some()))
            }
            (Value::Map(map), false) => {
                self.weigh(meter::search(&map))?;
                map.field(field).ok_or_else(|| Error::no_such_key(field))
            }
            (Value::Optional(None), true) => Ok(Value::Bool(false)),
            (Value::Optional(None), false) => Ok(Value::Optional(None)),
            (Value::Optional(Some(inner)), _) => {
                let found = lookup(&inner, &Value::string(field))?;
                Ok(if test { Value::Bool(found.is_some()) } else { Value::Optional(found.map(Into::into)) })
            }
            (Value::List(_), _) => Err(Error::failed("unsupported index type 'string' in list")),
            // A value without members does not have this one (`refQualify`).
            (_, true) => Ok(Value::Bool(false)),
            (_, false) => Err(Error::no_such_key(field)),
        }
    }

    fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        match (call.function.as_str(), &call.args[..]) {
            ("_&&_", [a, b]) => self.logical(a, b, false),
            ("_||_", [a, b]) => self.logical(a, b, true),
            ("_?_:_", [condition, yes, no]) => match self.expr(condition)? {
                Value::Bool(true) => self.expr(yes),
                Value::Bool(false) => self.expr(no),
                _ => Err(Error::no_such_overload()),
            },
            ("@not_strictly_false", [value]) => {
                let value = self.expr(value);
                self.spend(1)?;
                match value {
                    Ok(Value::Bool(value)) => Ok(Value::Bool(value)),
                    Err(Error::CostLimitExceeded) => Err(Error::CostLimitExceeded),
                    _ => Ok(Value::Bool(true)),
                }
            }
            ("or" | "orValue", [other]) => self.otherwise(call, other),
            ("_+_", [Expr { kind: ExprKind::Name(name), .. }, Expr { kind: ExprKind::List(elements), .. }])
                if name == RESULT =>
            {
                self.append(elements)
            }
            _ => self.strict(call),
        }
    }

    fn strict(&mut self, call: &'a Call) -> Outcome<'a> {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        for arg in call.target.as_deref().into_iter().chain(&call.args) {
            args.push(self.expr(arg)?);
        }
        let declared = functions::find(&call.function).ok_or_else(Error::no_such_overload)?;
        self.weigh(meter::of_call(&call.function, &args))?;
        let outcome = (declared.function.run)(&args);
        let cost = declared.function.cost.of(&args, outcome.as_ref().unwrap_or(&Value::Null));
        self.spend(cost)?;
        outcome
    }

    /// `&&` and `||`: the deciding value on either side overrides an error on the other.
    fn logical(&mut self, a: &'a Expr, b: &'a Expr, deciding: bool) -> Outcome<'a> {
        let first = self.expr(a);
        if matches!(first, Ok(Value::Bool(value)) if value == deciding)
            || first.as_ref().is_err_and(|e| *e == Error::CostLimitExceeded)
        {
            return first;
        }
        match (first, self.expr(b)) {
            (_, Ok(Value::Bool(value))) if value == deciding => Ok(Value::Bool(value)),
            (_, Err(Error::CostLimitExceeded)) => Err(Error::CostLimitExceeded),
            (Err(error), _) => Err(error),
            (Ok(Value::Bool(_)), Ok(Value::Bool(value))) => Ok(Value::Bool(value)),
            (_, Err(error)) => Err(error),
            _ => Err(Error::no_such_overload()),
        }
    }

    /// `a.or(b)`, `a.orValue(b)`: `b` is evaluated only if `a` is none.
    fn otherwise(&mut self, call: &'a Call, other: &'a Expr) -> Outcome<'a> {
        let Some(target) = call.target.as_deref() else { return Err(Error::no_such_overload()) };
        self.spend(1)?;
        match self.expr(target)? {
            Value::Optional(Some(value)) if call.function == "orValue" => Ok((*value).clone()),
            Value::Optional(Some(value)) => Ok(Value::Optional(Some(value))),
            Value::Optional(None) => self.expr(other),
            _ => Err(Error::no_such_overload()),
        }
    }

    fn map(&mut self, entries: &'a [crate::ast::MapEntry]) -> Outcome<'a> {
        self.spend(NEW_MAP)?;
        // Each key is compared with the others.
        let visits = (entries.len() as u64).saturating_mul(entries.len() as u64) / 2;
        self.weigh(Weight { visits, ..Weight::of_values(2 * entries.len()) })?;
        let mut out: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.expr(&entry.key)?;
            let value = self.expr(&entry.value)?;
            if out.iter().any(|(k, _)| k.equals(&key)) {
                return Err(Error::failed("Failed with repeated key"));
            }
            out.extend(present(value, entry.optional)?.map(|value| (key, value)));
        }
        Ok(Value::map(out))
    }

    fn structure(&mut self, id: usize, fields: &'a [StructField]) -> Outcome<'a> {
        self.spend(NEW_STRUCT)?;
        let Some(Type::Object(of)) = self.types.get(id) else { return Err(Error::no_such_overload()) };
        let mut out = Vec::with_capacity(fields.len());
        for field in fields {
            let value = self.expr(&field.value)?;
            out.extend(present(value, field.optional)?.map(|value| (field.name.clone(), value)));
        }
        Ok(Value::Map(MapValue::Made(of.clone(), out.into())))
    }

    fn fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.expr(&fold.range)?;
        self.weigh(Weight::of_values(range.size() as usize))?;
        let elements = match (range, fold.second.is_some()) {
            (Value::List(list), false) => list.iter().map(|item| (item, None)).collect(),
            (Value::List(list), true) => {
                list.iter().enumerate().map(|(at, item)| (Value::Int(at as i64), Some(item))).collect()
            }
            (Value::Map(map), _) => {
                map.entries().into_iter().map(|(key, value)| (key, Some(value))).collect::<Vec<_>>()
            }
            _ => return Err(Error::no_such_overload()),
        };
        let mut so_far = self.expr(&fold.start);
        let depth = self.locals.len();
        for (first, second) in elements {
            self.locals.push((&fold.accumulator, so_far));
            self.locals.push((&fold.variable, Ok(first)));
            if let (Some(name), Some(value)) = (&fold.second, second) {
                self.locals.push((name, Ok(value)));
            }
            let goes_on = self.expr(&fold.condition);
            so_far = match goes_on {
                Ok(Value::Bool(false)) => std::mem::replace(&mut self.locals[depth].1, Ok(Value::Null)),
                _ => self.expr(&fold.step),
            };
            self.locals.truncate(depth);
            if so_far.as_ref().is_err_and(|e| *e == Error::CostLimitExceeded) {
                return so_far;
            }
            if matches!(goes_on, Ok(Value::Bool(false))) {
                break;
            }
        }
        self.locals.push((&fold.accumulator, so_far));
        let result = self.expr(&fold.result);
        self.locals.truncate(depth);
        result
    }
}

/// The value of an element; `None` if the element is optional and none.
fn present<'a>(value: Value<'a>, optional: bool) -> Result<Option<Value<'a>>, Error> {
    match value {
        value if !optional => Ok(Some(value)),
        Value::Optional(value) => Ok(value.map(|value| (*value).clone())),
        _ => Err(Error::no_such_overload()),
    }
}
