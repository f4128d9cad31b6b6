//! Descriptors of types, as static data.
//!
//! Codegen writes a [`StructDef`] for every declared struct. Codecs, defaulting, validation,
//! patching and printer columns interpret it instead of being generated per type. Descriptors
//! contain no behaviour except the hand-written functions that a declaration refers to.

use std::sync::OnceLock;

use crate::format::field::DeclaredFormat;
use crate::reflect::{ListAccess, MapAccess, Mut, StructAccess, Tables};

/// The descriptor of a struct.
pub struct StructDef {
    /// The API name, such as `PodSpec`.
    pub name: &'static str,
    /// Fields in declaration order, which is the order of JSON output.
    pub fields: &'static [FieldDef],
    /// The JSON representation of the struct.
    pub json_form: JsonForm,
    /// `x-kubernetes-map-type: atomic`: merged as a whole by server-side apply.
    pub atomic: bool,
    /// Defaults of the struct itself, beyond those of its fields.
    pub defaults: Option<&'static Defaults>,
    /// Whether a struct below this one has its own defaults.
    pub defaults_below: bool,
    /// Whether this struct, or one below it, has a `normalize` function or embeds objects with type
    /// metadata.
    pub normalize_below: bool,
    /// Applies what upstream's conversion to the internal type and back changes (`#[normalize]`).
    pub normalize: Option<fn(Mut<'_>)>,
    /// Hand-written validation (`#[validate(by_hand = ..)]`).
    pub validate: Option<crate::hooks::ValidateFn>,
    /// Checks in the order of upstream's validation (`#[check(..)]`). They run before hand-written
    /// ones.
    pub checks: &'static [crate::checks::CheckDef],
    /// Rules about the struct as a whole.
    pub rules: &'static [RuleDef],
    /// Unions of its fields.
    pub unions: &'static [UnionDef],
    /// Functions that create and drop values; set by `describe!` only.
    pub(crate) access: StructAccess,
    /// Lookup tables, built at first use.
    pub(crate) tables: &'static OnceLock<Tables>,
}

/// The JSON representation of a struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonForm {
    /// An object with its fields.
    #[default]
    Fields,
    /// The bare list of its only field (`ExtraValue`, `Verbs`).
    Items,
    /// apiextensions `JSONSchemaPropsOrArray`.
    SchemaOrArray,
    /// apiextensions `JSONSchemaPropsOrBool`.
    SchemaOrBool,
    /// apiextensions `JSONSchemaPropsOrStringArray`.
    SchemaOrStrings,
    /// An object with its fields and any other members, which its [`Scalar::Document`] holds: a
    /// custom resource.
    ///
    /// Its members, and those of nested values, are written in name order, as Go writes maps.
    Open,
}

/// The descriptor of a field. `offset` and `form` are private to `reflect`: only `field!` can
/// create one.
pub struct FieldDef {
    /// JSON name; empty when inlined.
    pub json: &'static str,
    /// Protobuf number; 0 if protobuf does not encode the field.
    pub number: u32,
    /// Properties that codecs read.
    pub flags: Flags,
    /// All other properties.
    pub info: &'static FieldInfo,
    pub(crate) offset: usize,
    pub(crate) form: Form,
}

impl FieldDef {
    /// The form of the field's Rust type.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.form.resolve()
    }
}

