//! The merge behaviour of descriptors, as upstream's OpenAPI has it.

use machinery::def::Scalar as Declared;
use machinery::def::{FieldDef, Flags, JsonForm, ListType, Literal, PatchStrategy, Shape, StructDef};
use serde_json::Value;

use super::{Atom, KeyFields, List, ListKind, Map, MapFields, Scalar, SchemaType};

pub(super) fn of_struct(def: &'static StructDef, atomic: bool) -> Atom<'static> {
    match def.json_form {
        JsonForm::Fields => {
            let is_empty = def.json_fields().len() == 0;
            let (fields, element) = match is_empty {
                true => (MapFields::None, Some(SchemaType::Deduced)),
                false => (MapFields::Declared(def), None),
            };
            Atom { map: Some(Map { atomic, fields, element }), ..Atom::default() }
        }
        JsonForm::Items => {
            let items = match def.fields.first().map(FieldDef::shape) {
                Some(Shape::StructList(inner, _)) => SchemaType::Struct(inner),
                _ => SchemaType::Text,
            };
            Atom { list: Some(List { kind: ListKind::Atomic, items }), ..Atom::default() }
        }
        // An unstructured type has a schema of its own, if any.
        JsonForm::SchemaOrArray | JsonForm::SchemaOrBool | JsonForm::SchemaOrStrings | JsonForm::Open => {
            SchemaType::Deduced.atom()
        }
    }
}

pub(super) fn of_field(field: &'static FieldDef) -> Atom<'static> {
    match field.shape() {
        Shape::One(scalar) | Shape::Opt(scalar) => of_scalar(scalar),
        Shape::Struct(def) | Shape::OptStruct(def) => of_struct(def, field.info.map_atomic.unwrap_or(def.atomic)),
        Shape::List(_) | Shape::StructList(..) => {
            Atom { list: Some(List { kind: list_kind(field), items: SchemaType::Item(field) }), ..Atom::default() }
        }
        Shape::Map(_) | Shape::StructMap(..) => {
            let atomic = field.info.map_atomic == Some(true);
            let map = Map { atomic, fields: MapFields::None, element: Some(SchemaType::Item(field)) };
            Atom { map: Some(map), ..Atom::default() }
        }
    }
}

pub(super) fn of_item(field: &'static FieldDef) -> Atom<'static> {
    match field.shape() {
        Shape::One(scalar) | Shape::Opt(scalar) | Shape::List(scalar) | Shape::Map(scalar) => of_scalar(scalar),
        Shape::Struct(def) | Shape::OptStruct(def) | Shape::StructList(def, _) | Shape::StructMap(def, _) => {
            of_struct(def, def.atomic)
        }
    }
}

/// Returns the list type; an undeclared one follows from the patch strategy, as in `schemaconv`.
fn list_kind(field: &'static FieldDef) -> ListKind<'static> {
    let merges = matches!(field.info.patch_strategy, PatchStrategy::Merge | PatchStrategy::MergeRetainKeys);
    match field.info.list {
        ListType::Atomic => ListKind::Atomic,
        ListType::Set => ListKind::Set,
        ListType::Map(keys) => ListKind::Map(KeyFields::Declared(keys)),
        ListType::Unset if !merges => ListKind::Atomic,
        ListType::Unset if field.info.patch_merge_key.is_empty() => ListKind::Set,
        ListType::Unset => ListKind::Map(KeyFields::Declared(std::slice::from_ref(&field.info.patch_merge_key))),
    }
}

/// Returns the key fields of a list, if an item may lack all of them.
pub(crate) fn keys_to_miss(field: &'static FieldDef) -> Option<&'static [&'static str]> {
    let (Shape::StructList(items, _), ListKind::Map(KeyFields::Declared(keys))) = (field.shape(), list_kind(field))
    else {
        return None;
    };
    let is_missed = |field: &'static FieldDef| field.flags.has(Flags::OMIT_EMPTY) && default_of(field).is_none();
    keys.iter().all(|key| items.json_field(key).is_some_and(is_missed)).then_some(keys)
}

fn of_scalar(scalar: Declared) -> Atom<'static> {
    let scalar = match scalar {
        Declared::Bool => Scalar::Boolean,
        Declared::I32 | Declared::I64 | Declared::F64 => Scalar::Numeric,
        Declared::String | Declared::Bytes | Declared::Duration => Scalar::String,
        Declared::Time | Declared::MicroTime | Declared::Quantity => Scalar::Untyped,
        // OpenAPI v3 has no type for these.
        Declared::IntOrString | Declared::Json | Declared::Document => {
            return SchemaType::Deduced.atom();
        }
        Declared::RawExtension => return SchemaType::Untyped.atom(),
        // The contents are owned as a whole.
        Declared::FieldsV1 => {
            let map = Map { atomic: true, fields: MapFields::None, element: Some(SchemaType::Untyped) };
            return Atom { map: Some(map), ..Atom::default() };
        }
    };
    Atom { scalar: Some(scalar), ..Atom::default() }
}

/// Returns the default in OpenAPI: the declared one, or the zero value of a scalar that is always serialized.
pub(super) fn default_of(field: &'static FieldDef) -> Option<Value> {
    if let Some(literal) = field.info.default {
        return Some(of_literal(literal));
    }
    if field.flags.has(Flags::OMIT_EMPTY) {
        return None;
    }
    match field.shape() {
        Shape::One(Declared::Bool) => Some(false.into()),
        Shape::One(Declared::I32 | Declared::I64 | Declared::F64) => Some(0.into()),
        Shape::One(Declared::String) => Some("".into()),
        _ => None,
    }
}

fn of_literal(literal: Literal) -> Value {
    match literal {
        Literal::Bool(flag) => flag.into(),
        Literal::Int(number) => number.into(),
        Literal::Float(number) => number.into(),
        Literal::String(text) => text.into(),
        Literal::List(items) => items.iter().map(|&item| of_literal(item)).collect(),
        Literal::Object(members) => members.iter().map(|&(key, value)| (key, of_literal(value))).collect(),
    }
}
