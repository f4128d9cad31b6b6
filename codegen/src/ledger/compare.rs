//! Compares the ledger with the definitions: finds changes, which of them break clients, and which are
//! intended.

use std::path::Path;

use super::limits;
use super::surface::Surface;
use super::text::{FactKey, GroupFacts, Word, quoted};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, codes};
use crate::model::Span;
use crate::names::{self, Stability};
use crate::parse::{Break, Origins};

/// A change that is visible to clients of a version.
struct Change {
    code: Code,
    /// The changed fact; a removed type includes all of its facts.
    key: FactKey,
    message: String,
    place: Span,
    help: Vec<String>,
    /// Items that can carry the `#[breaks(..)]`, each with the name that the attribute has to give.
    items: Vec<(Span, Option<String>)>,
}

/// Reports the breaking changes of one group, and returns its ledger as it has to be. `is_whole`: the
/// ledger records constraints.
pub fn group(
    old: &GroupFacts,
    is_whole: bool,
    now: &Surface,
    origins: &Origins,
    path: &Path,
    diagnostics: &mut Diagnostics,
) -> GroupFacts {
    let mut comparison = Comparison { old, now, origins, changes: Vec::new() };
    comparison.versions();
    comparison.all();
    comparison.reused_numbers();
    if is_whole {
        comparison.tightened();
    }
    let mut next = now.facts.clone();
    next.extend(
        old.iter().filter(|(key, _)| key.word == Word::Break).map(|(key, reason)| (key.clone(), reason.clone())),
    );
    next.extend(kept_gone(old, now));
    let mut used = Vec::new();
    for change in comparison.changes {
        let declared = declared(&change, now, origins);
        let alpha = names::version_rank(&change.key.version).is_some_and(|(stage, ..)| stage == Stability::Alpha);
        match declared {
            Some(intent) => {
                used.push(intent.span.clone());
                let subject = format!("{} {}", change.code, change.subject());
                next.insert(FactKey::new(&change.key.version, Word::Break, subject), recorded(intent));
            }
            None => diagnostics.push(change.diagnostic(old, path, alpha)),
        }
        if change.code == codes::GONE_FIELD && !alpha {
            let number = old.get(&change.key).map_or("0", |rest| number_of(rest));
            next.insert(FactKey { word: Word::Gone, ..change.key }, number.to_string());
        }
    }
    unused_breaks(old, now, origins, &used, diagnostics);
    next
}

/// Tombstones of structs that still exist, until the field is declared again.
fn kept_gone(old: &GroupFacts, now: &Surface) -> GroupFacts {
    let gone = old.iter().filter(|(key, _)| key.word == Word::Gone);
    let kept = gone.filter(|(key, _)| {
        let back = now.facts.contains_key(&FactKey { word: Word::Field, ..(*key).clone() });
        !back && now.facts.contains_key(&FactKey::new(&key.version, Word::Struct, key.owner()))
    });
    kept.map(|(key, rest)| (key.clone(), rest.clone())).collect()
}

struct Comparison<'a> {
    old: &'a GroupFacts,
    now: &'a Surface,
    origins: &'a Origins,
    changes: Vec<Change>,
}

