//! Feature gates: those that groups declare, and those that definitions name. Kubernetes' own are
//! read from `machinery` itself so that there is no second list.

use std::path::Path;

use syn::{Expr, Lit};

use crate::model::{Gate, Model};

/// Names of gates.
#[derive(Default)]
pub struct Gates<'m> {
    pub kubernetes: Vec<String>,
    pub declared: Vec<&'m Gate>,
}

impl<'m> Gates<'m> {
    /// Reads `server/machinery/src/features/table.rs` of the library; to these come the gates of
    /// the groups.
    pub fn read(library: &Path, model: &'m Model) -> Self {
        let text = std::fs::read_to_string(library.join("server/machinery/src/features/table.rs"));
        let file = text.ok().and_then(|text| syn::parse_file(&text).ok());
        let tables = file.iter().flat_map(|file| &file.items).filter_map(|item| match item {
            syn::Item::Static(table) => Some(&*table.expr),
            _ => None,
        });
        let kubernetes = tables.flat_map(entries).filter_map(name).collect();
        Gates { kubernetes, declared: model.groups.iter().flat_map(|group| &group.gates).collect() }
    }

    /// Whether there is a gate of this name. Without `machinery` nothing is checked.
    pub fn known(&self, name: &str) -> bool {
        self.kubernetes.is_empty() || self.names().any(|known| known == name)
    }

    /// All names that definitions can use.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kubernetes.iter().map(String::as_str).chain(self.declared.iter().map(|gate| gate.name.as_str()))
    }
}

/// The items of `&[..]`.
fn entries(table: &Expr) -> Vec<&Expr> {
    match table {
        Expr::Reference(reference) => entries(&reference.expr),
        Expr::Array(array) => array.elems.iter().collect(),
        _ => Vec::new(),
    }
}

/// The first argument of `Gate::new("NAME", ..)`.
fn name(entry: &Expr) -> Option<String> {
    let Expr::Call(call) = entry else { return None };
    match call.args.first() {
        Some(Expr::Lit(syn::ExprLit { lit: Lit::Str(name), .. })) => Some(name.value()),
        _ => None,
    }
}
