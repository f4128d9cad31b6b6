//! Kinds: their versions, resources, subresources, columns and selectable fields.

use super::{Serving, Span, StructId};

/// A kind: a struct with apiVersion, kind and, in most cases, metadata.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// Name, such as `Deployment`.
    pub name: String,
    /// Versions of the kind, hub first: `#[versions(v1, v1beta1(off))]`.
    pub versions: Vec<KindVersion>,
    /// Storage version; the hub unless `storage = v1beta1` states another.
    pub storage_version: String,
    /// The kind in another group whose form is stored: `stored_as = core::v1::Event`.
    ///
    /// Its struct is the hub.
    pub stored_as: Option<StructId>,
    /// The resource; `None` for kinds that occur only in bodies or queries.
    ///
    /// Examples without a resource are `PodExecOptions` and `WatchEvent`.
    pub resource: Option<Resource>,
    /// Whether the list kind `<Kind>List` exists.
    ///
    /// Enabled for resources with the list verb; `list = false` disables it.
    pub list: bool,
    /// Table columns, also of a kind without a resource (`Scale`).
    ///
    /// [`Resource::columns`] repeats them.
    pub columns: Vec<Column>,
    /// Functions that extend the declared strategy: `#[strategy(create = FN, ..)]`.
    pub strategy: Vec<StrategyHook>,
    /// Feature gate that enables the kind: `gate = FEATURE`.
    pub feature_gate: Option<String>,
    /// Place of the declaration.
    pub span: Span,
}

/// A function of `#[strategy(..)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrategyHook {
    /// `create`, `update`, `warnings`, `grace`, `delete`, `holds`, `rows` or `order`.
    pub word: String,
    /// Path of the function among the group's hand-written functions.
    pub function: String,
    /// Place of the declaration.
    pub span: Span,
}

/// One version of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindVersion {
    /// Name of the version, such as `v1`.
    pub version: String,
    /// How the kind is served in this version.
    pub serving: Serving,
    /// Release that introduced the version: `#[versions(v1(introduced = "1.9"))]`.
    pub introduced: Option<String>,
    /// Release that deprecated the version: `deprecated = "1.8"`.
    pub deprecated: Option<String>,
    /// Release that removed the version: `removed = "1.16"`.
    pub removed: Option<String>,
    /// Group version and kind to use instead: `replacement = "apps/v1 Deployment"`.
    pub replacement: Option<String>,
    /// Verbs of the version, if it serves fewer than [`Kind::resource`].
    pub verbs: Option<Vec<String>>,
    /// Subresources of the version, if they are not those of [`Kind::resource`].
    pub subresources: Option<Vec<String>>,
}

/// How a kind is exposed over HTTP and stored.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    /// Plural in paths, such as `deployments`.
    pub plural: String,
    /// Singular in discovery, such as `deployment`.
    pub singular: String,
    /// Short names in discovery, such as `deploy`.
    pub short_names: Vec<String>,
    /// Categories in discovery, such as `all`.
    pub categories: Vec<String>,
    /// Whether objects are in namespaces: `scope = Namespaced`.
    pub namespaced: bool,
    /// Sorted verbs; all are `create delete deletecollection get list patch update watch`.
    pub verbs: Vec<String>,
    /// Storage key below `/registry`, such as `minions`, without slashes at the ends.
    ///
    /// The plural unless `prefix = ".."` states another. `None` for virtual resources (`virtual`), which
    /// are not stored.
    pub key_prefix: Option<String>,
    /// Stored as JSON instead of protobuf: `stored = json`.
    pub stored_as_json: bool,
    /// Subresources in order of declaration.
    pub subresources: Vec<Subresource>,
    /// Table columns in order.
    pub columns: Vec<Column>,
    /// Selectable fields in order of declaration.
    pub selectable: Vec<Selectable>,
    /// PUT creates a missing object: `create_on_update`.
    pub create_on_update: bool,
    /// PUT without resourceVersion is accepted; `unconditional_update = false` disables it.
    pub unconditional_update: bool,
    /// DELETE returns the object instead of a Status: `delete_returns_object`.
    pub delete_returns_object: bool,
    /// Default propagation of deletes: `gc = orphan | delete | none`.
    pub garbage_collection: GarbageCollection,
    /// DELETE honours grace periods (pods): `graceful`.
    pub graceful_delete: bool,
    /// Warning for a DELETE that orphans by default: `orphan_warning = ".."`.
    pub orphan_warning: Option<String>,
    /// Error for a field selector with an unsupported label.
    ///
    /// Example: `label_error = "field label not supported for Job: {label}"`.
    pub label_error: Option<String>,
    /// Which updates increment the generation: `generation = false | exact`.
    ///
    /// Without the word, generations are counted if there is a status subresource.
    pub generation: Generation,
    /// JSON paths that an update leaves unchanged: `resets(spec, status)`.
    ///
    /// `None` if not declared.
    pub resets: Option<Vec<String>>,
    /// Rule for metadata.name, a format of `machinery::format`: `name = dns1123_subdomain`.
    pub name_rule: String,
    /// Validation of metadata on update: `metadata = change | whole | both | ..`.
    pub metadata_check: MetadataCheck,
    /// Whether reads use the watch cache; `watch_cache = false` disables it.
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
    /// The validation of changes: `change`.
    #[default]
    Change,
    /// The validation of new objects: `whole`.
    Whole,
    /// Both validations, first the one of changes: `both`.
    Both,
    /// Both validations, first the one of new objects: `whole_and_change`.
    WholeAndChange,
    /// No validation besides that of every kind: `unchecked`.
    Unchecked,
}

