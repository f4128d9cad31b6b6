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

pub use checks::{Assertion, Check, Condition, NamedCondition};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Place of a declaration, for diagnostics and for the source references in generated code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Path relative to the workspace root, such as `api-defs/apps/deployment.rs`.
    pub file: PathBuf,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, counted in characters.
    pub column: usize,
}

/// Everything that `api-defs/` declares.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Groups in order of their folder names.
    pub groups: Vec<Group>,
    /// Every struct of every version. A struct that a version shares with its hub is listed once, at
    /// the hub.
    pub structs: Vec<Struct>,
    /// Every enum, in the same way.
    pub enums: Vec<Enum>,
}

/// Index into [`Model::structs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);

/// Index into [`Model::enums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub usize);

/// A folder of `api-defs/`: one API group, or a family of types that is not a group (`meta`).
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Rust module and folder-independent short name, such as `apps` or `rbac`: `#![group(.., module = rbac)]`.
    pub module: String,
    /// Name of the API group, empty for core: `#![group("rbac.authorization.k8s.io", ..)]`.
    pub name: String,
    /// The generated package of the group: `#![group(.., package = apimachinery)]` for types that the
    /// server core uses. The default is [`Package::Own`].
    pub package: Package,
    /// `groupPriorityMinimum` of its APIService: `priority = 17800`.
    pub priority: i32,
    /// Description of the group.
    pub docs: String,
    /// Prefix of OpenAPI definition names: `model = "io.k8s.api.apps"`; derived from the group name when not given.
    pub openapi_prefix: String,
    /// Prefix of the protobuf package: `proto = "k8s.io.api.apps"`; derived from the group name when not given.
    pub proto_prefix: String,
    /// Types of the server itself (`meta`, audit, discovery documents): `internal`. Clients' schemes do
    /// not know the group, so types that belong to every group (`DeleteOptions`, `WatchEvent`) are not
    /// registered for it. Read by `emit/openapi`.
    pub internal: bool,
    /// Finalizers without a domain have to be among Kubernetes' own: `finalizers = qualified`.
    pub qualified_finalizers: bool,
    /// Only the constraints that upstream's tags enforce are in force; `by_hand` functions check the
    /// others: `validation = tagged`.
    pub tagged_validation: bool,
    /// Feature gates that the group declares: `#![gate(ShopSale, alpha)]`.
    pub gates: Vec<Gate>,
    /// Versions in order of declaration; the first is the hub: `#![version(v1, priority = 15)]`.
    pub versions: Vec<Version>,
    /// Kinds in order of files and of declarations.
    pub kinds: Vec<Kind>,
    pub span: Span,
}

/// A feature gate that a group declares: `#![gate(ShopSale, beta, default = true)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    pub name: String,
    pub stage: Stage,
    pub default: bool,
    /// Whether the gate is locked to its default.
    pub locked: bool,
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
pub enum Stage {
    #[default]
    Alpha,
    Beta,
    Ga,
    Deprecated,
}

/// The generated package a group is emitted into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Package {
    /// `generated/apimachinery/`: types that registry, endpoints, apiextensions and the aggregator use.
    Apimachinery,
    /// `generated/`: the other groups of Kubernetes, which the control plane refers to.
    Generated,
    /// `generated/own/`: custom groups. No other code refers to them, so that a change recompiles
    /// little.
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

    /// The crate that owns the hand-written functions of Kubernetes' groups; it registers them in
    /// tables of the types' package. Functions of custom groups are compiled into the generated package
    /// instead.
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
    /// Whether the server can serve the version, and whether it does so without `--runtime-config`.
    pub serving: Serving,
    /// The struct of every type name that is visible in this version; shared with the hub where
    /// identical.
    pub structs: BTreeMap<String, StructId>,
    /// The enum of every enum name that is visible in this version.
    pub enums: BTreeMap<String, EnumId>,
    /// Names in `structs` and `enums` that belong to another version (`use v1::Rule;` in `mod
    /// v1beta1`), with that version.
    pub borrowed: BTreeMap<String, String>,
    pub span: Span,
}

