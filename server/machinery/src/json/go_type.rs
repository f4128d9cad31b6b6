//! The Go types that messages of upstream name: `v1.PodSpec`, `[]v1.Container`, `map[string]string`.

use crate::def::{Scalar, Shape, StructDef};

/// The name of a scalar's Go type.
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
    }
}

/// The name of a field's Go type behind its pointers. A map of quantities is a `ResourceList` nearly everywhere.
#[cold]
pub(crate) fn of_shape(shape: Shape) -> String {
    match shape {
        Shape::One(s) | Shape::Opt(s) => scalar(s).into(),
        Shape::List(s) => format!("[]{}", scalar(s)),
        Shape::Map(Scalar::Quantity) => "v1.ResourceList".into(),
        Shape::Map(s) => format!("map[string]{}", scalar(s)),
        Shape::Struct(def) | Shape::OptStruct(def) => of_struct(def),
        Shape::StructList(def, _) => format!("[]{}", of_struct(def)),
        Shape::StructMap(def, _) => format!("map[string]{}", of_struct(def)),
    }
}

/// The name of a struct's Go type. Its package is named like the API version, which the path of the Rust type holds.
pub(crate) fn of_struct(def: &'static StructDef) -> String {
    let path = def.rust_path();
    let version = path.rsplit("::").skip(1).find(|part| is_version(part)).unwrap_or("v1");
    format!("{version}.{}", def.name)
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
