//! Gated fields: while its gate is disabled, a field is dropped, unless the stored object already
//! uses it.

use crate::def::{FieldDef, Shape};
use crate::features::FeatureGates;
use crate::features::{NameId, NameSet};
use crate::reflect::{GatedField, List, Map, Mut, Ref, Slot, Value};

/// Drops the fields of disabled gates, except those that `old` uses (upstream: every kind's
/// `dropDisabledFields`).
pub fn drop_disabled(features: &FeatureGates, new: Mut<'_>, old: Option<Ref<'_>>) {
    let disabled = new.def().gate_set().without(features.all_enabled());
    let is_dropped = |gate: &NameId| !old.is_some_and(|old| uses_any(old, &NameSet::from_iter([*gate])));
    drop_all(new, &disabled.iter().filter(is_dropped).collect());
}

/// Whether [`drop_disabled`] would drop a field of a new object.
pub fn uses_disabled(features: &FeatureGates, new: Ref<'_>) -> bool {
    uses_any(new, &new.def().gate_set().without(features.all_enabled()))
}

/// Whether a field of the gate is used, or some field has a gated value, in the struct or below it.
pub fn uses_gate(value: Ref<'_>, gate: &str) -> bool {
    // Before the lookup by name: this numbers the gates of the struct.
    let gates = value.def().gate_set();
    let is_used = |gate: NameId| gates.contains(gate) && uses_any(value, &NameSet::from_iter([gate]));
    NameId::known(gate).is_some_and(is_used)
}

fn uses_any(value: Ref<'_>, gates: &NameSet) -> bool {
    let def = value.def();
    def.gate_set().meets(gates)
        && def.gated_fields().iter().any(|gated| {
            let (field, value) = (&def.fields[gated.index], value.get(gated.index));
            (gated.gate.is_some_and(|gate| gates.contains(gate)) && is_used(field, value))
                || has_value_of_any(gated, value, gates)
                || any_below(value, |below| uses_any(below, gates))
        })
}

/// Whether a field has a value of one of the gates.
fn has_value_of_any(field: &GatedField, value: Value<'_>, gates: &NameSet) -> bool {
    let is_gated = |text: &str| field.values.iter().any(|(value, gate)| *value == text && gates.contains(*gate));
    match value {
        _ if field.values.is_empty() => false,
        Value::String(text) => is_gated(text),
        Value::List(List::String(items)) => items.iter().any(|text| is_gated(text)),
        Value::Map(Map::String(entries)) => entries.values().any(|text| is_gated(text)),
        _ => false,
    }
}

/// Whether a field is used. An optional field is also used if a zero or an empty struct was sent.
fn is_used(field: &FieldDef, value: Value<'_>) -> bool {
    match field.shape() {
        Shape::Opt(_) | Shape::OptStruct(_) => !matches!(value, Value::Null),
        _ => !value.is_empty(),
    }
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

/// Drops the gated fields. Returns true if the struct must be dropped, too: see
/// [`FieldInfo::gate_with_struct`](crate::def::FieldInfo::gate_with_struct).
fn drop_all(mut value: Mut<'_>, off: &NameSet) -> bool {
    let def = value.def();
    if !def.gate_set().meets(off) {
        return false;
    }
    let mut may_go = false;
    for gated in def.gated_fields() {
        let (index, field) = (gated.index, &def.fields[gated.index]);
        if gated.gate.is_some_and(|gate| off.contains(gate)) {
            may_go |= field.info.gate_with_struct && is_used(field, value.as_ref().get(index));
            value.slot(index).clear();
            continue;
        }
        match value.slot(index) {
            Slot::Struct(below) => {
                drop_all(below, off);
            }
            Slot::OptStruct(below) => {
                let goes = below.get().is_some_and(|below| drop_all(below, off));
                if goes {
                    value.slot(index).clear();
                }
            }
            Slot::StructList(mut list) => list.for_each(|below| {
                drop_all(below, off);
            }),
            Slot::StructMap(mut map) => map.for_each(|_, below| {
                drop_all(below, off);
            }),
            _ => {}
        }
    }
    let value = value.as_ref();
    may_go && !def.fields.iter().enumerate().any(|(index, field)| is_used(field, value.get(index)))
}
