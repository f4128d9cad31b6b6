//! `#[column("Ready", string, by_hand = product_ready, priority = 1, "Description.")]`.

use super::reader::{Attr, ItemReader, path_text};
use super::words::{Argument, ExprKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Column, ColumnValue, Span};

/// Types of a column, as in OpenAPI and the table API.
const TYPES: &[&str] = &["string", "integer", "number", "boolean", "date"];
pub(super) const CELLS: &[&str] = &["age", "len", "labels", "selector", "join"];
pub(super) const WORDS: &[&str] = &["priority", "format", "by_hand", "reads"];

impl ItemReader<'_> {
    pub fn column(&mut self, attr: &Attr) -> Option<Column> {
        let mut entries = attr.entries.iter();
        let Some(Argument { key: None, value, .. }) = entries.next() else {
            self.error(codes::BAD_VALUE, &attr.span, "`column(..)` starts with its title as a string");
            return None;
        };
        let ExprKind::Str(name) = &value.kind else {
            self.error(codes::BAD_VALUE, &value.span, "`column(..)` starts with its title as a string");
            return None;
        };
        let mut out =
            Column { name: name.clone(), kind: "string".to_string(), span: attr.span.clone(), ..Column::default() };
        let rest: Vec<&Argument> = entries.collect();
        let cells = rest.iter().filter(|entry| is_cell(entry)).count();
        let mut cell = None;
        for (index, entry) in rest.iter().enumerate() {
            match (&entry.key, &entry.value.kind) {
                (Some(_), _) => self.column_word(entry, &mut out, &mut cell),
                (None, _) if is_reads(entry) => out.reads = self.paths(entry),
                (None, ExprKind::Str(text)) if index > 0 || cells > 0 => out.docs.clone_from(text),
                (None, ExprKind::Path(path))
                    if index == 0 && cells > 1 && path.ident().is_some_and(|t| TYPES.contains(&t)) =>
                {
                    out.kind = path.text();
                }
                (None, _) => {
                    out.span = path_span(entry);
                    cell = self.cell(entry).or(cell);
                }
            }
        }
        match cell {
            Some(cell) => out.cell = cell,
            None => {
                let diagnostic =
                    Diagnostic::error(codes::BAD_VALUE, &attr.span, format!("column `{name}` shows nothing"));
                self.push(diagnostic.help("name a path such as `spec.price`, or `by_hand = FUNCTION`"));
            }
        }
        Some(out)
    }

    fn column_word(&mut self, entry: &Argument, out: &mut Column, cell: &mut Option<ColumnValue>) {
        match entry.word().as_deref() {
            Some("priority") => out.priority = self.number(entry).unwrap_or_default(),
            Some("format") => out.format = self.ident(entry).unwrap_or_default().text,
            Some("by_hand") => {
                out.span.clone_from(&entry.value.span);
                *cell = self.ident(entry).map(|function| ColumnValue::ByHand(function.text));
            }
            _ => self.unknown(entry, "column", WORDS),
        }
    }

    fn cell(&mut self, entry: &Argument) -> Option<ColumnValue> {
        let or = entry.or.clone();
        match &entry.value.kind {
            ExprKind::Path(path) if path.ident() == Some("age") => {
                Some(ColumnValue::Age { path: "metadata.creationTimestamp".to_string(), or })
            }
            ExprKind::Path(_) => path_text(&entry.value).map(|path| ColumnValue::Path { path, or }),
            ExprKind::Call(function, arguments) => {
                let path = match arguments.as_slice() {
                    [Argument { key: None, value, .. }] => path_text(value),
                    _ => None,
                };
                let Some(path) = path else {
                    self.error(codes::BAD_VALUE, entry.span(), format!("`{}(..)` takes one path", function.text()));
                    return None;
                };
                self.cell_call(&function.text(), path, or, entry)
            }
            _ => {
                self.error(
                    codes::BAD_VALUE,
                    entry.span(),
                    "a column shows a path or one of `age len labels selector join`",
                );
                None
            }
        }
    }

    fn cell_call(&mut self, function: &str, path: String, or: Option<String>, entry: &Argument) -> Option<ColumnValue> {
        Some(match function {
            "age" => ColumnValue::Age { path, or },
            "len" => ColumnValue::Len { path, or },
            "labels" => ColumnValue::Labels { path, or },
            "selector" => ColumnValue::Selector { path, or },
            "join" => ColumnValue::Join { path, or },
            _ => {
                let diagnostic =
                    Diagnostic::error(codes::UNKNOWN_WORD, entry.span(), format!("unknown cell `{function}(..)`"));
                self.push(diagnostic.suggest(function, CELLS.iter().copied()));
                return None;
            }
        })
    }
}

/// The path of a cell, within its call if there is one.
fn path_span(entry: &Argument) -> Span {
    match &entry.value.kind {
        ExprKind::Call(_, arguments) => arguments.first().map_or(entry.span(), Argument::span).clone(),
        _ => entry.span().clone(),
    }
}

/// Whether an entry can be the column's cell or its type.
fn is_cell(entry: &Argument) -> bool {
    let by_hand = entry.word().as_deref() == Some("by_hand");
    by_hand || (entry.key.is_none() && !is_reads(entry) && !matches!(entry.value.kind, ExprKind::Str(_)))
}

/// Whether an entry is `reads(..)`.
fn is_reads(entry: &Argument) -> bool {
    entry.word().as_deref() == Some("reads")
}
