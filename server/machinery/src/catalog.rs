//! The catalog: every group, kind and resource that was declared, as static data.
//!
//! `own::catalog()` is the one value that joins generated code and the server core; registry, endpoints and the delegation chain read it
//! and know no kind by name.

use crate::def::StructDef;
use crate::features::{Gate, KnownGates};
use crate::format::NameRule;
use crate::hooks::Hooks;
use crate::print::{Column, text_at};
use crate::reflect::{Owned, Ref, Struct};

/// Everything declared.
pub struct Catalog {
    pub groups: &'static [GroupDef],
    pub kinds: &'static [KindDef],
    /// OpenAPI documents, made by the generator.
    pub openapi: OpenApiDocs,
}

/// What OpenAPI documents are made from.
#[derive(Clone, Copy)]
pub struct OpenApiDocs {
    /// Of each generated package a JSON object, compressed with gzip: see `codegen::emit::openapi` for its layout.
    pub bundles: &'static [&'static [u8]],
}

/// An API group.
#[derive(Clone, Copy)]
pub struct GroupDef {
    /// As clients say it; empty for core.
    pub name: &'static str,
    /// `groupPriorityMinimum` of its APIService.
    pub priority: i32,
    pub versions: &'static [VersionDef],
    /// Feature gates that it declares.
    pub gates: &'static [Gate],
}

impl GroupDef {
    /// A group without versions and gates, of the priority that declarations leave out.
    pub const PLAIN: GroupDef = GroupDef { name: "", priority: 1000, versions: &[], gates: &[] };
}

/// A version of a group.
#[derive(Clone, Copy)]
pub struct VersionDef {
    pub name: &'static str,
    /// `versionPriority` of its APIService.
    pub priority: i32,
    pub serving: Serving,
}

impl VersionDef {
    /// A served version, of the priority that declarations leave out.
    pub const fn new(name: &'static str) -> Self {
        VersionDef { name, priority: 15, serving: Serving::On }
    }

    /// One of this priority.
    pub const fn priority(self, priority: i32) -> Self {
        VersionDef { priority, ..self }
    }

    /// One that is served like this.
    pub const fn serving(self, serving: Serving) -> Self {
        VersionDef { serving, ..self }
    }
}

/// How a version, or a resource in it, is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// On by default.
    On,
    /// Off until `--runtime-config` asks for it.
    Off,
    /// Encodable only.
    Unserved,
}

/// A kind in one version.
#[derive(Clone, Copy)]
pub struct KindDef {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub def: &'static StructDef,
    /// The OpenAPI definition's name, such as `io.k8s.api.core.v1.Pod`.
    pub model: &'static str,
    pub serving: Serving,
    /// How it becomes the kind's hub form and back; `None` when it is the hub's own type.
    pub conversion: Option<Conversion>,
    /// The hub form: descriptor of the internal type.
    pub hub: &'static StructDef,
    pub lifecycle: Lifecycle,
    pub resource: Option<&'static ResourceDef>,
    /// The list kind's name, empty when it cannot be listed.
    pub list_kind: &'static str,
    /// Feature gate without which the resource is not there; empty when none.
    pub gate: &'static str,
}

/// How a version's form becomes the hub's and back. Both take the value apart and move.
#[derive(Clone, Copy)]
pub struct Conversion {
    pub to_hub: fn(Owned) -> Owned,
    pub from_hub: fn(Owned) -> Owned,
}

/// Releases, such as `1.9`; empty when not said.
#[derive(Clone, Copy, Debug)]
pub struct Lifecycle {
    pub introduced: &'static str,
    pub deprecated: &'static str,
    pub removed: &'static str,
    /// `group/version Kind` to use instead.
    pub replacement: &'static str,
}

