//! Merge behaviour of fields by name, as in upstream's Go types.

use machinery::def::{FieldDef, JsonForm, PatchStrategy, Scalar, Shape, StructDef};

use crate::Error;

/// A Go type, as far as merging depends on it.
#[derive(Clone, Copy)]
pub(super) enum GoType {
    Struct(&'static StructDef),
    /// A Go struct without fields in JSON, such as `RawExtension`.
    Opaque(&'static str),
    /// Another Go kind.
    Kind(&'static str),
}

/// The merge behaviour of a field.
#[derive(Clone, Copy)]
pub(super) struct PatchMeta {
    /// The type of the field; of its items when it was looked up as a list.
    pub of: GoType,
    strategy: PatchStrategy,
    pub merge_key: &'static str,
}

impl PatchMeta {
    /// Returns whether lists of this field merge by item.
    pub(super) fn merges_lists(&self) -> bool {
        matches!(self.strategy, PatchStrategy::Merge | PatchStrategy::MergeRetainKeys)
    }

    /// Returns whether objects of this field are replaced as a whole.
    pub(super) fn replaces_objects(&self) -> bool {
        self.strategy == PatchStrategy::Replace
    }
}

impl GoType {
    /// `LookupPatchMetadataForStruct`
    pub(super) fn field(self, name: &str) -> Result<PatchMeta, Error> {
        let field = self.find(name)?;
        Ok(PatchMeta {
            of: of_shape(field.shape()),
            strategy: field.info.patch_strategy,
            merge_key: field.info.patch_merge_key,
        })
    }

    /// `LookupPatchMetadataForSlice`
    pub(super) fn list_field(self, name: &str) -> Result<PatchMeta, Error> {
        let field = self.find(name)?;
        let of = match field.shape() {
            Shape::List(scalar) => of_scalar(scalar),
            Shape::One(Scalar::Bytes) | Shape::Opt(Scalar::Bytes) => GoType::Kind("uint8"),
            Shape::StructList(def, _) | Shape::OptStruct(def) => GoType::Struct(def),
            Shape::Struct(def) if def.json_form == JsonForm::Items => GoType::Kind("string"),
            Shape::Opt(scalar) => of_scalar(scalar),
            _ => return Err(Error::FieldNotAList(self.kind())),
        };
        Ok(PatchMeta { of, strategy: field.info.patch_strategy, merge_key: field.info.patch_merge_key })
    }

    fn find(self, name: &str) -> Result<&'static FieldDef, Error> {
        let missing = |of| Error::UnknownField { of, field: name.to_owned() };
        match self {
            GoType::Struct(def) => def
                .json_field(name)
                .or_else(|| def.json_fields().find(|field| field.json.eq_ignore_ascii_case(name)))
                .ok_or_else(|| missing(def.name)),
            GoType::Opaque(of) => Err(missing(of)),
            GoType::Kind(kind) => Err(Error::FieldNotAStruct(kind)),
        }
    }

    /// Returns the name of the Go kind.
    pub(super) fn kind(self) -> &'static str {
        match self {
            GoType::Struct(_) | GoType::Opaque(_) => "struct",
            GoType::Kind(kind) => kind,
        }
    }
}

fn of_shape(shape: Shape) -> GoType {
    match shape {
        Shape::One(scalar) | Shape::Opt(scalar) => of_scalar(scalar),
        Shape::Struct(def) | Shape::OptStruct(def) if def.json_form == JsonForm::Items => GoType::Kind("slice"),
        Shape::Struct(def) | Shape::OptStruct(def) => GoType::Struct(def),
        Shape::List(_) | Shape::StructList(..) => GoType::Kind("slice"),
        Shape::Map(_) | Shape::StructMap(..) => GoType::Kind("map"),
    }
}

fn of_scalar(scalar: Scalar) -> GoType {
    match scalar {
        Scalar::Bool => GoType::Kind("bool"),
        Scalar::I32 => GoType::Kind("int32"),
        Scalar::I64 => GoType::Kind("int64"),
        Scalar::F64 => GoType::Kind("float64"),
        Scalar::String => GoType::Kind("string"),
        Scalar::Bytes => GoType::Kind("slice"),
        Scalar::Quantity => GoType::Opaque("Quantity"),
        Scalar::Time => GoType::Opaque("Time"),
        Scalar::MicroTime => GoType::Opaque("MicroTime"),
        Scalar::Duration => GoType::Opaque("Duration"),
        Scalar::IntOrString => GoType::Opaque("IntOrString"),
        Scalar::RawExtension => GoType::Opaque("RawExtension"),
        Scalar::FieldsV1 => GoType::Opaque("FieldsV1"),
        Scalar::Json => GoType::Opaque("JSON"),
        Scalar::Document => GoType::Kind("map"),
    }
}
