//! Expression trees, with macros already expanded.

use crate::limits;
use crate::value::Value;

/// A node of an expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Index into the checker's results.
    pub id: usize,
    /// Position for errors: characters from the start of the source.
    pub at: usize,
    pub extent: Extent,
    pub kind: ExprKind,
}

/// Size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Operators, selections, member calls and indexes on the longest path; cel-go's definition of
    /// depth.
    pub depth: usize,
    /// Number of nodes on the longest path.
    pub height: usize,
    pub nodes: usize,
}

impl ExprKind {
    /// The extent of a node of this kind, without the depth that the node itself adds.
    pub fn extent(&self) -> Extent {
        let mut extent = Extent { depth: 0, height: 1, nodes: 1 };
        let mut add = |expr: &Expr| {
            extent.depth = extent.depth.max(expr.extent.depth);
            extent.height = extent.height.max(expr.extent.height + 1);
            extent.nodes = extent.nodes.saturating_add(expr.extent.nodes);
        };
        self.children(&mut add);
        extent
    }

    /// Calls `visit` with each direct child.
    fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            ExprKind::Literal(_) | ExprKind::Name(_) => {}
            ExprKind::Select { operand, .. } => visit(operand),
            ExprKind::Call(call) => call.target.iter().map(|target| &**target).chain(&call.args).for_each(visit),
            ExprKind::List(elements) => elements.iter().for_each(|element| visit(&element.value)),
            ExprKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).for_each(visit),
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|field| visit(&field.value)),
            ExprKind::Fold(fold) => {
                [&fold.range, &fold.start, &fold.condition, &fold.step, &fold.result].into_iter().for_each(visit);
            }
        }
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
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
    Map(Vec<MapEntry>),
    Struct {
        name: String,
        fields: Vec<StructField>,
    },
    Fold(Box<Fold>),
}

/// `target.function(args)`, or `function(args)`. Operators are functions with names such as `_+_`.
#[derive(Clone, Debug)]
pub struct Call {
    pub function: String,
    pub target: Option<Box<Expr>>,
    pub args: Vec<Expr>,
}

/// An element of a list; `?value` is omitted if it is none.
#[derive(Clone, Debug)]
pub struct Element {
    pub value: Expr,
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct MapEntry {
    pub key: Expr,
    pub value: Expr,
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct StructField {
    pub at: usize,
    pub name: String,
    pub value: Expr,
    pub optional: bool,
}

/// The expansion of macros over lists and maps: `accumulator` starts as `start` and takes the value of
/// `step` for each element of `range` while `condition` is true.
#[derive(Clone, Debug)]
pub struct Fold {
    pub range: Expr,
    pub variable: String,
    /// With two variables, the first is the index or key and the second the value.
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
        let (mut at, mut parts) = (self, Vec::new());
        while let ExprKind::Select { operand, field, test: false } = &at.kind {
            parts.push(field.as_str());
            at = operand;
        }
        let ExprKind::Name(name) = &at.kind else { return None };
        parts.push(name);
        parts.reverse();
        Some(parts.join("."))
    }

    /// Calls `visit` with this node and all of its descendants.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.kind.children(&mut |below| limits::recurse(|| below.walk(visit)));
    }
}
