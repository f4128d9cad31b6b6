//! Names of Go types in upstream's messages: `v1.PodSpec`, `[]v1.Container`, `map[string]string`.

use crate::def::{FieldInfo, Scalar, Shape, StructDef};

/// The Go type of a scalar.
pub(crate) fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F64 => "float64",
        Scalar::String => "string",
        Scalar::Bytes => "[]uint8",
        Scalar::Quantity => "resource.Quantity",
        Scalar::Time => "v1.Time",
        Scalar::MicroTime => "v1.MicroTime",
        Scalar::Duration => "v1.Duration",
        Scalar::IntOrString => "intstr.IntOrString",
        Scalar::RawExtension => "runtime.RawExtension",
        Scalar::FieldsV1 => "v1.FieldsV1",
        Scalar::Json => "v1.JSON",
        Scalar::Document => "map[string]interface {}",
    }
}

/// Names the Go types of one document.
///
/// A Go package has the name of the API version, which is part of the path of a Rust type. If
/// several versions of a struct share a Rust type, the package is the version of the document.
#[derive(Clone, Copy)]
pub(crate) struct GoTypeNames<'a> {
    pub(crate) root: &'static StructDef,
    /// The version of the document; empty if it is that of the Rust type of the root.
    pub(crate) version: &'a str,
}

impl<'a> GoTypeNames<'a> {
    /// The Go type of a field without pointers. A map of quantities is a `ResourceList` in nearly
    /// all fields.
    pub(crate) fn of_shape(self, shape: Shape) -> String {
        match shape {
            Shape::One(s) | Shape::Opt(s) => scalar(s).into(),
            Shape::List(s) => format!("[]{}", scalar(s)),
            Shape::Map(Scalar::Quantity) => "v1.ResourceList".into(),
            Shape::Map(s) => format!("map[string]{}", scalar(s)),
            Shape::Struct(def) | Shape::OptStruct(def) => self.of_struct(def),
            Shape::StructList(def, _) => format!("[]{}", self.of_struct(def)),
            Shape::StructMap(def, _) => format!("map[string]{}", self.of_struct(def)),
        }
    }

    /// The Go type of a field of this struct without pointers.
    pub(crate) fn of_field(self, home: &'static StructDef, info: &FieldInfo, shape: Shape) -> String {
        match shape {
            _ if !info.go_whole.is_empty() => self.within(home, info.go_whole),
            Shape::One(_) | Shape::Opt(_) if !info.go_type.is_empty() => self.within(home, info.go_type),
            Shape::List(_) if !info.go_type.is_empty() => format!("[]{}", self.within(home, info.go_type)),
            Shape::Map(_) if !info.go_type.is_empty() => format!("map[string]{}", self.within(home, info.go_type)),
            _ => self.of_shape(shape),
        }
    }

    /// The Go type of an item of a list or map of scalars.
    pub(crate) fn of_item(self, home: &'static StructDef, info: &FieldInfo, of: Scalar) -> String {
        if of == Scalar::String && !info.go_type.is_empty() {
            return self.within(home, info.go_type);
        }
        scalar(of).into()
    }

    /// A declared Go type, with the package of a struct prepended to each unqualified name.
    fn within(self, home: &'static StructDef, declared: &str) -> String {
        let mut text = String::new();
        let mut last = ' ';
        for c in declared.chars() {
            if c.is_ascii_uppercase() && !last.is_ascii_alphanumeric() && last != '.' {
                text.push_str(self.version_of(home));
                text.push('.');
            }
            text.push(c);
            last = c;
        }
        text
    }

    /// The Go type of a struct.
    pub(crate) fn of_struct(self, def: &'static StructDef) -> String {
        format!("{}.{}", self.version_of(def), def.name)
    }

    fn version_of(self, def: &'static StructDef) -> &'a str {
        let (group, version) = package(def);
        if !self.version.is_empty() && package(self.root) == (group, version) { self.version } else { version }
    }
}

/// The Go type of a string field of this struct, or of its items, in a document with this version
/// of the root.
pub fn string_type(root: &'static StructDef, version: &str, home: &'static StructDef, info: &FieldInfo) -> String {
    GoTypeNames { root, version }.of_item(home, info, Scalar::String)
}

/// Splits the path of a Rust type into the modules above the version, and the version.
fn package(def: &'static StructDef) -> (&'static str, &'static str) {
    let mut end = 0;
    for part in def.rust_path().split("::") {
        if is_version(part) {
            return (&def.rust_path()[..end], part);
        }
        end += part.len() + 2;
    }
    ("", "v1")
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
