//! Reference manual: one page per group with its kinds, versions and types, and a page that lists the
//! groups.
//!
//! A type is described once, at the version that declares it; versions that share it link there.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{folder, serving};
use crate::emit::File;
use crate::model::{
    EnumId, Field, Group, Kind, KindVersion, ListSemantics, Literal, Model, Serving, Struct, StructId, TypeRef,
    Validation,
};

/// `<folder>.md` for every group, or for one, and `README.md`.
pub fn files(model: &Model, group: Option<&Group>) -> Vec<File> {
    let groups: Vec<&Group> =
        model.groups.iter().filter(|have| group.is_none_or(|one| one.module == have.module)).collect();
    let mut index = String::from("# API reference\n\n| Group | Versions | |\n|---|---|---|\n");
    let mut out = Vec::new();
    for group in groups {
        let versions: Vec<&str> = group.versions.iter().map(|version| version.name.as_str()).collect();
        let _ = writeln!(index, "| [{0}]({0}.md) | {1} | {2} |", folder(group), versions.join(", "), cell(&group.docs));
        let page = Page { model, group }.render();
        out.push(File { path: format!("{}.md", folder(group)), bytes: page.into_bytes() });
    }
    out.push(File { path: "README.md".into(), bytes: index.into_bytes() });
    out
}

/// The page of a group.
#[derive(Clone, Copy)]
struct Page<'m> {
    model: &'m Model,
    group: &'m Group,
}

impl<'m> Page<'m> {
    fn render(self) -> String {
        let group = self.group;
        let mut text = format!("# {}\n\n{}\n\n", folder(group), group.docs);
        if group.name.is_empty() {
            text.push_str("The group has no name: its `apiVersion` is the version alone, such as `v1`.\n\n");
        }
        text.push_str("| Version | Served |\n|---|---|\n");
        for version in &group.versions {
            let _ = writeln!(text, "| {} | {} |", version.name, served(version.serving));
        }
        if !group.kinds.is_empty() {
            text.push_str("\n## Kinds\n\n");
        }
        for kind in &group.kinds {
            text.push_str(&self.kind(kind));
        }
        text.push_str("## Types\n\n");
        for id in self.types() {
            text.push_str(&self.structure(&self.model.structs[id.0]));
        }
        text
    }

    fn kind(self, kind: &Kind) -> String {
        let mut text = format!("### {}\n\n", kind.name);
        if let Some(resource) = &kind.resource {
            let scope = if resource.namespaced { "namespaced" } else { "cluster-wide" };
            let _ = write!(text, "Resource `{}`, {scope}", resource.plural);
            if !resource.short_names.is_empty() {
                let _ = write!(text, ", short {}", quoted(&resource.short_names));
            }
            let _ = writeln!(text, ". Verbs: {}.\n", resource.verbs.join(", "));
            for sub in &resource.subresources {
                let _ = writeln!(text, "- subresource `{}`: {}", sub.name, sub.verbs.join(", "));
            }
            if !resource.subresources.is_empty() {
                text.push('\n');
            }
            let labels: Vec<String> = resource.selectable.iter().map(|one| one.label.clone()).collect();
            if !labels.is_empty() {
                let _ = writeln!(text, "Field selectors: {}.\n", quoted(&labels));
            }
        }
        if let Some(gate) = &kind.feature_gate {
            let _ = writeln!(text, "Needs the feature gate `{gate}`.\n");
        }
        text.push_str("| Version | Served | Since | Deprecated | Removed | Type |\n|---|---|---|---|---|---|\n");
        for entry in &kind.versions {
            text.push_str(&self.kind_version(kind, entry));
        }
        text.push('\n');
        text
    }

