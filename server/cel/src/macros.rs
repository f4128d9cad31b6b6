//! Macros: calls that expand to other expressions (`has`, `all`, `exists`, `map` and their family, the
//! two-variable forms, `optMap`).

use crate::ast::{Call, Element, Expr, ExprKind, Fold};
use crate::error::Problem;
use crate::nodes::NodeFactory;
use crate::value::Value;

/// The accumulator variable of macros.
pub(crate) const RESULT: &str = "@result";

/// The expansion of a call; the call itself if it is not a macro.
pub(crate) fn expand(nodes: &mut NodeFactory, at: usize, call: Call) -> Result<Expr, Problem> {
    let (name, count) = (call.function.clone(), call.args.len());
    let mut builder = Builder { nodes, at };
    match (name.as_str(), call.target.is_some(), count) {
        ("has", false, 1) => builder.has(call),
        ("all", true, 2 | 3) => builder.all(call),
        ("exists", true, 2 | 3) => builder.exists(call),
        ("exists_one", true, 2) | ("existsOne", true, 2 | 3) => builder.exists_one(call),
        ("map", true, 2 | 3) => builder.map(call, 1),
        ("transformList", true, 3 | 4) => builder.map(call, 2),
        ("filter", true, 2) => builder.filter(call),
        ("transformMap" | "transformMapEntry", true, 3 | 4) => builder.transform_map(call),
        ("bind", true, 3) if builder.nodes.bindings && is_cel(&call) => builder.bind(call),
        ("optMap" | "optFlatMap", true, 2) => builder.opt_map(call),
        _ => Ok(nodes.node(at, ExprKind::Call(call))),
    }
}

/// Whether a call is made on the namespace `cel`.
fn is_cel(call: &Call) -> bool {
    call.target.as_ref().is_some_and(|target| matches!(&target.kind, ExprKind::Name(name) if name == "cel"))
}

struct Builder<'a> {
    nodes: &'a mut NodeFactory,
    at: usize,
}

/// The parts of a macro call: the range, the names of its variables, and the remaining arguments.
struct Parts {
    range: Expr,
    variable: String,
    second: Option<String>,
    rest: Vec<Expr>,
}

