//! Merge behaviour of fields by name, as in upstream's Go types.

use machinery::def::{FieldDef, JsonForm, PatchStrategy, Scalar, Shape, StructDef};

use crate::Error;

/// A Go type, as far as merging depends on it.
#[derive(Clone, Copy)]
pub(super) enum Lookup {
    Struct(&'static StructDef),
    /// A Go struct without fields in JSON, such as `RawExtension`.
    Opaque(&'static str),
    /// Another Go kind.
    Kind(&'static str),
}

/// The merge behaviour of a field.
#[derive(Clone, Copy)]
pub(super) struct Field {
    /// The type of the field; of its items when it was looked up as a list.
    pub of: Lookup,
    strategy: PatchStrategy,
    pub merge_key: &'static str,
}

impl Field {
    /// Returns whether lists of this field merge by item.
    pub(super) fn merges_lists(&self) -> bool {
        matches!(self.strategy, PatchStrategy::Merge | PatchStrategy::MergeRetainKeys)
    }

    /// Returns whether objects of this field are replaced as a whole.
    pub(super) fn replaces_objects(&self) -> bool {
        self.strategy == PatchStrategy::Replace
    }
}

impl Lookup {
    /// `LookupPatchMetadataForStruct`
    pub(super) fn field(self, name: &str) -> Result<Field, Error> {
        let field = self.find(name)?;
        Ok(Field {
            of: of_shape(field.shape()),
            strategy: field.info.patch_strategy,
            merge_key: field.info.patch_merge_key,
        })
    }

    /// `LookupPatchMetadataForSlice`
    pub(super) fn list_field(self, name: &str) -> Result<Field, Error> {
        let field = self.find(name)?;
        let of = match field.shape() {
            Shape::List(scalar) => of_scalar(scalar),
            Shape::One(Scalar::Bytes) | Shape::Opt(Scalar::Bytes) => Lookup::Kind("uint8"),
            Shape::StructList(def, _) | Shape::OptStruct(def) => Lookup::Struct(def),
            Shape::Struct(def) if def.json_form == JsonForm::Items => Lookup::Kind("string"),
            Shape::Opt(scalar) => of_scalar(scalar),
            _ => return Err(Error::FieldNotAList(self.kind())),
        };
        Ok(Field { of, strategy: field.info.patch_strategy, merge_key: field.info.patch_merge_key })
    }

    fn find(self, name: &str) -> Result<&'static FieldDef, Error> {
        let missing = |of| Error::UnknownField { of, field: name.to_owned() };
        match self {
            Lookup::Struct(def) => def
                .json_field(name)
                .or_else(|| def.json_fields().find(|field| field.json.eq_ignore_ascii_case(name)))
                .ok_or_else(|| missing(def.name)),
            Lookup::Opaque(of) => Err(missing(of)),
            Lookup::Kind(kind) => Err(Error::FieldNotAStruct(kind)),
        }
    }

    /// Returns the name of the Go kind.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Lookup::Struct(_) | Lookup::Opaque(_) => "struct",
            Lookup::Kind(kind) => kind,
        }
    }
}

fn of_shape(shape: Shape) -> Lookup {
    match shape {
        Shape::One(scalar) | Shape::Opt(scalar) => of_scalar(scalar),
        Shape::Struct(def) | Shape::OptStruct(def) if def.json_form == JsonForm::Items => Lookup::Kind("slice"),
        Shape::Struct(def) | Shape::OptStruct(def) => Lookup::Struct(def),
        Shape::List(_) | Shape::StructList(..) => Lookup::Kind("slice"),
        Shape::Map(_) | Shape::StructMap(..) => Lookup::Kind("map"),
    }
}

fn of_scalar(scalar: Scalar) -> Lookup {
    match scalar {
        Scalar::Bool => Lookup::Kind("bool"),
        Scalar::I32 => Lookup::Kind("int32"),
        Scalar::I64 => Lookup::Kind("int64"),
        Scalar::F64 => Lookup::Kind("float64"),
        Scalar::String => Lookup::Kind("string"),
        Scalar::Bytes => Lookup::Kind("slice"),
        Scalar::Quantity => Lookup::Opaque("Quantity"),
        Scalar::Time => Lookup::Opaque("Time"),
        Scalar::MicroTime => Lookup::Opaque("MicroTime"),
        Scalar::Duration => Lookup::Opaque("Duration"),
        Scalar::IntOrString => Lookup::Opaque("IntOrString"),
        Scalar::RawExtension => Lookup::Opaque("RawExtension"),
        Scalar::FieldsV1 => Lookup::Opaque("FieldsV1"),
        Scalar::Json => Lookup::Opaque("JSON"),
        Scalar::Document => Lookup::Kind("map"),
    }
}