/// How a version, or a resource in a version, is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serving {
    /// On by default.
    #[default]
    On,
    /// Off unless `--runtime-config` enables it: `off`.
    Off,
    /// Declared and encodable, but never served: `unserved`.
    Unserved,
}

/// A kind: a struct with apiVersion, kind and, in most cases, metadata.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// Name, such as `Deployment`.
    pub name: String,
    /// Versions of the kind, hub first, with how each is served: `#[versions(v1, v1beta1 = off, v1beta2
    /// = unserved)]`.
    pub versions: Vec<KindVersion>,
    /// Storage version; the hub unless `storage = v1beta1` states another.
    pub storage_version: String,
    /// The kind in another group whose form is stored: `#[kind(.., stored_as = core::v1::Event)]`. Its
    /// struct is the hub.
    pub stored_as: Option<StructId>,
    /// The resource; `None` for kinds that occur only in bodies or queries (`PodExecOptions`,
    /// `WatchEvent`).
    pub resource: Option<Resource>,
    /// Whether the list kind `<Kind>List` exists: `list = false` disables it; enabled for resources
    /// with the list verb.
    pub list: bool,
    /// Table columns, also of a kind without a resource (`Scale`); [`Resource::columns`] repeats them.
    pub columns: Vec<Column>,
    /// Functions that extend the declared strategy: `#[strategy(create = FN, ..)]`.
    pub strategy: Vec<StrategyHook>,
    /// Feature gate that enables the kind: `gate = FEATURE`.
    pub feature_gate: Option<String>,
    pub span: Span,
}

/// A function of `#[strategy(..)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrategyHook {
    /// `create`, `update`, `warnings`, `grace`, `delete`, `holds`, `rows` or `order`.
    pub word: String,
    pub function: String,
    pub span: Span,
}

/// One version of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindVersion {
    pub version: String,
    pub serving: Serving,
    /// Releases: `#[versions(v1(introduced = "1.9"), v1beta1(introduced = "1.6", deprecated = "1.8",
    /// removed = "1.16", replacement = "apps/v1 Deployment"))]`.
    pub introduced: Option<String>,
    pub deprecated: Option<String>,
    pub removed: Option<String>,
    pub replacement: Option<String>,
    /// Set if the version serves fewer verbs or other subresources than [`Kind::resource`].
    pub verbs: Option<Vec<String>>,
    pub subresources: Option<Vec<String>>,
}

/// How a kind is exposed over HTTP and stored.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    /// Sorted verbs, such as `create delete deletecollection get list patch update watch`.
    pub verbs: Vec<String>,
    /// Storage key below `/registry`, such as `minions`, without slashes at the ends; the plural unless
    /// `prefix = ".."` states another. `None` for virtual resources (`virtual`), which are not stored.
    pub key_prefix: Option<String>,
    /// Stored as JSON instead of protobuf: `stored = json`.
    pub stored_as_json: bool,
    pub subresources: Vec<Subresource>,
    pub columns: Vec<Column>,
    pub selectable: Vec<Selectable>,
    /// PUT creates a missing object: `create_on_update`.
    pub create_on_update: bool,
    /// PUT without resourceVersion is accepted: `unconditional_update`, on unless `= false`.
    pub unconditional_update: bool,
    /// DELETE returns the object instead of a Status: `delete_returns_object`.
    pub delete_returns_object: bool,
    /// `gc = orphan | delete | none`.
    pub garbage_collection: GarbageCollection,
    /// `graceful`: DELETE honours grace periods (pods).
    pub graceful_delete: bool,
    /// Warning for a DELETE without a propagation policy that orphans dependents: `orphan_warning =
    /// ".."`.
    pub orphan_warning: Option<String>,
    /// Error for a field selector with an unsupported label: `label_error = "field label not supported
    /// for Job: {label}"`.
    pub label_error: Option<String>,
    /// `generation`, `generation = false | exact`. Without the word, generations are counted if there
    /// is a status subresource.
    pub generation: Generation,
    /// JSON paths that an update leaves unchanged, `resets(spec, status)`; `None` if not declared.
    pub resets: Option<Vec<String>>,
    /// Rule for metadata.name: `name = dns1123_subdomain` (a format of `machinery::format`).
    pub name_rule: String,
    /// `metadata = change | whole | both | whole_and_change | unchecked`.
    pub metadata_check: MetadataCheck,
    /// `watch_cache = false`.
    pub watch_cache: bool,
}

