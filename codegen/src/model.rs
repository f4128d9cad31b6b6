//! The model: the declarations of `api-defs/` as plain structs, without `syn` types and tokens.
//!
//! `parse` builds the model, `check` checks it, every emitter reads it. Names are already resolved: a
//! [`TypeRef::Struct`] holds a [`StructId`], so no emitter looks anything up by text.
//!
//! Implied facts are filled in: derived names and prefixes, default verbs, and for every kind with a
//! list a struct `<Kind>List` ([`Role::List`]: `metadata: ListMeta` = 1, `items` = 2) in each of the
//! kind's versions. The fields of kinds and lists do not include `kind` and `apiVersion`. Docs are
//! unwrapped: one line per paragraph, with a blank line between paragraphs.

mod checks;
mod ids;
mod kinds;
mod serving;
mod span;

pub use checks::{Assertion, Check, Condition, NamedCondition};
pub use ids::StructId;
pub use kinds::{
    Column, ColumnValue, GarbageCollection, Generation, Kind, KindVersion, MetadataCheck, Resource, ScalePaths,
    Selectable, StrategyHook, Subresource,
};
pub use serving::Serving;
pub use span::Span;
use std::collections::BTreeMap;

/// Everything that `api-defs/` declares.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Groups in order of their folder names.
    pub groups: Vec<Group>,
    /// Every struct of every version.
    ///
    /// A struct that a version shares with its hub is listed once, at the hub.
    pub structs: Vec<Struct>,
    /// Every enum, in the same way.
    pub enums: Vec<Enum>,
}

/// Index into [`Model::enums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub usize);

/// A folder of `api-defs/`: an API group, or types that every group uses (`meta`).
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Rust module and short name, such as `apps`: `#![group(.., module = rbac)]`.
    pub module: String,
    /// Name of the API group, such as `rbac.authorization.k8s.io`; empty for core.
    pub name: String,
    /// The generated package of the group: `#![group(.., package = apimachinery)]`.
    ///
    /// The default is [`Package::Own`].
    pub package: Package,
    /// `groupPriorityMinimum` of its APIService: `priority = 17800`.
    pub priority: i32,
    /// Description of the group.
    pub docs: String,
    /// Prefix of OpenAPI definition names: `model = "io.k8s.api.apps"`.
    ///
    /// Derived from the group name when not given.
    pub openapi_prefix: String,
    /// Prefix of the protobuf package: `proto = "k8s.io.api.apps"`.
    ///
    /// Derived from the group name when not given.
    pub proto_prefix: String,
    /// Types of the server itself (`meta`, audit, discovery documents): `internal`.
    ///
    /// Clients' schemes do not know the group, so types that belong to every group (`DeleteOptions`,
    /// `WatchEvent`) are not registered for it. Read by `emit/openapi`.
    pub internal: bool,
    /// Finalizers without a domain must be Kubernetes': `finalizers = qualified`.
    pub qualified_finalizers: bool,
    /// Only the constraints of upstream's tags are enforced: `validation = tagged`.
    ///
    /// `by_hand` functions and checks do the remaining validation.
    pub tagged_validation: bool,
    /// Feature gates that the group declares: `#![gate(ShopSale, alpha)]`.
    pub gates: Vec<Gate>,
    /// Versions in order of declaration, hub first: `#![version(v1, priority = 15)]`.
    pub versions: Vec<Version>,
    /// Kinds in order of files and of declarations.
    pub kinds: Vec<Kind>,
    /// Place of the declaration.
    pub span: Span,
}

/// A feature gate of a group: `#![gate(ShopSale, beta, default = true)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Name, such as `ShopSale`.
    pub name: String,
    /// Maturity, which `AllAlpha` and `AllBeta` refer to.
    pub stage: FeatureStage,
    /// Whether the gate is enabled unless `--feature-gates` sets it.
    pub default: bool,
    /// Whether the gate is locked to its default.
    pub locked: bool,
    /// Place of the declaration.
    pub span: Span,
}

impl Gate {
    /// Whether two declarations of a gate are equal.
    pub fn agrees(&self, other: &Gate) -> bool {
        (self.stage, self.default, self.locked) == (other.stage, other.default, other.locked)
    }
}

/// Maturity of a feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureStage {
    /// `alpha`: off by default.
    #[default]
    Alpha,
    /// `beta`.
    Beta,
    /// `ga`: generally available.
    Ga,
    /// `deprecated`.
    Deprecated,
}

/// The generated package a group is emitted into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Package {
    /// `generated/apimachinery/`: types that the server core uses.
    Apimachinery,
    /// `generated/`: the other groups of Kubernetes.
    Generated,
    /// `generated/own/`: custom groups.
    ///
    /// No other code refers to them, so that a change recompiles little.
    #[default]
    Own,
}