/// How a kind is reached and stored, in one version.
pub struct ResourceDef {
    pub plural: &'static str,
    pub singular: &'static str,
    pub short_names: &'static [&'static str],
    pub categories: &'static [&'static str],
    pub namespaced: bool,
    /// Sorted.
    pub verbs: &'static [&'static str],
    /// Storage key below the prefix, such as `minions`; empty when nothing is stored.
    pub key_prefix: &'static str,
    pub stored_as_json: bool,
    /// Group and version of the stored form.
    pub storage: (&'static str, &'static str),
    pub subresources: &'static [SubresourceDef],
    /// All columns; none: `print::DEFAULT_COLUMNS`.
    pub columns: &'static [Column],
    pub selectable: &'static [SelectableDef],
    pub create_on_update: bool,
    pub unconditional_update: bool,
    pub delete_returns_object: bool,
    pub garbage_collection: GarbageCollection,
    pub graceful_delete: bool,
    /// Said to who deletes without a propagation policy, when that orphans dependents; empty when nothing is.
    pub orphan_warning: &'static str,
    /// The error for a label that does not select: `{label}`, `{quoted}` and `{kind}` stand for what they say; empty for upstream's usual words.
    pub label_error: &'static str,
    pub generation: Generation,
    /// JSON paths of what an update leaves as it was; such writers do not own it either.
    pub resets: &'static [&'static str],
    pub name_rule: NameRule,
    pub metadata_check: MetadataCheck,
    /// Finalizers without a domain have to be Kubernetes' own.
    pub qualified_finalizers: bool,
    /// Of the declared constraints only those that upstream's tags enforce are in force.
    pub tagged_validation: bool,
    pub watch_cache: bool,
    pub hooks: Hooks,
}

impl ResourceDef {
    /// What declarations leave out: a resource of the cluster, with every verb, no subresources and no columns of its own.
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

/// Which changes of what is outside of metadata and status `metadata.generation` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// None: the generation stays as it is.
    Off,
    /// Changes of values (`apiequality.Semantic.DeepEqual`).
    Values,
    /// Also an empty list or map that is sent where none is stored (`reflect.DeepEqual`).
    Exact,
}

/// How a kind's own validation looks at metadata, besides what is asked of all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataCheck {
    /// On create as that of a new object, on update at what may not change.
    Change,
    /// On update too as that of a new object.
    Whole,
    /// On update in both ways.
    Both,
    /// On update in both ways, first as that of a new object.
    WholeAndChange,
    /// Not at all.
    Unchecked,
}

/// What DELETE does with dependents unless the caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarbageCollection {
    Delete,
    Orphan,
    Unsupported,
}

/// A subresource.
pub struct SubresourceDef {
    pub name: &'static str,
    /// Group, version and kind of its body.
    pub kind: (&'static str, &'static str, &'static str),
    /// Sorted.
    pub verbs: &'static [&'static str],
    pub scale: Option<ScalePaths>,
    /// JSON paths of what a write through it leaves as it was; such writers do not own it either.
    pub resets: &'static [&'static str],
    /// Whether its objects have the form of a table; a request for one is answered with 406 otherwise.
    pub has_tables: bool,
}

impl SubresourceDef {
    /// A subresource without verbs, which resets nothing and has tables.
    pub const fn new(name: &'static str, kind: (&'static str, &'static str, &'static str)) -> Self {
        SubresourceDef { name, kind, verbs: &[], scale: None, resets: &[], has_tables: true }
    }

    /// With these verbs, sorted.
    pub const fn verbs(self, verbs: &'static [&'static str]) -> Self {
        SubresourceDef { verbs, ..self }
    }

    /// One that reads and writes these JSON paths as a Scale.
    pub const fn scale(self, replicas: &'static str, observed: &'static str, selector: &'static str) -> Self {
        SubresourceDef { scale: Some(ScalePaths { replicas, observed, selector }), ..self }
    }

    /// One whose writes leave these JSON paths as they are.
    pub const fn resets(self, resets: &'static [&'static str]) -> Self {
        SubresourceDef { resets, ..self }
    }

    /// One whose objects have no form as a table.
    pub const fn without_tables(self) -> Self {
        SubresourceDef { has_tables: false, ..self }
    }
}

/// JSON paths that `/scale` reads and writes, without a leading dot.
#[derive(Clone, Copy, Debug)]
pub struct ScalePaths {
    pub replicas: &'static str,
    pub observed: &'static str,
    pub selector: &'static str,
}

/// A field that a field selector may name.
pub struct SelectableDef {
    /// What clients write.
    pub label: &'static str,
    pub value: Selected,
    /// The fields of the hub form that `value` looks at, as paths of JSON names; none when that is not known.
    pub reads: &'static [&'static [&'static str]],
}

impl SelectableDef {
    /// One whose value is the text at the only path that is read.
    pub const fn at(label: &'static str, reads: &'static [&'static [&'static str]; 1]) -> Self {
        SelectableDef { label, value: Selected::Path(reads[0]), reads }
    }
}

