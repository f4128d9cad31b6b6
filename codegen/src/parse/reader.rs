//! Reads values of attribute entries; every mismatch becomes a diagnostic at the value.

use super::ast::Marked;
use super::source::FileScope;
use super::words::{self, Argument, ExprKind, Path, ValueExpr};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, codes, list_words};
use crate::model::Span;

/// An attribute with its entries: `#[field(1, required)]`.
pub struct Attr {
    pub name: String,
    pub span: Span,
    pub entries: Vec<Argument>,
}

/// Reads items of one file and reports errors in it.
pub struct ItemReader<'a> {
    pub scope: FileScope<'a>,
    pub diagnostics: &'a mut Diagnostics,
}

impl ItemReader<'_> {
    pub fn error(&mut self, code: Code, span: &Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Docs and attributes of an item; attributes outside of `known` are reported.
    pub fn attributes(&mut self, attrs: &[syn::Attribute], known: &[&str], owner: &str) -> (String, Vec<Attr>) {
        let mut docs = Vec::new();
        let mut out = Vec::new();
        for attr in attrs {
            let Some(ident) = attr.path().get_ident() else {
                let span = attr
                    .path()
                    .segments
                    .first()
                    .map_or_else(|| self.scope.whole(), |s| self.scope.span(s.ident.span()));
                self.error(codes::UNKNOWN_ATTRIBUTE, &span, "attributes of the language have one word");
                continue;
            };
            let (name, span) = (words::bare(&ident.to_string()), self.scope.span(ident.span()));
            if name == "doc" {
                docs.extend(doc_text(&attr.meta));
            } else if !known.contains(&name.as_str()) {
                let message = format!("unknown attribute `{name}` on {owner}");
                self.push(
                    Diagnostic::error(codes::UNKNOWN_ATTRIBUTE, &span, message).suggest(&name, known.iter().copied()),
                );
            } else {
                let entries = self.entries(&attr.meta, &span);
                out.push(Attr { name, span, entries });
            }
        }
        (unwrap_docs(&docs), out)
    }

    fn entries(&mut self, meta: &syn::Meta, span: &Span) -> Vec<Argument> {
        match meta {
            syn::Meta::Path(_) => Vec::new(),
            syn::Meta::List(list) => {
                let mut errors = Vec::new();
                let entries = words::entries(list.tokens.clone(), &self.scope, &mut errors);
                for mut error in errors {
                    if error.span.line == 0 {
                        error.span = span.clone();
                    }
                    self.error(codes::BAD_VALUE, &error.span, error.message);
                }
                entries
            }
            syn::Meta::NameValue(_) => {
                let diagnostic =
                    Diagnostic::error(codes::BAD_VALUE, span, "this attribute takes its words in parentheses");
                self.push(diagnostic.help("write `#[name(..)]`"));
                Vec::new()
            }
        }
    }

    /// Reports a word that is not in the attribute's vocabulary.
    pub fn unknown(&mut self, entry: &Argument, attr: &str, known: &[&str]) {
        match entry.word() {
            Some(word) => {
                let message = format!("unknown word `{word}` in `{attr}(..)`");
                let diagnostic = Diagnostic::error(codes::UNKNOWN_WORD, entry.span(), message);
                self.push(diagnostic.suggest(&word, known.iter().copied()));
            }
            None => self.error(codes::BAD_VALUE, entry.span(), format!("`{attr}(..)` takes no such value here")),
        }
    }

    /// Reports every word that is given twice.
    pub fn distinct(&mut self, entries: &[Argument], attr: &str) {
        for (index, entry) in entries.iter().enumerate() {
            let Some(word) = entry.word() else { continue };
            if let Some(first) = entries[..index].iter().find(|earlier| earlier.word().as_ref() == Some(&word)) {
                let message = format!("`{word}` is given twice in `{attr}(..)`");
                self.push(Diagnostic::error(codes::REPEATED, entry.span(), message).also(first.span(), "first here"));
            }
        }
    }

    /// `word`, `word = true` or `word = false`.
    pub fn flag(&mut self, entry: &Argument) -> bool {
        match (&entry.key, &entry.value.kind) {
            (None, ExprKind::Path(_)) => true,
            (Some(_), ExprKind::Bool(value)) => *value,
            _ => {
                self.expected::<()>(entry, "nothing, `= true` or `= false`");
                true
            }
        }
    }

    pub fn string(&mut self, entry: &Argument) -> Option<String> {
        match (&entry.key, &entry.value.kind) {
            (Some(_), ExprKind::Str(text)) => Some(text.clone()),
            _ => self.expected(entry, "a string"),
        }
    }

    pub fn number<T: TryFrom<i64>>(&mut self, entry: &Argument) -> Option<T> {
        match (&entry.key, &entry.value.kind) {
            (Some(_), ExprKind::Int(number)) => match T::try_from(*number) {
                Ok(number) => Some(number),
                Err(_) => self.expected(entry, "a number in range"),
            },
            _ => self.expected(entry, "a whole number"),
        }
    }

    /// `word = name` with a single name, or the same as a string.
    pub fn ident(&mut self, entry: &Argument) -> Option<Marked> {
        let text = match (&entry.key, &entry.value.kind) {
            (Some(_), ExprKind::Path(path)) => path.ident().map(str::to_string),
            (Some(_), ExprKind::Str(text)) => Some(text.clone()),
            _ => None,
        };
        match text {
            Some(text) => Some(Marked { text, span: entry.value.span.clone() }),
            None => self.expected(entry, "a name"),
        }
    }

    pub fn one_of(&mut self, entry: &Argument, allowed: &[&'static str]) -> Option<&'static str> {
        let name = self.ident(entry)?;
        let found = allowed.iter().find(|word| **word == name.text);
        if found.is_none() {
            let message = format!("`{}` is not one of {}", name.text, list_words(allowed));
            self.push(
                Diagnostic::error(codes::BAD_VALUE, &name.span, message).suggest(&name.text, allowed.iter().copied()),
            );
        }
        found.copied()
    }

    /// `word = "a"`, `word = ("a", "b")` or `word("a", "b")`.
    pub fn strings(&mut self, entry: &Argument) -> Vec<String> {
        match &entry.value.kind {
            ExprKind::Str(text) => vec![text.clone()],
            ExprKind::Tuple(entries) | ExprKind::Call(_, entries) => {
                self.names(entries).into_iter().map(|m| m.text).collect()
            }
            _ => {
                self.expected::<()>(entry, "a string or `(\"a\", \"b\")`");
                Vec::new()
            }
        }
    }

    /// Names or strings, comma-separated; dotted names are kept as one.
    pub fn names(&mut self, entries: &[Argument]) -> Vec<Marked> {
        entries.iter().filter_map(|entry| self.name(entry)).collect()
    }

    fn name(&mut self, entry: &Argument) -> Option<Marked> {
        match (&entry.key, path_text(&entry.value)) {
            (None, Some(text)) => Some(Marked { text, span: entry.value.span.clone() }),
            _ => {
                self.error(codes::BAD_VALUE, entry.span(), "expected a name");
                None
            }
        }
    }

    /// `word(a, b)` or `word = (a, b)`.
    pub fn arguments(&mut self, entry: &Argument) -> Vec<Marked> {
        match &entry.value.kind {
            ExprKind::Call(_, entries) | ExprKind::Tuple(entries) => self.names(entries),
            _ => {
                self.expected::<()>(entry, "names in parentheses");
                Vec::new()
            }
        }
    }

    /// `word = a.b`.
    pub fn path(&mut self, entry: &Argument) -> Option<Marked> {
        match (&entry.key, path_text(&entry.value)) {
            (Some(_), Some(text)) => Some(Marked { text, span: entry.value.span.clone() }),
            _ => self.expected(entry, "a path such as `spec.replicas`"),
        }
    }

    /// `word(a.b, c)`.
    pub fn paths(&mut self, entry: &Argument) -> Vec<String> {
        let found = match &entry.value.kind {
            ExprKind::Call(_, entries) => entries.iter().map(|entry| path_text(&entry.value)).collect(),
            _ => None,
        };
        found.or_else(|| self.expected(entry, "paths in parentheses")).unwrap_or_default()
    }

    /// `word = group::version::Kind`.
    pub fn type_path(&mut self, entry: &Argument) -> Option<Path> {
        match (&entry.key, &entry.value.kind) {
            (Some(_), ExprKind::Path(path)) if path.segments.len() == 3 && path.colons => Some(path.clone()),
            _ => self.expected(entry, "`group::version::Kind`"),
        }
    }

    fn expected<T>(&mut self, entry: &Argument, what: &str) -> Option<T> {
        let word = entry.word().unwrap_or_default();
        self.error(codes::BAD_VALUE, &entry.value.span, format!("`{word}` takes {what}"));
        None
    }
}

/// A dotted path or a string.
pub fn path_text(expr: &ValueExpr) -> Option<String> {
    match &expr.kind {
        ExprKind::Path(path) if !path.colons => Some(path.text()),
        ExprKind::Str(text) => Some(text.clone()),
        _ => None,
    }
}

fn doc_text(meta: &syn::Meta) -> Option<String> {
    match meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Joins lines: one line per paragraph or list item, with a blank line between paragraphs.
fn unwrap_docs(lines: &[String]) -> String {
    let mut out = String::new();
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        let text = line.trim();
        let item = text.starts_with("- ") || text.starts_with("* ");
        match (text.is_empty(), out.is_empty(), out.ends_with('\n')) {
            (true, false, false) => out.push_str("\n\n"),
            (true, _, _) => {}
            (false, false, false) if item => out.push('\n'),
            (false, false, false) => out.push(' '),
            (false, _, _) => {}
        }
        out.push_str(text);
    }
    out.trim_end().to_string()
}
