//! CustomResourceDefinitions (`apiextensions.k8s.io/v1`), with which another API server can serve a
//! declared kind.
//!
//! Declarations that a CRD cannot express are omitted and listed in a comment at the top of the file.

use serde_json::{Map, Value, json};

use super::moves::{FIELD_MOVES, Moves};
use super::{folder, schema, serving, yaml};
use crate::Error;
use crate::emit::File;
use crate::model::{
    Column, ColumnValue, Conversion, Group, Kind, KindVersion, Model, Resource, Selectable, Serving, Struct, StructId,
    Subresource, TypeRef,
};
use crate::paths;

/// The formats that a column of a CRD may have; built-in columns support `name` too.
const COLUMN_FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// One file per kind of a group; without a group, of all custom groups.
pub fn files(model: &Model, group: Option<&Group>) -> Result<Vec<File>, Error> {
    if group.is_some_and(|group| group.name.is_empty()) {
        return Err(Error::CoreGroup);
    }
    let groups = model.groups.iter().filter(|have| match group {
        Some(group) => group.module == have.module,
        None => is_custom(have),
    });
    let mut out = Vec::new();
    for group in groups {
        for kind in &group.kinds {
            out.extend(kind.resource.as_ref().and_then(|resource| file(model, group, kind, resource)));
        }
    }
    match (group, out.is_empty()) {
        (_, false) => Ok(out),
        (Some(group), true) => Err(Error::NoKinds(folder(group))),
        (None, true) => Err(Error::NoCustomGroups),
    }
}

fn is_custom(group: &Group) -> bool {
    group.name.contains('.') && !is_protected(group)
}

/// Whether the server protects the domain of the group's name.
fn is_protected(group: &Group) -> bool {
    [".k8s.io", ".kubernetes.io"].iter().any(|domain| group.name.ends_with(domain))
}

fn file(model: &Model, group: &Group, kind: &Kind, resource: &Resource) -> Option<File> {
    let mut notes = Vec::new();
    let moves = Moves::of(model, group, kind);
    let versions: Vec<Value> = kind
        .versions
        .iter()
        .filter_map(|entry| Version::new(model, group, kind, resource, entry))
        .map(|version| version.render(moves.complete, &mut notes))
        .collect();
    if versions.is_empty() {
        return None;
    }
    let name = format!("{}.{}", resource.plural, group.name);
    let mut metadata = Map::from_iter([("name".to_string(), Value::from(name.clone()))]);
    let mut annotations = Map::new();
    if is_protected(group) {
        annotations.insert("api-approved.kubernetes.io".into(), "unapproved, exported from definitions".into());
    }
    annotations.extend(moves.text().map(|text| (FIELD_MOVES.to_string(), text.into())));
    if !annotations.is_empty() {
        metadata.insert("annotations".into(), annotations.into());
    }
    let document = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group.name,
            "names": names(kind, resource),
            "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
            "versions": versions,
            "conversion": {"strategy": "None"},
        },
    });
    let mut text = format!("# Exported from {} by `cargo run -p codegen --bin export`.\n", kind.span.file.display());
    notes.dedup();
    for note in notes {
        text.push_str(&format!("# Left out: {note}.\n"));
    }
    text.push_str(&yaml::write(&document));
    Some(File { path: format!("{name}.yaml"), bytes: text.into_bytes() })
}

fn names(kind: &Kind, resource: &Resource) -> Value {
    let mut out = Map::new();
    out.insert("kind".into(), kind.name.clone().into());
    if kind.list {
        out.insert("listKind".into(), format!("{}List", kind.name).into());
    }
    out.insert("plural".into(), resource.plural.clone().into());
    out.insert("singular".into(), resource.singular.clone().into());
    for (key, values) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !values.is_empty() {
            out.insert(key.into(), json!(values));
        }
    }
    Value::Object(out)
}

/// One version of a kind.
struct Version<'m> {
    model: &'m Model,
    group: &'m Group,
    kind: &'m Kind,
    resource: &'m Resource,
    entry: &'m KindVersion,
    id: StructId,
}

impl<'m> Version<'m> {
    /// `None` if the kind is not an object with metadata.
    fn new(
        model: &'m Model,
        group: &'m Group,
        kind: &'m Kind,
        resource: &'m Resource,
        entry: &'m KindVersion,
    ) -> Option<Self> {
        let version = group.versions.iter().find(|version| version.name == entry.version)?;
        let id = *version.structs.get(&kind.name)?;
        schema::is_object(&model.structs[id.0]).then_some(Version { model, group, kind, resource, entry, id })
    }

