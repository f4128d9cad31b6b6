//! Checks a model against every rule of the language that needs more than one declaration to decide.
//!
//! Each check reads the model and the origins of its words, and pushes the diagnostics that it finds.
//! Checks are independent of each other and change nothing.

mod checks;
mod constraints;
mod convert;
mod fields;
mod formats;
mod gates;
mod kinds;
mod lints;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::gates::Gates;
use crate::model::{Enum, Group, Model, Span};
use crate::parse::Origins;
use crate::project::Project;

/// State that all checks share: the model, its origins, and the diagnostics.
struct Checker<'a> {
    model: &'a Model,
    origins: &'a Origins,
    diagnostics: &'a mut Diagnostics,
    /// Files with errors from earlier stages. Diagnostics that would only follow from those errors are
    /// suppressed.
    broken: BTreeSet<PathBuf>,
}

/// Runs all checks and lints.
pub fn check(project: &Project, model: &Model, origins: &Origins, diagnostics: &mut Diagnostics) {
    let formats = formats::read(project.library());
    let gates = Gates::read(project.library(), model);
    let broken = diagnostics.iter().map(|diagnostic| diagnostic.span.file.clone()).collect();
    let mut checker = Checker { model, origins, diagnostics, broken };
    for one in &model.structs {
        checker.structure(one, &formats);
        checker.constraints(one, &gates);
        checker.checks(one, &formats, &gates);
        checker.rules(one);
        if !checker.broken.contains(&one.span.file) {
            checker.conversion(one);
        }
    }
    for one in &model.enums {
        checker.enumeration(one);
        checker.value_gates(one, &gates);
    }
    checker.declared_gates(&gates);
    for group in &model.groups {
        for kind in &group.kinds {
            checker.kind(group, kind, &formats);
            checker.kind_gate(kind, &gates);
        }
        checker.plurals(group);
    }
    checker.short_names();
    checker.lints();
}

impl Checker<'_> {
    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The span of a word of an item.
    fn word(&self, item: &Span, word: &str) -> Span {
        self.origins.word(item, word).clone()
    }

    fn enumeration(&mut self, one: &Enum) {
        if one.variants.is_empty() && !one.open {
            let diagnostic = Diagnostic::error(codes::ENUM, &one.span, format!("enum `{}` has no values", one.name));
            self.push(diagnostic.help("list its values, or mark it `#[open]`"));
        }
        let places = self.origins.variants.get(&one.span).cloned().unwrap_or_default();
        for (index, (value, span)) in places.iter().enumerate() {
            if let Some((_, first)) = places[..index].iter().find(|(earlier, _)| earlier == value) {
                let diagnostic = Diagnostic::error(codes::ENUM, span, format!("the value `{value}` is listed twice"));
                self.push(diagnostic.also(first, "first here"));
            }
        }
    }

    /// Rejects a short name of two resources, because `kubectl get po` has to select one. The same
    /// resource in two groups may share a short name (events).
    fn short_names(&mut self) {
        let mut seen: BTreeMap<&str, (&str, &str, &Span)> = BTreeMap::new();
        let kinds = self.model.groups.iter().flat_map(|group| group.kinds.iter().map(move |kind| (group, kind)));
        let mut found = Vec::new();
        for (group, kind) in kinds {
            let Some(resource) = &kind.resource else { continue };
            for short in &resource.short_names {
                match seen.get(short.as_str()) {
                    Some((plural, of, first)) if *plural != resource.plural => {
                        let message = format!("the short name `{short}` is that of `{plural}` in {of}");
                        let place = self.word(&kind.span, "short=");
                        found.push(Diagnostic::error(codes::KIND, &place, message).also(first, "the other one"));
                    }
                    _ => drop(seen.insert(short, (&resource.plural, name_of(group), &kind.span))),
                }
            }
        }
        self.diagnostics.extend(found);
    }

    /// Rejects two kinds of one version with the same plural, because both would have the same URL.
    fn plurals(&mut self, group: &Group) {
        let mut seen: Vec<(&str, &str, &Span)> = Vec::new();
        for kind in &group.kinds {
            let Some(resource) = &kind.resource else { continue };
            for version in &kind.versions {
                let same = |seen: &&(&str, &str, &Span)| seen.0 == resource.plural && seen.1 == version.version;
                if let Some((_, _, first)) = seen.iter().find(same) {
                    let message = format!("two kinds of {} have the plural `{}`", version.version, resource.plural);
                    let place = self.word(&kind.span, "plural");
                    self.push(Diagnostic::error(codes::KIND, &place, message).also(first, "the other one"));
                }
                seen.push((&resource.plural, &version.version, &kind.span));
            }
        }
    }
}

fn name_of(group: &Group) -> &str {
    if group.name.is_empty() { "core" } else { &group.name }
}
