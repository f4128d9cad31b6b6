//! Facts that several emitters need and that follow from the whole model.

use super::types::children;
use crate::model::{Model, Struct, StructId};

/// See the module.
pub struct Facts {
    defaults_below: Vec<bool>,
    normalize_below: Vec<bool>,
}

impl Facts {
    pub fn new(model: &Model) -> Self {
        let field_default = |s: &Struct| s.fields.iter().any(|f| f.default.is_some());
        let own_defaults = |s: &Struct| field_default(s) || !s.path_defaults.is_empty() || s.default_by_hand.is_some();
        let defaults = reach(model, own_defaults);
        let normalize = reach(model, |s| s.normalize.is_some());
        let below = |s: &Struct, flags: &[bool]| children(s).any(|child| flags[child.0]);
        Facts {
            defaults_below: model.structs.iter().map(|s| field_default(s) || below(s, &defaults)).collect(),
            normalize_below: normalize,
        }
    }

    /// Defaulting has something to do for its fields or below them.
    pub fn defaults_below(&self, id: StructId) -> bool {
        self.defaults_below[id.0]
    }

    /// It or a struct below has a `normalize` hatch.
    pub fn normalize_below(&self, id: StructId) -> bool {
        self.normalize_below[id.0]
    }
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
