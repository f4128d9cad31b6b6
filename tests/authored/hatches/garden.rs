//! Hand-written functions of the garden definitions.

use machinery::hooks::WriteContext;
use machinery::print::{Cell, PrintContext, RowCondition};

use crate::garden::v1::{Moss, Tree, TreeSpec};

/// Sets the owner of a tree to the garden.
pub fn default_tree(spec: &mut TreeSpec) {
    if spec.owner.is_empty() {
        spec.owner = "garden".into();
    }
}

/// Trims the name of a fruit.
pub fn normalize_tree(tree: &mut Tree) {
    tree.spec.fruit = tree.spec.fruit.trim().into();
}

/// Sets one branch on a new tree.
pub fn create_tree(_: &WriteContext, tree: &mut Tree, _: Option<&Tree>) {
    tree.spec.branches = tree.spec.branches.max(1);
}

/// Keeps at least the old number of branches.
pub fn update_tree(_: &WriteContext, new: &mut Tree, old: &Tree) {
    new.spec.branches = new.spec.branches.max(old.spec.branches);
}

/// Warns about trees with many branches.
pub fn warn_tree(_: &WriteContext, tree: &Tree, _: Option<&Tree>) -> Vec<String> {
    let many = tree.spec.branches > 100;
    many.then(|| "spec.branches: the tree needs room".to_string()).into_iter().collect()
}

/// Clears the fruit of a deleted tree.
pub fn delete_tree(_: &WriteContext, tree: &mut Tree) {
    tree.spec.fruit.clear();
}

/// Reports whether a tree cannot be deleted yet.
pub fn holds_tree(tree: &Tree) -> bool {
    tree.status.protected
}

/// Marks trees with more than 100 branches with the row condition `Tall`.
pub fn rows_of_tree(tree: &Tree) -> Vec<RowCondition> {
    let tall = RowCondition { kind: "Tall", status: "True", reason: "Branches", message: "" };
    if tree.spec.branches > 100 { vec![tall] } else { Vec::new() }
}

/// Sorts the smallest trees first.
pub fn order_of_trees(tree: &Tree) -> i64 {
    tree.spec.branches.into()
}

/// Returns the cell of the column for the size.
pub fn size_of_tree(tree: &Tree, _: &PrintContext) -> Cell {
    size_label(tree).into()
}

/// Returns the size as a selectable field.
pub fn size_label(tree: &Tree) -> String {
    if tree.spec.branches > 100 { "large".into() } else { "small".into() }
}

/// Doubles the requested grace period.
pub fn grace_of_moss(requested: Option<i64>, _: &Moss) -> Option<i64> {
    requested.map(|seconds| seconds * 2)
}