/// How the value of a selectable field is read out of the hub form.
#[derive(Clone, Copy, Debug)]
pub enum Selected {
    /// The text of what is at a path of JSON names.
    Path(&'static [&'static str]),
    /// A hatch.
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
    /// The kind of this name in this version.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&'static KindDef> {
        self.kinds.iter().find(|k| k.kind == kind && k.version == version && k.group == group)
    }

    /// The kind whose resource in this version has this plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&'static KindDef> {
        self.kinds
            .iter()
            .find(|k| k.version == version && k.group == group && k.resource.is_some_and(|r| r.plural == plural))
    }

    /// The feature gates of Kubernetes, and those that the groups declare.
    ///
    /// # Errors
    /// When two groups declare a gate differently.
    pub fn gates(&self) -> Result<KnownGates, String> {
        KnownGates::with(self.groups.iter().flat_map(|group| group.gates))
    }

    /// This one and another.
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

    /// The same kinds, to be read and written, while nothing of them is served. Leaks a copy: a program needs one.
    pub fn unserved(&self) -> Catalog {
        let kinds = self.kinds.iter().map(|kind| KindDef { serving: Serving::Unserved, ..*kind }).collect::<Vec<_>>();
        Catalog { groups: self.groups, kinds: kinds.leak(), openapi: OpenApiDocs { bundles: &[] } }
    }
}

/// How the catalog states a kind: what it leaves out is what [`KindDef::new`] says.
impl KindDef {
    /// A served kind in its hub's form, without a resource: group, version and kind, its descriptor, the name of its OpenAPI definition.
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

    /// One that is served like this.
    pub const fn serving(self, serving: Serving) -> Self {
        KindDef { serving, ..self }
    }

    /// One whose hub has another form.
    pub const fn converted(
        self,
        hub: &'static StructDef,
        to_hub: fn(Owned) -> Owned,
        from_hub: fn(Owned) -> Owned,
    ) -> Self {
        KindDef { hub, conversion: Some(Conversion { to_hub, from_hub }), ..self }
    }

    /// The release that brought it.
    pub const fn introduced(mut self, release: &'static str) -> Self {
        self.lifecycle.introduced = release;
        self
    }

    /// The release that deprecated it.
    pub const fn deprecated(mut self, release: &'static str) -> Self {
        self.lifecycle.deprecated = release;
        self
    }

    /// The release without it.
    pub const fn removed(mut self, release: &'static str) -> Self {
        self.lifecycle.removed = release;
        self
    }

    /// What takes its place: `group/version Kind`.
    pub const fn replaced_by(mut self, replacement: &'static str) -> Self {
        self.lifecycle.replacement = replacement;
        self
    }

    /// One that is reached as a resource.
    pub const fn resource(self, resource: &'static ResourceDef) -> Self {
        KindDef { resource: Some(resource), ..self }
    }

    /// One whose lists are of this kind.
    pub const fn listed_as(self, list_kind: &'static str) -> Self {
        KindDef { list_kind, ..self }
    }

    /// One that is there while this feature gate is on.
    pub const fn gated(self, gate: &'static str) -> Self {
        KindDef { gate, ..self }
    }
}

impl KindDef {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(self.group, self.version)
    }

    /// Turns a value of this version into the hub form.
    pub fn to_hub(&self, value: Owned) -> Owned {
        match self.conversion {
            Some(c) => (c.to_hub)(value),
            None => value,
        }
    }

    /// Turns a value of the hub form into this version.
    pub fn from_hub(&self, value: Owned) -> Owned {
        match self.conversion {
            Some(c) => (c.from_hub)(value),
            None => value,
        }
    }
}

/// Applies a typed conversion to a value of unknown type; a value of another type comes back as it was, which only a wrong catalog
/// could cause.
pub fn convert<A: Struct, B: Struct>(value: Owned, f: fn(&mut A) -> B) -> Owned {
    match value.into_inner::<A>() {
        Ok(mut value) => Owned::of(f(&mut value)),
        Err(value) => value,
    }
}

/// `v1` for core, `group/version` otherwise.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_string() } else { format!("{group}/{version}") }
}

/// Splits `group/version`; core's group is empty.
pub fn parse_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
