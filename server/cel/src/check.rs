//! Checks an expression before evaluation: names, fields, overloads (cel-go's `checker`).

use std::sync::Arc;

use crate::ast::{Call, Expr, ExprKind, Fold};
use crate::environment::Environment;
use crate::error::Problem;
use crate::functions;
use crate::infer::Inference;
use crate::limits;
use crate::types::{ObjectType, Type};
use crate::value::Value;

/// Results of the checker: the type of every node, by its id.
pub(crate) struct Checked {
    pub types: Vec<Type>,
    pub problems: Vec<Problem>,
}

/// Checks a tree. Dotted names of a variable or function become one node.
pub(crate) fn check(expr: &mut Expr, nodes: usize, environment: &Environment) -> Checked {
    let mut checker = Checker {
        environment,
        locals: Vec::new(),
        inference: Inference::default(),
        types: vec![Type::Dyn; nodes],
        problems: Vec::new(),
    };
    checker.expr(expr);
    let Checker { inference, types, mut problems, .. } = checker;
    let types = types.iter().map(|of| inference.resolve(of)).collect();
    if inference.is_exhausted() {
        problems.push(Problem::of_all("the types of the expression are too large"));
    }
    Checked { types, problems }
}

struct Checker<'e> {
    environment: &'e Environment,
    locals: Vec<(String, Type)>,
    inference: Inference,
    types: Vec<Type>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn report(&mut self, at: usize, message: String) -> Type {
        self.problems.push(Problem { at, message });
        Type::Dyn
    }

    fn expr(&mut self, expr: &mut Expr) -> Type {
        let of = limits::recurse(|| self.kind(expr));
        if let Some(place) = self.types.get_mut(expr.id) {
            *place = of.clone();
        }
        of
    }

    fn kind(&mut self, expr: &mut Expr) -> Type {
        let at = expr.at;
        if let Some(of) = self.variable(expr) {
            return of;
        }
        match &mut expr.kind {
            ExprKind::Literal(value) => literal(value),
            ExprKind::Name(name) => {
                let message = format!("undeclared reference to '{name}' (in container '')");
                self.report(at, message)
            }
            ExprKind::Select { operand, field, test } => {
                let of = self.expr(operand);
                let (field, test) = (field.clone(), *test);
                let found = self.field(at, &of, &field);
                if test { Type::Bool } else { found }
            }
            ExprKind::Call(call) => self.call(at, call),
            ExprKind::List(elements) => {
                let mut item = None;
                for element in elements {
                    let mut of = self.expr(&mut element.value);
                    if element.optional {
                        of = self.unwrapped(element.value.at, of);
                    }
                    item = Some(self.joined(item, of, element.value.at));
                }
                Type::list(item.unwrap_or_else(|| self.inference.fresh()))
            }
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct { name, fields } => {
                let (name, mut members) = (name.clone(), std::mem::take(fields));
                let of = self.structure(at, &name, &mut members);
                *fields = members;
                of
            }
            ExprKind::Fold(fold) => self.fold(fold),
        }
    }

    /// The type of a variable, whose name may have dots.
    fn variable(&mut self, expr: &mut Expr) -> Option<Type> {
        if !matches!(expr.kind, ExprKind::Name(_) | ExprKind::Select { test: false, .. }) {
            return None;
        }
        let name = expr.dotted()?;
        let root = name.split('.').next().unwrap_or_default();
        if let Some((_, of)) = self.locals.iter().rev().find(|(local, _)| local == root) {
            return (root == name).then(|| of.clone());
        }
        let name = name.trim_start_matches('.');
        let found =
            self.environment.variable(name).cloned().or_else(|| Some(Type::Kind(Arc::new(Type::named(name)?))))?;
        expr.kind = match &found {
            Type::Kind(of) if self.environment.variable(name).is_none() => {
                ExprKind::Literal(Value::Type((**of).clone()))
            }
            _ => ExprKind::Name(name.to_owned()),
        };
        Some(found)
    }

    fn field(&mut self, at: usize, of: &Type, field: &str) -> Type {
        match self.inference.resolve(of) {
            Type::Dyn | Type::Param(_) => Type::Dyn,
            Type::Map(map) => map.1.clone(),
            Type::Optional(inner) => Type::optional(self.field(at, &inner, field)),
            Type::Object(object) => {
                object.field(field).unwrap_or_else(|| self.report(at, format!("undefined field '{field}'")))
            }
            other => self.report(at, format!("type '{other}' does not support field selection")),
        }
    }

    fn call(&mut self, at: usize, call: &mut Call) -> Type {
        self.join_namespace(call);
        if call.function == "_?._"
            && let [operand, Expr { kind: ExprKind::Literal(Value::String(field)), .. }] = &mut call.args[..]
        {
            let field = field.to_string();
            let of = self.expr(operand);
            let inner = match self.inference.resolve(&of) {
                Type::Optional(inner) => (*inner).clone(),
                other => other,
            };
            return Type::optional(self.field(at, &inner, &field));
        }
        let target = call.target.as_mut().map(|target| self.expr(target));
        let args: Vec<Type> = call.args.iter_mut().map(|arg| self.expr(arg)).collect();
        let Some(declared) = functions::find(&call.function) else {
            return self.report(at, format!("undeclared reference to '{}' (in container '')", call.function));
        };
        let is_member = target.is_some();
        let all: Vec<Type> = target.into_iter().chain(args).collect();
        let mut result: Option<Type> = None;
        for overload in declared.overloads.iter().filter(|o| o.member == is_member && o.args.len() == all.len()) {
            if let Some(of) = self.inference.apply(overload, &all) {
                result = Some(match result {
                    Some(first) if self.inference.resolve(&first) != of => Type::Dyn,
                    _ => of,
                });
            }
        }
        result.unwrap_or_else(|| {
            let shown = self.shown(is_member, &all);
            self.report(at, format!("found no matching overload for '{}' applied to '{shown}'", call.function))
        })
    }

    fn shown(&self, is_member: bool, args: &[Type]) -> String {
        let names: Vec<String> = args.iter().map(|of| self.inference.resolve(of).to_string()).collect();
        match names.split_first() {
            Some((target, rest)) if is_member => format!("{target}.({})", rest.join(", ")),
            _ => format!("({})", names.join(", ")),
        }
    }

    /// Makes `optional.of(x)` a call of `optional.of` instead of a member call on `optional`.
    fn join_namespace(&self, call: &mut Call) {
        let Some(prefix) = call.target.as_ref().and_then(|target| target.dotted()) else { return };
        let root = prefix.split('.').next().unwrap_or_default();
        let name = format!("{prefix}.{}", call.function);
        if functions::find(&name).is_some() && !self.locals.iter().any(|(local, _)| local == root) {
            call.function = name;
            call.target = None;
        }
    }

    fn unwrapped(&mut self, at: usize, of: Type) -> Type {
        match self.inference.resolve(&of) {
            Type::Optional(inner) => (*inner).clone(),
            Type::Dyn => Type::Dyn,
            other => self.report(at, format!("expected type 'optional_type({other})' but found '{other}'")),
        }
    }

    /// The common type of list elements, extended by one more. The types have to be equal
    /// (`HomogeneousAggregateLiterals`).
    fn joined(&mut self, so_far: Option<Type>, of: Type, at: usize) -> Type {
        let Some(so_far) = so_far else { return of };
        if self.inference.assign(&so_far, &of) {
            return if so_far == Type::Dyn || of == Type::Dyn { Type::Dyn } else { so_far };
        }
        let (expected, found) = (self.inference.resolve(&so_far), self.inference.resolve(&of));
        self.report(at, format!("expected type '{expected}' but found '{found}'"))
    }

    fn map(&mut self, entries: &mut [crate::ast::MapEntry]) -> Type {
        let (mut key, mut value) = (None, None);
        for entry in entries {
            let of = self.expr(&mut entry.key);
            key = Some(self.joined(key, of, entry.key.at));
            let mut of = self.expr(&mut entry.value);
            if entry.optional {
                of = self.unwrapped(entry.value.at, of);
            }
            value = Some(self.joined(value, of, entry.value.at));
        }
        let key = key.unwrap_or_else(|| self.inference.fresh());
        Type::map(key, value.unwrap_or_else(|| self.inference.fresh()))
    }

    fn structure(&mut self, at: usize, name: &str, fields: &mut [crate::ast::StructField]) -> Type {
        let object = self.environment.object(name.trim_start_matches('.'));
        for field in fields.iter_mut() {
            let of = self.expr(&mut field.value);
            if let Some(object) = &object {
                self.member(object, field.at, &field.name, of, field.optional);
            }
        }
        match object {
            Some(object) => Type::Object(object),
            None => self.report(at, format!("undeclared reference to '{name}' (in container '')")),
        }
    }

    fn member(&mut self, object: &ObjectType, at: usize, name: &str, of: Type, optional: bool) {
        let Some(declared) = object.field(name) else {
            self.report(at, format!("undefined field '{name}'"));
            return;
        };
        let declared = if optional { Type::optional(declared) } else { declared };
        if !self.inference.assign(&declared, &of) {
            let found = self.inference.resolve(&of);
            self.report(at, format!("expected type of field '{name}' is '{declared}' but provided type is '{found}'"));
        }
    }

    fn fold(&mut self, fold: &mut Fold) -> Type {
        let range = self.expr(&mut fold.range);
        let accumulator = self.expr(&mut fold.start);
        let depth = self.locals.len();
        let (first, second) = self.elements(&range, fold);
        self.locals.push((fold.accumulator.clone(), accumulator.clone()));
        self.locals.push((fold.variable.clone(), first));
        self.locals.extend(fold.second.clone().map(|name| (name, second)));
        let condition = self.expr(&mut fold.condition);
        self.expect(fold.condition.at, &Type::Bool, &condition);
        let step = self.expr(&mut fold.step);
        self.expect(fold.step.at, &accumulator, &step);
        self.locals.truncate(depth + 1);
        let result = self.expr(&mut fold.result);
        self.locals.truncate(depth);
        self.inference.resolve(&result)
    }

    fn expect(&mut self, at: usize, expected: &Type, found: &Type) {
        if !self.inference.assign(expected, found) {
            let (expected, found) = (self.inference.resolve(expected), self.inference.resolve(found));
            self.report(at, format!("expected type '{expected}' but found '{found}'"));
        }
    }

    /// The types of a fold's variables.
    fn elements(&mut self, range: &Type, fold: &Fold) -> (Type, Type) {
        let two = fold.second.is_some();
        match self.inference.resolve(range) {
            Type::List(list) if two => (Type::Int, list.item.clone()),
            Type::List(list) => (list.item.clone(), Type::Dyn),
            Type::Map(map) => (map.0.clone(), map.1.clone()),
            Type::Dyn | Type::Param(_) => (Type::Dyn, Type::Dyn),
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(fold.range.at, message);
                (Type::Dyn, Type::Dyn)
            }
        }
    }
}

fn literal(value: &Value<'static>) -> Type {
    match value {
        Value::Type(of) => Type::Kind(Arc::new(of.clone())),
        other => other.type_of(),
    }
}
