//! Emits the catalog: groups, kinds and resources as static tables.

use std::fmt::Write;

use heck::ToUpperCamelCase;

use super::conversions::{Direction, function_path};
use super::rust::{Paths, constant, path_literal, path_literals, string, strings};
use super::{File, functions, print};
use crate::model::{
    Column, ColumnValue, GarbageCollection, Gate, Group, Kind, KindVersion, Model, Package, Resource, Selectable,
    StructId, Subresource,
};
use crate::paths;

/// `src/catalog.rs`.
pub fn file(model: &Model, package: Package) -> File {
    let paths = Paths { model, package };
    let of_package = |group: &&Group| (group.package == Package::Own) == (package == Package::Own);
    let groups: Vec<&Group> = model.groups.iter().filter(of_package).collect();
    let made = |text: &str| {
        let bytes = print::file("Every group, kind and resource that was declared.", &print::separate_items(text));
        File { path: "src/catalog.rs".into(), bytes }
    };
    if groups.is_empty() {
        return made(EMPTY);
    }
    let rows: String = groups.iter().filter(|g| !g.versions.is_empty()).map(|group| group_row(group)).collect();
    let mut text = format!("{HEAD}{rows}], kinds: KINDS, {OPENAPI} }};");
    let mut rows = String::new();
    for group in groups {
        for kind in &group.kinds {
            let emitter = KindEmitter { paths, group, kind };
            let statics = emitter.resource_statics();
            rows.push_str(&emitter.rows(&statics));
            text.extend(statics.iter().filter(|one| one.is_first).map(|one| one.item.as_str()));
        }
    }
    let _ = write!(text, "static KINDS: &[KindDef] = &[{rows}];");
    made(&text)
}

const EMPTY: &str = "
use machinery::catalog::{Catalog, OpenApiDocs};
/// No group is declared here.
pub static CATALOG: Catalog = Catalog { groups: &[], kinds: &[], openapi: OpenApiDocs { bundles: &[] } };
";