impl Comparison<'_> {
    /// Reports removed versions, each once.
    fn versions(&mut self) {
        let mut gone: Vec<&str> = self.old.keys().map(|key| key.version.as_str()).collect();
        gone.dedup();
        gone.retain(|version| !self.now.versions.contains_key(*version));
        for version in gone {
            let items = vec![(self.now.group.clone(), Some(version.to_string()))];
            let message = format!("version {version} is gone");
            let help = vec!["clients and stored objects still use it: keep it as `unserved`".to_string()];
            let key = FactKey::new(version, Word::Struct, version);
            self.changes.push(Change {
                code: codes::GONE_TYPE,
                key,
                message,
                place: self.now.group.clone(),
                help,
                items,
            });
        }
    }

    fn all(&mut self) {
        for (key, rest) in self.old.iter().filter(|(key, _)| self.now.versions.contains_key(&key.version)) {
            let now = self.now.facts.get(key);
            match (key.word, now) {
                (Word::Gone | Word::Break, _) => {}
                (Word::Kind | Word::Struct | Word::Enum, None) => self.gone_type(key),
                (Word::Field, None) => self.gone_field(key),
                (Word::Value, None) => self.gone_value(key),
                (Word::Column, None) => self.gone_name(key, "column"),
                (Word::Selectable, None) => self.gone_name(key, "selectable field"),
                (Word::ShortName, None) => self.gone_name(key, "short name"),
                (Word::Field, Some(now)) => self.field(key, rest, now),
                (Word::Kind, Some(now)) => self.kind(key, rest, now),
                (Word::Limit | Word::Rule | Word::Union, _) => {}
                (_, Some(_)) => {}
            }
        }
    }

    fn place(&self, key: &FactKey) -> Span {
        self.now.places.get(key).unwrap_or(&self.now.group).clone()
    }

    fn gone_type(&mut self, key: &FactKey) {
        // A kind is also a struct; its removal is reported once.
        let as_kind = key.word == Word::Struct && self.old.contains_key(&FactKey { word: Word::Kind, ..key.clone() });
        if as_kind && !self.now.facts.contains_key(&FactKey { word: Word::Kind, ..key.clone() }) {
            return;
        }
        let place = self.now.versions.get(&key.version).unwrap_or(&self.now.group).clone();
        let what = if key.word == Word::Kind { "kind" } else { "type" };
        let message = format!("{} has lost the {what} `{}`", key.version, key.subject);
        let items = vec![(self.now.group.clone(), Some(key.subject.clone()))];
        let intent = format!("`#![breaks(C001, name = {}, reason = \"..\")]` in group.rs", key.subject);
        let help = vec![format!("if that is intended: {intent}")];
        self.changes.push(Change { code: codes::GONE_TYPE, key: key.clone(), message, place, help, items });
    }

    fn gone_field(&mut self, key: &FactKey) {
        let owner = FactKey::new(&key.version, Word::Struct, key.owner());
        if !self.now.facts.contains_key(&owner) {
            return;
        }
        let place = self.place(&owner);
        let message = format!("{} of `{}` has lost the field `{}`", key.version, key.owner(), key.member());
        let help = vec![
            "keep the field and mark it `deprecated`".to_string(),
            format!("if that is intended: `#[breaks(C002, field = {}, reason = \"..\")]` on the struct", key.member()),
        ];
        let items = vec![(place.clone(), Some(key.member().to_string()))];
        self.changes.push(Change { code: codes::GONE_FIELD, key: key.clone(), message, place, help, items });
    }

    fn gone_value(&mut self, key: &FactKey) {
        let owner = FactKey::new(&key.version, Word::Enum, key.owner());
        if !self.now.facts.contains_key(&owner) {
            return;
        }
        let value = key.subject.split_once(' ').map_or("", |(_, value)| value);
        let place = self.place(&owner);
        let message = format!("{} of `{}` has lost the value {value}", key.version, key.owner());
        let help =
            vec![format!("if that is intended: `#[breaks(C008, value = {value}, reason = \"..\")]` on the enum")];
        let items = vec![(place.clone(), Some(value.trim_matches('"').to_string()))];
        self.changes.push(Change { code: codes::GONE_VALUE, key: key.clone(), message, place, help, items });
    }

    /// Reports a removed column, selectable field or short name of a kind that still exists.
    fn gone_name(&mut self, key: &FactKey, what: &str) {
        let owner = FactKey::new(&key.version, Word::Kind, key.owner());
        if !self.now.facts.contains_key(&owner) {
            return;
        }
        let (place, name) = (self.place(&owner), key.detail().trim_matches('"'));
        let message = format!("`{}` in {} has lost the {what} {}", key.owner(), key.version, key.detail());
        let help = vec![
            "scripts and users refer to it by name".to_string(),
            format!("if that is intended: `#[breaks(C015, name = {}, reason = \"..\")]` on the kind", quoted(name)),
        ];
        let items = vec![(place.clone(), Some(name.to_string()))];
        self.changes.push(Change { code: codes::GONE_NAME, key: key.clone(), message, place, help, items });
    }

    /// Reports constraints that reject values which were accepted before.
    fn tightened(&mut self) {
        for (key, rest) in &self.now.facts {
            let before = self.old.get(key).map(String::as_str);
            let Some(what) = limits::tightened(key, before, rest, self.old) else { continue };
            let owner = match key.word {
                Word::Limit => {
                    FactKey::new(&key.version, Word::Field, key.subject.split(' ').next().unwrap_or_default())
                }
                _ => FactKey::new(&key.version, Word::Struct, key.owner()),
            };
            if !self.old.contains_key(&owner) {
                continue;
            }
            let word = match key.word {
                Word::Limit => key.detail(),
                Word::Rule => "rule",
                _ => "union",
            };
            self.on_item(codes::TIGHTENED, key, word, format!("{what}, in {}", key.version));
        }
    }

    fn field(&mut self, key: &FactKey, old: &str, now: &str) {
        let (old, now) = (FieldFacts::read(old), FieldFacts::read(now));
        let mut found = Vec::new();
        if old.number != now.number {
            found.push((
                codes::NUMBER_CHANGED,
                "number",
                format!("had the number {} and has now {}", old.number, now.number),
            ));
        }
        if old.ty != now.ty {
            found.push((codes::TYPE_CHANGED, "type", format!("was `{}` and is now `{}`", old.ty, now.ty)));
        }
        if old.presence == "optional" && now.presence == "required" {
            found.push((codes::NOW_REQUIRED, "required", "was optional and is now required".to_string()));
        }
        if old.default != now.default {
            let shown = |default: Option<&str>| default.map_or("none".to_string(), |text| format!("`{text}`"));
            let message = format!("had the default {} and has now {}", shown(old.default), shown(now.default));
            found.push((codes::DEFAULT_CHANGED, "default", message));
        }
        if old.semantics != now.semantics {
            let shown =
                |semantics: &[&str]| if semantics.is_empty() { "nothing".to_string() } else { semantics.join(" ") };
            let message = format!("was merged by {} and is now by {}", shown(&old.semantics), shown(&now.semantics));
            found.push((codes::SEMANTICS_CHANGED, "list", message));
        }
        for (code, word, what) in found {
            let message = format!("`{}` in {} {what}", key.subject, key.version);
            self.on_item(code, key, word, message);
        }
    }

    fn kind(&mut self, key: &FactKey, old: &str, now: &str) {
        let (old, now): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), now.split(' ').collect());
        let lost = old.iter().skip(2).filter(|name| !now.iter().skip(2).any(|other| other == *name)).copied();
        for name in lost {
            self.on_item(
                codes::RESOURCE_CHANGED,
                key,
                "plural",
                format!("`{}` in {} has lost the subresource `{name}`", key.subject, key.version),
            );
        }
        if old.first() != Some(&"") && old.iter().take(2).ne(now.iter().take(2)) {
            let message = format!(
                "`{}` in {} was `{}` and is now `{}`",
                key.subject,
                key.version,
                old.iter().take(2).copied().collect::<Vec<_>>().join(" "),
                now.iter().take(2).copied().collect::<Vec<_>>().join(" ")
            );
            self.on_item(codes::RESOURCE_CHANGED, key, "plural", message);
        }
    }

    /// Reports a change of an item that still exists.
    fn on_item(&mut self, code: Code, key: &FactKey, word: &str, message: String) {
        let item = self.place(key);
        let place = self.origins.word(&item, word).clone();
        let help = vec![format!("if that is intended: `#[breaks({code}, reason = \"..\")]` here")];
        let items = vec![(item, None)];
        self.changes.push(Change { code, key: key.clone(), message, place, help, items });
    }

    /// Reports new fields with a number that had another meaning.
    fn reused_numbers(&mut self) {
        let fields = self.now.facts.iter().filter(|(key, _)| key.word == Word::Field && !self.old.contains_key(key));
        let mut found = Vec::new();
        for (key, rest) in fields {
            let number = number_of(rest);
            let same_struct = |other: &FactKey| {
                matches!(other.word, Word::Field | Word::Gone)
                    && other.version == key.version
                    && other.owner() == key.owner()
            };
            let taken = self.old.iter().find(|(other, rest)| {
                same_struct(other) && other.member() != key.member() && number != "0" && number_of(rest) == number
            });
            // If the other field still has the number, the language's check for duplicate numbers
            // reports it.
            let (other, _) = match taken {
                Some(taken) if !self.now.facts.contains_key(taken.0) => taken,
                _ => continue,
            };
            found.push((
                key.clone(),
                format!("the number {number} of `{}` meant `{}` before", key.subject, other.member()),
            ));
        }
        for (key, message) in found {
            self.on_item(codes::NUMBER_REUSED, &key, "number", message);
        }
    }
}

