//! The catalog: all declared groups, kinds and resources, as static data.
//!
//! `own::catalog()` is the only value that connects generated code and the server core. Registry,
//! endpoints and the delegation chain read it and refer to no kind by name.

use crate::def::StructDef;
use crate::features::{Gate, KnownGates};
use crate::format::NameRule;
use crate::hooks::Hooks;
use crate::print::{Column, text_at};
use crate::reflect::{Owned, Ref, Struct};

/// All declared groups and kinds.
pub struct Catalog {
    /// The declared groups.
    pub groups: &'static [GroupDef],
    /// All kinds, one entry for each version of a kind.
    pub kinds: &'static [KindDef],
    /// OpenAPI documents, written by the generator.
    pub openapi: OpenApiDocs,
}

/// The input of the OpenAPI documents.
#[derive(Clone, Copy)]
pub struct OpenApiDocs {
    /// A gzip-compressed JSON object for each generated package; `codegen::emit::openapi` describes
    /// its layout.
    pub bundles: &'static [&'static [u8]],
}

/// An API group.
#[derive(Clone, Copy)]
pub struct GroupDef {
    /// The name in API paths; empty for core.
    pub name: &'static str,
    /// `groupPriorityMinimum` of its APIService.
    pub priority: i32,
    /// The versions that the group declares.
    pub versions: &'static [VersionDef],
    /// Feature gates that the group declares.
    pub gates: &'static [Gate],
}

impl GroupDef {
    /// A group without versions and gates, with the default priority.
    pub const PLAIN: GroupDef = GroupDef { name: "", priority: 1000, versions: &[], gates: &[] };
}

/// A version of a group.
#[derive(Clone, Copy)]
pub struct VersionDef {
    /// The version in API paths, such as `v1beta1`.
    pub name: &'static str,
    /// `versionPriority` of its APIService.
    pub priority: i32,
    /// Whether the version is served.
    pub serving: Serving,
}

impl VersionDef {
    /// A served version with the default priority.
    pub const fn new(name: &'static str) -> Self {
        VersionDef { name, priority: 15, serving: Serving::On }
    }

    /// Sets the priority.
    pub const fn priority(self, priority: i32) -> Self {
        VersionDef { priority, ..self }
    }

    /// Sets the serving mode.
    pub const fn serving(self, serving: Serving) -> Self {
        VersionDef { serving, ..self }
    }
}

/// Whether a version, or a resource in it, is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// Served by default.
    On,
    /// Served only if `--runtime-config` enables it.
    Off,
    /// Never served: its kinds can only be encoded and decoded.
    Unserved,
}

/// A kind in one version.
#[derive(Clone, Copy)]
pub struct KindDef {
    /// The API group; empty for core.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The name of the kind, such as `Pod`.
    pub kind: &'static str,
    /// The descriptor of its type in this version.
    pub def: &'static StructDef,
    /// The OpenAPI definition's name, such as `io.k8s.api.core.v1.Pod`.
    pub model: &'static str,
    /// Whether the kind is served in this version.
    pub serving: Serving,
    /// Conversion to the hub form and back; `None` if the type is the hub type.
    pub conversion: Option<Conversion>,
    /// The hub form: descriptor of the internal type.
    pub hub: &'static StructDef,
    /// The releases that introduced, deprecated and removed the kind.
    pub lifecycle: Lifecycle,
    /// Its resource; `None` if no API path serves the kind by itself.
    pub resource: Option<&'static ResourceDef>,
    /// The name of the list kind; empty if the kind cannot be listed.
    pub list_kind: &'static str,
    /// The feature gate that enables the resource; empty if none.
    pub gate: &'static str,
}

/// Conversion from a version to the hub form and back. Both functions move parts out of their
/// input.
#[derive(Clone, Copy)]
pub struct Conversion {
    /// Converts a value of the version to the hub form.
    pub to_hub: fn(Owned) -> Owned,
    /// Converts a value in hub form to the version.
    pub from_hub: fn(Owned) -> Owned,
}

/// Releases, such as `1.9`; empty if not declared.
#[derive(Clone, Copy, Debug)]
pub struct Lifecycle {
    /// The release that introduced the kind.
    pub introduced: &'static str,
    /// The release that deprecated the kind.
    pub deprecated: &'static str,
    /// The release that removed the kind.
    pub removed: &'static str,
    /// `group/version Kind` to use instead.
    pub replacement: &'static str,
}

