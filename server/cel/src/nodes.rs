//! The nodes of the tree that a parser builds.

use crate::ast::{Expr, ExprKind};

/// Creates and counts the nodes of an expression.
pub(crate) struct NodeFactory {
    count: usize,
    /// Whether `cel.bind` is a macro.
    pub bindings: bool,
}

impl NodeFactory {
    pub fn new(bindings: bool) -> Self {
        NodeFactory { count: 0, bindings }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// A new node.
    pub fn node(&mut self, at: usize, kind: ExprKind) -> Expr {
        self.count += 1;
        Expr { id: self.count - 1, at, extent: kind.extent(), kind }
    }
}
