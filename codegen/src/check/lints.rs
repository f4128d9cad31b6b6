//! Lints: the API conventions of Kubernetes (its kube-api-linter), and the declarations that break them
//! on purpose.
//!
//! A lint is an error, because warnings of a build are easily overlooked. A declaration that breaks a
//! convention on purpose has `#[allow(L0xx)]` on the field or the type. Groups of Kubernetes that are
//! older than a convention have `#![allow(L0xx)]` in `group.rs`. An unused `#[allow]` is an error too,
//! so that none outlives its reason; in `group.rs` an unused one is accepted.

mod fields;
mod types;

use std::collections::HashSet;

use super::Checker;
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::model::Span;

/// A violated convention, and the items that can have an `#[allow]` for it.
struct Finding {
    code: Code,
    module: String,
    /// The field or the variant, then the type.
    items: Vec<Span>,
    diagnostic: Diagnostic,
}

impl Checker<'_> {
    pub(super) fn lints(&mut self) {
        let mut findings = Vec::new();
        self.type_lints(&mut findings);
        self.field_lints(&mut findings);
        let mut used: HashSet<(Span, &str)> = HashSet::new();
        for finding in findings {
            let code = finding.code.0;
            if self.group_allows(&finding.module, code) {
                continue;
            }
            match finding.items.iter().find(|item| self.allows(item, code)) {
                Some(item) => drop(used.insert((item.clone(), code))),
                None if self.broken.contains(&finding.diagnostic.span.file) => {}
                None => self.push(finding.diagnostic),
            }
        }
        self.needless_allows(&used);
    }

    fn group_allows(&self, module: &str, code: &str) -> bool {
        self.origins.group_allows.get(module).is_some_and(|allows| allows.iter().any(|allow| allow.text == code))
    }

    fn allows(&self, item: &Span, code: &str) -> bool {
        self.origins.marks.get(item).is_some_and(|marks| marks.allows.iter().any(|allow| allow.text == code))
    }

    fn needless_allows(&mut self, used: &HashSet<(Span, &str)>) {
        let known: Vec<&str> = codes::ALL.iter().map(|(code, _)| code.0).filter(|code| code.starts_with('L')).collect();
        let mut found = Vec::new();
        let mut unknown = |text: &str, span: &Span| {
            let diagnostic = Diagnostic::error(codes::ALLOW, span, format!("there is no lint `{text}`"));
            let help = "lints have codes L001 and up; see docs/api-defs-errors.md";
            (!known.contains(&text)).then(|| found.push(diagnostic.help(help))).is_some()
        };
        let mut needless = Vec::new();
        for (item, marks) in &self.origins.marks {
            for allow in &marks.allows {
                if !unknown(&allow.text, &allow.span)
                    && !used.iter().any(|(place, code)| place == item && *code == allow.text)
                {
                    let message = format!("`allow({})` allows nothing here", allow.text);
                    needless.push(Diagnostic::error(codes::ALLOW, &allow.span, message).help("drop it"));
                }
            }
        }
        for allow in self.origins.group_allows.values().flatten() {
            unknown(&allow.text, &allow.span);
        }
        self.diagnostics.extend(found);
        self.diagnostics.extend(needless);
    }
}

/// The diagnostic for a missing or malformed description.
fn description(docs: &str, what: &str, span: &Span) -> Option<Diagnostic> {
    let docs = docs.trim();
    if docs.is_empty() {
        let diagnostic = Diagnostic::error(codes::DOCS_MISSING, span, format!("{what} has no description"));
        return Some(diagnostic.help("add `/// One sentence on what it means.`; `kubectl explain` shows it"));
    }
    let starts = docs.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "`\"'(".contains(c));
    let ends = docs.ends_with(['.', '!', '?', ':', ')', '`', '"']);
    (!starts || !ends).then(|| {
        let diagnostic =
            Diagnostic::error(codes::DOCS_FORM, span, format!("the description of {what} is not a sentence"));
        diagnostic.help("start with a capital letter or a `name`, end with a full stop")
    })
}
