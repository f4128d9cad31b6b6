//! Feature gates that definitions may name, read from `machinery` itself so that there is no second list.

use std::path::Path;

use syn::{Expr, Lit};

/// Names of gates.
#[derive(Default)]
pub struct Gates(Vec<String>);

impl Gates {
    /// Reads `server/machinery/src/features/table.rs` of the library.
    pub fn read(library: &Path) -> Gates {
        let text = std::fs::read_to_string(library.join("server/machinery/src/features/table.rs"));
        let file = text.ok().and_then(|text| syn::parse_file(&text).ok());
        let tables = file.iter().flat_map(|file| &file.items).filter_map(|item| match item {
            syn::Item::Static(table) => Some(&*table.expr),
            _ => None,
        });
        Gates(tables.flat_map(entries).filter_map(name).collect())
    }

    /// Whether there is a gate of this name. Without `machinery` nothing is checked.
    pub fn known(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|known| known == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
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