/// Properties of a field that codecs read on every pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// Omitted from JSON if empty.
    pub const OMIT_EMPTY: Flags = Flags(1);
    /// In the required list of OpenAPI.
    pub const REQUIRED: Flags = Flags(2);
    /// Inlined in JSON.
    pub const INLINE: Flags = Flags(4);
    /// Deprecated; clients that set it get a warning.
    pub const DEPRECATED: Flags = Flags(16);
    /// A list of embedded core/v1 objects with `apiVersion` and `kind` in the JSON of responses;
    /// protobuf does not encode these.
    pub const EMBEDS_TYPE_META: Flags = Flags(32);

    /// The flags of both operands.
    pub const fn or(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Properties of a field that are rarely read: merge semantics, default, constraints.
pub struct FieldInfo {
    /// `x-kubernetes-list-type` of a list.
    pub list: ListType,
    /// `x-kubernetes-map-type`: `Some(true)` atomic, `Some(false)` granular.
    pub map_atomic: Option<bool>,
    /// `x-kubernetes-patch-strategy` of a list or object.
    pub patch_strategy: PatchStrategy,
    /// Merge key of strategic merge patch; empty if none.
    pub patch_merge_key: &'static str,
    /// The value of an absent field; `None` if there is no default.
    pub default: Option<Literal>,
    /// Constraints that validation enforces.
    pub constraints: &'static [Constraint],
    /// Values of the field if it is a closed enum.
    pub enum_values: &'static [&'static str],
    /// Gated enum values, with their gates.
    pub gated_values: &'static [(&'static str, &'static str)],
    /// JSON names of the hub fields that this field of a version corresponds to, if they differ.
    pub hub_names: &'static [&'static str],
    /// Feature gate of the field; empty if none.
    pub gate: &'static str,
    /// Whether dropping the gated field also drops the optional struct that contains it, if that
    /// has no other fields set.
    pub gate_with_struct: bool,
    /// Go's name of the string type of the field, or of its items; empty for `string`. See the
    /// messages of [`crate::json`].
    pub go_type: &'static str,
    /// Go's name of the type of the whole list or map; empty if it has no name.
    pub go_whole: &'static str,
}

impl FieldInfo {
    /// The properties of a plain field.
    pub const PLAIN: FieldInfo = FieldInfo {
        list: ListType::Unset,
        map_atomic: None,
        patch_strategy: PatchStrategy::Unset,
        patch_merge_key: "",
        default: None,
        constraints: &[],
        enum_values: &[],
        gated_values: &[],
        hub_names: &[],
        gate: "",
        gate_with_struct: false,
        go_type: "",
        go_whole: "",
    };
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Not declared: `Atomic`, unless the patch strategy merges lists.
    Unset,
    /// Merged as a whole.
    Atomic,
    /// Merged by value: items are scalars, and unique.
    Set,
    /// Merged by these keys (JSON names), which are unique together.
    Map(&'static [&'static str]),
}

/// `x-kubernetes-patch-strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchStrategy {
    /// Objects merge, lists are replaced.
    Unset,
    /// Objects are replaced too.
    Replace,
    /// Lists merge by the patch merge key or by value.
    Merge,
    /// Clients list the members that they keep in `$retainKeys`.
    RetainKeys,
    /// `Merge` and `RetainKeys`.
    MergeRetainKeys,
}

/// A declared constraint of a field.
#[derive(Clone, Copy, Debug)]
pub enum Constraint {
    /// The field is set.
    Required,
    /// The least number.
    Min(i64),
    /// The greatest number.
    Max(i64),
    /// The least number of characters of a text.
    MinLength(u64),
    /// The greatest number of characters of a text.
    MaxLength(u64),
    /// The greatest number of bytes of a text.
    MaxBytes(u64),
    /// The least number of items of a list.
    MinItems(u64),
    /// The greatest number of items of a list.
    MaxItems(u64),
    /// A regular expression that the text matches.
    Pattern(&'static str),
    /// A format of `machinery::format::field`.
    Format(DeclaredFormat),
    /// An update does not change the field.
    Immutable,
    /// The items of the list are unique, by their keys if it has list map keys.
    Unique,
    /// An upstream declarative-validation tag without a dedicated variant.
    Tag(&'static str),
}

/// A constant in a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    String(&'static str),
    /// A list.
    List(&'static [Literal]),
    /// Pairs of JSON name and value.
    Object(&'static [(&'static str, Literal)]),
}