/// The API and storage properties of a resource in one version.
pub struct ResourceDef {
    /// The name in API paths, such as `pods`.
    pub plural: &'static str,
    /// The singular name in discovery, such as `pod`.
    pub singular: &'static str,
    /// Short names in discovery, such as `po`.
    pub short_names: &'static [&'static str],
    /// Categories in discovery, such as `all`.
    pub categories: &'static [&'static str],
    /// Whether objects are in a namespace; otherwise they are cluster-scoped.
    pub namespaced: bool,
    /// Sorted.
    pub verbs: &'static [&'static str],
    /// Storage key below the prefix, such as `minions`; empty if the resource is not stored.
    pub key_prefix: &'static str,
    /// Whether objects are stored as JSON instead of protobuf.
    pub stored_as_json: bool,
    /// Group and version of the storage form.
    pub storage: (&'static str, &'static str),
    /// The declared subresources, such as `status`.
    pub subresources: &'static [SubresourceDef],
    /// All columns; if empty, `print::DEFAULT_COLUMNS`.
    pub columns: &'static [Column],
    /// The fields that field selectors can refer to.
    pub selectable: &'static [SelectableDef],
    /// Whether an update of a missing object creates it.
    pub create_on_update: bool,
    /// Whether an update needs no resource version.
    pub unconditional_update: bool,
    /// Whether the response to a delete is the object instead of a Status.
    pub delete_returns_object: bool,
    /// The propagation of deletes that specify none.
    pub garbage_collection: GarbageCollection,
    /// Whether a delete may have a grace period, which [`Hooks::grace`] determines.
    pub graceful_delete: bool,
    /// Warning for deletes without a propagation policy that orphan dependents; empty if there is
    /// none.
    pub orphan_warning: &'static str,
    /// The error of a label that is not selectable, with the placeholders `{label}`, `{quoted}` and
    /// `{kind}`; empty for upstream's default text.
    pub label_error: &'static str,
    /// The changes that increment `metadata.generation`.
    pub generation: Generation,
    /// JSON paths that an update resets to the stored values; its field manager does not own them
    /// either.
    pub resets: &'static [&'static str],
    /// The rule for names of objects.
    pub name_rule: NameRule,
    /// How the validation of the kind checks metadata.
    pub metadata_check: MetadataCheck,
    /// Finalizers without a domain must be those of Kubernetes.
    pub qualified_finalizers: bool,
    /// Only the constraints that upstream's tags enforce apply.
    pub tagged_validation: bool,
    /// Whether upstream's watch cache serves reads: errors of resource versions differ.
    pub watch_cache: bool,
    /// Hand-written functions of the kind.
    pub hooks: Hooks,
}

impl ResourceDef {
    /// The defaults of a declaration: cluster-scoped, all verbs, no subresources, no columns.
    pub const PLAIN: ResourceDef = ResourceDef {
        plural: "",
        singular: "",
        short_names: &[],
        categories: &[],
        namespaced: false,
        verbs: &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        key_prefix: "",
        stored_as_json: false,
        storage: ("", ""),
        subresources: &[],
        columns: &[],
        selectable: &[],
        create_on_update: false,
        unconditional_update: true,
        delete_returns_object: false,
        garbage_collection: GarbageCollection::Delete,
        graceful_delete: false,
        orphan_warning: "",
        label_error: "",
        generation: Generation::Off,
        resets: &[],
        name_rule: NameRule::Dns1123Subdomain,
        metadata_check: MetadataCheck::Change,
        qualified_finalizers: false,
        tagged_validation: false,
        watch_cache: true,
        hooks: Hooks::NONE,
    };
}

/// Determines which changes outside of metadata and status increment `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// No changes: the generation is constant.
    Off,
    /// Changes of values (`apiequality.Semantic.DeepEqual`).
    Values,
    /// As `Values`, and also when an empty list or map replaces an absent one
    /// (`reflect.DeepEqual`).
    Exact,
}

/// How the validation of a kind checks metadata, in addition to the checks of all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataCheck {
    /// On create by the rules of new objects, on update by the rules of changes.
    Change,
    /// By the rules of new objects, also on update.
    Whole,
    /// On update by the rules of changes, then by those of new objects.
    Both,
    /// On update by the rules of new objects, then by those of changes.
    WholeAndChange,
    /// No additional checks.
    Unchecked,
}

