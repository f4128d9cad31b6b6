//! Descriptors: what a type says about itself, as static data.
//!
//! A [`StructDef`] is emitted for every declared struct; codecs, defaulting, validation, patching and columns walk it instead of being
//! emitted per type. Descriptors hold no behaviour except the hatches that a declaration names.

use std::sync::OnceLock;

use crate::format::field::DeclaredFormat;
use crate::reflect::{ListAccess, MapAccess, Mut, StructAccess, Tables};

/// A struct's descriptor.
pub struct StructDef {
    /// The name clients see, such as `PodSpec`.
    pub name: &'static str,
    /// Fields in order of declaration, which is the order of JSON output.
    pub fields: &'static [FieldDef],
    pub json_form: JsonForm,
    /// `x-kubernetes-map-type: atomic`: merged as a whole by server-side apply.
    pub atomic: bool,
    /// Defaulting has something to do here or below.
    pub defaults: Option<&'static Defaults>,
    /// Some struct below this one has defaults of its own.
    pub defaults_below: bool,
    /// Some struct at or below this one has a `normalize` hatch, or objects that say their kinds.
    pub normalize_below: bool,
    /// What upstream's trip through the internal type changes (`#[normalize]`).
    pub normalize: Option<fn(Mut<'_>)>,
    /// Validation written by hand (`#[validate(by_hand = ..)]`).
    pub validate: Option<crate::hooks::ValidateFn>,
    /// Checks in the order of upstream's validation (`#[check(..)]`), made before those written by hand.
    pub checks: &'static [crate::checks::CheckDef],
    /// Rules beyond those of single fields.
    pub rules: &'static [RuleDef],
    pub unions: &'static [UnionDef],
    /// How to make and drop values; filled by `describe!` only.
    pub(crate) access: StructAccess,
    /// Look-up tables, made at first use.
    pub(crate) tables: &'static OnceLock<Tables>,
}

/// How a struct looks in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonForm {
    /// An object of its fields.
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
    /// An object of its fields and of whatever else is sent, which its [`Scalar::Document`] holds: a custom resource. Its members, and those
    /// of what is below, are written in order of their names, as Go writes maps.
    Open,
}

/// A field's descriptor. `offset` and `form` are private to `reflect`: only `field!` can make one.
pub struct FieldDef {
    /// JSON name; empty when inlined.
    pub json: &'static str,
    /// Protobuf number; 0 when the field is not in protobuf.
    pub number: u32,
    pub flags: Flags,
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

/// Bits of a field that codecs read on every pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    pub const NONE: Flags = Flags(0);
    /// Left out of JSON when empty.
    pub const OMIT_EMPTY: Flags = Flags(1);
    /// In OpenAPI's required list.
    pub const REQUIRED: Flags = Flags(2);
    /// Flat in JSON.
    pub const INLINE: Flags = Flags(4);
    /// Deprecated; clients that set it are warned.
    pub const DEPRECATED: Flags = Flags(16);
    /// A list of objects that say what kind of core/v1 they are in the JSON that reads are answered with: in protobuf they have no room for it.
    pub const EMBEDS_TYPE_META: Flags = Flags(32);

    pub const fn or(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What is read seldom: merge semantics, default, constraints.
pub struct FieldInfo {
    pub list: ListType,
    /// `x-kubernetes-map-type`: `Some(true)` atomic, `Some(false)` granular.
    pub map_atomic: Option<bool>,
    pub patch_strategy: PatchStrategy,
    /// Merge key of strategic merge patch, empty when none.
    pub patch_merge_key: &'static str,
    pub default: Option<Literal>,
    pub constraints: &'static [Constraint],
    /// Wire values when the field is a closed enum.
    pub enum_values: &'static [&'static str],
    /// Those of features, with their gates.
    pub gated_values: &'static [(&'static str, &'static str)],
    /// JSON names of the hub's fields that this one of a version stands for, where they are others.
    pub hub_names: &'static [&'static str],
    /// Feature gate the field belongs to, empty when none.
    pub gate: &'static str,
    /// Where the gate takes the field from an optional struct that holds nothing else, the struct goes, too.
    pub gate_with_struct: bool,
    /// Go's name of the string type of the field, or of its items, empty when it is `string`: see [`crate::json`]'s messages.
    pub go_type: &'static str,
    /// Go's name of the type of the whole list or map, empty when it has none of its own.
    pub go_whole: &'static str,
}

