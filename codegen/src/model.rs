//! The model: what `api-defs/` says, as plain structs without `syn` types and without tokens.
//!
//! `parse` fills it, `check` proves it, every emitter reads it. Names are already resolved: a [`TypeRef::Struct`] holds a
//! [`StructId`], so no emitter looks anything up by text.
//!
//! What is implied is filled in: derived names and prefixes, default verbs, and for every kind with a list a struct
//! `<Kind>List` ([`Role::List`]: `metadata: ListMeta` = 1, `items` = 2) in each of the kind's versions. `kind` and `apiVersion`
//! of kinds and lists are not among their fields. Docs are unwrapped: one line per paragraph, paragraphs apart by a blank line.

mod checks;

pub use checks::{Assertion, Check, Condition, NamedCondition};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where something was declared: for diagnostics, and for the pointer back that generated code carries.
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
    /// Every struct of every version, those that a version shares with its hub included once, at the hub.
    pub structs: Vec<Struct>,
    /// Every enum, likewise.
    pub enums: Vec<Enum>,
}

/// Index into [`Model::structs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);

/// Index into [`Model::enums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub usize);

/// A folder of `api-defs/`: one API group, or a family of types that is no group of its own (`meta`).
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Rust module and folder-independent short name, such as `apps` or `rbac`: `#![group(.., module = rbac)]`.
    pub module: String,
    /// The API group as clients say it, empty for core: `#![group("rbac.authorization.k8s.io", ..)]`.
    pub name: String,
    /// Which generated package holds it: `#![group(.., package = apimachinery)]` for what the server core itself speaks.
    /// A group that says nothing is somebody's own.
    pub package: Package,
    /// `groupPriorityMinimum` of its APIService: `priority = 17800`.
    pub priority: i32,
    /// What the group is for.
    pub docs: String,
    /// Prefix of OpenAPI definition names: `model = "io.k8s.api.apps"`; derived from the group name when not given.
    pub openapi_prefix: String,
    /// Prefix of the protobuf package: `proto = "k8s.io.api.apps"`; derived from the group name when not given.
    pub proto_prefix: String,
    /// Types of the server's own vocabulary (`meta`, audit, discovery documents): `internal`. Clients' schemes do not know the
    /// group, so what belongs to every group (`DeleteOptions`, `WatchEvent`) does not belong to it. Read by `emit/openapi`.
    pub internal: bool,
    /// Finalizers without a domain have to be Kubernetes' own: `finalizers = qualified`.
    pub qualified_finalizers: bool,
    /// Of the declared constraints only those that upstream's tags enforce are in force, and `by_hand` functions check
    /// the rest: `validation = tagged`.
    pub tagged_validation: bool,
    /// Feature gates that it declares: `#![gate(ShopSale, alpha)]`.
    pub gates: Vec<Gate>,
    /// Versions in order of declaration; the first is the hub: `#![version(v1, priority = 15)]`.
    pub versions: Vec<Version>,
    /// Kinds in order of files and of declaration.
    pub kinds: Vec<Kind>,
    pub span: Span,
}

/// A feature gate that a group declares: `#![gate(ShopSale, beta, default = true)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    pub name: String,
    pub stage: Stage,
    pub default: bool,
    /// Whether the default is the only value left.
    pub locked: bool,
    pub span: Span,
}

impl Gate {
    /// Whether another declaration says the same.
    pub fn agrees(&self, other: &Gate) -> bool {
        (self.stage, self.default, self.locked) == (other.stage, other.default, other.locked)
    }
}

/// How settled a feature is.
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
    /// `generated/apimachinery/`: the types that registry, endpoints, apiextensions and the aggregator speak.
    Apimachinery,
    /// `generated/`: the other groups of Kubernetes, which the control plane names.
    Generated,
    /// `generated/own/`: groups of your own, which no code but theirs names, so that a change of one is compiled in no time.
    #[default]
    Own,
}

impl Package {
    /// How code of other packages calls it.
    pub fn name(self) -> &'static str {
        match self {
            Package::Apimachinery => "apimachinery",
            Package::Generated => "generated",
            Package::Own => "own",
        }
    }

    /// The crate that owns the functions written by hand that definitions name. It fills tables by which the types know them. An
    /// author's functions are compiled into the package instead.
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
    /// Such as `v1beta1`.
    pub name: String,
    /// `versionPriority` of its APIService: `priority = 15`.
    pub priority: i32,
    /// Whether the server may serve it, and does so without `--runtime-config`.
    pub serving: Serving,
    /// Every type name visible in this version -> the struct that stands for it; shared with the hub where identical.
    pub structs: BTreeMap<String, StructId>,
    /// The enum for every enum name visible in this version.
    pub enums: BTreeMap<String, EnumId>,
    /// Names in `structs`/`enums` that belong to another version (`use v1::Rule;` in `mod v1beta1`): name -> that version.
    pub borrowed: BTreeMap<String, String>,
    pub span: Span,
}