/// The default deletion propagation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarbageCollection {
    /// Dependents are deleted in the background.
    Delete,
    /// Dependents are orphaned: they lose their owner reference.
    Orphan,
    /// The propagation policy of a delete is ignored.
    Unsupported,
}

/// A subresource.
pub struct SubresourceDef {
    /// The last segment of its API path, such as `status`.
    pub name: &'static str,
    /// Group, version and kind of its body.
    pub kind: (&'static str, &'static str, &'static str),
    /// Sorted.
    pub verbs: &'static [&'static str],
    /// The paths of a Scale; `None` for other subresources.
    pub scale: Option<ScalePaths>,
    /// JSON paths that a write through the subresource resets to the stored values; its field
    /// manager does not own them either.
    pub resets: &'static [&'static str],
    /// Whether its objects can be returned as a Table; otherwise such a request gets 406.
    pub has_tables: bool,
}

impl SubresourceDef {
    /// A subresource without verbs and resets, with tables.
    pub const fn new(name: &'static str, kind: (&'static str, &'static str, &'static str)) -> Self {
        SubresourceDef { name, kind, verbs: &[], scale: None, resets: &[], has_tables: true }
    }

    /// Sets the verbs, which must be sorted.
    pub const fn verbs(self, verbs: &'static [&'static str]) -> Self {
        SubresourceDef { verbs, ..self }
    }

    /// Makes the subresource read and write these JSON paths as a Scale.
    pub const fn scale(self, replicas: &'static str, observed: &'static str, selector: &'static str) -> Self {
        SubresourceDef { scale: Some(ScalePaths { replicas, observed, selector }), ..self }
    }

    /// Sets the JSON paths that writes reset.
    pub const fn resets(self, resets: &'static [&'static str]) -> Self {
        SubresourceDef { resets, ..self }
    }

    /// Makes requests for a Table fail with 406.
    pub const fn without_tables(self) -> Self {
        SubresourceDef { has_tables: false, ..self }
    }
}

/// JSON paths that `/scale` reads and writes, without a leading dot.
#[derive(Clone, Copy, Debug)]
pub struct ScalePaths {
    /// The path of the desired number of replicas, such as `spec.replicas`.
    pub replicas: &'static str,
    /// The path of the observed number of replicas, such as `status.replicas`.
    pub observed: &'static str,
    /// The path of the label selector in text form; empty if there is none.
    pub selector: &'static str,
}

/// A field that field selectors can refer to.
pub struct SelectableDef {
    /// The name in field selectors.
    pub label: &'static str,
    /// The value that selectors compare.
    pub value: Selected,
    /// Paths (JSON names) in the hub form that `value` reads; empty if unknown.
    pub reads: &'static [&'static [&'static str]],
}

impl SelectableDef {
    /// A field that selects by the text at a single path.
    pub const fn at(label: &'static str, reads: &'static [&'static [&'static str]; 1]) -> Self {
        SelectableDef { label, value: Selected::Path(reads[0]), reads }
    }
}

/// Reads the value of a selectable field from the hub form.
#[derive(Clone, Copy, Debug)]
pub enum Selected {
    /// The text of the value at a path of JSON names.
    Path(&'static [&'static str]),
    /// A hand-written function.
    ByHand(fn(Ref<'_>) -> String),
}

impl Selected {
    /// The value, as a field selector compares it.
    pub fn of(self, object: Ref<'_>) -> String {
        match self {
            Selected::Path(path) => text_at(object, path),
            Selected::ByHand(f) => f(object),
        }
    }
}

impl Catalog {
    /// The kind with this name in a group version.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&'static KindDef> {
        self.kinds.iter().find(|k| k.kind == kind && k.version == version && k.group == group)
    }

    /// The kind with this plural in a group version.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&'static KindDef> {
        self.kinds
            .iter()
            .find(|k| k.version == version && k.group == group && k.resource.is_some_and(|r| r.plural == plural))
    }

    /// The feature gates of Kubernetes and those that the groups declare.
    ///
    /// # Errors
    /// When two groups declare a gate differently.
    pub fn gates(&self) -> Result<KnownGates, crate::features::Error> {
        KnownGates::with(self.groups.iter().flat_map(|group| group.gates))
    }

    /// Combines two catalogs.
    pub fn with(&self, more: &'static Catalog) -> Catalog {
        fn joined<T: Copy>(some: &'static [T], more: &'static [T]) -> &'static [T] {
            if more.is_empty() { some } else { Vec::leak([some, more].concat()) }
        }
        Catalog {
            groups: joined(self.groups, more.groups),
            kinds: joined(self.kinds, more.kinds),
            openapi: OpenApiDocs { bundles: joined(self.openapi.bundles, more.openapi.bundles) },
        }
    }

    /// Returns the catalog with all kinds unserved, so that they can only be encoded and decoded.
    /// Leaks a copy: a program needs one.
    pub fn unserved(&self) -> Catalog {
        let kinds = self.kinds.iter().map(|kind| KindDef { serving: Serving::Unserved, ..*kind }).collect::<Vec<_>>();
        Catalog { groups: self.groups, kinds: kinds.leak(), openapi: OpenApiDocs { bundles: &[] } }
    }
}