impl Package {
    /// The name by which code of other packages refers to the package.
    pub fn name(self) -> &'static str {
        match self {
            Package::Apimachinery => "apimachinery",
            Package::Generated => "generated",
            Package::Own => "own",
        }
    }

    /// The crate that owns the hand-written functions of Kubernetes' groups.
    ///
    /// It registers them in tables of the types' package. `None` for custom groups, whose functions are
    /// compiled into the generated package.
    pub fn owner(self) -> Option<&'static str> {
        match self {
            Package::Apimachinery => Some("meta"),
            Package::Generated => Some("kubernetes"),
            Package::Own => None,
        }
    }
}

/// One version of a group.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// Name, such as `v1beta1`.
    pub name: String,
    /// `versionPriority` of its APIService: `priority = 15`.
    pub priority: i32,
    /// Whether the server serves the version.
    pub serving: Serving,
    /// The struct of every type name that is visible in this version.
    ///
    /// Shared with the hub where identical.
    pub structs: BTreeMap<String, StructId>,
    /// The enum of every enum name that is visible in this version.
    pub enums: BTreeMap<String, EnumId>,
    /// Names in `structs` and `enums` of another version, with that version.
    ///
    /// Example: `use v1::Rule;` in `mod v1beta1`.
    pub borrowed: BTreeMap<String, String>,
    /// Place of the declaration.
    pub span: Span,
}

/// Role of a struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Neither a kind nor a list.
    #[default]
    Part,
    /// A kind with metadata.
    Object,
    /// A kind without object metadata (reviews with metadata are `Object`).
    TypeOnly,
    /// `<Kind>List`, created by the generator.
    List,
}

/// JSON form of a struct: `#[json(schema_or_array)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonForm {
    /// An object with the fields as members.
    #[default]
    Fields,
    /// The bare list of its only field: `#[proto(items)]`.
    Items,
    /// apiextensions `JSONSchemaPropsOrArray`: `schema_or_array`.
    SchemaOrArray,
    /// apiextensions `JSONSchemaPropsOrBool`: `schema_or_bool`.
    SchemaOrBool,
    /// apiextensions `JSONSchemaPropsOrStringArray`: `schema_or_strings`.
    SchemaOrStrings,
}

/// A struct in one version. Versions with identical declarations share one.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// The Go and OpenAPI name, such as `PodSpec`.
    pub name: String,
    /// Module of the declaration ([`Group::module`]).
    pub module: String,
    /// Version of the declaration.
    pub version: String,
    /// Description.
    pub docs: String,
    /// Role in the API.
    pub role: Role,
    /// Fields in order of declaration.
    pub fields: Vec<Field>,
    /// Server-side apply treats the struct as one value: `#[structure(atomic)]`.
    pub atomic: bool,
    /// Has no message in upstream's protobuf: `#[proto(none)]`.
    pub proto_none: bool,
    /// A message around a bare list (`ExtraValue`, `Verbs`): `#[proto(items)]`.
    ///
    /// The message is `{1 items: repeated string}`, the JSON form is the list. Such a struct has exactly
    /// one field, `items: Vec<String>`.
    pub transparent: bool,
    /// See [`JsonForm`]; `Items` implies `transparent`.
    pub json_form: JsonForm,
    /// Dedicated code writes the JSON of the struct and of those in it that are declared in the same
    /// package: `#[direct]`.
    pub direct: bool,
    /// Constant defaults in order: `#[default(spec.replicas = 1)]`.
    pub path_defaults: Vec<PathDefault>,
    /// Function that runs after the constants: `#[default(by_hand = service_spec)]`.
    ///
    /// Its type is `fn(&mut ServiceSpec)`. This and the functions below are paths within the group's
    /// hand-written functions. A version's own form that inherits one from its hub needs a separate
    /// function, `v1beta1::service_spec`.
    pub default_by_hand: Option<String>,
    /// Function that normalizes the struct: `#[normalize(by_hand = pod_spec)]`.
    ///
    /// Its type is `fn(&mut PodSpec)`. It applies the changes of upstream's round trip through the
    /// internal type.
    pub normalize: Option<String>,
    /// Function that validates the struct: `#[validate(by_hand = pod_spec)]`.
    pub validate_by_hand: Option<String>,
    /// Named conditions of checks: `#[condition(indexed, mode = Indexed)]`.
    pub conditions: Vec<NamedCondition>,
    /// Checks in order: `#[check(replicas, min = 0)]`.
    pub checks: Vec<Check>,
    /// CEL rules: `#[rule("self.a < self.b", field = a, message = "..")]`.
    pub rules: Vec<Rule>,
    /// Unions of fields: `#[union(members(a, b), zero_allowed)]`.
    pub unions: Vec<Union>,
    /// For a version's own form: the conversion to and from the hub's struct.
    pub conversion: Option<Conversion>,
    /// The exported reference marks the struct as deprecated: `#[deprecated]`.
    pub deprecated: bool,
    /// Place of the declaration.
    pub span: Span,
}

