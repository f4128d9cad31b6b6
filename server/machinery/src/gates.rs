//! Fields of features: while its gate is off a field holds nothing, unless the stored object uses the feature already.

use crate::features::FeatureGates;
use crate::reflect::{Mut, Ref, Slot, Value};

/// Empties the fields of gates that are off, except of those that `old` uses (upstream: every kind's `dropDisabledFields`).
pub fn drop_disabled(features: &FeatureGates, new: Mut<'_>, old: Option<Ref<'_>>) {
    let gates = new.def().gates().iter().copied();
    let off: Vec<&str> = gates
        .filter(|gate| !features.enabled(gate))
        .filter(|gate| !old.is_some_and(|old| uses_gate(old, gate)))
        .collect();
    drop_all(new, &off);
}

/// Whether a field of the gate holds anything, in the struct or below it.
pub fn uses_gate(value: Ref<'_>, gate: &str) -> bool {
    let def = value.def();
    def.gates().contains(&gate)
        && def.fields.iter().enumerate().any(|(index, field)| {
            let value = value.get(index);
            (field.info.gate == gate && !value.is_empty()) || any_below(value, |below| uses_gate(below, gate))
        })
}

fn any_below(value: Value<'_>, mut check: impl FnMut(Ref<'_>) -> bool) -> bool {
    match value {
        Value::Struct(value) => check(value),
        Value::StructList(list) => list.iter().any(check),
        Value::StructMap(map) => {
            let mut any = false;
            map.for_each(|_, value| any |= check(value));
            any
        }
        _ => false,
    }
}

fn drop_all(mut value: Mut<'_>, off: &[&str]) {
    let def = value.def();
    if !def.gates().iter().any(|gate| off.contains(gate)) {
        return;
    }
    for (index, field) in def.fields.iter().enumerate() {
        let slot = value.slot(index);
        if off.contains(&field.info.gate) {
            slot.clear();
            continue;
        }
        match slot {
            Slot::Struct(below) => drop_all(below, off),
            Slot::OptStruct(below) => {
                if let Some(below) = below.get() {
                    drop_all(below, off);
                }
            }
            Slot::StructList(mut list) => list.for_each(|below| drop_all(below, off)),
            Slot::StructMap(mut map) => map.for_each(|_, below| drop_all(below, off)),
            _ => {}
        }
    }
}
