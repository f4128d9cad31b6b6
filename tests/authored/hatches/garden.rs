//! What the definitions of gardens leave to functions.

use machinery::hooks::Context;
use machinery::print::{Cell, PrintContext, RowCondition};

use crate::garden::v1::{Moss, Tree, TreeSpec};

/// A tree belongs to the garden.
pub fn default_tree(spec: &mut TreeSpec) {
    if spec.owner.is_empty() {
        spec.owner = "garden".into();
    }
}

/// Blanks around the name of a fruit say nothing.
pub fn normalize_tree(tree: &mut Tree) {
    tree.spec.fruit = tree.spec.fruit.trim().into();
}

/// A new tree begins with a branch.
pub fn create_tree(_: &Context, tree: &mut Tree, _: Option<&Tree>) {
    tree.spec.branches = tree.spec.branches.max(1);
}

/// Trees lose no branches.
pub fn update_tree(_: &Context, new: &mut Tree, old: &Tree) {
    new.spec.branches = new.spec.branches.max(old.spec.branches);
}

/// Trees with many branches need room.
pub fn warn_tree(_: &Context, tree: &Tree, _: Option<&Tree>) -> Vec<String> {
    let many = tree.spec.branches > 100;
    many.then(|| "spec.branches: the tree needs room".to_string()).into_iter().collect()
}

/// Nothing grows on a tree that is felled.
pub fn delete_tree(_: &Context, tree: &mut Tree) {
    tree.spec.fruit.clear();
}

/// Whether a tree may not be felled yet.
pub fn holds_tree(tree: &Tree) -> bool {
    tree.status.protected
}

/// Trees without branches are done.
pub fn rows_of_tree(tree: &Tree) -> Vec<RowCondition> {
    let tall = RowCondition { kind: "Tall", status: "True", reason: "Branches", message: "" };
    if tree.spec.branches > 100 { vec![tall] } else { Vec::new() }
}

/// The smallest trees come first.
pub fn order_of_trees(tree: &Tree) -> i64 {
    tree.spec.branches.into()
}

/// What a tree looks like.
pub fn size_of_tree(tree: &Tree, _: &PrintContext) -> Cell {
    size_label(tree).into()
}

/// The same, to select by.
pub fn size_label(tree: &Tree) -> String {
    if tree.spec.branches > 100 { "large".into() } else { "small".into() }
}

/// A moss takes twice as long as it is asked to.
pub fn grace_of_moss(asked: Option<i64>, _: &Moss) -> Option<i64> {
    asked.map(|seconds| seconds * 2)
}