/// Which changes outside of metadata and status increment `metadata.generation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// None: the generation is never incremented.
    #[default]
    Off,
    /// Changes of values.
    Values,
    /// Changes of values, and an empty list or map in place of an absent one.
    Exact,
}

/// How a kind's own validation checks metadata on update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataCheck {
    #[default]
    Change,
    Whole,
    Both,
    /// Both validations, first the one for new objects.
    WholeAndChange,
    Unchecked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GarbageCollection {
    #[default]
    Delete,
    Orphan,
    Unsupported,
}

/// `#[subresource(scale, kind = autoscaling::v1::Scale, verbs = (get, patch, update), replicas = spec.replicas)]`.
#[derive(Clone, Debug, Default)]
pub struct Subresource {
    /// Such as `status`, `scale`, `binding`.
    pub name: String,
    /// Group name, version and kind of the body, if not the parent's.
    pub kind: Option<(String, String, String)>,
    pub verbs: Vec<String>,
    /// JSON paths of a scale subresource: `replicas`, `observed`, `selector`.
    pub scale: Option<ScalePaths>,
    /// JSON paths that a write through the subresource leaves unchanged; `None` if not declared.
    pub resets: Option<Vec<String>>,
    /// `without_tables`: the server replies 406 to a request for a table of it.
    pub without_tables: bool,
    pub span: Span,
}

/// JSON paths that `/scale` reads and writes, such as `spec.replicas`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalePaths {
    pub replicas: String,
    pub observed: String,
    pub selector: String,
}

/// `#[column("Ready", string, by_hand = deployment_ready, priority = 1, format = name)]`.
#[derive(Clone, Debug, Default)]
pub struct Column {
    pub name: String,
    /// OpenAPI type: `string`, `integer`, `number`, `boolean`, `date`.
    pub kind: String,
    pub format: String,
    pub priority: i32,
    pub cell: Cell,
    /// JSON paths that a cell computed by hand depends on; empty if not declared.
    pub reads: Vec<String>,
    pub docs: String,
    pub span: Span,
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `spec.price`, `status.phase or "<none>"`: value at a JSON path, or the text after `or` if absent
    /// or empty.
    Path { path: String, or: Option<String> },
    /// `age(metadata.creationTimestamp)`: time since then; `age` is short for it.
    Age { path: String, or: Option<String> },
    /// `len(spec.drivers)`, or the text after `or` if absent.
    Len { path: String, or: Option<String> },
    /// `labels(spec.nodeSelector)`: `k=v,k=v`, or `<none>` (the text after `or`) if empty.
    Labels { path: String, or: Option<String> },
    /// `selector(spec.selector)`: a label selector as text, or `<none>` (the text after `or`) if empty.
    Selector { path: String, or: Option<String> },
    /// `join(spec.cidrs)`: comma-joined strings, or the text after `or` if empty.
    Join { path: String, or: Option<String> },
    /// `by_hand = node_roles`: `fn(&Kind, &PrintContext) -> Cell` among the group's hand-written
    /// functions.
    ByHand(String),
}

impl Default for Cell {
    fn default() -> Self {
        Cell::Path { path: String::new(), or: None }
    }
}

