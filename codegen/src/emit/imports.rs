//! Imports of a file of generated types, derived from the model and not from the text.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::descriptor::{constraints, field_info, has_defaults, json_form};
use super::print::Block;
use super::rust::{identifier, tokens};
use crate::model::{Field, JsonForm, Model, Role, Struct, TypeRef};

/// Imports that the structs of a file need.
pub fn of(structs: &[&Struct], model: &Model) -> Vec<Block> {
    let fields = || structs.iter().flat_map(|s| &s.fields);
    let any_struct = |test: fn(&Struct) -> bool| structs.iter().any(|s| test(s));
    let any_field = |test: fn(&Field) -> bool| fields().any(test);
    let line = |module: &str, names: &[(&str, bool)]| -> TokenStream {
        let used: Vec<_> = names.iter().filter(|(_, is_used)| *is_used).map(|(used, _)| identifier(used)).collect();
        let module = tokens(module);
        match used.as_slice() {
            [] => TokenStream::new(),
            [one] => quote! { use #module::#one; },
            several => quote! { use #module::{#(#several),*}; },
        }
    };
    let mut types = BTreeSet::new();
    fields().for_each(|field| named_types(&field.ty, &mut types));
    let of_machinery = |module: &str, name| line(module, &[(name, types.contains(name))]);
    let any_row = any_struct(|s| s.role != Role::Part || !s.fields.is_empty());
    let any_info = structs.iter().any(|s| s.fields.iter().any(|field| !field_info(field, s, model).is_empty()));
    let def = [
        ("Constraint", any_field(|field| !constraints(field).is_empty())),
        ("Defaults", any_struct(has_defaults)),
        ("FieldInfo", any_info),
        ("Flags", any_row),
        ("JsonForm", any_struct(|s| json_form(s) != JsonForm::Fields)),
        ("ListType", any_field(|field| field.list.is_some())),
        ("Literal", any_struct(|s| !s.path_defaults.is_empty()) || any_field(|field| field.default.is_some())),
        ("PatchStrategy", any_field(|field| field.patch_strategy.is_some())),
        ("RuleDef", any_struct(|s| !s.rules.is_empty())),
        ("UnionDef", any_struct(|s| !s.unions.is_empty())),
    ];
    let checks = [
        ("Assertion", any_struct(|s| s.checks.iter().any(|check| !check.assertions.is_empty()))),
        ("CheckDef", any_struct(|s| !s.checks.is_empty())),
        ("Condition", any_struct(|s| s.checks.iter().any(|check| !check.when.is_empty()))),
    ];
    let scalars: Vec<(&str, bool)> = SCALARS.iter().map(|name| (*name, types.contains(name))).collect();
    let others = [
        of_machinery("bytes", "Bytes"),
        line("machinery::checks", &checks),
        line("machinery::def", &def),
        line("machinery", &[("describe", !structs.is_empty())]),
        line("machinery::scalar", &scalars),
        line("machinery::type_meta", &[("TypeMeta", any_struct(|s| s.role != Role::Part))]),
    ];
    let groups = [of_machinery("std::collections", "BTreeMap"), others.into_iter().collect()];
    groups.into_iter().filter(|imports| !imports.is_empty()).map(Block::Items).collect()
}

/// Types of `machinery::scalar` that fields may have.
const SCALARS: [&str; 8] =
    ["Duration", "FieldsV1", "IntOrString", "JsonValue", "MicroTime", "Quantity", "RawExtension", "Time"];

/// Collects the names in a type's Rust form that need an import.
fn named_types(ty: &TypeRef, names: &mut BTreeSet<&'static str>) {
    let name = match ty {
        TypeRef::String | TypeRef::Enum(_) | TypeRef::Struct(_) => return,
        TypeRef::Bool | TypeRef::I32 | TypeRef::I64 | TypeRef::F64 => return,
        TypeRef::Bytes => "Bytes",
        TypeRef::Quantity => "Quantity",
        TypeRef::Time => "Time",
        TypeRef::MicroTime => "MicroTime",
        TypeRef::Duration => "Duration",
        TypeRef::IntOrString => "IntOrString",
        TypeRef::RawExtension => "RawExtension",
        TypeRef::FieldsV1 => "FieldsV1",
        TypeRef::Json => "JsonValue",
        TypeRef::List(item) => return named_types(item, names),
        TypeRef::Map(value) => {
            named_types(value, names);
            "BTreeMap"
        }
    };
    names.insert(name);
}
