//! List items without any key field. Upstream does not track the fields of an object with such an item.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foldhash::fast::FixedState;
use machinery::def::{JsonForm, Shape, StructDef};
use machinery::reflect::{Ref, Value};

use crate::schema::keys_to_miss;

/// A field with a keyed list, or with structs that may contain one.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    /// The key fields of the list, if an item may lack all of them.
    keys: &'static [&'static str],
}

/// Places by the address of their struct.
type Places = HashMap<usize, Arc<[Place]>, FixedState>;

/// The places of each struct, filled on first use.
static PLACES: LazyLock<RwLock<Places>> = LazyLock::new(RwLock::default);

/// Returns whether a struct of this type may contain an item without keys.
pub fn may_miss_keys(def: &'static StructDef) -> bool {
    !places(def).is_empty()
}

/// Returns whether all items of keyed lists have at least one of their keys.
pub fn items_have_keys(value: Ref<'_>) -> bool {
    places(value.def()).iter().all(|place| match value.get(place.index) {
        Value::Struct(below) => items_have_keys(below),
        Value::StructList(items) => items.iter().all(|item| has_key(place.keys, item) && items_have_keys(item)),
        Value::StructMap(entries) => {
            let mut all = true;
            entries.for_each(|_, entry| all &= items_have_keys(entry));
            all
        }
        _ => true,
    })
}

fn has_key(keys: &[&str], item: Ref<'_>) -> bool {
    keys.is_empty() || keys.iter().any(|key| item.by_name(key).is_some_and(|value| !value.is_empty()))
}

fn places(def: &'static StructDef) -> Arc<[Place]> {
    let address = std::ptr::from_ref(def) as usize;
    if let Some(known) = PLACES.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
        return known.clone();
    }
    let place = |(index, field)| {
        let keys = keys_to_miss(field).unwrap_or_default();
        let is_one = !keys.is_empty() || below(field).is_some_and(|def| has_place(def, &mut Vec::new()));
        is_one.then_some(Place { index, keys })
    };
    let found: Arc<[Place]> = match def.json_form {
        JsonForm::Fields => def.fields.iter().enumerate().filter_map(place).collect(),
        _ => Arc::default(),
    };
    PLACES.write().unwrap_or_else(PoisonError::into_inner).insert(address, found.clone());
    found
}

/// Returns whether a struct contains a place at any depth. Types may be recursive.
fn has_place(def: &'static StructDef, seen: &mut Vec<*const StructDef>) -> bool {
    if def.json_form != JsonForm::Fields || seen.contains(&std::ptr::from_ref(def)) {
        return false;
    }
    seen.push(def);
    def.fields.iter().any(|field| keys_to_miss(field).is_some() || below(field).is_some_and(|def| has_place(def, seen)))
}

fn below(field: &machinery::def::FieldDef) -> Option<&'static StructDef> {
    match field.shape() {
        Shape::Struct(def) | Shape::OptStruct(def) | Shape::StructList(def, _) | Shape::StructMap(def, _) => Some(def),
        Shape::One(_) | Shape::Opt(_) | Shape::List(_) | Shape::Map(_) => None,
    }
}