/// `#[selectable(spec.nodeName, alias = "spec.host")]`,
/// `#[selectable("spec.hostNetwork", by_hand = pod_host_network)]`.
#[derive(Clone, Debug, Default)]
pub struct Selectable {
    /// The label in a field selector.
    pub label: String,
    /// JSON path of the value, empty if computed by hand.
    pub path: String,
    /// A hand-written function `fn(&Kind) -> String`.
    pub by_hand: Option<String>,
    /// JSON paths that the value depends on: the path itself, or `reads(..)` of a hand-written
    /// function; empty if not declared.
    pub reads: Vec<String>,
    /// Other labels with the same meaning.
    pub aliases: Vec<String>,
    /// Versions that accept the label, if not all: `versions = (v1)`.
    pub versions: Vec<String>,
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
    /// Module ([`Group::module`]) and version of the declaration.
    pub module: String,
    pub version: String,
    pub docs: String,
    pub role: Role,
    pub fields: Vec<Field>,
    /// `#[structure(atomic)]`.
    pub atomic: bool,
    /// Has no message in upstream's protobuf: `#[proto(none)]`.
    pub proto_none: bool,
    /// A message `{1 items: repeated string}` with the bare list as its JSON form: `#[proto(items)]`
    /// (`ExtraValue`, `Verbs`). Such a struct has exactly one field, `items: Vec<String>`.
    pub transparent: bool,
    /// See [`JsonForm`]; `Items` implies `transparent`.
    pub json_form: JsonForm,
    /// `#[direct]`: dedicated code writes the JSON of the struct and of the structs in it.
    pub direct: bool,
    /// Constant defaults of a kind or a struct, in order: `#[default(spec.replicas = 1)]`.
    pub path_defaults: Vec<PathDefault>,
    /// `#[default(by_hand = service_spec)]`: `fn(&mut ServiceSpec)`, which runs after the constants.
    /// This and the functions below are paths within the group's hand-written functions. A version's
    /// own form that inherits one from its hub needs a separate function, `v1beta1::service_spec`.
    pub default_by_hand: Option<String>,
    /// `#[normalize(by_hand = pod_spec)]`: `fn(&mut PodSpec)`; applies the changes of upstream's round
    /// trip through the internal type.
    pub normalize: Option<String>,
    /// `#[validate(by_hand = pod_spec)]`.
    pub validate_by_hand: Option<String>,
    /// `#[condition(indexed, mode = Indexed)]`: named conditions of checks.
    pub conditions: Vec<NamedCondition>,
    /// `#[check(replicas, min = 0)]`, in order.
    pub checks: Vec<Check>,
    /// `#[rule("cel", field = spec.stock, message = "..", reason = Invalid)]`.
    pub rules: Vec<Rule>,
    /// `#[union(zero_or_one)]`: groups of member fields by name, with the JSON name of the
    /// discriminator if there is one.
    pub unions: Vec<Union>,
    /// For a version's own form: the conversion to and from the hub's struct.
    pub conversion: Option<Conversion>,
    pub deprecated: bool,
    pub span: Span,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathDefault {
    /// JSON path below the struct.
    pub path: String,
    pub value: Literal,
    pub span: Span,
}

/// A group of fields of which at most, or exactly, one may be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Union {
    pub discriminator: Option<String>,
    /// Discriminator values, each with the JSON name of its member.
    pub members: Vec<(String, String)>,
    /// Discriminator values that forbid every member: `without(Reject)`.
    pub without: Vec<String>,
    /// Whether no member may be set.
    pub zero_allowed: bool,
    pub span: Span,
}

/// A CEL rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub expression: String,
    pub field: String,
    pub message: String,
    /// An expression that evaluates to the message: `message_expression = ".."`.
    pub message_expression: String,
    pub reason: String,
    /// `oldSelf` is optional, and the rule is evaluated for new objects too: `optional_old_self`.
    pub optional_old_self: bool,
    pub span: Span,
}

/// Differences between a version's struct and the hub's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    pub hub: Option<StructId>,
    /// JSON names of a field here and of its counterpart at the hub: `#[field(1, renamed = stock)]`.
    pub renames: Vec<(String, String)>,
    /// Fields of either side that a hand-written pair of functions converts: `#[convert(by_hand =
    /// colour, here(colour), hub(parts))]`. The pair is `fn colour_to_hub(&mut Here, &mut Hub)` and `fn
    /// colour_from_hub(&mut Hub, &mut Here)`; both are called after the moves.
    pub by_hand: Vec<String>,
    pub here_only: Vec<String>,
    pub hub_only: Vec<String>,
}

