//! Deep copies of Go types, in the form that `deepcopy-gen` of Kubernetes generates.

use std::fmt::Write;

use super::go::names::{Imports, field_name, file, is_pointer, of};
use super::{ClientGroupVersion, Home};
use crate::model::{Field, Role, Struct, StructId, TypeRef};

/// `zz_generated.deepcopy.go`
pub(super) fn copies(part: ClientGroupVersion<'_>) -> String {
    let (mut imports, mut body) = (Imports::default(), String::new());
    for (_, one) in part.structs() {
        body.push_str(&structure(part, one, &mut imports));
        if part.kind(one).is_some() {
            let list = format!("{}List", one.name);
            let copies = "\tout.TypeMeta = in.TypeMeta\n\tin.ListMeta.DeepCopyInto(&out.ListMeta)\n";
            let items = slice("Items", &one.name, true);
            body.push_str(&functions(&list, &format!("{copies}{items}"), true, &mut imports));
        }
    }
    file(part, "", &imports, &body)
}

/// The functions of a type; `copies` are the statements that copy references.
fn functions(name: &str, copies: &str, is_object: bool, imports: &mut Imports) -> String {
    let mut text = format!(
        "// DeepCopyInto copies the receiver, writing into out. in must be non-nil.\n\
         func (in *{name}) DeepCopyInto(out *{name}) {{\n\t*out = *in\n{copies}}}\n\n\
         // DeepCopy copies the receiver, creating a new {name}.\n\
         func (in *{name}) DeepCopy() *{name} {{\n\tif in == nil {{\n\t\treturn nil\n\t}}\n\
         \tout := new({name})\n\tin.DeepCopyInto(out)\n\treturn out\n}}\n\n"
    );
    if is_object {
        let _ = write!(
            text,
            "// DeepCopyObject copies the receiver, creating a new runtime.Object.\n\
             func (in *{name}) DeepCopyObject() {}.Object {{\n\tif c := in.DeepCopy(); c != nil {{\n\t\treturn c\n\t}}\n\
             \treturn nil\n}}\n\n",
            imports.known("runtime")
        );
    }
    text
}

fn structure(part: ClientGroupVersion<'_>, one: &Struct, imports: &mut Imports) -> String {
    let is_object = one.role != Role::Part;
    let mut copies = String::new();
    if is_object {
        copies.push_str("\tout.TypeMeta = in.TypeMeta\n");
    }
    for field in &one.fields {
        let is_metadata = is_object && field.json == "metadata";
        let name = if is_metadata { "ObjectMeta".into() } else { name_of(part, field) };
        copies.push_str(&copy(part, field, &name, imports));
    }
    functions(&one.name, &copies, is_object, imports)
}

/// The name of a field, or of an embedded type.
fn name_of(part: ClientGroupVersion<'_>, field: &Field) -> String {
    match (field.json.as_str(), &field.ty) {
        ("", TypeRef::Struct(id)) => part.model.structs[id.0].name.clone(),
        _ => field_name(field),
    }
}

/// Statements that copy a field, beyond the assignment of the whole struct; empty for a field without
/// references.
fn copy(part: ClientGroupVersion<'_>, field: &Field, name: &str, imports: &mut Imports) -> String {
    match &field.ty {
        TypeRef::List(item) => slice_of(part, name, item, &of(part, item, imports)),
        TypeRef::Map(value) => map_of(part, name, value, &of(part, value, imports)),
        TypeRef::Bytes => slice(name, "byte", false),
        _ if is_pointer(field) => {
            let ty = of(part, &field.ty, imports);
            let inner =
                if has_references(part, &field.ty) { "\t\t(*in).DeepCopyInto(*out)\n" } else { "\t\t**out = **in\n" };
            format!(
                "\tif in.{name} != nil {{\n\t\tin, out := &in.{name}, &out.{name}\n\t\t*out = new({ty})\n{inner}\t}}\n"
            )
        }
        of if has_references(part, of) => format!("\tin.{name}.DeepCopyInto(&out.{name})\n"),
        _ => String::new(),
    }
}

/// Statements that copy a list, either item by item or as a whole.
fn slice(name: &str, item: &str, each: bool) -> String {
    let items = if each {
        "\t\tfor i := range *in {\n\t\t\t(*in)[i].DeepCopyInto(&(*out)[i])\n\t\t}\n"
    } else {
        "\t\tcopy(*out, *in)\n"
    };
    format!(
        "\tif in.{name} != nil {{\n\t\tin, out := &in.{name}, &out.{name}\n\t\t*out = make([]{item}, len(*in))\n{items}\t}}\n"
    )
}