/// A constant default below a struct: `#[default(spec.replicas = 1)]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathDefault {
    /// JSON path below the struct.
    pub path: String,
    /// The default.
    pub value: Literal,
    /// Place of the declaration.
    pub span: Span,
}

/// A group of fields of which at most, or exactly, one may be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Union {
    /// JSON name of the field that selects the member, if there is one.
    pub discriminator: Option<String>,
    /// Discriminator values, each with the JSON name of its member.
    pub members: Vec<(String, String)>,
    /// Discriminator values that forbid every member: `without(Reject)`.
    pub without: Vec<String>,
    /// Whether no member may be set.
    pub zero_allowed: bool,
    /// Place of the declaration.
    pub span: Span,
}

/// A CEL rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Expression over `self`, and `oldSelf` on updates; true accepts the object.
    pub expression: String,
    /// JSON path below the struct that the error reports; empty for the struct.
    pub field: String,
    /// Message of the error; empty if not declared.
    pub message: String,
    /// An expression that evaluates to the message: `message_expression = ".."`.
    pub message_expression: String,
    /// `Invalid`, `Forbidden`, `Required` or `Duplicate`; empty is `Invalid`.
    pub reason: String,
    /// The rule is evaluated for new objects too: `optional_old_self`.
    ///
    /// `oldSelf` is optional then.
    pub optional_old_self: bool,
    /// Place of the declaration.
    pub span: Span,
}

/// Differences between a version's struct and the hub's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// The struct of the hub; `None` only in the default value.
    pub hub: Option<StructId>,
    /// JSON names of a field here and at the hub: `#[field(1, renamed = stock)]`.
    pub renames: Vec<(String, String)>,
    /// Names of hand-written pairs of functions that convert fields.
    ///
    /// Of `#[convert(by_hand = colour, here(colour), hub(parts))]`, the pair is
    /// `fn colour_to_hub(&mut Here, &mut Hub)` and `fn colour_from_hub(&mut Hub, &mut Here)`. Both are
    /// called after the moves.
    pub by_hand: Vec<String>,
    /// JSON names of the version's fields that the pairs convert: `here(..)`.
    pub here_only: Vec<String>,
    /// JSON names of the hub's fields that the pairs convert: `hub(..)`.
    pub hub_only: Vec<String>,
}

/// A string enum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enum {
    /// The Go and OpenAPI name, such as `PullPolicy`.
    pub name: String,
    /// Module of the declaration ([`Group::module`]).
    pub module: String,
    /// Version of the declaration.
    pub version: String,
    /// Description.
    pub docs: String,
    /// Rust variant, wire value and docs of each value.
    pub variants: Vec<(String, String, String)>,
    /// Gated values, each with its gate: `#[value("OnSale", gate = ShopSale)]`.
    pub gated: Vec<(String, String)>,
    /// Other values are valid too: `#[open]`.
    ///
    /// The listed values are only well known, and OpenAPI declares a plain string.
    pub open: bool,
    /// Place of the declaration.
    pub span: Span,
}

