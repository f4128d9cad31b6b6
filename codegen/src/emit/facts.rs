//! Facts about the whole model that several emitters need.

use std::collections::HashMap;

use super::rust::children;
use crate::model::{JsonForm, Model, Package, Role, Struct, StructId};

/// See the module documentation.
pub struct Facts {
    defaults_below: Vec<bool>,
    normalize_below: Vec<bool>,
    direct: Vec<bool>,
}

impl Facts {
    pub fn new(model: &Model) -> Self {
        let field_default = |s: &Struct| s.fields.iter().any(|f| f.default.is_some());
        let own_defaults = |s: &Struct| field_default(s) || !s.path_defaults.is_empty() || s.default_by_hand.is_some();
        let defaults = reach(model, own_defaults);
        let normalize = reach(model, |s| s.normalize.is_some() || s.fields.iter().any(|f| f.says_kind));
        let below = |s: &Struct, flags: &[bool]| children(s).any(|child| flags[child.0]);
        Facts {
            defaults_below: model.structs.iter().map(|s| field_default(s) || below(s, &defaults)).collect(),
            normalize_below: normalize,
            direct: below_direct(model),
        }
    }

    /// Whether defaulting applies to the struct or to anything below it.
    pub fn defaults_below(&self, id: StructId) -> bool {
        self.defaults_below[id.0]
    }

    /// Whether the struct or one below it has a `normalize` function, or items with the word
    /// `says_kind`.
    pub fn normalize_below(&self, id: StructId) -> bool {
        self.normalize_below[id.0]
    }

    /// Whether dedicated code writes the JSON of the struct.
    pub fn direct(&self, id: StructId) -> bool {
        self.direct[id.0]
    }
}

/// Returns for each struct whether it or an enclosing struct of its package is `#[direct]`.
///
/// The word does not apply to structs of other packages, whose sources must not depend on this one.
/// Objects themselves are excluded, as are forms other than plain members, and use the
/// descriptor-based writer: objects have few members, and their first two depend on the place in the
/// document.
fn below_direct(model: &Model) -> Vec<bool> {
    let packages: HashMap<&str, Package> =
        model.groups.iter().map(|group| (group.module.as_str(), group.package)).collect();
    let package = |id: StructId| packages.get(model.structs[id.0].module.as_str());
    let mut held: Vec<bool> = vec![false; model.structs.len()];
    let mut pending: Vec<StructId> =
        (0..model.structs.len()).map(StructId).filter(|id| model.structs[id.0].direct).collect();
    while let Some(id) = pending.pop() {
        if !std::mem::replace(&mut held[id.0], true) {
            pending.extend(children(&model.structs[id.0]).filter(|child| package(*child) == package(id)));
        }
    }
    let is_plain = |s: &Struct| s.role == Role::Part && !s.transparent && s.json_form == JsonForm::Fields;
    held.iter().zip(&model.structs).map(|(held, s)| *held && is_plain(s)).collect()
}

/// Returns for each struct whether it or anything below it satisfies `test`.
fn reach(model: &Model, test: impl Fn(&Struct) -> bool) -> Vec<bool> {
    let mut flags: Vec<bool> = model.structs.iter().map(test).collect();
    loop {
        let mut changed = false;
        for (index, s) in model.structs.iter().enumerate() {
            if !flags[index] && children(s).any(|child| flags[child.0]) {
                flags[index] = true;
                changed = true;
            }
        }
        if !changed {
            return flags;
        }
    }
}