/// Builder functions of the catalog; omitted properties have the values of [`KindDef::new`].
impl KindDef {
    /// A served kind in hub form without a resource, from its group, version and kind, its
    /// descriptor, and the name of its OpenAPI definition.
    pub const fn new(
        (group, version, kind): (&'static str, &'static str, &'static str),
        def: &'static StructDef,
        model: &'static str,
    ) -> Self {
        let lifecycle = Lifecycle { introduced: "", deprecated: "", removed: "", replacement: "" };
        KindDef {
            group,
            version,
            kind,
            def,
            model,
            serving: Serving::On,
            conversion: None,
            hub: def,
            lifecycle,
            resource: None,
            list_kind: "",
            gate: "",
        }
    }

    /// Sets the serving mode.
    pub const fn serving(self, serving: Serving) -> Self {
        KindDef { serving, ..self }
    }

    /// Sets the hub type and the conversion.
    pub const fn converted(
        self,
        hub: &'static StructDef,
        to_hub: fn(Owned) -> Owned,
        from_hub: fn(Owned) -> Owned,
    ) -> Self {
        KindDef { hub, conversion: Some(Conversion { to_hub, from_hub }), ..self }
    }

    /// Sets the release that introduced the kind.
    pub const fn introduced(mut self, release: &'static str) -> Self {
        self.lifecycle.introduced = release;
        self
    }

    /// Sets the release that deprecated the kind.
    pub const fn deprecated(mut self, release: &'static str) -> Self {
        self.lifecycle.deprecated = release;
        self
    }

    /// Sets the release that removed the kind.
    pub const fn removed(mut self, release: &'static str) -> Self {
        self.lifecycle.removed = release;
        self
    }

    /// Sets the replacement: `group/version Kind`.
    pub const fn replaced_by(mut self, replacement: &'static str) -> Self {
        self.lifecycle.replacement = replacement;
        self
    }

    /// Sets the resource.
    pub const fn resource(self, resource: &'static ResourceDef) -> Self {
        KindDef { resource: Some(resource), ..self }
    }

    /// Sets the list kind.
    pub const fn listed_as(self, list_kind: &'static str) -> Self {
        KindDef { list_kind, ..self }
    }

    /// Sets the feature gate that enables the kind.
    pub const fn gated(self, gate: &'static str) -> Self {
        KindDef { gate, ..self }
    }
}

impl KindDef {
    /// The `apiVersion`: `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(self.group, self.version)
    }

    /// Converts a value of this version to the hub form.
    pub fn to_hub(&self, value: Owned) -> Owned {
        match self.conversion {
            Some(c) => (c.to_hub)(value),
            None => value,
        }
    }

    /// Converts a value in hub form to this version.
    pub fn from_hub(&self, value: Owned) -> Owned {
        match self.conversion {
            Some(c) => (c.from_hub)(value),
            None => value,
        }
    }
}

/// Applies a typed conversion to a type-erased value. A value of another type, which only a wrong
/// catalog can cause, is returned unchanged.
pub fn convert<A: Struct, B: Struct>(value: Owned, f: fn(&mut A) -> B) -> Owned {
    match value.into_inner::<A>() {
        Ok(mut value) => Owned::of(f(&mut value)),
        Err(value) => value,
    }
}

/// Formats an `apiVersion`: `v1` for core, `group/version` otherwise.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_string() } else { format!("{group}/{version}") }
}

/// Splits an `apiVersion` into group and version; core has an empty group.
pub fn parse_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
