//! Attributes of kinds: `#[kind(..)]`, `#[versions(..)]`, `#[subresource(..)]`, `#[selectable(..)]`.

use super::ast::{Attrs, Kind, KindVersion, Marked, Subresource};
use super::reader::{Attr, ItemReader, path_text};
use super::words::{Argument, ExprKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{self, GarbageCollection, Generation, MetadataCheck, Serving};
use crate::names;

pub(super) const KIND_WORDS: &[&str] = &[
    "plural",
    "singular",
    "short",
    "category",
    "scope",
    "verbs",
    "prefix",
    "virtual",
    "stored",
    "storage",
    "stored_as",
    "create_on_update",
    "unconditional_update",
    "delete_returns_object",
    "gc",
    "orphan_warning",
    "graceful",
    "label_error",
    "generation",
    "name",
    "resets",
    "metadata",
    "watch_cache",
    "bare",
    "list",
    "gate",
];
pub(super) const SUBRESOURCE_WORDS: &[&str] =
    &["kind", "verbs", "resets", "without_tables", "replicas", "observed", "selector"];
pub(super) const VERSION_WORDS: &[&str] =
    &["off", "unserved", "introduced", "deprecated", "removed", "replacement", "verbs", "subresources"];
pub(super) const STRATEGY_WORDS: &[&str] =
    &["create", "update", "warnings", "grace", "delete", "holds", "rows", "order"];
pub(super) const SELECTABLE_WORDS: &[&str] = &["alias", "by_hand", "reads", "versions"];
const METADATA_CHECKS: [&str; 5] = ["change", "whole", "both", "whole_and_change", "unchecked"];
const VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
    "connect",
    "proxy",
    "post",
    "put",
];

