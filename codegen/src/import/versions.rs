//! Differences of a version's types from those of the hub.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::items;
use super::names::key;
use super::types::{ImportedBody, ImportedField, ImportedType};
use crate::names::rust_name;

/// A pair of functions that converts fields which cannot be converted by name.
pub struct Pair {
    pub version: String,
    pub of: String,
    pub name: String,
    /// The names of the fields on either side.
    pub fields: Vec<String>,
}

/// The module of a version; empty if nothing differs.
pub fn module(version: &str, hub: &[ImportedType], here: &[ImportedType], pairs: &mut Vec<Pair>) -> String {
    let by_name: BTreeMap<&str, &ImportedType> = hub.iter().map(|ty| (ty.name.as_str(), ty)).collect();
    let other = |ty: &ImportedType| by_name.get(ty.name.as_str()).is_some_and(|hub| hub.body != ty.body);
    // A field has another type if its enum has other values, even if the field's declaration is equal.
    let enums: BTreeSet<&str> = here
        .iter()
        .filter(|ty| matches!(ty.body, ImportedBody::Enum(_)) && other(ty))
        .map(|ty| ty.name.as_str())
        .collect();
    let mut out = String::new();
    for ty in here {
        match by_name.get(ty.name.as_str()) {
            None => out.push_str(&items::item(ty, &[], "")),
            Some(hub) => out.push_str(&difference(version, hub, ty, &enums, pairs)),
        }
    }
    if out.is_empty() {
        return out;
    }
    let indented: String =
        out.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect();
    format!("\n/// Differences of {version} from the hub.\nmod {version} {{\n{}}}\n", indented.trim_start_matches('\n'))
}

/// Differences of a version's type from the hub's, and its conversion.
fn difference(
    version: &str,
    hub: &ImportedType,
    here: &ImportedType,
    enums: &BTreeSet<&str>,
    pairs: &mut Vec<Pair>,
) -> String {
    if let ImportedBody::Enum(_) = here.body {
        let is_same = hub.body == here.body;
        return if is_same { String::new() } else { items::item(here, &[], "") };
    }
    let counterpart = |field: &ImportedField| hub.fields().iter().find(|of| of.json == field.hub);
    let changed = |field: &&ImportedField| counterpart(field) != Some(field);
    let changed: Vec<&ImportedField> = here.fields().iter().filter(changed).collect();
    let gone: Vec<&ImportedField> =
        hub.fields().iter().filter(|of| here.fields().iter().all(|field| field.hub != of.json)).collect();
    let mut out = String::new();
    if !changed.is_empty() || !gone.is_empty() || hub.attributes != here.attributes || hub.docs != here.docs {
        let fields = changed.iter().map(|field| of_version(field, counterpart(field)));
        let mut attributes = vec![format!("#[differs({})]", here.name)];
        attributes.extend(replaced(hub, here));
        let body = ImportedBody::Struct(fields.collect());
        let docs = if hub.docs == here.docs { String::new() } else { here.docs.clone() };
        out = items::item(&ImportedType { name: here.name.clone(), docs, attributes, body }, &gone, "");
    }
    // Fields with the same name and different types, or on one side only.
    let is_other = |field: &&ImportedField| match counterpart(field) {
        Some(of) => of.inner() != field.inner() || enums.contains(field.innermost()),
        None => true,
    };
    let others: Vec<&ImportedField> = here.fields().iter().filter(is_other).collect();
    let of_hub = others.iter().filter_map(|field| counterpart(field)).chain(gone);
    let of_hub: Vec<String> = of_hub.map(|field| key(&field.json)).collect();
    if !others.is_empty() || !of_hub.is_empty() {
        let name = format!("{}_{version}", rust_name(&lower_first(&here.name)));
        let others: Vec<String> = others.iter().map(|field| key(&field.json)).collect();
        let side = |word: &str, names: &[String]| match names {
            [] => String::new(),
            names => format!(", {word}({})", names.join(", ")),
        };
        let (left, right) = (side("here", &others), side("hub", &of_hub));
        let _ =
            write!(out, "\n#[convert({}, by_hand = {name}{left}{right})]\nstruct Convert{};\n", here.name, here.name);
        let mut fields = others;
        fields.extend(of_hub.into_iter().filter(|name| !here.fields().iter().any(|field| field.json == *name)));
        pairs.push(Pair { version: version.to_owned(), of: here.name.clone(), name, fields });
    }
    out
}

fn lower_first(name: &str) -> String {
    let (first, rest) = name.split_at(name.len().min(1));
    format!("{}{rest}", first.to_ascii_lowercase())
}

/// A field of a version; `renamed` names the hub's field if the names differ.
fn of_version(field: &ImportedField, hub: Option<&ImportedField>) -> ImportedField {
    let mut field = field.clone();
    if let Some(hub) = hub.filter(|hub| hub.json != field.json) {
        field.words.insert(0, format!("renamed = {}", hub.name));
    }
    field
}

/// The attributes of a version's struct, with a word that drops each attribute that only the hub has.
fn replaced(hub: &ImportedType, here: &ImportedType) -> Vec<String> {
    if hub.attributes == here.attributes {
        return Vec::new();
    }
    let has = |ty: &ImportedType, word: &str| ty.attributes.iter().any(|attribute| attribute.starts_with(word));
    let mut out = here.attributes.clone();
    for (word, without) in [("#[rule(", "#[rule(none)]"), ("#[structure(", "#[structure(granular)]")] {
        if has(hub, word) && !has(here, word) {
            out.push(without.to_owned());
        }
    }
    out
}
