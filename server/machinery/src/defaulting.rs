//! Defaulting and normalization: the effect of upstream's `SetDefaults_*` functions and of its
//! conversion through the internal types.
//!
//! Constants are data of the descriptors; hand-written functions set what depends on other fields.
//! Subtrees without defaults are skipped.

use crate::def::{Defaults, Flags, Literal, StructDef};
use crate::protobuf::set_embedded_kind;
use crate::reflect::{ListMut, MapMut, Mut, OneMut, OptMut, Owned, Slot, StructListMut};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

mod literal;

use crate::reflect::each_struct;
use literal::FromLiteral;

/// Applies the defaults of a struct and of all structs below it.
///
/// The order is upstream's: constants of the struct, its hand-written function, constants of its
/// fields, then the structs in each field.
pub fn apply_defaults(mut into: Mut<'_>) {
    let def = into.def();
    if let Some(defaults) = def.defaults {
        apply_own(&mut into, defaults);
    }
    let tables = def.tables();
    for &i in &tables.defaulted {
        if let Some(default) = def.fields[i as usize].info.default {
            fill(into.slot(i as usize), default);
        }
    }
    for &i in &tables.defaults_below {
        each_struct(into.slot(i as usize), &mut apply_defaults);
    }
}

/// Runs the `normalize` functions of a struct and of all structs below it, parents first, and sets
/// kind and version of embedded objects.
pub fn normalize(mut value: Mut<'_>) {
    let def = value.def();
    if let Some(normalize) = def.normalize {
        normalize(value.reborrow());
    }
    for (i, field) in def.fields.iter().enumerate() {
        if field.flags.has(Flags::EMBEDS_TYPE_META) {
            each_struct(value.slot(i), &mut set_embedded_kind);
        }
        if field.shape().struct_def().is_some_and(|d| d.normalize.is_some() || d.normalize_below) {
            each_struct(value.slot(i), &mut normalize);
        }
    }
}

/// Whether [`apply_defaults`] changes a struct of this type or one below it.
pub fn has_defaults(def: &StructDef) -> bool {
    def.has_defaults()
}

fn apply_own(into: &mut Mut<'_>, defaults: &Defaults) {
    for (path, literal) in defaults.paths {
        fill_path(into.reborrow(), path, *literal);
    }
    if let Some(by_hand) = defaults.by_hand {
        by_hand(into.reborrow());
    }
}

/// Sets the leaf of a path in every present struct on the path. Lists and maps are processed item
/// by item.
fn fill_path(mut at: Mut<'_>, path: &[&str], literal: Literal) {
    let Some((name, rest)) = path.split_first() else { return };
    let Some(slot) = at.by_name(name) else { return };
    if rest.is_empty() {
        fill(slot, literal);
    } else {
        each_struct(slot, &mut |s| fill_path(s, rest, literal));
    }
}

/// Sets a field that is absent, zero or empty. Ignores a literal of the wrong type: the generator
/// has checked all literals.
fn fill(slot: Slot<'_>, literal: Literal) {
    match slot {
        Slot::One(one) => fill_one(one, literal),
        Slot::Opt(opt) => fill_opt(opt, literal),
        Slot::List(list) => fill_list(list, literal),
        Slot::Map(map) => fill_map(map, literal),
        Slot::Struct(s) => {
            if s.as_ref() == Owned::new(s.def()).as_ref() {
                fill_members(s, literal);
            }
        }
        Slot::OptStruct(s) => {
            if !s.is_some() && matches!(literal, Literal::Object(_)) {
                fill_members(s.get_or_insert(), literal);
            }
        }
        Slot::StructList(list) => fill_structs(list, literal),
        Slot::StructMap(mut map) => {
            if let (true, Literal::Object(entries)) = (map.as_map().is_empty(), literal) {
                entries.iter().for_each(|(key, value)| fill_members(map.entry((*key).to_owned()), *value));
            }
        }
    }
}

fn fill_structs(mut list: StructListMut<'_>, literal: Literal) {
    if let (true, Literal::List(items)) = (list.as_list().is_empty(), literal) {
        items.iter().for_each(|item| fill_members(list.push(), *item));
    }
}

fn fill_members(mut into: Mut<'_>, literal: Literal) {
    let Literal::Object(members) = literal else { return };
    for (name, value) in members {
        if let Some(slot) = into.by_name(name) {
            fill(slot, *value);
        }
    }
}

macro_rules! per_scalar {
    ($($variant:ident: $ty:ty),* $(,)?) => {
        fn fill_one(slot: OneMut<'_>, literal: Literal) {
            match slot {
                $(OneMut::$variant(v) => if *v == <$ty>::default() && let Some(new) = <$ty>::from_literal(literal) {
                    *v = new;
                }),*
            }
        }

        fn fill_opt(slot: OptMut<'_>, literal: Literal) {
            match slot {
                $(OptMut::$variant(v) => if v.is_none() {
                    *v = FromLiteral::from_literal(literal);
                }),*
            }
        }

        fn fill_list(slot: ListMut<'_>, literal: Literal) {
            let Literal::List(items) = literal else { return };
            match slot {
                $(ListMut::$variant(v) => if v.is_empty() {
                    v.extend(items.iter().filter_map(|item| <$ty>::from_literal(*item)));
                }),*
            }
        }

        fn fill_map(slot: MapMut<'_>, literal: Literal) {
            let Literal::Object(entries) = literal else { return };
            match slot {
                $(MapMut::$variant(v) => if v.is_empty() {
                    v.extend(entries.iter().filter_map(|(key, value)| Some(((*key).to_owned(), <$ty>::from_literal(*value)?))));
                }),*
            }
        }
    };
}
per_scalar!(
    Bool: bool, I32: i32, I64: i64, F64: f64, String: String, Bytes: bytes::Bytes, Quantity: Quantity, Time: Time,
    MicroTime: MicroTime, Duration: Duration, IntOrString: IntOrString, RawExtension: RawExtension,
    FieldsV1: FieldsV1, Json: JsonValue, Document: Document,
);

#[cfg(test)]
mod tests;
