//! The published surface of a group, on which clients of its versions rely.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::limits;
use super::text::{FactKey, GroupFacts, Word, quoted};
use crate::model::{Field, Group, Kind, ListSemantics, Literal, Model, Role, Span, Struct, TypeRef, Version};
use crate::parse::Origins;

/// Facts with the places that declare them.
pub struct Surface {
    pub facts: GroupFacts,
    pub places: BTreeMap<FactKey, Span>,
    /// Place of each version in `group.rs`.
    pub versions: BTreeMap<String, Span>,
    pub group: Span,
    pub module: String,
}

/// The surface that the definitions of a group declare.
pub fn of(model: &Model, group: &Group, origins: &Origins) -> Surface {
    let versions = group.versions.iter().map(|version| (version.name.clone(), version.span.clone())).collect();
    let (facts, places) = (GroupFacts::new(), BTreeMap::new());
    let mut surface = Surface { facts, places, versions, group: group.span.clone(), module: group.module.clone() };
    for version in &group.versions {
        let own = |name: &String| !version.borrowed.contains_key(name);
        for (name, id) in version.structs.iter().filter(|(name, _)| own(name)) {
            surface.structure(model, group, version, name, &model.structs[id.0]);
        }
        for (name, id) in version.enums.iter().filter(|(name, _)| own(name)) {
            let one = &model.enums[id.0];
            surface.add(FactKey::new(&version.name, Word::Enum, name.clone()), String::new(), &one.span);
            let places = origins.variants.get(&one.span);
            for (_, value, _) in &one.variants {
                let place = places
                    .and_then(|all| all.iter().find(|(name, _)| name == value))
                    .map_or(&one.span, |(_, span)| span);
                surface.add(
                    FactKey::new(&version.name, Word::Value, format!("{name} {}", quoted(value))),
                    String::new(),
                    place,
                );
            }
        }
    }
    for kind in &group.kinds {
        surface.kind(kind);
    }
    surface
}

impl Surface {
    fn add(&mut self, key: FactKey, rest: String, place: &Span) {
        self.places.insert(key.clone(), place.clone());
        self.facts.insert(key, rest);
    }

    fn structure(&mut self, model: &Model, group: &Group, version: &Version, name: &str, one: &Struct) {
        if one.role == Role::List {
            return;
        }
        self.add(FactKey::new(&version.name, Word::Struct, name), String::new(), &one.span);
        for field in &one.fields {
            let json = if field.json.is_empty() { &field.name } else { &field.json };
            let key = FactKey::new(&version.name, Word::Field, format!("{name}.{json}"));
            self.add(key, field_facts(model, group, version, field), &field.span);
        }
        // If only upstream's tags are in force, other constraints have no effect.
        if !group.tagged_validation {
            self.limits(version, name, one);
        }
    }

    fn limits(&mut self, version: &Version, name: &str, one: &Struct) {
        for field in one.fields.iter().filter(|field| !field.json.is_empty()) {
            for (word, value) in limits::of_field(field) {
                let key = FactKey::new(&version.name, Word::Limit, format!("{name}.{} {word}", field.json));
                self.add(key, value, &field.span);
            }
        }
        for (word, detail, rest) in limits::of_struct(one) {
            self.add(FactKey::new(&version.name, word, format!("{name} {detail}")), rest, &one.span);
        }
    }

    fn kind(&mut self, kind: &Kind) {
        for version in &kind.versions {
            let mut rest = String::new();
            if let Some(resource) = &kind.resource {
                let scope = if resource.namespaced { "Namespaced" } else { "Cluster" };
                let _ = write!(rest, "{} {scope}", resource.plural);
                let listed =
                    |name: &&str| version.subresources.as_ref().is_none_or(|only| only.iter().any(|one| one == name));
                let mut names: Vec<&str> =
                    resource.subresources.iter().map(|one| one.name.as_str()).filter(listed).collect();
                names.sort_unstable();
                for name in names {
                    let _ = write!(rest, " {name}");
                }
            }
            self.add(FactKey::new(&version.version, Word::Kind, kind.name.clone()), rest, &kind.span);
            self.shown(kind, &version.version);
        }
    }

    /// Adds what users refer to by name: columns, selectable fields, short names.
    fn shown(&mut self, kind: &Kind, version: &str) {
        let mut names: Vec<(Word, String)> =
            kind.columns.iter().map(|column| (Word::Column, quoted(&column.name))).collect();
        if let Some(resource) = &kind.resource {
            let in_version = |versions: &[String]| versions.is_empty() || versions.iter().any(|one| one == version);
            for one in resource.selectable.iter().filter(|one| in_version(&one.versions)) {
                names.extend([&one.label].into_iter().chain(&one.aliases).map(|name| (Word::Selectable, name.clone())));
            }
            names.extend(resource.short_names.iter().map(|name| (Word::ShortName, name.clone())));
        }
        for (word, name) in names {
            self.add(FactKey::new(version, word, format!("{} {name}", kind.name)), String::new(), &kind.span);
        }
    }
}

/// `1 i32 optional list=set default=1`.
fn field_facts(model: &Model, group: &Group, version: &Version, field: &Field) -> String {
    let presence = if field.required { "required" } else { "optional" };
    let mut out = format!("{} {} {presence}", field.number, type_text(model, group, version, &field.ty));
    if field.inline {
        out.push_str(" inline");
    }
    match &field.list {
        Some(ListSemantics::Atomic) => out.push_str(" list=atomic"),
        Some(ListSemantics::Set) => out.push_str(" list=set"),
        Some(ListSemantics::Map(keys)) => drop(write!(out, " list=map({})", keys.join(","))),
        None => {}
    }
    for (word, atomic) in [("map", field.map_atomic), ("structure", field.structure_atomic)] {
        if let Some(atomic) = atomic {
            let _ = write!(out, " {word}={}", if atomic { "atomic" } else { "granular" });
        }
    }
    if let Some(default) = &field.default {
        let _ = write!(out, " default={}", literal_text(default));
    }
    out
}

/// A type without spaces; types of other groups and versions are qualified.
fn type_text(model: &Model, group: &Group, version: &Version, ty: &TypeRef) -> String {
    let place = |module: &str, of: &str, name: &str, own: bool| match own || module == group.module {
        true if own || of == version.name => name.to_string(),
        _ => format!("{module}::{of}::{name}"),
    };
    match ty {
        TypeRef::Struct(id) => {
            let one = &model.structs[id.0];
            let own = version.structs.get(&one.name) == Some(id) && !version.borrowed.contains_key(&one.name);
            place(&one.module, &one.version, &one.name, own)
        }
        TypeRef::Enum(id) => {
            let one = &model.enums[id.0];
            let own = version.enums.get(&one.name) == Some(id) && !version.borrowed.contains_key(&one.name);
            place(&one.module, &one.version, &one.name, own)
        }
        TypeRef::List(inner) => format!("Vec<{}>", type_text(model, group, version, inner)),
        TypeRef::Map(inner) => format!("Map<{}>", type_text(model, group, version, inner)),
        scalar => crate::parse::type_text(model, scalar),
    }
}

/// A constant as JSON.
fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(number) => number.to_string(),
        Literal::Float(number) => number.to_string(),
        Literal::String(text) => quoted(text),
        Literal::List(items) => format!("[{}]", items.iter().map(literal_text).collect::<Vec<_>>().join(",")),
        Literal::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| format!("{}:{}", quoted(name), literal_text(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
    }
}