/// A string enum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enum {
    pub name: String,
    pub module: String,
    pub version: String,
    pub docs: String,
    /// Rust variant, wire value and docs of each value.
    pub variants: Vec<(String, String, String)>,
    /// Values that need a feature gate, each with its gate: `#[value("OnSale", gate = ShopSale)]`.
    pub gated: Vec<(String, String)>,
    /// Other values are valid too: `#[open]`. The listed values are only well known, and OpenAPI
    /// declares a plain string.
    pub open: bool,
    pub span: Span,
}

/// A field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Rust name, raw identifiers without `r#`, such as `type`.
    pub name: String,
    /// JSON name; empty for inlined fields.
    pub json: String,
    /// Protobuf number; 0 for fields that are not in protobuf (`TypeMeta`): `#[field(json_only)]`.
    pub number: u32,
    /// Name in `.proto` if it differs from the JSON name: `proto = "Raw"`.
    pub proto_name: Option<String>,
    pub ty: TypeRef,
    pub docs: String,
    /// `Option<..>`: absent and zero differ (a Go pointer).
    pub nullable: bool,
    /// In OpenAPI's `required` list.
    pub required: bool,
    /// Omitted from JSON if empty; the opposite of `required` unless `omitempty` or `always` is
    /// declared.
    pub omitempty: bool,
    /// Flat in JSON, a nested message in protobuf: `#[field(2, inline)]`.
    pub inline: bool,
    pub list: Option<ListSemantics>,
    /// `map = atomic | granular`.
    pub map_atomic: Option<bool>,
    /// `structure = granular | atomic`: overrides the structure of the type.
    pub structure_atomic: Option<bool>,
    /// Strategic merge: `patch = merge | replace | retain_keys | merge_retain_keys`.
    pub patch_strategy: Option<String>,
    /// `key = name`; the first list map key unless given.
    pub patch_merge_key: Option<String>,
    pub default: Option<Literal>,
    /// Hides the constant default in OpenAPI: `default(hidden) = 1`. Upstream shows only defaults of
    /// declarative `+default` tags.
    pub default_hidden: bool,
    pub validation: Validation,
    /// Upstream's declarative-validation tags that the words above do not express, verbatim:
    /// `dv("..")`.
    pub tags: Vec<String>,
    pub feature_gate: Option<String>,
    /// Whether the struct is dropped with the field if it has no other fields set: `gate_with_struct`.
    pub gate_with_struct: bool,
    pub deprecated: bool,
    /// JSON names of the hub's fields that a version's field corresponds to, if they differ.
    pub hub_names: Vec<String>,
    /// The items have `kind` and `apiVersion` set whenever they are read: `says_kind`.
    pub says_kind: bool,
    /// Go type of the field, or of its items: `go = "types.UID"`. Enums determine theirs.
    pub go_type: Option<String>,
    /// Go type of a list or map as a whole: `go_whole = "map[QualifiedName]resource.Quantity"`.
    pub go_whole: Option<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSemantics {
    Atomic,
    Set,
    Map(Vec<String>),
}

/// Declared constraints of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validation {
    pub min: Option<i64>,
    pub max: Option<i64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub max_bytes: Option<u64>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub pattern: Option<String>,
    /// A format of `machinery::format`: `format = dns1123_label`.
    pub format: Option<String>,
    /// `immutable`: may not change once the object exists.
    pub immutable: bool,
    /// `unique`: no two items equal (or equal in the keys of `list = map`).
    pub unique: bool,
}

/// The type of a field, without `Option` and `Box`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TypeRef {
    #[default]
    String,
    Bool,
    I32,
    I64,
    /// `f64`, allowed with `#[allow(float)]`. Among integers, a Go `int` is an `i64`, and a Go `uint8`
    /// is not distinguished.
    F64,
    Bytes,
    Quantity,
    Time,
    MicroTime,
    Duration,
    IntOrString,
    RawExtension,
    FieldsV1,
    /// Any JSON value (apiextensions `JSON`).
    Json,
    Enum(EnumId),
    Struct(StructId),
    List(Box<TypeRef>),
    /// A map with string keys.
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
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Also the wire value of an enum variant.
    String(String),
    List(Vec<Literal>),
    Object(Vec<(String, Literal)>),
}

impl Default for Literal {
    fn default() -> Self {
        Literal::Bool(false)
    }
}
