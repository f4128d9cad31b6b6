//! Checked expressions, ready for evaluation.

use std::collections::BTreeSet;

use crate::ast::{Expr, ExprKind};
use crate::check::check;
use crate::environment::Environment;
use crate::error::{Error, render};
use crate::estimate::{Bounds, estimate};
use crate::eval::{CostBudget, Variables, evaluate};
use crate::literals;
use crate::parse::parse;
use crate::types::Type;
use crate::value::Value;

/// Function name of `a.?b`.
const OPTIONAL_SELECT: &str = "_?._";

/// A checked expression.
#[derive(Debug)]
pub struct Program {
    expr: Expr,
    types: Vec<Type>,
    source: String,
}

/// Parses and checks an expression.
///
/// # Errors
///
/// Returns all errors of the expression, worded as in cel-go.
pub fn compile(source: &str, environment: &Environment) -> Result<Program, Error> {
    let (mut expr, nodes) = parse(source, environment.bindings)?;
    let mut checked = check(&mut expr, nodes, environment);
    if checked.problems.is_empty() {
        literals::check(&expr, &mut checked.problems);
    }
    if !checked.problems.is_empty() {
        return Err(render(source, checked.problems));
    }
    Ok(Program { expr, types: checked.types, source: source.to_owned() })
}

impl Program {
    /// The source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The type of the result.
    pub fn output(&self) -> &Type {
        self.types.get(self.expr.id).unwrap_or(&Type::Dyn)
    }

    /// Maximum cost of an evaluation with variables within these bounds, in units of upstream's cost
    /// model.
    pub fn estimate(&self, bounds: &Bounds) -> u64 {
        estimate(&self.expr, &self.types, bounds)
    }

    /// Evaluates the expression, and charges the budget for its cost.
    ///
    /// # Errors
    ///
    /// Fails if the evaluation fails, or if it costs more than the budget has left.
    pub fn evaluate<'a>(&'a self, variables: &dyn Variables<'a>, budget: &mut CostBudget) -> Result<Value<'a>, Error> {
        evaluate(&self.expr, &self.types, variables, budget)
    }

    /// Whether the expression selects a field of a variable: `claims.email`, `has(claims.email)`,
    /// `claims.?email`.
    pub fn selects(&self, variable: &str, field: &str) -> bool {
        let is_variable = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if name == variable);
        let mut found = false;
        self.expr.walk(&mut |expr| {
            found |= match &expr.kind {
                ExprKind::Select { operand, field: selected, .. } => selected == field && is_variable(operand),
                ExprKind::Call(call) if call.function == OPTIONAL_SELECT => match call.args.as_slice() {
                    [operand, selected] => is_variable(operand) && is_text(selected, field),
                    _ => false,
                },
                _ => false,
            };
        });
        found
    }

    /// The variables that the expression refers to, with dots where the variable's name has them.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.expr.walk(&mut |expr| {
            if let ExprKind::Name(name) = &expr.kind {
                names.insert(name.as_str());
            }
        });
        names
    }
}

fn is_text(expr: &Expr, text: &str) -> bool {
    matches!(&expr.kind, ExprKind::Literal(value) if value.as_str() == Some(text))
}