/// Defaults of a struct, beyond those of its fields.
pub struct Defaults {
    /// Constants at paths below the struct (JSON names), in order.
    pub paths: &'static [(&'static [&'static str], Literal)],
    /// A hand-written function that runs after the constants.
    pub by_hand: Option<fn(Mut<'_>)>,
}

/// A CEL validation rule of a struct.
pub struct RuleDef {
    /// The CEL expression, which refers to the struct as `self`.
    pub expression: &'static str,
    /// Path below the struct at which a failure is reported.
    pub field: &'static str,
    /// The message of a failure; empty for `failed rule: EXPRESSION`.
    pub message: &'static str,
    /// A CEL expression that evaluates to the message; empty if none.
    pub message_expression: &'static str,
    /// `FieldValueInvalid` or another reason, with or without `FieldValue`; empty stands for
    /// invalid.
    pub reason: &'static str,
    /// Whether `oldSelf` is optional, so that the rule also runs on create.
    pub optional_old_self: bool,
}

/// A union: at most one, or exactly one, of these members is set.
pub struct UnionDef {
    /// JSON name of the field that selects the member; empty if there is none.
    pub discriminator: &'static str,
    /// Pairs of discriminator value and JSON name.
    pub members: &'static [(&'static str, &'static str)],
    /// Whether all members may be unset.
    pub zero_allowed: bool,
}

/// A type without fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `bool`.
    Bool,
    /// `i32`, `int32` in protobuf.
    I32,
    /// `i64`, `int64` in protobuf.
    I64,
    /// `f64`, `double` in protobuf.
    F64,
    /// `String`.
    String,
    /// Bytes; base64 in JSON.
    Bytes,
    /// [`Quantity`](crate::scalar::Quantity).
    Quantity,
    /// [`Time`](crate::scalar::Time): a time in seconds.
    Time,
    /// [`MicroTime`](crate::scalar::MicroTime): a time in microseconds.
    MicroTime,
    /// [`Duration`](crate::scalar::Duration).
    Duration,
    /// [`IntOrString`](crate::scalar::IntOrString).
    IntOrString,
    /// [`RawExtension`](crate::scalar::RawExtension): an embedded object.
    RawExtension,
    /// [`FieldsV1`](crate::scalar::FieldsV1): a set of fields.
    FieldsV1,
    /// [`JsonValue`](crate::scalar::JsonValue): any JSON value.
    Json,
    /// An object without declared fields; protobuf does not encode it.
    Document,
}

/// A [`Shape`] as a constant. Structs are referred to by functions, because descriptors of
/// recursive types refer to each other.
#[derive(Clone, Copy)]
pub enum Form {
    /// [`Shape::One`].
    One(Scalar),
    /// [`Shape::Opt`].
    Opt(Scalar),
    /// [`Shape::List`].
    List(Scalar),
    /// [`Shape::Map`].
    Map(Scalar),
    /// [`Shape::Struct`].
    Struct(fn() -> &'static StructDef),
    /// [`Shape::OptStruct`].
    OptStruct(fn() -> &'static StructDef),
    /// [`Shape::StructList`].
    StructList(fn() -> &'static StructDef, &'static ListAccess),
    /// [`Shape::StructMap`].
    StructMap(fn() -> &'static StructDef, &'static MapAccess),
}

impl Form {
    fn resolve(self) -> Shape {
        match self {
            Form::One(scalar) => Shape::One(scalar),
            Form::Opt(scalar) => Shape::Opt(scalar),
            Form::List(scalar) => Shape::List(scalar),
            Form::Map(scalar) => Shape::Map(scalar),
            Form::Struct(def) => Shape::Struct(def()),
            Form::OptStruct(def) => Shape::OptStruct(def()),
            Form::StructList(def, access) => Shape::StructList(def(), access),
            Form::StructMap(def, access) => Shape::StructMap(def(), access),
        }
    }
}

/// The shape of the Rust type of a field.
#[derive(Clone, Copy)]
pub enum Shape {
    /// `T`
    One(Scalar),
    /// `Option<T>`
    Opt(Scalar),
    /// `Vec<T>`
    List(Scalar),
    /// `BTreeMap<String, T>`
    Map(Scalar),
    /// A struct that is embedded in place.
    Struct(&'static StructDef),
    /// `Option<Box<struct>>`
    OptStruct(&'static StructDef),
    /// `Vec<struct>`
    StructList(&'static StructDef, &'static ListAccess),
    /// `BTreeMap<String, struct>`
    StructMap(&'static StructDef, &'static MapAccess),
}

impl Shape {
    /// The descriptor of the struct in the field, if there is one.
    pub fn struct_def(self) -> Option<&'static StructDef> {
        match self {
            Shape::Struct(d) | Shape::OptStruct(d) | Shape::StructList(d, _) | Shape::StructMap(d, _) => Some(d),
            _ => None,
        }
    }
}

impl std::fmt::Debug for StructDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StructDef({})", self.name)
    }
}
