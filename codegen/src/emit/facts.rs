//! Facts that several emitters need and that follow from the whole model.

use super::rust::children;
use crate::model::{JsonForm, Model, Role, Struct, StructId};

/// See the module.
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

    /// Defaulting has something to do for its fields or below them.
    pub fn defaults_below(&self, id: StructId) -> bool {
        self.defaults_below[id.0]
    }

    /// It or a struct below has a `normalize` hatch, or objects that say their kinds.
    pub fn normalize_below(&self, id: StructId) -> bool {
        self.normalize_below[id.0]
    }

    /// It writes its JSON itself.
    pub fn direct(&self, id: StructId) -> bool {
        self.direct[id.0]
    }
}

/// For each struct, whether it or one that holds it is `#[direct]`. The objects themselves have few members, and their first two depend
/// on where they stand: that is left to the walk of descriptors, as are forms other than plain members.
fn below_direct(model: &Model) -> Vec<bool> {
    let mut held: Vec<bool> = vec![false; model.structs.len()];
    let mut pending: Vec<StructId> =
        (0..model.structs.len()).map(StructId).filter(|id| model.structs[id.0].direct).collect();
    while let Some(id) = pending.pop() {
        if !std::mem::replace(&mut held[id.0], true) {
            pending.extend(children(&model.structs[id.0]));
        }
    }
    let is_plain = |s: &Struct| s.role == Role::Part && !s.transparent && s.json_form == JsonForm::Fields;
    held.iter().zip(&model.structs).map(|(held, s)| *held && is_plain(s)).collect()
}

/// For each struct, whether it or anything below it satisfies `test`.
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
