//! Renders imported definitions as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use super::document::{Crd, CrdVersion};
use super::items::item;
use super::known::KnownTypes;
use super::names::{ImportedNames, key, text};
use super::schema;
use super::versions::{self, Pair};
use crate::Error;
use crate::names::{default_module, is_keyword};
use crate::project::{DEFINITIONS, Project};

/// Release of deprecations: a CustomResourceDefinition does not state since when a version is
/// deprecated.
const DEPRECATED: &str = "1.0";

/// Files of a group by path: its `group.rs`, one per kind, and the conversion functions.
pub fn group(
    name: &str,
    hub: &str,
    crds: &[&Crd],
    known: &KnownTypes,
    warnings: &mut Vec<String>,
) -> Result<BTreeMap<String, String>, Error> {
    let module = module(name);
    let folder = format!("{DEFINITIONS}/{name}");
    let mut files = BTreeMap::new();
    let mut names = ImportedNames::default();
    let mut pairs = Vec::new();
    for crd in crds {
        names.of_type(&crd.kind);
    }
    for crd in crds {
        let file = match crd.kind.to_lowercase().as_str() {
            "group" => "group_kind".to_owned(),
            kind => kind.to_owned(),
        };
        let text = kind(crd, hub, known, &mut names, &mut pairs)?;
        files.insert(format!("{folder}/{file}.rs"), text);
    }
    let mut head = format!("//! The group {name}, imported from its CustomResourceDefinitions.\n\n");
    let of_module = if module == default_module(name) { String::new() } else { format!(", module = {module}") };
    let _ = writeln!(head, "#![group({name:?}{of_module})]");
    for version in order(crds.iter().flat_map(|crd| &crd.versions).map(|version| version.name.as_str()), hub) {
        let _ = writeln!(head, "#![version({version})]");
    }
    files.insert(format!("{folder}/group.rs"), head);
    if !pairs.is_empty() {
        let path = format!("hatches/{module}.rs");
        warnings.extend(pairs.iter().map(|pair| {
            let Pair { version, of, name, fields } = pair;
            format!(
                "{path}: {name}_to_hub, {name}_from_hub: convert nothing yet; {of} of {version} loses {}",
                fields.join(", ")
            )
        }));
        files.insert(path, functions(name, &module, hub, &pairs));
    }
    Ok(files)
}

/// The hub, then the other versions in document order.
fn order<'a>(versions: impl Iterator<Item = &'a str>, hub: &'a str) -> Vec<&'a str> {
    let mut all = vec![hub];
    for version in versions {
        if !all.contains(&version) {
            all.push(version);
        }
    }
    all
}

/// The module of a group. Differs from the default if that is a Rust keyword or the module of a
/// Kubernetes group.
fn module(group: &str) -> String {
    let module = default_module(group);
    let library = Project::external("").library().join(DEFINITIONS);
    match is_keyword(&module) || library.join(&module).is_dir() || module.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("group_{}", group.replace(['.', '-'], "_")),
        false => module,
    }
}

/// The file of a kind.
fn kind(
    crd: &Crd,
    hub: &str,
    known: &KnownTypes,
    names: &mut ImportedNames,
    pairs: &mut Vec<Pair>,
) -> Result<String, Error> {
    let missing = || Error::NoVersion { definition: crd.name(), version: hub.to_owned() };
    let version = crd.version(hub).ok_or_else(missing)?;
    let mut used = BTreeSet::from(["ObjectMeta".to_owned()]);
    let types = schema::types(crd, version, hub, known, names, &mut used);
    let mut out = String::new();
    for (index, ty) in types.iter().enumerate() {
        let mut ty = ty.clone();
        if index == 0 {
            let mut attributes = kind_attributes(crd, hub, version);
            attributes.append(&mut ty.attributes);
            ty.attributes = attributes;
        }
        out.push_str(&item(&ty, &[], "pub "));
    }
    for other in order(crd.versions.iter().map(|version| version.name.as_str()), hub).into_iter().skip(1) {
        let Some(version) = crd.version(other) else { continue };
        let here = schema::types(crd, version, hub, known, names, &mut used);
        out.push_str(&versions::module(other, &types, &here, pairs));
    }
    let used: Vec<String> = used.into_iter().collect();
    let used = if let [one] = used.as_slice() { one.clone() } else { format!("{{{}}}", used.join(", ")) };
    let head = format!("//! {}, imported from a CustomResourceDefinition.", crd.name());
    Ok(format!("{head}\n\nuse crate::meta::{used};\n{out}"))
}

/// `#[kind(..)]` and the attributes after it.
fn kind_attributes(crd: &Crd, hub: &str, version: &CrdVersion) -> Vec<String> {
    let names = &crd.whole["spec"]["names"];
    let mut words = vec![format!("plural = {:?}", crd.plural)];
    let singular = text(&names["singular"]);
    if !singular.is_empty() && singular != crd.kind.to_lowercase() {
        words.push(format!("singular = {singular:?}"));
    }
    for (word, key) in [("short", "shortNames"), ("category", "categories")] {
        let all: Vec<String> =
            names[key].as_array().into_iter().flatten().map(|name| format!("{:?}", text(name))).collect();
        match all.as_slice() {
            [] => {}
            [one] => words.push(format!("{word} = {one}")),
            all => words.push(format!("{word} = ({})", all.join(", "))),
        }
    }
    words.push(format!("scope = {}", if crd.whole["spec"]["scope"] == "Cluster" { "Cluster" } else { "Namespaced" }));
    if crd.storage != hub {
        words.push(format!("storage = {}", crd.storage));
    }
    let versions = order(crd.versions.iter().map(|version| version.name.as_str()), hub);
    let versions: Vec<String> =
        versions.iter().filter_map(|name| Some(version_entry(crd, version, crd.version(name)?))).collect();
    let mut out = vec![format!("#[kind({})]", words.join(", ")), format!("#[versions({})]", versions.join(", "))];
    out.extend(subresources(version));
    let columns = version.entry["additionalPrinterColumns"].as_array().into_iter().flatten();
    out.extend(columns.filter_map(column));
    out.extend(selectable(crd, version));
    out
}