fn slice_of(part: ClientGroupVersion<'_>, name: &str, item: &TypeRef, ty: &str) -> String {
    match item {
        TypeRef::List(_) | TypeRef::Map(_) | TypeRef::Bytes => {
            let inner = nested(part, item, ty, "(*in)[i]", "(*out)[i]", "\t\t\t");
            format!(
                "\tif in.{name} != nil {{\n\t\tin, out := &in.{name}, &out.{name}\n\t\t*out = make([]{ty}, len(*in))\n\
                 \t\tfor i := range *in {{\n{inner}\t\t}}\n\t}}\n"
            )
        }
        _ => slice(name, ty, has_references(part, item)),
    }
}

fn map_of(part: ClientGroupVersion<'_>, name: &str, value: &TypeRef, ty: &str) -> String {
    let inner = nested(part, value, ty, "val", "(*out)[key]", "\t\t\t");
    format!(
        "\tif in.{name} != nil {{\n\t\tin, out := &in.{name}, &out.{name}\n\t\t*out = make(map[string]{ty}, len(*in))\n\
         \t\tfor key, val := range *in {{\n{inner}\t\t}}\n\t}}\n"
    )
}

/// Statements that copy a value within a list or map.
fn nested(part: ClientGroupVersion<'_>, of: &TypeRef, ty: &str, from: &str, to: &str, indent: &str) -> String {
    // Each depth has its own variable names.
    let depth = indent.len();
    let (copy, index, key, value) =
        (format!("c{depth}"), format!("i{depth}"), format!("key{depth}"), format!("val{depth}"));
    let made = |body: &str| {
        format!(
            "{indent}if {from} != nil {{\n{indent}\t{copy} := make({ty}, len({from}))\n{body}{indent}\t{to} = {copy}\n{indent}}}\n"
        )
    };
    match of {
        TypeRef::List(item) if has_references(part, item) => {
            let below = format!("{indent}\t\t");
            let ty = ty.trim_start_matches("[]");
            let inner = nested(part, item, ty, &format!("{from}[{index}]"), &format!("{copy}[{index}]"), &below);
            made(&format!("{indent}\tfor {index} := range {from} {{\n{inner}{indent}\t}}\n"))
        }
        TypeRef::List(_) | TypeRef::Bytes => made(&format!("{indent}\tcopy({copy}, {from})\n")),
        TypeRef::Map(inside) => {
            let below = format!("{indent}\t\t");
            let ty = ty.trim_start_matches("map[string]");
            let inner = nested(part, inside, ty, &value, &format!("{copy}[{key}]"), &below);
            made(&format!("{indent}\tfor {key}, {value} := range {from} {{\n{inner}{indent}\t}}\n"))
        }
        // `Quantity.DeepCopy` returns a value and no pointer.
        TypeRef::Quantity => format!("{indent}{to} = {from}.DeepCopy()\n"),
        of if has_references(part, of) => format!("{indent}{to} = *{from}.DeepCopy()\n"),
        _ => format!("{indent}{to} = {from}\n"),
    }
}

/// Whether an assignment of the type would share memory with the original.
fn has_references(part: ClientGroupVersion<'_>, ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Struct(id) => match part.home_of_struct(*id) {
            // Types of other packages always have the function.
            Home::Here => struct_has_references(part, *id, &mut Vec::new()),
            Home::Elsewhere(..) | Home::Kubernetes(..) => true,
        },
        TypeRef::List(_) | TypeRef::Map(_) | TypeRef::Bytes => true,
        TypeRef::Quantity
        | TypeRef::Time
        | TypeRef::MicroTime
        | TypeRef::RawExtension
        | TypeRef::FieldsV1
        | TypeRef::Json => true,
        _ => false,
    }
}

/// Whether a struct of the package has references. A struct without references has the function too;
/// assignment is only shorter.
fn struct_has_references(part: ClientGroupVersion<'_>, id: StructId, open: &mut Vec<StructId>) -> bool {
    if open.contains(&id) {
        return true;
    }
    open.push(id);
    let found = part.model.structs[id.0].fields.iter().any(|field| {
        is_pointer(field)
            || match &field.ty {
                TypeRef::Struct(below) if matches!(part.home_of_struct(*below), Home::Here) => {
                    struct_has_references(part, *below, open)
                }
                ty => has_references(part, ty),
            }
    });
    open.pop();
    found
}