/// How a version, or a resource in a version, is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serving {
    /// On by default.
    #[default]
    On,
    /// Off until `--runtime-config` asks for it: `off`.
    Off,
    /// Declared and encodable, never served: `unserved`.
    Unserved,
}

/// A kind: a struct with apiVersion, kind and usually metadata.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// Such as `Deployment`.
    pub name: String,
    /// Versions it exists in, hub first, with how each is served: `#[versions(v1, v1beta1 = off, v1beta2 = unserved)]`.
    pub versions: Vec<KindVersion>,
    /// Version used in storage, the hub unless `storage = v1beta1` says otherwise.
    pub storage_version: String,
    /// The hub of this kind stands in another group: `#[kind(.., stored_as = core::v1::Event)]`.
    pub stored_as: Option<StructId>,
    /// How clients reach it; `None` for kinds that only travel in bodies or queries (`PodExecOptions`, `WatchEvent`).
    pub resource: Option<Resource>,
    /// Whether there is a list kind, `<Kind>List`: `list = false` turns it off; on for resources with the list verb.
    pub list: bool,
    /// Columns of its tables, also when it has no resource of its own (`Scale`); [`Resource::columns`] repeats them.
    pub columns: Vec<Column>,
    /// What it adds to the declared strategy: `#[strategy(create = FN, ..)]`.
    pub strategy: Vec<StrategyHook>,
    /// Feature gate without which the kind is not there: `gate = FEATURE`.
    pub feature_gate: Option<String>,
    pub span: Span,
}

/// One function of `#[strategy(..)]`.
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
    /// Releases: `#[versions(v1(introduced = "1.9"), v1beta1(introduced = "1.6", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 Deployment"))]`.
    pub introduced: Option<String>,
    pub deprecated: Option<String>,
    pub removed: Option<String>,
    pub replacement: Option<String>,
    /// Differs from [`Kind::resource`]'s where a version serves fewer verbs or other subresources.
    pub verbs: Option<Vec<String>>,
    pub subresources: Option<Vec<String>>,
}

/// How a kind is reached over HTTP and kept in the store.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    /// Sorted verbs, such as `create delete deletecollection get list patch update watch`.
    pub verbs: Vec<String>,
    /// Storage key below `/registry`, such as `minions`, without slashes at the ends; the plural unless `prefix = ".."` says otherwise.
    /// `None` for virtual resources (`virtual`), which nothing stores.
    pub key_prefix: Option<String>,
    /// Stored as JSON instead of protobuf: `stored = json`.
    pub stored_as_json: bool,
    pub subresources: Vec<Subresource>,
    pub columns: Vec<Column>,
    pub selectable: Vec<Selectable>,
    /// PUT creates what is not there: `create_on_update`.
    pub create_on_update: bool,
    /// PUT without resourceVersion is accepted: `unconditional_update`, on unless `= false`.
    pub unconditional_update: bool,
    /// DELETE answers with the object instead of a Status: `delete_returns_object`.
    pub delete_returns_object: bool,
    /// `gc = orphan | delete | none`.
    pub garbage_collection: GarbageCollection,
    /// `graceful`: DELETE honours grace periods (pods).
    pub graceful_delete: bool,
    /// Said to who deletes one without a propagation policy, when that orphans dependents: `orphan_warning = ".."`.
    pub orphan_warning: Option<String>,
    /// The error for a field selector's label that is not selectable: `label_error = "field label not supported for Job: {label}"`.
    pub label_error: Option<String>,
    /// `generation`, `generation = false | exact`; without the word generations count where there is a status
    /// subresource.
    pub generation: Generation,
    /// JSON paths of what an update leaves as it was, `resets(spec, status)`; `None` where that is not said.
    pub resets: Option<Vec<String>>,
    /// The rule for metadata.name: `name = dns1123_subdomain` (a format of `machinery::format`).
    pub name_rule: String,
    /// `metadata = change | whole | both | whole_and_change | unchecked`.
    pub metadata_check: MetadataCheck,
    /// `watch_cache = false`.
    pub watch_cache: bool,
}

/// Which changes of what is outside of metadata and status `metadata.generation` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// None: the generation stays as it is.
    #[default]
    Off,
    /// Changes of values.
    Values,
    /// Also an empty list or map where there was none.
    Exact,
}