impl ItemReader<'_> {
    pub fn kind_attr(&mut self, attr: &Attr, out: &mut Attrs) {
        match attr.name.as_str() {
            "kind" => out.kind = Some(self.kind(attr)),
            "versions" => {
                out.versions = Some(attr.entries.iter().filter_map(|entry| self.kind_version(entry)).collect())
            }
            "subresource" => out.subresources.extend(self.subresource(attr)),
            "column" => out.columns.extend(self.column(attr)),
            "selectable" => out.selectable.extend(self.selectable(attr)),
            "strategy" => out.strategy = self.strategy(attr),
            _ => {}
        }
    }

    fn kind(&mut self, attr: &Attr) -> Kind {
        self.distinct(&attr.entries, "kind");
        let mut out = Kind { span: attr.span.clone(), ..Kind::default() };
        let all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
        out.resource.verbs = all.map(str::to_string).to_vec();
        out.resource.unconditional_update = true;
        out.resource.watch_cache = true;
        out.resource.name_rule = "dns1123_subdomain".to_string();
        for entry in &attr.entries {
            let Some(word) = entry.word() else {
                self.unknown(entry, "kind", KIND_WORDS);
                continue;
            };
            self.kind_word(&word, entry, &mut out);
            out.words.push((format!("{word}="), entry.value.span.clone()));
            out.words.push((word, entry.span().clone()));
        }
        out
    }

    fn kind_word(&mut self, word: &str, entry: &Argument, out: &mut Kind) {
        let resource = &mut out.resource;
        match word {
            "plural" => out.plural = self.string(entry),
            "singular" => out.singular = self.string(entry),
            "short" => resource.short_names = self.strings(entry),
            "category" => resource.categories = self.strings(entry),
            "scope" => out.scope = self.one_of(entry, &["Namespaced", "Cluster"]).map(str::to_string),
            "verbs" => resource.verbs = self.verbs(entry),
            "prefix" => out.prefix = self.string(entry).map(|prefix| prefix.trim_matches('/').to_string()),
            "virtual" => out.is_virtual = self.flag(entry),
            "stored" => resource.stored_as_json = self.one_of(entry, &["json"]).is_some(),
            "storage" => out.storage = self.ident(entry),
            "stored_as" => out.stored_as = self.type_path(entry),
            "create_on_update" => resource.create_on_update = self.flag(entry),
            "unconditional_update" => resource.unconditional_update = self.flag(entry),
            "delete_returns_object" => resource.delete_returns_object = self.flag(entry),
            "gc" => {
                resource.garbage_collection = match self.one_of(entry, &["delete", "orphan", "none"]) {
                    Some("orphan") => GarbageCollection::Orphan,
                    Some("none") => GarbageCollection::Unsupported,
                    _ => GarbageCollection::Delete,
                }
            }
            "label_error" => resource.label_error = self.string(entry),
            "orphan_warning" => resource.orphan_warning = self.string(entry),
            "graceful" => resource.graceful_delete = self.flag(entry),
            "generation" => out.generation = Some(self.generation(entry)),
            "name" => resource.name_rule = self.ident(entry).unwrap_or_default().text,
            "resets" => resource.resets = Some(self.arguments(entry).into_iter().map(|path| path.text).collect()),
            "metadata" => {
                resource.metadata_check = match self.one_of(entry, &METADATA_CHECKS) {
                    Some("whole") => MetadataCheck::Whole,
                    Some("both") => MetadataCheck::Both,
                    Some("whole_and_change") => MetadataCheck::WholeAndChange,
                    Some("unchecked") => MetadataCheck::Unchecked,
                    _ => MetadataCheck::Change,
                }
            }
            "watch_cache" => resource.watch_cache = self.flag(entry),
            "gate" => out.gate = self.ident(entry).map(|gate| gate.text),
            "list" => out.list = Some(self.flag(entry)),
            "bare" => out.bare = self.flag(entry),
            _ => self.unknown(entry, "kind", KIND_WORDS),
        }
    }

    /// Known verbs, sorted.
    fn verbs(&mut self, entry: &Argument) -> Vec<String> {
        let mut out = Vec::new();
        for Marked { text, span } in self.arguments(entry) {
            match VERBS.contains(&text.as_str()) {
                true => out.push(text),
                false => {
                    let diagnostic = Diagnostic::error(codes::UNKNOWN_WORD, &span, format!("unknown verb `{text}`"));
                    self.push(diagnostic.suggest(&text, VERBS.iter().copied()));
                }
            }
        }
        out.sort();
        out.dedup();
        out
    }

    /// `v1`, `v1beta1(off, introduced = "1.9")`.
    fn kind_version(&mut self, entry: &Argument) -> Option<KindVersion> {
        let (name, words) = match &entry.value.kind {
            ExprKind::Path(path) => (path.text(), &[][..]),
            ExprKind::Call(path, words) => (path.text(), words.as_slice()),
            _ => (String::new(), &[][..]),
        };
        if entry.key.is_some() || names::version_rank(&name).is_none() {
            let diagnostic =
                Diagnostic::error(codes::VERSION, entry.span(), "`versions(..)` lists versions of the group");
            self.push(diagnostic.help("write `versions(v1, v1beta1(off))`"));
            return None;
        }
        self.distinct(words, "versions");
        let mut model = model::KindVersion { version: name, ..model::KindVersion::default() };
        for word in words {
            self.version_word(word, &mut model);
        }
        Some(KindVersion { model, span: entry.span().clone() })
    }

    fn version_word(&mut self, entry: &Argument, out: &mut model::KindVersion) {
        match entry.word().as_deref() {
            Some("off") if self.flag(entry) => out.serving = Serving::Off,
            Some("unserved") if self.flag(entry) => out.serving = Serving::Unserved,
            Some("off" | "unserved") => {}
            Some("introduced") => out.introduced = self.string(entry),
            Some("deprecated") => out.deprecated = self.string(entry),
            Some("removed") => out.removed = self.string(entry),
            Some("replacement") => out.replacement = self.string(entry),
            Some("verbs") => out.verbs = Some(self.verbs(entry)),
            Some("subresources") => {
                out.subresources = Some(self.arguments(entry).into_iter().map(|name| name.text).collect());
            }
            _ => self.unknown(entry, "versions", VERSION_WORDS),
        }
    }

    /// `generation`, `generation = false`, `generation = exact`.
    fn generation(&mut self, entry: &Argument) -> Generation {
        match (&entry.key, &entry.value.kind) {
            (Some(_), ExprKind::Path(_)) => {
                self.one_of(entry, &["exact"]).map_or(Generation::Off, |_| Generation::Exact)
            }
            _ if self.flag(entry) => Generation::Values,
            _ => Generation::Off,
        }
    }

    fn subresource(&mut self, attr: &Attr) -> Option<Subresource> {
        let Some(name) =
            attr.entries.first().filter(|entry| entry.key.is_none()).and_then(|entry| path_text(&entry.value))
        else {
            self.error(codes::SUBRESOURCE, &attr.span, "`subresource(..)` starts with its name, such as `status`");
            return None;
        };
        self.distinct(&attr.entries, "subresource");
        let mut model = model::Subresource { name, span: attr.span.clone(), ..model::Subresource::default() };
        if model.name == "status" || model.name == "scale" {
            model.verbs = ["get", "patch", "update"].map(str::to_string).to_vec();
        }
        let mut out = Subresource { model, kind: None, paths: Vec::new() };
        for entry in attr.entries.iter().skip(1) {
            match entry.word().as_deref() {
                Some("kind") => out.kind = self.type_path(entry),
                Some("verbs") => out.model.verbs = self.verbs(entry),
                Some("resets") => {
                    out.model.resets = Some(self.arguments(entry).into_iter().map(|path| path.text).collect());
                }
                Some("without_tables") => out.model.without_tables = self.flag(entry),
                Some(word @ ("replicas" | "observed" | "selector")) => {
                    out.paths.extend(self.path(entry).map(|path| (word.to_string(), path)));
                }
                _ => self.unknown(entry, "subresource", SUBRESOURCE_WORDS),
            }
        }
        Some(out)
    }

    /// `strategy(create = FN, update = FN)`.
    fn strategy(&mut self, attr: &Attr) -> Vec<model::StrategyHook> {
        self.distinct(&attr.entries, "strategy");
        let mut out = Vec::new();
        for entry in &attr.entries {
            match entry.word().as_deref() {
                Some(word) if STRATEGY_WORDS.contains(&word) => {
                    let hook = |Marked { text, span }| model::StrategyHook { word: word.into(), function: text, span };
                    out.extend(self.ident(entry).map(hook));
                }
                _ => self.unknown(entry, "strategy", STRATEGY_WORDS),
            }
        }
        out
    }

    fn selectable(&mut self, attr: &Attr) -> Option<model::Selectable> {
        let Some(label) =
            attr.entries.first().filter(|entry| entry.key.is_none()).and_then(|entry| path_text(&entry.value))
        else {
            self.error(codes::BAD_VALUE, &attr.span, "`selectable(..)` starts with a path such as `spec.nodeName`");
            return None;
        };
        let span = attr.entries.first().map_or(&attr.span, Argument::span).clone();
        let mut out = model::Selectable { label, span, ..model::Selectable::default() };
        for entry in attr.entries.iter().skip(1) {
            match entry.word().as_deref() {
                Some("alias") => out.aliases = self.strings(entry),
                Some("by_hand") => out.by_hand = self.ident(entry).map(|function| function.text),
                Some("reads") => out.reads = self.paths(entry),
                Some("versions") => {
                    out.versions = self.arguments(entry).into_iter().map(|version| version.text).collect()
                }
                _ => self.unknown(entry, "selectable", SELECTABLE_WORDS),
            }
        }
        if out.by_hand.is_none() {
            out.path.clone_from(&out.label);
            out.reads = vec![out.label.clone()];
        }
        Some(out)
    }
}
