//! Validation of literals before evaluation: durations, timestamps, patterns (cel-go's AST validators).

use crate::ast::{Expr, ExprKind};
use crate::error::Problem;
use crate::functions;
use crate::value::Value;

pub(crate) fn check(expr: &Expr, problems: &mut Vec<Problem>) {
    expr.walk(&mut |node| {
        let ExprKind::Call(call) = &node.kind else { return };
        let Some(Expr { at, kind: ExprKind::Literal(value @ Value::String(_)), .. }) = call.args.last() else { return };
        let what = match (call.function.as_str(), call.args.len()) {
            ("duration", 1) => "duration",
            ("timestamp", 1) => "timestamp",
            ("matches", 1 | 2) => "matches",
            _ => return,
        };
        let args = if what == "matches" { vec![Value::string(""), value.clone()] } else { vec![value.clone()] };
        let failed = functions::find(what).is_some_and(|declared| (declared.function.run)(&args).is_err());
        if failed {
            problems.push(Problem { at: *at, message: format!("invalid {what} argument") });
        }
    });
}