impl FieldInfo {
    /// Nothing special.
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
    Unset,
    Atomic,
    Set,
    Map(&'static [&'static str]),
}

/// `x-kubernetes-patch-strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchStrategy {
    /// Objects merge, lists are replaced.
    Unset,
    /// Objects are replaced too.
    Replace,
    Merge,
    RetainKeys,
    MergeRetainKeys,
}

/// A declared constraint of a field.
#[derive(Clone, Copy, Debug)]
pub enum Constraint {
    Required,
    Min(i64),
    Max(i64),
    MinLength(u64),
    MaxLength(u64),
    MaxBytes(u64),
    MinItems(u64),
    MaxItems(u64),
    Pattern(&'static str),
    /// A format of `machinery::format::field`.
    Format(DeclaredFormat),
    Immutable,
    Unique,
    /// An upstream declarative-validation tag that has no word of its own.
    Tag(&'static str),
}

/// Constant in a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    Bool(bool),
    Int(i64),
    Float(f64),
    String(&'static str),
    List(&'static [Literal]),
    Object(&'static [(&'static str, Literal)]),
}

/// Defaults that a struct declares beyond those of its fields.
pub struct Defaults {
    /// Constants at paths below the struct (JSON names), in order.
    pub paths: &'static [(&'static [&'static str], Literal)],
    /// The hatch, called after them.
    pub by_hand: Option<fn(Mut<'_>)>,
}

/// A CEL rule on a struct.
pub struct RuleDef {
    pub expression: &'static str,
    /// Path below the struct that a failure is reported at.
    pub field: &'static str,
    pub message: &'static str,
    /// An expression that makes the message, empty when none.
    pub message_expression: &'static str,
    /// `FieldValueInvalid` and its kin, also without `FieldValue`; empty: invalid.
    pub reason: &'static str,
    /// Whether `oldSelf` is optional, and the rule is run on new objects too.
    pub optional_old_self: bool,
}

/// A union: of these members at most, or exactly, one is set.
pub struct UnionDef {
    pub discriminator: &'static str,
    /// (discriminator value, JSON name).
    pub members: &'static [(&'static str, &'static str)],
    pub zero_allowed: bool,
}

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Bool,
    I32,
    I64,
    F64,
    String,
    Bytes,
    Quantity,
    Time,
    MicroTime,
    Duration,
    IntOrString,
    RawExtension,
    FieldsV1,
    Json,
    /// An object of which nothing is declared; never in protobuf.
    Document,
}

/// A [`Shape`] as a constant: structs are named by function, since the descriptors of types that hold each other refer to each other.
#[derive(Clone, Copy)]
pub enum Form {
    One(Scalar),
    Opt(Scalar),
    List(Scalar),
    Map(Scalar),
    Struct(fn() -> &'static StructDef),
    OptStruct(fn() -> &'static StructDef),
    StructList(fn() -> &'static StructDef, &'static ListAccess),
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

/// The form of a field's Rust type.
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
    /// A struct in place.
    Struct(&'static StructDef),
    /// `Option<Box<struct>>`
    OptStruct(&'static StructDef),
    /// `Vec<struct>`
    StructList(&'static StructDef, &'static ListAccess),
    /// `BTreeMap<String, struct>`
    StructMap(&'static StructDef, &'static MapAccess),
}

impl Shape {
    /// The struct in it, if any.
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