/// Default propagation of deletes (`rest.GarbageCollectionPolicy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GarbageCollection {
    /// Dependents are deleted in the background: `delete`.
    #[default]
    Delete,
    /// Dependents are orphaned: `orphan`.
    Orphan,
    /// Deletes have no propagation policy: `none`.
    Unsupported,
}

/// A subresource of a kind.
///
/// Example: `#[subresource(scale, kind = autoscaling::v1::Scale, verbs = (get, patch, update), replicas =
/// spec.replicas)]`.
#[derive(Clone, Debug, Default)]
pub struct Subresource {
    /// Name, such as `status`, `scale`, `binding`.
    pub name: String,
    /// Group name, version and kind of the body, if not the parent's.
    pub kind: Option<(String, String, String)>,
    /// Verbs of the subresource.
    pub verbs: Vec<String>,
    /// JSON paths of a scale subresource: `replicas`, `observed`, `selector`.
    pub scale: Option<ScalePaths>,
    /// JSON paths that a write through the subresource leaves unchanged.
    ///
    /// `None` if not declared.
    pub resets: Option<Vec<String>>,
    /// The server replies 406 to a request for a table of it: `without_tables`.
    pub without_tables: bool,
    /// Place of the declaration.
    pub span: Span,
}

/// JSON paths that `/scale` reads and writes, such as `spec.replicas`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalePaths {
    /// Path of the desired number of replicas.
    pub replicas: String,
    /// Path of the observed number of replicas.
    pub observed: String,
    /// Path of the label selector of the replicas; empty if not declared.
    pub selector: String,
}

/// A column of tables, as `kubectl get` prints them.
///
/// Example: `#[column("Ready", string, by_hand = deployment_ready, priority = 1, format = name)]`.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Header of the column.
    pub name: String,
    /// OpenAPI type: `string`, `integer`, `number`, `boolean`, `date`.
    pub kind: String,
    /// OpenAPI format, such as `name`; empty if not declared.
    pub format: String,
    /// 0 for columns of the standard view; greater for columns of `-o wide`.
    pub priority: i32,
    /// The value in each row.
    pub cell: ColumnValue,
    /// JSON paths that a cell computed by hand depends on; empty if not declared.
    pub reads: Vec<String>,
    /// Description of the column; empty if not declared.
    pub docs: String,
    /// Place of the declaration.
    pub span: Span,
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnValue {
    /// Value at a JSON path: `spec.price`, `status.phase or "<none>"`.
    Path {
        /// JSON path of the value.
        path: String,
        /// Text in place of an absent or empty value.
        or: Option<String>,
    },
    /// Time since then: `age(metadata.creationTimestamp)`; `age` is short for it.
    Age {
        /// JSON path of the time.
        path: String,
        /// Text in place of an absent time.
        or: Option<String>,
    },
    /// Number of items: `len(spec.drivers)`.
    Len {
        /// JSON path of the list or map.
        path: String,
        /// Text in place of an absent list or map.
        or: Option<String>,
    },
    /// A map as the text `k=v,k=v`: `labels(spec.nodeSelector)`.
    Labels {
        /// JSON path of the map.
        path: String,
        /// Text in place of an empty map; `None` is `<none>`.
        or: Option<String>,
    },
    /// A label selector as text: `selector(spec.selector)`.
    Selector {
        /// JSON path of the label selector.
        path: String,
        /// Text in place of an empty selector; `None` is `<none>`.
        or: Option<String>,
    },
    /// Strings, joined by commas: `join(spec.cidrs)`.
    Join {
        /// JSON path of the list.
        path: String,
        /// Text in place of an empty list.
        or: Option<String>,
    },
    /// A hand-written function of the group: `by_hand = node_roles`.
    ///
    /// Its type is `fn(&Kind, &PrintContext) -> Cell`.
    ByHand(String),
}

impl Default for ColumnValue {
    fn default() -> Self {
        ColumnValue::Path { path: String::new(), or: None }
    }
}

/// A field that field selectors can match.
///
/// Examples: `#[selectable(spec.nodeName, alias = "spec.host")]`,
/// `#[selectable("spec.hostNetwork", by_hand = pod_host_network)]`.
#[derive(Clone, Debug, Default)]
pub struct Selectable {
    /// The label in a field selector.
    pub label: String,
    /// JSON path of the value, empty if computed by hand.
    pub path: String,
    /// A hand-written function `fn(&Kind) -> String`.
    pub by_hand: Option<String>,
    /// JSON paths that the value depends on; empty if not declared.
    ///
    /// They are the path itself, or `reads(..)` of a hand-written function.
    pub reads: Vec<String>,
    /// Other labels with the same meaning.
    pub aliases: Vec<String>,
    /// Versions that accept the label, if not all: `versions = (v1)`.
    pub versions: Vec<String>,
    /// Place of the declaration.
    pub span: Span,
}
