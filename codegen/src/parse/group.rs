//! Reads `group.rs`: `#![group(..)]`, `#![version(..)]`, `#![gate(..)]`, `#![allow(..)]` and the docs.

use super::ast::Group;
use super::reader::{Attr, ItemReader};
use super::source::{FileScope, Folder, SourceFile};
use super::words::{Argument, ExprKind};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::{self, FeatureStage, Gate, Package, Serving, Version};
use crate::names;

pub(super) const ATTRIBUTES: &[&str] = &["group", "version", "gate", "allow", "breaks"];
pub(super) const GROUP_WORDS: &[&str] =
    &["module", "priority", "model", "proto", "package", "internal", "finalizers", "validation"];
const STAGES: &[&str] = &["alpha", "beta", "ga", "deprecated"];
pub(super) const GATE_WORDS: &[&str] = &["alpha", "beta", "ga", "deprecated", "default", "locked"];
pub(super) const VERSION_WORDS: &[&str] = &["priority", "off", "unserved"];

/// Reads a folder's `group.rs`; returns `None` if it is missing.
pub fn read(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<Group> {
    let Some(file) = folder.files.first().filter(|file| file.path.ends_with("group.rs")) else {
        return missing(folder, diagnostics);
    };
    let mut reader = ItemReader { scope: FileScope { file: &file.path }, diagnostics };
    let (docs, attrs) = reader.attributes(&file.syntax.attrs, ATTRIBUTES, "a group");
    let mut group = Group::default();
    let head = attrs.iter().find(|attr| attr.name == "group");
    match head {
        Some(attr) => group.head = reader.group(attr),
        None => reader.no_group(folder, file),
    }
    if let Some(again) = attrs.iter().filter(|attr| attr.name == "group").nth(1) {
        reader.error(codes::REPEATED, &again.span, "`group(..)` is given twice");
    }
    group.head.docs = docs;
    for attr in &attrs {
        match attr.name.as_str() {
            "version" => reader.version(attr, &mut group.head.versions),
            "gate" => reader.gate(attr, &mut group.head.gates),
            "allow" => group.allows.extend(reader.names(&attr.entries)),
            "breaks" => group.breaks.extend(reader.breaks(attr)),
            _ => {}
        }
    }
    if let (Some(attr), true) = (head, group.head.versions.is_empty()) {
        let diagnostic = Diagnostic::error(codes::GROUP, &attr.span, "the group has no version");
        reader.push(diagnostic.help("add `#![version(v1)]` below; the first one is the hub"));
    }
    head.filter(|_| !group.head.versions.is_empty())?;
    Some(group)
}

fn missing(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<Group> {
    let path = folder.path.join("group.rs");
    let unreadable = diagnostics.source(&path).is_some();
    if !unreadable {
        let span = FileScope { file: &path }.whole();
        let example = format!("//! What the group is for.\n#![group(\"{}\")]\n#![version(v1)]", folder.name);
        diagnostics.push(
            Diagnostic::error(codes::GROUP, &span, "this folder has no `group.rs`")
                .help(format!("write it:\n{example}")),
        );
    }
    None
}

impl ItemReader<'_> {
    fn no_group(&mut self, folder: &Folder, file: &SourceFile) {
        let span = model::Span { file: file.path.clone(), line: 1, column: 1 };
        let diagnostic = Diagnostic::error(codes::GROUP, &span, "`group.rs` does not name its group");
        self.push(diagnostic.help(format!("add `#![group(\"{}\")]` and `#![version(v1)]`", folder.name)));
    }

    fn group(&mut self, attr: &Attr) -> model::Group {
        let mut group = model::Group { span: attr.span.clone(), priority: 1000, ..model::Group::default() };
        self.distinct(&attr.entries, "group");
        match attr.entries.first().map(|entry| (&entry.key, &entry.value.kind)) {
            Some((None, ExprKind::Str(name))) => group.name = name.clone(),
            _ => self.error(codes::GROUP, &attr.span, "`group(..)` starts with the group's name as a string"),
        }
        if let Some(entry) = attr.entries.first().filter(|_| !is_group_name(&group.name)) {
            let diagnostic =
                Diagnostic::error(codes::GROUP, entry.span(), format!("`{}` is not a group name", group.name));
            self.push(diagnostic.help("write a DNS subdomain such as `shop.example.com`"));
        }
        for entry in attr.entries.iter().skip(1) {
            self.group_word(entry, &mut group);
        }
        if group.module.is_empty() {
            group.module = names::default_module(&group.name);
        }
        let prefix = names::default_prefix(&group.name);
        for slot in [&mut group.openapi_prefix, &mut group.proto_prefix] {
            if slot.is_empty() {
                slot.clone_from(&prefix);
            }
        }
        group
    }

    fn group_word(&mut self, entry: &Argument, group: &mut model::Group) {
        match entry.word().as_deref() {
            Some("module") => group.module = self.ident(entry).unwrap_or_default().text,
            Some("priority") => group.priority = self.number(entry).unwrap_or(group.priority),
            Some("model") => group.openapi_prefix = self.string(entry).unwrap_or_default(),
            Some("proto") => group.proto_prefix = self.string(entry).unwrap_or_default(),
            Some("internal") => group.internal = self.flag(entry),
            Some("finalizers") => group.qualified_finalizers = self.one_of(entry, &["qualified"]).is_some(),
            Some("validation") => group.tagged_validation = self.one_of(entry, &["tagged"]).is_some(),
            Some("package") => {
                group.package = match self.one_of(entry, &["apimachinery", "generated", "own"]) {
                    Some("apimachinery") => Package::Apimachinery,
                    Some("generated") => Package::Generated,
                    _ => Package::Own,
                }
            }
            _ => self.unknown(entry, "group", GROUP_WORDS),
        }
    }

    fn version(&mut self, attr: &Attr, versions: &mut Vec<Version>) {
        let Some(name) = attr.entries.first().and_then(Argument::word) else {
            return self.error(codes::VERSION, &attr.span, "`version(..)` starts with a name such as `v1`");
        };
        let span = attr.entries.first().map_or(&attr.span, Argument::span).clone();
        if names::version_rank(&name).is_none() {
            let diagnostic = Diagnostic::error(codes::VERSION, &span, format!("`{name}` is not a version name"));
            return self.push(diagnostic.help("write `v1`, `v1beta1`, `v2alpha3` or the like"));
        }
        if let Some(first) = versions.iter().find(|version| version.name == name) {
            let diagnostic = Diagnostic::error(codes::VERSION, &span, format!("version `{name}` is declared twice"));
            return self.push(diagnostic.also(&first.span, "first here"));
        }
        self.distinct(&attr.entries, "version");
        let mut version = Version { name, priority: 15, span, ..Version::default() };
        for entry in attr.entries.iter().skip(1) {
            match entry.word().as_deref() {
                Some("priority") => version.priority = self.number(entry).unwrap_or(version.priority),
                Some("off") if self.flag(entry) => version.serving = Serving::Off,
                Some("unserved") if self.flag(entry) => version.serving = Serving::Unserved,
                Some("off" | "unserved") => {}
                _ => self.unknown(entry, "version", VERSION_WORDS),
            }
        }
        versions.push(version);
    }

    /// `#![gate(ShopSale, beta, default = true, locked)]`: the stage is required, and so is the default
    /// of all but alpha gates.
    fn gate(&mut self, attr: &Attr, gates: &mut Vec<Gate>) {
        let [name, rest @ ..] = attr.entries.as_slice() else {
            return self.error(codes::GATE, &attr.span, "`gate(..)` starts with a name such as `ShopSale`");
        };
        let Some(text) = name.word().filter(|text| name.key.is_none() && is_gate_name(text)) else {
            let diagnostic = Diagnostic::error(codes::GATE, name.span(), "this is no name of a feature gate");
            return self.push(diagnostic.help("write it in CamelCase, with a prefix of the group: `ShopSale`"));
        };
        self.distinct(rest, "gate");
        let mut gate = Gate { name: text, span: name.span().clone(), ..Gate::default() };
        let (mut stage, mut default) = (None, None);
        for entry in rest {
            match entry.word().as_deref() {
                Some(word) if entry.key.is_none() && STAGES.contains(&word) => stage = self.stage(entry, word, stage),
                Some("default") => default = Some(self.flag(entry)),
                Some("locked") => gate.locked = self.flag(entry),
                _ => self.unknown(entry, "gate", GATE_WORDS),
            }
        }
        let Some(stage) = stage else {
            let diagnostic = Diagnostic::error(codes::GATE, &gate.span, "the gate has no stage");
            return self.push(diagnostic.help("write `alpha`, `beta`, `ga` or `deprecated` after the name"));
        };
        if default.is_none() && stage != FeatureStage::Alpha {
            let diagnostic = Diagnostic::error(codes::GATE, &gate.span, "the gate has no default");
            self.push(diagnostic.help("add `default = true` or `default = false`; only alpha gates default to off"));
        }
        gate.stage = stage;
        gate.default = default.unwrap_or_default();
        gates.push(gate);
    }

    fn stage(&mut self, entry: &Argument, word: &str, previous: Option<FeatureStage>) -> Option<FeatureStage> {
        if previous.is_some() {
            self.error(codes::REPEATED, entry.span(), "a gate has one stage");
        }
        Some(match word {
            "alpha" => FeatureStage::Alpha,
            "beta" => FeatureStage::Beta,
            "ga" => FeatureStage::Ga,
            _ => FeatureStage::Deprecated,
        })
    }
}

/// Whether `--feature-gates` accepts the name: letters and digits, the first an upper-case letter.
fn is_gate_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A DNS subdomain, or empty for core.
fn is_group_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let label = |label: &str| {
        label.starts_with(letter) && label.ends_with(letter) && label.chars().all(|c| letter(c) || c == '-')
    };
    name.is_empty() || name.split('.').all(label)
}

/// Reports groups with the same name or module.
pub fn check_distinct(groups: &[Group], diagnostics: &mut Diagnostics) {
    for (index, group) in groups.iter().enumerate() {
        for earlier in &groups[..index] {
            let clash = |what: &str, text: &str| {
                let diagnostic =
                    Diagnostic::error(codes::GROUP, &group.head.span, format!("two groups have the {what} `{text}`"));
                diagnostic.also(&earlier.head.span, "the other one")
            };
            if group.head.module == earlier.head.module {
                let help = "choose another one: `group(\"..\", module = other)`";
                diagnostics.push(clash("module", &group.head.module).help(help));
            }
            if group.head.name == earlier.head.name && !group.head.name.is_empty() {
                diagnostics.push(clash("name", &group.head.name));
            }
        }
    }
}
