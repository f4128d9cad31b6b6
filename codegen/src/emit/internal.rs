//! Emits internal types: the hub form of each kind. It is the hub version's own type, so these are
//! aliases.

use std::collections::BTreeMap;

use quote::quote;

use super::File;
use super::print::{self, Block};
use super::rust::{Paths, identifier, tokens};
use crate::model::{Model, Package};

/// `src/<module>/internal.rs` for each group with kinds.
pub fn files(model: &Model, package: Package) -> Vec<File> {
    let paths = Paths { model, package };
    let mut out = Vec::new();
    for group in model.groups.iter().filter(|g| g.package == package && !g.kinds.is_empty()) {
        let mut names = BTreeMap::new();
        for kind in &group.kinds {
            let own = kind.versions.iter().find_map(|v| {
                group.versions.iter().find(|g| g.name == v.version).and_then(|g| g.structs.get(&kind.name))
            });
            if let Some(&id) = own {
                let hub = paths.structure(id).conversion.as_ref().and_then(|c| c.hub).unwrap_or(id);
                names.insert(&kind.name, kind.stored_as.unwrap_or(hub));
            }
        }
        let aliases = names.into_iter().map(|(kind, id)| {
            let (kind, hub) = (identifier(kind), tokens(&paths.path(id)));
            quote! { pub type #kind = #hub; }
        });
        let aliases = Block::Items(aliases.collect());
        let bytes = print::file("The forms in which the versions of each kind meet.", &[aliases]);
        out.push(File { path: format!("src/{}/internal.rs", group.module), bytes });
    }
    out
}