impl Change {
    /// Subject of the recorded break: a field, not each of its constraints.
    fn subject(&self) -> String {
        match self.key.word {
            Word::Limit | Word::Rule | Word::Union => self.key.subject.split(' ').next().unwrap_or_default().to_owned(),
            Word::Selectable | Word::ShortName => format!("{} {}", self.key.owner(), quoted(self.key.detail())),
            _ => self.key.subject.clone(),
        }
    }

    fn diagnostic(&self, old: &GroupFacts, path: &Path, alpha: bool) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code, &self.place, self.message.clone());
        diagnostic.help.extend(self.help.iter().cloned());
        if [codes::TIGHTENED, codes::GONE_NAME].contains(&self.code) {
            diagnostic.level = Severity::Warning;
            return diagnostic.help("the ledger follows: this is reported once");
        }
        if alpha {
            diagnostic.level = Severity::Warning;
            diagnostic.help = vec!["alpha versions may change; the ledger follows".to_string()];
            return diagnostic;
        }
        let line = old.get(&self.key).map(|rest| self.key.line(rest));
        match line {
            Some(line) => diagnostic
                .help(format!("if it was never released, delete this line from `{}`:\n{line}", path.display())),
            None => diagnostic,
        }
    }
}

/// The `#[breaks(..)]` that declares a change as intended.
fn declared<'o>(change: &Change, now: &Surface, origins: &'o Origins) -> Option<&'o Break> {
    let at = |span: &Span| -> Vec<&'o Break> {
        let marks = origins.marks.get(span).into_iter().flat_map(|marks| &marks.breaks);
        let group = origins.group_breaks.get(&now.module).into_iter().flatten().filter(|_| *span == now.group);
        marks.chain(group).collect()
    };
    change.items.iter().find_map(|(span, what)| {
        at(span).into_iter().find(|intent| intent.code == change.code.0 && (what.is_none() || intent.what == *what))
    })
}