const HEAD: &str = "
use machinery::catalog::*;
use machinery::features::{FeatureStage, Gate};
use machinery::format::NameRule;
use machinery::hooks::Hooks;
use machinery::print::{Cell, CellRule, Column};
/// Everything declared.
pub static CATALOG: Catalog = Catalog { groups: &[";

const OPENAPI: &str = "openapi: OpenApiDocs { bundles: &[include_bytes!(\"../openapi/bundle.json.gz\")] }";

/// A struct expression with the fields that differ from `base`.
fn plain(name: &str, base: &str, fields: impl IntoIterator<Item = (&'static str, Option<String>)>) -> String {
    let own = fields.into_iter().filter_map(|(field, value)| Some(format!("{field}: {}", value?)));
    format!("{name} {{ {}, ..{base} }}", own.collect::<Vec<_>>().join(", "))
}

/// The value, or `None` if it equals the default.
fn unless(default: &str, value: String) -> Option<String> {
    (value != default).then_some(value)
}

fn group_row(group: &Group) -> String {
    let versions: Vec<String> = group
        .versions
        .iter()
        .map(|v| {
            let priority = unless("15", v.priority.to_string()).map(|value| format!(".priority({value})"));
            let serving = unless("On", format!("{:?}", v.serving)).map(|value| format!(".serving(Serving::{value})"));
            let setters: String = priority.into_iter().chain(serving).collect();
            format!("VersionDef::new({}){setters}", string(&v.name))
        })
        .collect();
    let gates: Vec<String> = group.gates.iter().map(gate_row).collect();
    let row = plain(
        "GroupDef",
        "GroupDef::PLAIN",
        [
            ("name", Some(string(&group.name))),
            ("priority", unless("1000", group.priority.to_string())),
            ("versions", Some(format!("&[{}]", versions.join(", ")))),
            ("gates", unless("&[]", format!("&[{}]", gates.join(", ")))),
        ],
    );
    row + ","
}

fn gate_row(gate: &Gate) -> String {
    let make = if gate.locked { "locked" } else { "new" };
    format!("Gate::{make}({}, FeatureStage::{:?}, {})", string(&gate.name), gate.stage, gate.default)
}

/// The resource of a kind in one version.
struct ResourceStatic {
    version: String,
    /// Name of the static.
    name: String,
    value: String,
    item: String,
    /// Whether no earlier version has the same resource.
    is_first: bool,
}

struct KindEmitter<'m> {
    paths: Paths<'m>,
    group: &'m Group,
    kind: &'m Kind,
}

impl<'m> KindEmitter<'m> {
    fn struct_of(&self, version: &str, name: &str) -> Option<StructId> {
        self.group.versions.iter().find(|v| v.name == version)?.structs.get(name).copied()
    }

    /// The struct of the hub.
    fn hub(&self) -> Option<StructId> {
        if let Some(id) = self.kind.stored_as {
            return Some(id);
        }
        let own = self.group.versions.iter().find(|v| self.kind.versions.iter().any(|k| k.version == v.name))?;
        let id = *own.structs.get(&self.kind.name)?;
        Some(self.paths.structure(id).conversion.as_ref().and_then(|c| c.hub).unwrap_or(id))
    }

    /// A resource per version; versions with equal resources share a static.
    fn resource_statics(&self) -> Vec<ResourceStatic> {
        let Some(resource) = &self.kind.resource else { return Vec::new() };
        let mut statics: Vec<ResourceStatic> = Vec::new();
        for version in &self.kind.versions {
            let value = self.resource_value(resource, version);
            let known = statics.iter().find(|one| one.value == value);
            let (name, is_first) = known.map_or((self.resource_name(version), true), |one| (one.name.clone(), false));
            let item = format!("static {name}: ResourceDef = {value};");
            statics.push(ResourceStatic { version: version.version.clone(), name, value, item, is_first });
        }
        statics
    }

    fn resource_name(&self, version: &KindVersion) -> String {
        format!("{}_{}_{}", constant(&self.group.module), constant(&self.kind.name), version.version.to_uppercase())
    }

    fn resource_value(&self, r: &Resource, version: &KindVersion) -> String {
        let hub = self.hub();
        let verbs = version.verbs.as_ref().unwrap_or(&r.verbs);
        let gc = match r.garbage_collection {
            GarbageCollection::Delete => "Delete",
            GarbageCollection::Orphan => "Orphan",
            GarbageCollection::Unsupported => "Unsupported",
        };
        let (storage_group, storage_version) = self.storage();
        let name_rule =
            if r.name_rule.is_empty() { "Dns1123Subdomain".into() } else { r.name_rule.to_upper_camel_case() };
        let list = |items: &[String]| unless("&[]", strings(items));
        let on = |value: bool| unless("false", value.to_string());
        let non_empty = |text: &Option<String>| unless("\"\"", string(text.as_deref().unwrap_or("")));
        plain(
            "ResourceDef",
            "ResourceDef::PLAIN",
            [
                ("plural", Some(string(&r.plural))),
                ("singular", Some(string(&r.singular))),
                ("short_names", list(&r.short_names)),
                ("categories", list(&r.categories)),
                ("namespaced", on(r.namespaced)),
                ("verbs", (*verbs != ALL_VERBS).then(|| strings(verbs))),
                ("key_prefix", non_empty(&r.key_prefix)),
                ("stored_as_json", on(r.stored_as_json)),
                ("storage", Some(format!("({}, {})", string(&storage_group), string(&storage_version)))),
                ("subresources", unless("&[]", self.subresources(r, version))),
                ("columns", unless("&[]", self.columns(r, hub))),
                ("selectable", unless("&[]", self.selectable(r, version, hub))),
                ("create_on_update", on(r.create_on_update)),
                ("unconditional_update", unless("true", r.unconditional_update.to_string())),
                ("delete_returns_object", on(r.delete_returns_object)),
                ("garbage_collection", unless("GarbageCollection::Delete", format!("GarbageCollection::{gc}"))),
                ("graceful_delete", on(r.graceful_delete)),
                ("orphan_warning", non_empty(&r.orphan_warning)),
                ("label_error", non_empty(&r.label_error)),
                ("generation", unless("Generation::Off", format!("Generation::{:?}", r.generation))),
                ("resets", list(&resets(r))),
                ("name_rule", unless("NameRule::Dns1123Subdomain", format!("NameRule::{name_rule}"))),
                ("metadata_check", unless("MetadataCheck::Change", format!("MetadataCheck::{:?}", r.metadata_check))),
                ("qualified_finalizers", on(self.group.qualified_finalizers)),
                ("tagged_validation", on(self.group.tagged_validation)),
                ("watch_cache", unless("true", r.watch_cache.to_string())),
                ("hooks", unless("Hooks::NONE", self.hooks(hub))),
            ],
        )
    }

    /// Group and version of the stored form.
    fn storage(&self) -> (String, String) {
        match self.kind.stored_as {
            Some(id) => {
                let s = self.paths.structure(id);
                let group = self.paths.model.groups.iter().find(|g| g.module == s.module);
                (group.map_or(String::new(), |g| g.name.clone()), s.version.clone())
            }
            None => (self.group.name.clone(), self.kind.storage_version.clone()),
        }
    }

    fn subresources(&self, r: &Resource, version: &KindVersion) -> String {
        let listed = |name: &String| version.subresources.as_ref().is_none_or(|only| only.contains(name));
        let rows: Vec<String> = r
            .subresources
            .iter()
            .filter(|s| listed(&s.name))
            .map(|s| {
                let own = (self.group.name.clone(), version.version.clone(), self.kind.name.clone());
                let (g, v, k) = s.kind.as_ref().unwrap_or(&own);
                let mut row = format!(
                    "\n        SubresourceDef::new({}, ({}, {}, {}))\n            .verbs({})",
                    string(&s.name),
                    string(g),
                    string(v),
                    string(k),
                    strings(&s.verbs)
                );
                if let Some(p) = &s.scale {
                    let (replicas, observed, selector) =
                        (string(&p.replicas), string(&p.observed), string(&p.selector));
                    row += &format!("\n            .scale({replicas}, {observed}, {selector})");
                }
                let resets = self.resets(s);
                if !resets.is_empty() {
                    row += &format!("\n            .resets({})", strings(&resets));
                }
                if s.without_tables {
                    row += "\n            .without_tables()";
                }
                row + ","
            })
            .collect();
        table(&rows)
    }

    /// The declared paths; for the status subresource, by default everything else.
    fn resets(&self, subresource: &Subresource) -> Vec<String> {
        match (&subresource.resets, self.hub()) {
            (Some(declared), _) => declared.clone(),
            (None, Some(hub)) if subresource.name == "status" => {
                let fields = paths::json_names(self.paths.model, hub);
                fields.into_iter().filter(|name| *name != "status").map(str::to_string).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All columns; Name is first unless the definition declares it. Empty if only the default columns
    /// apply. A kind that is stored as another kind has that kind's columns.
    fn columns(&self, r: &Resource, hub: Option<StructId>) -> String {
        if let Some((emitter, resource)) = self.stored_kind().filter(|_| r.columns.is_empty()) {
            return emitter.columns(resource, hub);
        }
        let mut rows = Vec::new();
        if !r.columns.is_empty() && r.columns.iter().all(|c| c.name != "Name") {
            let docs = self.field_docs(hub, "metadata.name");
            rows.push(column_row("Name", "string", "name", 0, docs, "CellRule::Path(&[\"metadata\", \"name\"], None)"));
        }
        rows.extend(r.columns.iter().map(|c| {
            column_row(&c.name, &c.kind, &c.format, c.priority, self.column_docs(c, hub), &self.cell(c, hub))
        }));
        table(&rows)
    }

    /// The description of a column, by default that of the field that it shows.
    fn column_docs<'c>(&'c self, column: &'c Column, hub: Option<StructId>) -> &'c str {
        match &column.cell {
            _ if !column.docs.is_empty() => &column.docs,
            ColumnValue::Path { path, .. }
            | ColumnValue::Age { path, .. }
            | ColumnValue::Len { path, .. }
            | ColumnValue::Labels { path, .. }
            | ColumnValue::Selector { path, .. }
            | ColumnValue::Join { path, .. } => self.field_docs(hub, path),
            ColumnValue::ByHand(_) => "",
        }
    }

    fn field_docs(&self, hub: Option<StructId>, path: &str) -> &'m str {
        let place = hub.and_then(|hub| paths::follow(self.paths.model, hub, path).ok());
        place.map_or("", |place| &place.field.docs)
    }

    /// The kind of another group in whose form this one is stored, if that kind has a resource.
    fn stored_kind(&self) -> Option<(Self, &'m Resource)> {
        let stored = self.kind.stored_as?;
        let kinds = self.paths.model.groups.iter().flat_map(|group| group.kinds.iter().map(move |kind| (group, kind)));
        let mut emitters = kinds.map(|(group, kind)| KindEmitter { paths: self.paths, group, kind });
        let found = emitters.find(|e| e.kind.stored_as.is_none() && e.hub() == Some(stored))?;
        let resource = found.kind.resource.as_ref()?;
        Some((found, resource))
    }

    fn cell(&self, column: &Column, hub: Option<StructId>) -> String {
        let or = |text: &Option<String>| text.as_ref().map_or("None".to_string(), |t| format!("Some({})", string(t)));
        match &column.cell {
            ColumnValue::Path { path, or: text } => format!("CellRule::Path({}, {})", path_literal(path), or(text)),
            ColumnValue::Age { path, or: text } => format!("CellRule::Age({}, {})", path_literal(path), or(text)),
            ColumnValue::Len { path, or: text } => format!("CellRule::Len({}, {})", path_literal(path), or(text)),
            ColumnValue::Labels { path, or: text } => format!("CellRule::Labels({}, {})", path_literal(path), or(text)),
            ColumnValue::Selector { path, or: text } => {
                format!("CellRule::Selector({}, {})", path_literal(path), or(text))
            }
            ColumnValue::Join { path, or: text } => format!("CellRule::Join({}, {})", path_literal(path), or(text)),
            ColumnValue::ByHand(function) => format!(
                "CellRule::ByHand(|o, c| o.downcast::<{}>().map_or(Cell::Null, |v| {}(v, c)), {})",
                hub.map_or(String::new(), |id| self.paths.path(id)),
                self.function(function),
                path_literals(column.reads.iter().map(String::as_str))
            ),
        }
    }

    /// The path of a function of this group.
    fn function(&self, name: &str) -> String {
        let place = functions::place(self.paths.model, &self.group.module, name);
        format!("{}::{place}", self.paths.root(self.group.package))
    }

    fn selectable(&self, r: &Resource, version: &KindVersion, hub: Option<StructId>) -> String {
        let mut rows = Vec::new();
        for s in r.selectable.iter().filter(|s| s.versions.is_empty() || s.versions.contains(&version.version)) {
            let value = self.selectable_value(s, hub);
            let stored: Vec<String> = s.reads.iter().map(|path| self.stored_path(path)).collect();
            let reads = path_literals(stored.iter().map(String::as_str));
            for label in std::iter::once(&s.label).chain(&s.aliases) {
                let label = string(label);
                let is_path = value == format!("Selected::Path({})", path_literal(&self.stored_path(&s.path)));
                rows.push(match stored.as_slice() {
                    [path] if is_path && *path == self.stored_path(&s.path) => {
                        format!("SelectableDef::at({label}, {reads}),")
                    }
                    _ => format!("SelectableDef {{ label: {label}, value: {value}, reads: {reads} }},"),
                });
            }
        }
        table(&rows)
    }

    /// The functions of `#[strategy(..)]`, each in a closure that downcasts the object. A kind that is
    /// stored as another kind has that kind's functions.
    fn hooks(&self, hub: Option<StructId>) -> String {
        if let Some((emitter, _)) = self.stored_kind() {
            return emitter.hooks(hub);
        }
        let Some(hub) = hub.map(|id| self.paths.path(id)).filter(|_| !self.kind.strategy.is_empty()) else {
            return "Hooks::NONE".into();
        };
        let hooks: Vec<String> = self.kind.strategy.iter().map(|hook| {
            let function = self.function(&hook.function);
            let closure = match hook.word.as_str() {
                "warnings" => format!("|c, new, old| new.downcast::<{hub}>().map_or(Vec::new(), |new| {function}(c, new, old.and_then(|o| o.downcast())))"),
                "delete" => format!("|c, o| if let Some(o) = o.downcast::<{hub}>() {{ {function}(c, o) }}"),
                "holds" => format!("|o| o.downcast::<{hub}>().is_some_and({function})"),
                "order" => format!("|o| o.downcast::<{hub}>().map_or(0, {function})"),
                "rows" => format!("|o| o.downcast::<{hub}>().map_or(Vec::new(), {function})"),
                "grace" => format!("|requested, o| o.downcast::<{hub}>().and_then(|o| {function}(requested, o))"),
                "create" => format!("|c, new, original| if let Some(new) = new.downcast::<{hub}>() {{ {function}(c, new, original.and_then(|o| o.downcast())) }}"),
                _ => format!("|c, new, old| if let (Some(new), Some(old)) = (new.downcast::<{hub}>(), old.downcast()) {{ {function}(c, new, old) }}"),
            };
            format!("\n        {}: Some({closure}),", hook.word)
        }).collect();
        format!("Hooks {{{}\n        ..Hooks::NONE\n    }}", hooks.concat())
    }

    /// Maps a path of this kind to the kind in whose form it is stored: `regarding.name` of an event is
    /// `involvedObject.name` there.
    fn stored_path(&self, path: &str) -> String {
        let own = self
            .group
            .versions
            .first()
            .and_then(|v| v.structs.get(&self.kind.name))
            .filter(|_| self.kind.stored_as.is_some());
        let conversion = own.and_then(|&id| self.paths.structure(id).conversion.as_ref());
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let renamed =
            conversion.and_then(|c| c.renames.iter().find(|(here, _)| here == first)).map_or(first, |(_, hub)| hub);
        rest.map_or_else(|| renamed.to_string(), |rest| format!("{renamed}.{rest}"))
    }

    fn selectable_value(&self, s: &Selectable, hub: Option<StructId>) -> String {
        match &s.by_hand {
            Some(function) => format!(
                "Selected::ByHand(|o| o.downcast::<{}>().map_or(String::new(), {}))",
                hub.map_or(String::new(), |id| self.paths.path(id)),
                self.function(function)
            ),
            None => format!("Selected::Path({})", path_literal(&self.stored_path(&s.path))),
        }
    }

    /// A row per version for the kind, and one for its list.
    fn rows(&self, statics: &[ResourceStatic]) -> String {
        let mut text = String::new();
        let Some(hub) = self.hub() else { return text };
        for version in &self.kind.versions {
            let Some(id) = self.struct_of(&version.version, &self.kind.name) else { continue };
            let list = if self.kind.list { format!("{}List", self.kind.name) } else { String::new() };
            let resource = statics.iter().find(|one| one.version == version.version).map(|one| one.name.as_str());
            text.push_str(&self.row(version, &self.kind.name, (id, hub), resource, &list));
            if let Some(list_id) = self.struct_of(&version.version, &list).filter(|_| self.kind.list) {
                text.push_str(&self.row(version, &list, (list_id, list_id), None, ""));
            }
        }
        text
    }

    fn row(
        &self,
        version: &KindVersion,
        name: &str,
        (id, hub): (StructId, StructId),
        resource: Option<&str>,
        list: &str,
    ) -> String {
        let of_group = self.group.versions.iter().find(|v| v.name == version.version);
        let serving = of_group.map_or(version.serving, |v| v.serving.max(version.serving));
        let non_empty = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(string);
        let not_empty = |text: &str| (!text.is_empty()).then(|| string(text));
        let setters = [
            ("serving", unless("Serving::On", format!("Serving::{serving:?}"))),
            ("converted", (id != hub).then(|| self.conversion(id, hub))),
            ("introduced", non_empty(&version.introduced)),
            ("deprecated", non_empty(&version.deprecated)),
            ("removed", non_empty(&version.removed)),
            ("replaced_by", non_empty(&version.replacement)),
            ("resource", resource.map(|name| format!("&{name}"))),
            ("listed_as", not_empty(list)),
            ("gated", not_empty(self.kind.feature_gate.as_deref().unwrap_or(""))),
        ];
        let mut text = format!(
            "KindDef::new(({}, {}, {}), &{}, {})",
            string(&self.group.name),
            string(&version.version),
            string(name),
            self.paths.descriptor(id),
            string(&format!("{}.{}.{name}", self.group.openapi_prefix, version.version)),
        );
        for (setter, value) in setters {
            if let Some(value) = value {
                let _ = write!(text, ".{setter}({value})");
            }
        }
        text + ","
    }

    fn conversion(&self, id: StructId, hub: StructId) -> String {
        let s = self.paths.structure(id);
        let way = |direction| format!("|o| convert(o, {})", function_path(self.paths, s, direction));
        format!("&{}, {}, {}", self.paths.descriptor(hub), way(Direction::ToHub), way(Direction::FromHub))
    }
}

/// The verbs of a resource that declares none, sorted.
const ALL_VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

fn column_row(name: &str, kind: &str, format: &str, priority: i32, docs: &str, cell: &str) -> String {
    let row = plain(
        "Column",
        "Column::PLAIN",
        [
            ("name", Some(string(name))),
            ("kind", unless("\"string\"", string(kind))),
            ("format", unless("\"\"", string(format))),
            ("priority", unless("0", priority.to_string())),
            ("description", unless("\"\"", string(docs))),
            ("cell", Some(cell.to_owned())),
        ],
    );
    row + ","
}

fn table(rows: &[String]) -> String {
    if rows.is_empty() { "&[]".into() } else { format!("&[{}\n    ]", rows.concat()) }
}

/// The declared paths, by default the status.
fn resets(resource: &Resource) -> Vec<String> {
    let status = || resource.subresources.iter().map(|s| s.name.clone()).filter(|name| name == "status").collect();
    resource.resets.clone().unwrap_or_else(status)
}