impl Builder<'_> {
    fn node(&mut self, kind: ExprKind) -> Expr {
        self.nodes.node(self.at, kind)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call(Call { function: function.into(), target: None, args }))
    }

    fn bool(&mut self, value: bool) -> Expr {
        self.node(ExprKind::Literal(Value::Bool(value)))
    }

    fn int(&mut self, value: i64) -> Expr {
        self.node(ExprKind::Literal(Value::Int(value)))
    }

    fn result(&mut self) -> Expr {
        self.node(ExprKind::Name(RESULT.into()))
    }

    fn list(&mut self, items: Vec<Expr>) -> Expr {
        self.node(ExprKind::List(items.into_iter().map(|value| Element { value, optional: false }).collect()))
    }

    fn parts(&mut self, call: Call, variables: usize) -> Result<Parts, Problem> {
        let mut args = call.args.into_iter();
        let mut names = Vec::new();
        for arg in args.by_ref().take(variables) {
            match arg.kind {
                ExprKind::Name(name) if !name.starts_with('.') => names.push(name),
                _ => return Err(Problem { at: arg.at, message: "argument must be a simple name".into() }),
            }
        }
        let range = call.target.map_or_else(|| self.list(Vec::new()), |target| *target);
        let mut names = names.into_iter();
        Ok(Parts { range, variable: names.next().unwrap_or_default(), second: names.next(), rest: args.collect() })
    }

    fn fold(
        &mut self,
        parts: (Expr, String, Option<String>),
        start: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Expr {
        let (range, variable, second) = parts;
        self.node(ExprKind::Fold(Box::new(Fold {
            range,
            variable,
            second,
            accumulator: RESULT.into(),
            start,
            condition,
            step,
            result,
        })))
    }

    fn has(&mut self, mut call: Call) -> Result<Expr, Problem> {
        let Some(arg) = call.args.pop() else { return Ok(self.node(ExprKind::Call(call))) };
        match arg.kind {
            ExprKind::Select { operand, field, test: false } => {
                Ok(self.node(ExprKind::Select { operand, field, test: true }))
            }
            _ => Err(Problem { at: arg.at, message: "invalid argument to has() macro".into() }),
        }
    }

    fn all(&mut self, call: Call) -> Result<Expr, Problem> {
        let variables = call.args.len() - 1;
        let mut parts = self.parts(call, variables)?;
        let start = self.bool(true);
        let so_far = self.result();
        let condition = self.call("@not_strictly_false", vec![so_far]);
        let so_far = self.result();
        let mut terms = vec![so_far];
        terms.append(&mut parts.rest);
        let step = self.call("_&&_", terms);
        let result = self.result();
        Ok(self.fold((parts.range, parts.variable, parts.second), start, condition, step, result))
    }

    fn exists(&mut self, call: Call) -> Result<Expr, Problem> {
        let variables = call.args.len() - 1;
        let mut parts = self.parts(call, variables)?;
        let start = self.bool(false);
        let so_far = self.result();
        let not = self.call("!_", vec![so_far]);
        let condition = self.call("@not_strictly_false", vec![not]);
        let so_far = self.result();
        let mut terms = vec![so_far];
        terms.append(&mut parts.rest);
        let step = self.call("_||_", terms);
        let result = self.result();
        Ok(self.fold((parts.range, parts.variable, parts.second), start, condition, step, result))
    }

    fn exists_one(&mut self, call: Call) -> Result<Expr, Problem> {
        let variables = call.args.len() - 1;
        let parts = self.parts(call, variables)?;
        let (start, condition) = (self.int(0), self.bool(true));
        let (so_far, one) = (self.result(), self.int(1));
        let more = self.call("_+_", vec![so_far, one]);
        let step = self.when(parts.rest, more);
        let (count, one) = (self.result(), self.int(1));
        let result = self.call("_==_", vec![count, one]);
        Ok(self.fold((parts.range, parts.variable, parts.second), start, condition, step, result))
    }

    /// `condition ? then : @result`, for the given conditions.
    fn when(&mut self, conditions: Vec<Expr>, then: Expr) -> Expr {
        conditions.into_iter().fold(then, |then, condition| {
            let so_far = self.result();
            self.call("_?_:_", vec![condition, then, so_far])
        })
    }

    fn map(&mut self, call: Call, variables: usize) -> Result<Expr, Problem> {
        let mut parts = self.parts(call, variables)?;
        let value = parts.rest.pop().into_iter().collect();
        let (start, condition) = (self.list(Vec::new()), self.bool(true));
        let so_far = self.result();
        let one = self.list(value);
        let more = self.call("_+_", vec![so_far, one]);
        let step = self.when(parts.rest, more);
        let result = self.result();
        Ok(self.fold((parts.range, parts.variable, parts.second), start, condition, step, result))
    }

    fn filter(&mut self, call: Call) -> Result<Expr, Problem> {
        let parts = self.parts(call, 1)?;
        let (start, condition) = (self.list(Vec::new()), self.bool(true));
        let element = self.node(ExprKind::Name(parts.variable.clone()));
        let (so_far, one) = (self.result(), self.list(vec![element]));
        let more = self.call("_+_", vec![so_far, one]);
        let step = self.when(parts.rest, more);
        let result = self.result();
        Ok(self.fold((parts.range, parts.variable, None), start, condition, step, result))
    }

    fn transform_map(&mut self, call: Call) -> Result<Expr, Problem> {
        let entries = call.function == "transformMapEntry";
        let mut parts = self.parts(call, 2)?;
        let value = parts.rest.pop();
        let (start, condition) = (self.node(ExprKind::Map(Vec::new())), self.bool(true));
        let mut insert = vec![self.result()];
        if !entries {
            insert.push(self.node(ExprKind::Name(parts.variable.clone())));
        }
        insert.extend(value);
        let more = self.call("cel.@mapInsert", insert);
        let step = self.when(parts.rest, more);
        let result = self.result();
        Ok(self.fold((parts.range, parts.variable, parts.second), start, condition, step, result))
    }

    /// `cel.bind(name, value, expr)`.
    fn bind(&mut self, mut call: Call) -> Result<Expr, Problem> {
        call.target = None;
        let complaint = "cel.bind() variable names must be simple identifiers";
        let mut parts = self.parts(call, 1).map_err(|problem| Problem { message: complaint.into(), ..problem })?;
        match (parts.rest.pop(), parts.rest.pop()) {
            (Some(body), Some(value)) => Ok(self.bound(parts.variable, value, body)),
            _ => Ok(parts.range),
        }
    }

    /// An expression in which a name denotes a value: a fold over an empty list with the value as
    /// accumulator.
    fn bound(&mut self, name: String, value: Expr, body: Expr) -> Expr {
        let (nothing, never) = (self.list(Vec::new()), self.bool(false));
        let step = self.node(ExprKind::Name(name.clone()));
        self.node(ExprKind::Fold(Box::new(Fold {
            range: nothing,
            variable: "#unused".into(),
            second: None,
            accumulator: name,
            start: value,
            condition: never,
            step,
            result: body,
        })))
    }

    /// `target.optMap(name, expr)`
    fn opt_map(&mut self, call: Call) -> Result<Expr, Problem> {
        let flat = call.function == "optFlatMap";
        let mut parts = self.parts(call, 1)?;
        let target = parts.range;
        let has = self.member(target.clone(), "hasValue");
        let value = self.member(target, "value");
        let body = parts.rest.pop().unwrap_or_else(|| value.clone());
        let bound = self.bound(parts.variable, value, body);
        let some = if flat { bound } else { self.call("optional.of", vec![bound]) };
        let none = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![has, some, none]))
    }

    fn member(&mut self, target: Expr, function: &str) -> Expr {
        self.node(ExprKind::Call(Call { function: function.into(), target: Some(Box::new(target)), args: Vec::new() }))
    }
}