/// A field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Rust name, raw identifiers without `r#`, such as `type`.
    pub name: String,
    /// JSON name; empty for inlined fields.
    pub json: String,
    /// Protobuf number; 0 for fields that are not in protobuf: `#[field(json_only)]`.
    pub number: u32,
    /// Name in `.proto` if it differs from the JSON name: `proto = "Raw"`.
    pub proto_name: Option<String>,
    /// The type, without `Option`; see [`Field::nullable`].
    pub ty: TypeRef,
    /// Description.
    pub docs: String,
    /// `Option<..>`: absent and zero differ (a Go pointer).
    pub nullable: bool,
    /// In OpenAPI's `required` list.
    pub required: bool,
    /// Omitted from JSON if empty.
    ///
    /// The opposite of `required` unless `omitempty` or `always` is declared.
    pub omitempty: bool,
    /// Flat in JSON, a nested message in protobuf: `#[field(2, inline)]`.
    pub inline: bool,
    /// Semantics of a list: `list = atomic | set | map(k1, k2)`.
    pub list: Option<ListSemantics>,
    /// Whether a map is one value in server-side apply: `map = atomic | granular`.
    pub map_atomic: Option<bool>,
    /// Overrides [`Struct::atomic`] of the type: `structure = granular | atomic`.
    pub structure_atomic: Option<bool>,
    /// Strategic merge: `patch = merge | replace | retain_keys | ..`.
    pub patch_strategy: Option<String>,
    /// Key of strategic merge: `key = name`; by default the only list map key.
    pub patch_merge_key: Option<String>,
    /// Constant default: `default = 1`.
    pub default: Option<Literal>,
    /// Hides the constant default in OpenAPI: `default_hidden = 1`.
    ///
    /// Upstream shows only defaults of declarative `+default` tags.
    pub default_hidden: bool,
    /// Declared constraints.
    pub validation: Validation,
    /// Upstream's tags that no other word expresses, verbatim: `dv("..")`.
    pub tags: Vec<String>,
    /// Feature gate of the field: `gate = FEATURE`.
    pub feature_gate: Option<String>,
    /// The struct is dropped with its only set field: `gate_with_struct`.
    pub gate_with_struct: bool,
    /// The description marks the field as deprecated: `deprecated`.
    pub deprecated: bool,
    /// JSON names of the corresponding fields of the hub, if they differ.
    pub hub_names: Vec<String>,
    /// Reads set `kind` and `apiVersion` of the items: `says_kind`.
    pub says_kind: bool,
    /// Go type of the field, or of its items: `go = "types.UID"`.
    ///
    /// Enums determine theirs.
    pub go_type: Option<String>,
    /// Go type of a list or map as a whole: `go_whole = ".."`.
    ///
    /// Example: `map[QualifiedName]resource.Quantity`.
    pub go_whole: Option<String>,
    /// Place of the declaration.
    pub span: Span,
}

/// Semantics of a list in server-side apply (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSemantics {
    /// The list is one value: `list = atomic`.
    Atomic,
    /// Each item has its own owners: `list = set`.
    Set,
    /// Items are identified by these keys (JSON names): `list = map(k1, k2)`.
    Map(Vec<String>),
}

/// Declared constraints of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validation {
    /// Minimum of a number, inclusive: `min = 0`.
    pub min: Option<i64>,
    /// Maximum of a number, inclusive: `max = 100`.
    pub max: Option<i64>,
    /// Minimum length of a text in characters.
    pub min_length: Option<u64>,
    /// Maximum length of a text in characters.
    pub max_length: Option<u64>,
    /// Maximum length of a text in bytes.
    pub max_bytes: Option<u64>,
    /// Minimum number of items.
    pub min_items: Option<u64>,
    /// Maximum number of items.
    pub max_items: Option<u64>,
    /// Regular expression that a text matches: `pattern = ".."`.
    pub pattern: Option<String>,
    /// A format of `machinery::format`: `format = dns1123_label`.
    pub format: Option<String>,
    /// The field may not change once the object exists: `immutable`.
    pub immutable: bool,
    /// No two items are equal, or equal in the keys of `list = map`: `unique`.
    pub unique: bool,
}

/// The type of a field, without `Option` and `Box`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TypeRef {
    /// A text.
    #[default]
    String,
    /// A boolean.
    Bool,
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer; also a Go `int`.
    I64,
    /// A 64-bit floating-point number, allowed with `#[allow(float)]`.
    F64,
    /// Bytes, base64 in JSON.
    Bytes,
    /// `resource.Quantity`.
    Quantity,
    /// `metav1.Time`, in seconds.
    Time,
    /// `metav1.MicroTime`, in microseconds.
    MicroTime,
    /// `metav1.Duration`.
    Duration,
    /// `intstr.IntOrString`.
    IntOrString,
    /// `runtime.RawExtension`: an object of any kind.
    RawExtension,
    /// `metav1.FieldsV1`: the owned fields of server-side apply.
    FieldsV1,
    /// Any JSON value (apiextensions `JSON`).
    Json,
    /// A string enum.
    Enum(EnumId),
    /// A struct.
    Struct(StructId),
    /// A list; its items are no lists or maps.
    List(Box<TypeRef>),
    /// A map with string keys; its values are no lists or maps.
    Map(Box<TypeRef>),
}

impl TypeRef {
    /// The struct at the leaf of the type, through lists and maps.
    pub fn held(&self) -> Option<StructId> {
        match self {
            TypeRef::Struct(id) => Some(*id),
            TypeRef::List(inner) | TypeRef::Map(inner) => inner.held(),
            _ => None,
        }
    }
}

/// A constant in a declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text, or the wire value of an enum variant.
    String(String),
    /// A list: `[..]`.
    List(Vec<Literal>),
    /// Members by JSON name, in order: `{ name: LITERAL }`.
    Object(Vec<(String, Literal)>),
}

impl Default for Literal {
    fn default() -> Self {
        Literal::Bool(false)
    }
}
