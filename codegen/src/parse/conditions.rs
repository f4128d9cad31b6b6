//! Conditions of checks about items of lists, comparisons and names: `#[condition(NAME, CONDITION, ..)]`.

use super::checks::CONDITIONS;
use super::reader::{Attr, ItemReader, path_text};
use super::words::{Argument, ExprKind};
use crate::diagnostics::codes;
use crate::model::{Condition, NamedCondition};

impl ItemReader<'_> {
    /// Reads one `#[condition(..)]`.
    pub fn named_condition(&mut self, attr: &Attr) -> Option<NamedCondition> {
        let name = match attr.entries.first() {
            Some(Argument { key: None, value, .. }) => path_text(value),
            _ => None,
        };
        let conditions = self.conditions(attr.entries.get(1..).unwrap_or_default());
        match (name, conditions.as_slice()) {
            (Some(name), [_, ..]) if !CONDITIONS.contains(&name.as_str()) => {
                let condition = match conditions.as_slice() {
                    [one] => one.clone(),
                    _ => Condition::All(conditions),
                };
                Some(NamedCondition { name, condition, span: attr.span.clone() })
            }
            _ => {
                let message = "`condition(..)` has a name that is no word of conditions, then conditions";
                self.error(codes::BAD_VALUE, &attr.span, message);
                None
            }
        }
    }

    /// Conditions about items of lists and comparisons, and the names of conditions.
    pub(super) fn other_condition(&mut self, entry: &Argument, arguments: &[Argument]) -> Option<Condition> {
        let fields: Vec<Option<String>> = arguments.iter().map(|argument| path_text(&argument.value)).collect();
        let first = fields.first().cloned().flatten();
        let number = match arguments.get(1).map(|argument| &argument.value.kind) {
            Some(ExprKind::Int(number)) => Some(*number),
            _ => None,
        };
        match (entry.word().as_deref(), first, arguments) {
            (Some("no_error"), None, []) => Some(Condition::NoError),
            (Some("some"), Some(list), [_, inner @ ..]) => Some(Condition::Some(list, self.conditions(inner))),
            (Some("fewer"), Some(list), [_, inner @ ..]) => Some(Condition::Fewer(list, self.conditions(inner))),
            (Some("more"), Some(list), [_, inner @ ..]) => Some(Condition::More(list, self.conditions(inner))),
            (Some("preceded"), _, inner @ [_, ..]) => Some(Condition::Preceded(self.conditions(inner))),
            (Some("flips"), _, inner @ [_, ..]) => Some(Condition::Flips(self.conditions(inner))),
            (Some("above"), Some(field), [_, _]) => number.map(|number| Condition::Above(field, number)),
            (Some("differs"), Some(field), [_, ..]) => {
                Some(Condition::Differs(field, fields[1..].iter().flatten().cloned().collect()))
            }
            (Some("zero"), Some(field), [_]) => Some(Condition::Zero(field)),
            (Some("matches"), Some(field), [_, _]) => fields[1].clone().map(|text| Condition::Matches(field, text)),
            (Some(word), None, []) if !CONDITIONS.contains(&word) => {
                Some(Condition::Named(word.to_owned(), entry.span().clone()))
            }
            _ => None,
        }
        .or_else(|| {
            self.unknown(entry, "when", CONDITIONS);
            None
        })
    }
}