/// Reports `#[breaks(..)]` for which there is neither a breaking change nor a record in the ledger.
fn unused_breaks(old: &GroupFacts, now: &Surface, origins: &Origins, used: &[Span], diagnostics: &mut Diagnostics) {
    let known = |intent: &Break| {
        let of_code = old.iter().filter(|(key, _)| key.word == Word::Break && key.subject.starts_with(&intent.code));
        of_code.into_iter().any(|(_, reason)| *reason == recorded(intent))
    };
    let places: std::collections::BTreeSet<&Span> = now.places.values().collect();
    let on_items = places.into_iter().filter_map(|span| origins.marks.get(span)).flat_map(|marks| &marks.breaks);
    let on_group = origins.group_breaks.get(&now.module).into_iter().flatten();
    for intent in on_items.chain(on_group).filter(|intent| !used.contains(&intent.span) && !known(intent)) {
        let message = format!("`breaks({}, ..)` breaks nothing", intent.code);
        diagnostics.push(
            Diagnostic::error(codes::BREAKS_NOTHING, &intent.span, message).help("drop it, or name what it breaks"),
        );
    }
}

/// Text of an intended break in the ledger: `1.37: The field was never set.`
fn recorded(intent: &Break) -> String {
    if intent.since.is_empty() { intent.reason.clone() } else { format!("{}: {}", intent.since, intent.reason) }
}

fn number_of(rest: &str) -> &str {
    rest.split(' ').next().unwrap_or("0")
}

/// The parts of a field's line, such as `1 i32 optional list=set default=1`.
struct FieldFacts<'a> {
    number: &'a str,
    ty: &'a str,
    presence: &'a str,
    semantics: Vec<&'a str>,
    default: Option<&'a str>,
}

impl<'a> FieldFacts<'a> {
    fn read(rest: &'a str) -> Self {
        let (rest, default) = match rest.split_once(" default=") {
            Some((rest, default)) => (rest, Some(default)),
            None => (rest, None),
        };
        let mut words = rest.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let (number, ty, presence) = (next(), next(), next());
        Self { number, ty, presence, semantics: words.collect(), default }
    }
}