    fn render(&self, moves_say_all: bool, notes: &mut Vec<String>) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), self.entry.version.clone().into());
        out.insert("served".into(), (serving(self.group, self.entry) == Serving::On).into());
        out.insert("storage".into(), (self.entry.version == self.kind.storage_version).into());
        if self.entry.deprecated.is_some() {
            out.insert("deprecated".into(), true.into());
            if let Some(replacement) = &self.entry.replacement {
                let text = format!(
                    "{}/{} {} is deprecated; use {replacement}",
                    self.group.name, self.entry.version, self.kind.name
                );
                out.insert("deprecationWarning".into(), text.into());
            }
        }
        out.insert("schema".into(), json!({"openAPIV3Schema": schema::of_kind(self.model, self.id)}));
        if self.model.structs.iter().any(|s| self.converts(s)) {
            notes.push(match moves_say_all {
                true => {
                    format!("the conversion of {} on other servers, which need a webhook for it", self.entry.version)
                }
                false => format!("the conversion of {}; a CRD converts by webhook only", self.entry.version),
            });
        }
        let subresources = self.subresources(notes);
        if !subresources.is_empty() {
            out.insert("subresources".into(), subresources.into());
        }
        let columns: Vec<Value> =
            self.resource.columns.iter().filter_map(|column| self.column(column, notes)).collect();
        if !columns.is_empty() {
            out.insert("additionalPrinterColumns".into(), columns.into());
        }
        let selectable: Vec<Value> =
            self.resource.selectable.iter().filter_map(|one| self.selectable(one, notes)).collect();
        if !selectable.is_empty() {
            out.insert("selectableFields".into(), selectable.into());
        }
        Value::Object(out)
    }

    /// Whether a struct of this version differs from the hub's by more than names.
    fn converts(&self, s: &Struct) -> bool {
        let differs = |c: &Conversion| {
            !c.renames.is_empty() || !c.by_hand.is_empty() || !c.here_only.is_empty() || !c.hub_only.is_empty()
        };
        s.module == self.group.module && s.version == self.entry.version && s.conversion.as_ref().is_some_and(differs)
    }

    fn subresources(&self, notes: &mut Vec<String>) -> Map<String, Value> {
        let mut out = Map::new();
        let wanted =
            |one: &&Subresource| self.entry.subresources.as_ref().is_none_or(|names| names.contains(&one.name));
        for subresource in self.resource.subresources.iter().filter(wanted) {
            let scale = subresource.scale.as_ref().and_then(|paths| {
                let mut scale = Map::new();
                scale.insert("specReplicasPath".into(), self.path(&paths.replicas)?.into());
                scale.insert("statusReplicasPath".into(), self.path(&paths.observed)?.into());
                let selector = self.path(&paths.selector).filter(|_| !paths.selector.is_empty());
                scale.extend(selector.map(|path| ("labelSelectorPath".to_string(), path.into())));
                Some(Value::Object(scale))
            });
            match (subresource.name.as_str(), scale) {
                ("status", _) => drop(out.insert("status".into(), json!({}))),
                ("scale", Some(scale)) => drop(out.insert("scale".into(), scale)),
                (name, _) => notes.push(format!("subresource `{name}` of {}", self.entry.version)),
            }
        }
        out
    }

    fn column(&self, column: &Column, notes: &mut Vec<String>) -> Option<Value> {
        if column.name == "Name" {
            return None; // The server adds such a column.
        }
        let path = match &column.cell {
            ColumnValue::Path { path, .. } | ColumnValue::Age { path, .. } => self.path(path),
            _ => None,
        };
        let Some(path) = path else {
            notes.push(format!("column `{}` of {}, which is computed", column.name, self.entry.version));
            return None;
        };
        let kind = if matches!(column.cell, ColumnValue::Age { .. }) { "date" } else { column.kind.as_str() };
        let kind = if kind.is_empty() { "string" } else { kind };
        let mut out = Map::new();
        out.insert("name".into(), column.name.clone().into());
        out.insert("type".into(), kind.into());
        out.insert("jsonPath".into(), path.into());
        if COLUMN_FORMATS.contains(&column.format.as_str()) {
            out.insert("format".into(), column.format.clone().into());
        }
        if column.priority != 0 {
            out.insert("priority".into(), column.priority.into());
        }
        if !column.docs.is_empty() {
            out.insert("description".into(), column.docs.clone().into());
        }
        Some(Value::Object(out))
    }

    fn selectable(&self, selectable: &Selectable, notes: &mut Vec<String>) -> Option<Value> {
        let here = selectable.versions.is_empty() || selectable.versions.contains(&self.entry.version);
        if !here || selectable.path.starts_with("metadata.") {
            return None; // Name and namespace are always selectable.
        }
        let path = self.path(&selectable.path).filter(|_| selectable.by_hand.is_none());
        // A CRD derives the label from the path, so a field with another label cannot be expressed.
        match path {
            Some(path) => Some(json!({"jsonPath": path})),
            None => {
                notes.push(format!("selectable field `{}` of {}", selectable.label, self.entry.version));
                None
            }
        }
    }

    /// The hub's path as a path of this version, with a leading dot; `None` if the field does not exist
    /// here.
    fn path(&self, path: &str) -> Option<String> {
        if path.starts_with("metadata.") {
            return Some(format!(".{path}"));
        }
        let mut at = Some(self.id);
        let mut out = String::new();
        for name in path.split('.') {
            let owner = at?;
            let renames = self.model.structs[owner.0].conversion.iter().flat_map(|conversion| &conversion.renames);
            let renamed = renames.filter(|(_, hub)| hub == name).map(|(here, _)| here.as_str()).next();
            let (_, field) = paths::find(self.model, owner, renamed.unwrap_or(name))?;
            out.push('.');
            out.push_str(&field.json);
            at = match field.ty {
                TypeRef::Struct(id) => Some(id),
                _ => None,
            };
        }
        Some(out)
    }
}
