//! Feature gates: those that groups declare, and those that definitions name.
//!
//! Kubernetes' gates are read from the source of `machinery`, so that no second list exists.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use crate::model::{Gate, Model};

/// Names of gates.
#[derive(Default)]
pub struct Gates<'m> {
    pub kubernetes: Vec<String>,
    pub declared: Vec<&'m Gate>,
}

impl<'m> Gates<'m> {
    /// Reads the gates of `server/features/src/table.rs` in `library`, and adds the gates
    /// that the groups declare.
    pub fn read(library: &Path, model: &'m Model) -> Self {
        let text = std::fs::read_to_string(library.join("server/features/src/table.rs"));
        let file = text.ok().and_then(|text| syn::parse_file(&text).ok());
        let tables = file.iter().flat_map(|file| &file.items).filter_map(|item| match item {
            syn::Item::Macro(table) if table.mac.path.is_ident("gates") => Some(table.mac.tokens.clone()),
            _ => None,
        });
        let kubernetes = tables.flat_map(names_of_rows).collect();
        Gates { kubernetes, declared: model.groups.iter().flat_map(|group| &group.gates).collect() }
    }

    /// Whether a gate of this name exists. Always true if the source of `features` is not available.
    pub fn known(&self, name: &str) -> bool {
        self.kubernetes.is_empty() || self.names().any(|known| known == name)
    }

    /// All gate names that definitions can use.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kubernetes.iter().map(String::as_str).chain(self.declared.iter().map(|gate| gate.name.as_str()))
    }
}

/// The second token of each row of the table, which is the gate's name.
fn names_of_rows(table: TokenStream) -> Vec<String> {
    let (mut names, mut word) = (Vec::new(), 0);
    for token in table {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ',' => word = 0,
            TokenTree::Ident(name) => {
                word += 1;
                names.extend((word == 2).then(|| name.to_string()));
            }
            _ => {}
        }
    }
    names
}