/// How a kind's own validation looks at metadata when an object is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataCheck {
    #[default]
    Change,
    Whole,
    Both,
    /// On update in both ways, first as that of a new object.
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
    /// Group, version and kind of its body when that is not the parent's: `(group name, version, kind)`.
    pub kind: Option<(String, String, String)>,
    pub verbs: Vec<String>,
    /// JSON paths of a scale subresource: `replicas`, `observed`, `selector`.
    pub scale: Option<ScalePaths>,
    /// JSON paths of what a write through it leaves as it was; `None` where that is not said.
    pub resets: Option<Vec<String>>,
    /// `without_tables`: a request for a table of it is answered with 406.
    pub without_tables: bool,
    pub span: Span,
}

/// JSON paths, such as `spec.replicas`, that `/scale` reads and writes.
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
    /// JSON paths of what a cell by hand depends on; nothing when it is not said.
    pub reads: Vec<String>,
    pub docs: String,
    pub span: Span,
}

/// What a column shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `spec.price`, `status.phase or "<none>"`: value at a JSON path, or the text after `or` when absent or empty.
    Path { path: String, or: Option<String> },
    /// `age(metadata.creationTimestamp)`: how long ago; also short as `age`.
    Age { path: String, or: Option<String> },
    /// `len(spec.drivers)`, or the text after `or` when absent.
    Len { path: String, or: Option<String> },
    /// `labels(spec.nodeSelector)`: `k=v,k=v`, `<none>` (or the text after `or`) when empty.
    Labels { path: String, or: Option<String> },
    /// `selector(spec.selector)`: a label selector's text, `<none>` (or the text after `or`) when empty.
    Selector { path: String, or: Option<String> },
    /// `join(spec.cidrs)`: comma-joined strings, or the text after `or` when empty.
    Join { path: String, or: Option<String> },
    /// `by_hand = node_roles`: `fn(&Kind, &PrintContext) -> Cell` in the group's hatch file.
    ByHand(String),
}

impl Default for Cell {
    fn default() -> Self {
        Cell::Path { path: String::new(), or: None }
    }
}

/// `#[selectable(spec.nodeName, alias = "spec.host")]`, `#[selectable("spec.hostNetwork", by_hand = pod_host_network)]`.
#[derive(Clone, Debug, Default)]
pub struct Selectable {
    /// The label that clients use in a field selector.
    pub label: String,
    /// JSON path of the value, empty when by hand.
    pub path: String,
    /// A hatch function `fn(&Kind) -> String`.
    pub by_hand: Option<String>,
    /// JSON paths of what the value depends on: the path itself, or what `reads(..)` says of a hatch; nothing when it is not said.
    pub reads: Vec<String>,
    /// Other labels that mean the same.
    pub aliases: Vec<String>,
    /// Versions in which it is accepted when not in all: `versions = (v1)`.
    pub versions: Vec<String>,
    pub span: Span,
}

/// What a struct is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A part of something.
    #[default]
    Part,
    /// A kind with metadata.
    Object,
    /// A kind without object metadata (reviews with metadata are `Object`).
    TypeOnly,
    /// `<Kind>List`, made by the generator.
    List,
}

/// How a struct looks in JSON: `#[json(schema_or_array)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonForm {
    /// An object of its fields.
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

/// A struct in one version. Versions that state it identically share one.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// The Go and OpenAPI name, such as `PodSpec`.
    pub name: String,
    /// Module of the group ([`Group::module`]) and version that declare it.
    pub module: String,
    pub version: String,
    pub docs: String,
    pub role: Role,
    pub fields: Vec<Field>,
    /// `#[structure(atomic)]`.
    pub atomic: bool,
    /// Has no message of its own in upstream's protobuf: `#[proto(none)]`.
    pub proto_none: bool,
    /// An alias message `{1 items: repeated string}` whose JSON is the bare list: `#[proto(items)]` (`ExtraValue`, `Verbs`).
    /// Such a struct has exactly one field, `items: Vec<String>`.
    pub transparent: bool,
    /// See [`JsonForm`]; `Items` goes with `transparent`.
    pub json_form: JsonForm,
    /// `#[direct]`: code of their own writes the JSON of it and of what it holds.
    pub direct: bool,
    /// Kind-level or struct-level constant defaults: `#[default(spec.replicas = 1)]`, in order.
    pub path_defaults: Vec<PathDefault>,
    /// `#[default(by_hand = service_spec)]`: `fn(&mut ServiceSpec)` in the group's hatch file, after the constants. This and the
    /// hatches below are paths within that file: a version's own form that inherits one from its hub needs a function of its own,
    /// `v1beta1::service_spec`.
    pub default_by_hand: Option<String>,
    /// `#[normalize(by_hand = pod_spec)]`: `fn(&mut PodSpec)`, what upstream's trip through the internal type changes.
    pub normalize: Option<String>,
    /// `#[validate(by_hand = pod_spec)]`.
    pub validate_by_hand: Option<String>,
    /// `#[condition(indexed, mode = Indexed)]`: conditions of checks by name.
    pub conditions: Vec<NamedCondition>,
    /// `#[check(replicas, min = 0)]`, in order.
    pub checks: Vec<Check>,
    /// `#[rule("cel", field = spec.stock, message = "..", reason = Invalid)]`.
    pub rules: Vec<Rule>,
    /// `#[union(zero_or_one)]`, groups of member fields by name; discriminator's JSON name where there is one.
    pub unions: Vec<Union>,
    /// For a version's own form: the hub's struct it converts to and from, with what is not a plain move.
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
    /// (discriminator value, JSON name of the member).
    pub members: Vec<(String, String)>,
    /// Values of the discriminator with which no member may be set: `without(Reject)`.
    pub without: Vec<String>,
    /// None set is fine.
    pub zero_allowed: bool,
    pub span: Span,
}