/// An entry of `#[versions(..)]`.
fn version_entry(crd: &Crd, hub: &CrdVersion, version: &CrdVersion) -> String {
    let mut words = Vec::new();
    if version.entry["served"] == false {
        words.push("unserved".to_owned());
    }
    if version.entry["deprecated"] == true {
        words.push(format!("deprecated = {DEPRECATED:?}"));
        let start = format!("{}/{} {} is deprecated; use ", crd.group, version.name, crd.kind);
        let replacement = text(&version.entry["deprecationWarning"]).strip_prefix(&start);
        words.extend(replacement.map(|replacement| format!("replacement = {replacement:?}")));
    }
    let of = |version: &CrdVersion| {
        let declared = version.entry["subresources"].as_object();
        declared.into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    if of(version) != of(hub) {
        words.push(format!("subresources({})", of(version).join(", ")));
    }
    if words.is_empty() { version.name.clone() } else { format!("{}({})", version.name, words.join(", ")) }
}

fn subresources(version: &CrdVersion) -> Vec<String> {
    let declared = &version.entry["subresources"];
    let mut out = Vec::new();
    if declared["status"].is_object() {
        out.push("#[subresource(status)]".to_owned());
    }
    let scale = &declared["scale"];
    if scale.is_object() {
        let path = |key: &str| path(text(&scale[key])).unwrap_or_default();
        let mut words = format!("replicas = {}, observed = {}", path("specReplicasPath"), path("statusReplicasPath"));
        if scale["labelSelectorPath"].is_string() {
            let _ = write!(words, ", selector = {}", path("labelSelectorPath"));
        }
        out.push(format!("#[subresource(scale, kind = autoscaling::v1::Scale, {words})]"));
    }
    out
}

/// A column; `None` if its JSONPath is not a plain path of fields.
fn column(column: &Value) -> Option<String> {
    let path = path(text(&column["jsonPath"]))?;
    let mut words = vec![format!("{:?}", text(&column["name"]))];
    match (text(&column["type"]), path.as_str()) {
        ("date", "metadata.creationTimestamp") => words.push("age".to_owned()),
        ("date", path) => words.push(format!("age({path})")),
        ("string", path) => words.push(path.to_owned()),
        (kind, path) => words.extend([kind.to_owned(), path.to_owned()]),
    }
    words
        .extend(column["priority"].as_i64().filter(|number| *number != 0).map(|number| format!("priority = {number}")));
    words.extend(column["format"].as_str().map(|format| format!("format = {}", key(format))));
    words.extend(column["description"].as_str().map(|text| format!("{text:?}")));
    Some(format!("#[column({})]", words.join(", ")))
}

/// Selectable fields by the hub's paths, with the versions that have them.
fn selectable(crd: &Crd, hub: &CrdVersion) -> Vec<String> {
    let paths = |version: &CrdVersion| -> Vec<String> {
        let fields = version.entry["selectableFields"].as_array().into_iter().flatten();
        fields.filter_map(|field| path(text(&field["jsonPath"]))).collect()
    };
    let line = |path: &String| {
        let having = crd.versions.iter().filter(|version| paths(version).contains(path));
        let having: Vec<&str> = having.map(|version| version.name.as_str()).collect();
        match having.len() == crd.versions.len() {
            true => format!("#[selectable({path})]"),
            false => format!("#[selectable({path}, versions({}))]", having.join(", ")),
        }
    };
    paths(hub).iter().map(line).collect()
}

/// A JSONPath in the spelling of definitions; `None` if it is not a plain path of fields.
fn path(json_path: &str) -> Option<String> {
    let path = json_path.strip_prefix('.').unwrap_or(json_path);
    let is_plain = |name: &str| !name.is_empty() && key(name) == name;
    path.split('.').all(is_plain).then(|| path.to_owned())
}

/// Empty functions for conversions that no declaration expresses.
fn functions(group: &str, module: &str, hub: &str, pairs: &[Pair]) -> String {
    let mut out = format!("//! Conversions between versions of {group} that no declaration makes: to be written.\n\n");
    let mut used: Vec<&str> = pairs.iter().map(|pair| pair.version.as_str()).chain([hub]).collect();
    used.sort_unstable();
    used.dedup();
    let module = super::names::spelled(module);
    let _ = writeln!(out, "use crate::{module}::{{{}}};", used.join(", "));
    for Pair { version, of, name, fields } in pairs {
        let fields = fields.join(", ");
        let _ = write!(
            out,
            "\n/// Converts nothing yet of: {fields}.\n\
             pub fn {name}_to_hub(_: &mut {version}::{of}, _: &mut {hub}::{of}) {{}}\n\n\
             /// Converts nothing yet of: {fields}.\n\
             pub fn {name}_from_hub(_: &mut {hub}::{of}, _: &mut {version}::{of}) {{}}\n"
        );
    }
    out
}