    fn kind_version(self, kind: &Kind, entry: &KindVersion) -> String {
        let release_text = |release: &Option<String>| release.clone().unwrap_or_default();
        let version = self.group.versions.iter().find(|version| version.name == entry.version);
        let ty = version.and_then(|version| version.structs.get(&kind.name));
        let removed = match &entry.replacement {
            Some(replacement) => format!("{} (use {replacement})", release_text(&entry.removed)),
            None => release_text(&entry.removed),
        };
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            entry.version,
            served(serving(self.group, entry)),
            release_text(&entry.introduced),
            release_text(&entry.deprecated),
            removed.trim(),
            ty.map_or(String::new(), |id| self.link(*id))
        )
    }

    /// The group's own types in order of versions and names, each once, without list kinds.
    fn types(self) -> Vec<StructId> {
        let mut seen = BTreeSet::new();
        let visible = self.group.versions.iter().flat_map(|version| version.structs.values());
        let own = visible.filter(|id| {
            let s = &self.model.structs[id.0];
            s.module == self.group.module && s.role != crate::model::Role::List
        });
        own.copied().filter(|id| seen.insert(*id)).collect()
    }

    fn structure(self, s: &Struct) -> String {
        let mut text = format!("### {} {}\n\n", s.version, s.name);
        if s.deprecated {
            text.push_str("**Deprecated.** ");
        }
        let _ = writeln!(text, "{}\n", s.docs);
        if s.fields.is_empty() {
            return text;
        }
        text.push_str("| Field | Type | Description |\n|---|---|---|\n");
        for field in &s.fields {
            let name = if field.json.is_empty() { "*(inline)*".to_string() } else { format!("`{}`", field.json) };
            let _ = writeln!(text, "| {name} | {} | {} |", self.ty(&field.ty), cell(&self.description(field)));
        }
        text.push('\n');
        for rule in &s.rules {
            let _ = writeln!(text, "- rule `{}`: {}", rule.expression, rule.message);
        }
        for union in &s.unions {
            let members: Vec<String> = union.members.iter().map(|(_, member)| member.clone()).collect();
            let words = if union.zero_allowed { "at most" } else { "exactly" };
            let _ = writeln!(text, "- {words} one of {}", quoted(&members));
        }
        if !s.rules.is_empty() || !s.unions.is_empty() {
            text.push('\n');
        }
        text
    }

    /// The docs, then further facts of the declaration.
    fn description(self, field: &Field) -> String {
        let mut parts: Vec<String> = vec![field.docs.clone()];
        let mut say = |text: String| parts.push(format!("{text}."));
        if field.required {
            say("Required".into());
        }
        if let Some(default) = &field.default {
            say(format!("Default `{}`", literal(default)));
        }
        if let Some(values) = self.enum_in(&field.ty) {
            let declared = &self.model.enums[values.0];
            let values: Vec<String> = declared.variants.iter().map(|(_, value, _)| value.clone()).collect();
            say(format!("{} {}", if declared.open { "Known values:" } else { "One of" }, quoted(&values)));
            declared.gated.iter().for_each(|(value, gate)| say(format!("`{value}` needs the feature gate `{gate}`")));
        }
        match &field.list {
            Some(ListSemantics::Set) => say("A set".into()),
            Some(ListSemantics::Map(keys)) => say(format!("One entry per {}", quoted(keys))),
            Some(ListSemantics::Atomic) | None => {}
        }
        constraints(&field.validation).into_iter().for_each(&mut say);
        if let Some(gate) = &field.feature_gate {
            say(format!("Feature gate `{gate}`"));
        }
        if field.deprecated {
            say("Deprecated".into());
        }
        parts.join(" ")
    }

    fn enum_in(self, ty: &TypeRef) -> Option<EnumId> {
        match ty {
            TypeRef::Enum(id) => Some(*id),
            TypeRef::List(inner) | TypeRef::Map(inner) => self.enum_in(inner),
            _ => None,
        }
    }

    fn ty(self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::String | TypeRef::Enum(_) => "string".into(),
            TypeRef::Bool => "boolean".into(),
            TypeRef::I32 => "int32".into(),
            TypeRef::I64 => "int64".into(),
            TypeRef::F64 => "number".into(),
            TypeRef::Bytes => "bytes (base64)".into(),
            TypeRef::Json => "any".into(),
            TypeRef::Struct(id) => self.link(*id),
            TypeRef::List(item) => format!("list of {}", self.ty(item)),
            TypeRef::Map(value) => format!("map to {}", self.ty(value)),
            scalar => format!("{scalar:?}"),
        }
    }

    /// A link to a type, on the page of its group.
    fn link(self, id: StructId) -> String {
        let s = &self.model.structs[id.0];
        let anchor = format!("{}-{}", s.version, s.name.to_ascii_lowercase());
        let group = self.model.groups.iter().find(|group| group.module == s.module);
        match group.filter(|group| group.module != self.group.module) {
            Some(group) => format!("[{}]({}.md#{anchor})", s.name, folder(group)),
            None => format!("[{}](#{anchor})", s.name),
        }
    }
}

fn served(serving: Serving) -> &'static str {
    match serving {
        Serving::On => "yes",
        Serving::Off => "with `--runtime-config`",
        Serving::Unserved => "no",
    }
}

fn constraints(rules: &Validation) -> Vec<String> {
    let mut out = Vec::new();
    let numbers = [("At least", rules.min), ("At most", rules.max)];
    out.extend(numbers.into_iter().filter_map(|(words, value)| Some(format!("{words} {}", value?))));
    let counts = [
        ("At least", rules.min_length, "characters"),
        ("At most", rules.max_length, "characters"),
        ("At most", rules.max_bytes, "bytes"),
        ("At least", rules.min_items, "items"),
        ("At most", rules.max_items, "items"),
    ];
    out.extend(counts.into_iter().filter_map(|(words, value, what)| Some(format!("{words} {} {what}", value?))));
    out.extend(rules.pattern.as_ref().map(|pattern| format!("Matches `{pattern}`")));
    out.extend(rules.format.as_ref().map(|format| format!("Format {}", format.replace('_', " "))));
    if rules.immutable {
        out.push("May not change".into());
    }
    if rules.unique {
        out.push("No two are equal".into());
    }
    out
}

fn quoted(values: &[String]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}

/// Text for a table cell.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => value.to_string(),
        Literal::String(value) => value.clone(),
        Literal::List(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Literal::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name}: {}", literal(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}