/// A CEL rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub expression: String,
    pub field: String,
    pub message: String,
    /// An expression that makes the message: `message_expression = ".."`.
    pub message_expression: String,
    pub reason: String,
    /// `oldSelf` is optional, and the rule is run on new objects too: `optional_old_self`.
    pub optional_old_self: bool,
    pub span: Span,
}

/// How a version's struct relates to the hub's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    pub hub: Option<StructId>,
    /// (field here, field at the hub): `#[field(1, renamed = stock)]`, JSON names.
    pub renames: Vec<(String, String)>,
    /// Fields of either side that the hand-written pair deals with: `#[convert(by_hand = colour, here(colour), hub(parts))]`.
    /// The pair is `fn colour_to_hub(&mut Here, &mut Hub)` and `fn colour_from_hub(&mut Hub, &mut Here)` in the hatch file, both
    /// called after the moves.
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
    /// (Rust variant, wire value, docs).
    pub variants: Vec<(String, String, String)>,
    /// Values of features, with their gates: `#[value("OnSale", gate = ShopSale)]`.
    pub gated: Vec<(String, String)>,
    /// Other values are allowed too; listed ones are only well known, and OpenAPI shows a plain string: `#[open]`.
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
    /// Name in `.proto` when not the JSON name: `proto = "Raw"`.
    pub proto_name: Option<String>,
    pub ty: TypeRef,
    pub docs: String,
    /// `Option<..>`: absent and zero differ (a Go pointer).
    pub nullable: bool,
    /// In OpenAPI's `required` list.
    pub required: bool,
    /// Left out of JSON when empty; the opposite of `required` unless `omitempty`/`always` says otherwise.
    pub omitempty: bool,
    /// Flat in JSON, a nested message in protobuf: `#[field(2, inline)]`.
    pub inline: bool,
    pub list: Option<ListSemantics>,
    /// `map = atomic | granular`.
    pub map_atomic: Option<bool>,
    /// `structure = granular | atomic`: overrides the type's.
    pub structure_atomic: Option<bool>,
    /// Strategic merge: `patch = merge | replace | retain_keys | merge_retain_keys`.
    pub patch_strategy: Option<String>,
    /// `key = name`; the first list map key unless given.
    pub patch_merge_key: Option<String>,
    pub default: Option<Literal>,
    /// Whether the constant default is shown in OpenAPI (upstream shows only those of declarative `+default` tags): `default(hidden) = 1`.
    pub default_hidden: bool,
    pub validation: Validation,
    /// Upstream's declarative-validation tags that are not expressed by the words above, verbatim structure: `dv("..")`.
    pub tags: Vec<String>,
    pub feature_gate: Option<String>,
    /// The struct goes with the field, where it holds nothing else: `gate_with_struct`.
    pub gate_with_struct: bool,
    pub deprecated: bool,
    /// JSON names of the hub's fields that this one of a version stands for, where they are others.
    pub hub_names: Vec<String>,
    /// Its items say their kind wherever they are read: `says_kind`.
    pub says_kind: bool,
    /// The Go type of the field, or of its items: `go = "types.UID"`. Enums name theirs.
    pub go_type: Option<String>,
    /// The Go type of a list or map as a whole: `go_whole = "map[QualifiedName]resource.Quantity"`.
    pub go_whole: Option<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSemantics {
    Atomic,
    Set,
    Map(Vec<String>),
}

/// Declared constraints of one field.
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

/// A type as a field says it; `Option` and `Box` are not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TypeRef {
    #[default]
    String,
    Bool,
    I32,
    I64,
    /// A Go `int`, `i64` here, and a Go `uint8`... are not distinguished; `f64` is allowed with `#[allow(float)]`.
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
    /// Keys are strings.
    Map(Box<TypeRef>),
}

impl TypeRef {
    /// The struct that values of the type hold, through lists and maps.
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
