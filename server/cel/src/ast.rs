//! Expressions as trees, macros already expanded.

use crate::value::Value;

/// A node of an expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Index into what the checker learns of nodes.
    pub id: usize,
    /// Where an error in it is shown: characters from the start of the source.
    pub at: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Literal(Value<'static>),
    Name(String),
    /// `operand.field`, or `has(operand.field)`.
    Select {
        operand: Box<Expr>,
        field: String,
        test: bool,
    },
    Call(Call),
    List(Vec<Element>),
    Map(Vec<Entry>),
    Struct {
        name: String,
        fields: Vec<Member>,
    },
    Fold(Box<Fold>),
}

/// `target.function(args)`, or `function(args)`; operators are functions named after their form: `_+_`.
#[derive(Clone, Debug)]
pub struct Call {
    pub function: String,
    pub target: Option<Box<Expr>>,
    pub args: Vec<Expr>,
}

/// An element of a list; `?value` is left out when it is none.
#[derive(Clone, Debug)]
pub struct Element {
    pub value: Expr,
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Expr,
    pub value: Expr,
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct Member {
    pub at: usize,
    pub name: String,
    pub value: Expr,
    pub optional: bool,
}

/// What macros over lists and maps become: `accumulator` starts as `start` and takes the value of `step` for each element of `range`
/// while `condition` holds.
#[derive(Clone, Debug)]
pub struct Fold {
    pub range: Expr,
    pub variable: String,
    /// With two variables the first is the index or key and the second the value.
    pub second: Option<String>,
    pub accumulator: String,
    pub start: Expr,
    pub condition: Expr,
    pub step: Expr,
    pub result: Expr,
}

impl Expr {
    /// `a.b.c` as a dotted name.
    pub fn dotted(&self) -> Option<String> {
        match &self.kind {
            Kind::Name(name) => Some(name.clone()),
            Kind::Select { operand, field, test: false } => Some(format!("{}.{field}", operand.dotted()?)),
            _ => None,
        }
    }

    /// Calls `visit` with this node and all below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            Kind::Literal(_) | Kind::Name(_) => {}
            Kind::Select { operand, .. } => operand.walk(visit),
            Kind::Call(call) => call.target.iter().map(|t| &**t).chain(&call.args).for_each(|e| e.walk(visit)),
            Kind::List(elements) => elements.iter().for_each(|e| e.value.walk(visit)),
            Kind::Map(entries) => entries.iter().flat_map(|e| [&e.key, &e.value]).for_each(|e| e.walk(visit)),
            Kind::Struct { fields, .. } => fields.iter().for_each(|f| f.value.walk(visit)),
            Kind::Fold(fold) => {
                [&fold.range, &fold.start, &fold.condition, &fold.step, &fold.result]
                    .into_iter()
                    .for_each(|e| e.walk(visit));
            }
        }
    }
}
