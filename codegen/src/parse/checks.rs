//! `#[check(FIELD, ASSERTION, .., when(CONDITION, ..))]`: checks in the order of upstream's hand-written validation.

use super::reader::{Attr, ItemReader, path_text};
use super::words::{Argument, ExprKind, ValueExpr};
use crate::diagnostics::codes;
use crate::model::{Assertion, Check, Condition};

pub(super) const ASSERTIONS: &[&str] = &[
    "required",
    "filled",
    "optional",
    "forbidden",
    "missing",
    "invalid",
    "unsupported",
    "refused",
    "choose",
    "tell",
    "member",
    "valid",
    "ratchet",
    "distinct",
    "unrepeated",
    "immutable",
    "unchanged",
    "min",
    "max",
    "range",
    "at_most",
    "at_least",
    "more_than",
    "grows",
    "selected",
    "port",
    "positive",
    "not_negative",
    "max_bytes",
    "max_items",
    "max_total",
    "format",
    "name",
    "one_of",
    "json_object",
    "each",
    "keys",
    "each_key",
    "key",
    "amount",
    "short_keys",
    "paired",
    "labels",
    "annotations",
    "open",
    "note",
    "noted",
    "unnoted",
    "json",
    "show",
    "field",
    "at",
    "below",
    "inlined",
    "by_hand",
    "when",
];
pub(super) const CONDITIONS: &[&str] = &[
    "update",
    "create",
    "set",
    "unset",
    "gate",
    "begins",
    "noted",
    "uses",
    "not",
    "none",
    "many",
    "single",
    "text",
    "blank",
    "member",
    "any",
    "all",
    "was",
    "changed",
    "resized",
    "sent_empty",
    "same",
    "holds",
    "version",
    "no_member",
    "several",
    "part",
    "option",
    "subresource",
    "some",
    "fewer",
    "more",
    "preceded",
    "flips",
    "above",
    "differs",
    "zero",
    "matches",
    "no_error",
];

impl ItemReader<'_> {
    /// Reads one `#[check(..)]`.
    pub fn check(&mut self, attr: &Attr) -> Option<Check> {
        let field = match attr.entries.first() {
            Some(Argument { key: None, value, .. }) => path_text(value),
            _ => None,
        };
        let Some(field) = field else {
            self.error(codes::BAD_VALUE, &attr.span, "`check(..)` starts with the field that it checks");
            return None;
        };
        let field = if field == "self" { String::new() } else { field };
        let mut check = Check { field, when: Vec::new(), assertions: Vec::new(), span: attr.span.clone() };
        for entry in attr.entries.iter().skip(1) {
            match (entry.word().as_deref(), &entry.value.kind) {
                (Some("when"), ExprKind::Call(_, entries)) => {
                    check.when.extend(entries.iter().filter_map(|entry| self.condition(entry)));
                }
                _ => check.assertions.extend(self.assertion(entry)),
            }
        }
        let is_condition = |entry: &&Argument| entry.word().as_deref() == Some("when");
        if attr.entries.iter().skip(1).all(|entry| is_condition(&entry)) {
            self.error(codes::BAD_VALUE, &attr.span, "`check(..)` asserts nothing");
        }
        Some(check)
    }

    pub(super) fn assertion(&mut self, entry: &Argument) -> Option<Assertion> {
        Some(match entry.word().as_deref() {
            Some("required") => Assertion::Required(self.detail(entry)),
            Some("filled") => Assertion::Filled(self.detail(entry)),
            Some("optional") if self.flag(entry) => Assertion::Optional,
            Some("forbidden") => Assertion::Forbidden(self.detail(entry)),
            Some("missing") => Assertion::Missing(self.string(entry)?),
            Some("positive") => Assertion::Positive(self.detail(entry)),
            Some("not_negative") => Assertion::NotNegative(self.detail(entry)),
            Some("invalid") => self.invalid(entry)?,
            Some("unsupported") => Assertion::Unsupported(self.strings(entry)),
            Some("refused") => Assertion::Refused(self.string(entry)?),
            Some("tell") => Assertion::ChooseText(self.ident(entry)?.text),
            Some("choose") => self.choose(entry)?,
            Some("member") => Assertion::Member(self.detail(entry)),
            Some("valid") if self.flag(entry) => Assertion::Valid,
            Some("ratchet") if self.flag(entry) => Assertion::Ratchet,
            Some("distinct") => self.distinct_items(entry),
            Some("unrepeated") => Assertion::Unrepeated(self.string(entry)?),
            Some("immutable") => Assertion::Immutable(self.detail(entry)),
            Some("unchanged") => Assertion::Unchanged(self.string(entry)?),
            Some("min") => self.bound(entry).map(|(bound, detail)| Assertion::Min(bound, detail))?,
            Some("max") => self.bound(entry).map(|(bound, detail)| Assertion::Max(bound, detail))?,
            Some("range") => self.range(entry)?,
            Some("at_most") => self.compared_with(entry).map(|(field, detail)| Assertion::AtMost(field, detail))?,
            Some("at_least") => self.compared_with(entry).map(|(field, detail)| Assertion::AtLeast(field, detail))?,
            Some("more_than") => self.compared_with(entry).map(|(field, detail)| Assertion::MoreThan(field, detail))?,
            Some("grows") => Assertion::Grows(self.string(entry)?),
            Some("selected") => self.compared_with(entry).map(|(field, detail)| Assertion::Selected(field, detail))?,
            Some("port") if self.flag(entry) => Assertion::Port,
            Some("max_bytes") => self.bound(entry).map(|(bound, detail)| Assertion::MaxBytes(bound, detail))?,
            Some("max_items") => self.bound(entry).map(|(bound, detail)| Assertion::MaxItems(bound, detail))?,
            Some("max_total") => Assertion::MaxTotal(self.number(entry)?),
            Some("format") => Assertion::Format(self.ident(entry)?.text),
            Some("name") => Assertion::Name(self.ident(entry)?.text),
            Some("one_of") => Assertion::OneOf(self.strings(entry)),
            Some("json_object") if self.flag(entry) => Assertion::JsonObject,
            Some("each") => Assertion::Each(self.inner(entry)?),
            Some("keys") => Assertion::Keys(self.inner(entry)?),
            Some("each_key") => Assertion::EachKey(self.inner(entry)?),
            Some("amount") if self.flag(entry) => Assertion::Amount,
            Some("key") => Assertion::Key(self.inner(entry)?),
            Some("short_keys") => self.short_keys(entry)?,
            Some("paired") => self.placed(entry).map(|(field, inner)| Assertion::Paired(field, inner))?,
            Some("labels") if self.flag(entry) => Assertion::Labels,
            Some("annotations") if self.flag(entry) => Assertion::Annotations,
            Some("open") => Assertion::Open(self.compared(entry)),
            Some("note") => self.set_with(entry, path_text).map(|(set, key)| Assertion::Note(set, key))?,
            Some("noted") => self.set_with(entry, text).map(|(set, detail)| Assertion::Noted(set, detail))?,
            Some("unnoted") => self.set_with(entry, text).map(|(set, detail)| Assertion::Unnoted(set, detail))?,
            Some("json") => Assertion::Json(self.inner(entry)?),
            Some("show") => self.placed(entry).map(|(field, inner)| Assertion::Show(field, inner))?,
            Some("field") => self.placed(entry).map(|(field, inner)| {
                let field = if field == "self" { String::new() } else { field };
                Assertion::Field(field, inner)
            })?,
            Some("at") => self.placed(entry).map(|(name, inner)| Assertion::At(name, inner))?,
            Some("below") if entry.key.is_some() => Assertion::Below(self.ident(entry)?.text),
            Some("below") if self.flag(entry) => Assertion::Below(String::new()),
            Some("inlined") if self.flag(entry) => Assertion::Inlined,
            Some("by_hand") => Assertion::ByHand(self.ident(entry)?.text),
            _ => {
                self.unknown(entry, "check", ASSERTIONS);
                return None;
            }
        })
    }

    /// `word` or `word = "detail"`.
    fn detail(&mut self, entry: &Argument) -> String {
        match entry.key {
            None => String::new(),
            Some(_) => self.string(entry).unwrap_or_default(),
        }
    }

    /// `word = 1` or `word(1, "detail")`.
    fn bound(&mut self, entry: &Argument) -> Option<(i64, String)> {
        let ExprKind::Call(_, arguments) = &entry.value.kind else {
            return self.number(entry).map(|number| (number, String::new()));
        };
        let kinds: Vec<&ExprKind> = arguments.iter().map(|argument| &argument.value.kind).collect();
        match kinds.as_slice() {
            [ExprKind::Int(number), ExprKind::Str(detail)] => Some((*number, detail.clone())),
            _ => {
                self.error(
                    codes::BAD_VALUE,
                    &entry.value.span,
                    "a bound with a detail is written `min(1, \"detail\")`",
                );
                None
            }
        }
    }

    /// `invalid = "detail"`, `invalid("shown", "detail")`, `invalid(null, "detail")` or `invalid(omitted, "detail")`.
    fn invalid(&mut self, entry: &Argument) -> Option<Assertion> {
        let ExprKind::Call(_, arguments) = &entry.value.kind else {
            return self.string(entry).map(Assertion::Invalid);
        };
        let kinds: Vec<&ExprKind> = arguments.iter().map(|argument| &argument.value.kind).collect();
        let is_null = arguments.first().and_then(|first| path_text(&first.value)).is_some_and(|word| word == "null");
        match kinds.as_slice() {
            [ExprKind::Str(shown), ExprKind::Str(detail)] => Some(Assertion::InvalidAs(shown.clone(), detail.clone())),
            [_, ExprKind::Str(detail)] if is_null => Some(Assertion::InvalidNull(detail.clone())),
            [ExprKind::Path(word), ExprKind::Str(detail)] if word.ident() == Some("omitted") => {
                Some(Assertion::InvalidOmitted(detail.clone()))
            }
            _ => {
                let message = "an error that shows a text of its own is written `invalid(\"shown\", \"detail\")`";
                self.error(codes::BAD_VALUE, &entry.value.span, message);
                None
            }
        }
    }

    /// `range(1, 100)` or `range(1, 100, "detail")`.
    fn range(&mut self, entry: &Argument) -> Option<Assertion> {
        let arguments = arguments(entry);
        let kinds: Vec<&ExprKind> = arguments.iter().map(|argument| &argument.value.kind).collect();
        match kinds.as_slice() {
            [ExprKind::Int(min), ExprKind::Int(max)] => Some(Assertion::Range(*min, *max, String::new())),
            [ExprKind::Int(min), ExprKind::Int(max), ExprKind::Str(detail)] => {
                Some(Assertion::Range(*min, *max, detail.clone()))
            }
            _ => {
                self.error(codes::BAD_VALUE, &entry.value.span, "a range is written `range(1, 100)`");
                None
            }
        }
    }

    /// `at_most(field, "detail")` and other comparisons.
    fn compared_with(&mut self, entry: &Argument) -> Option<(String, String)> {
        let arguments = arguments(entry);
        match arguments {
            [field, Argument { value: ValueExpr { kind: ExprKind::Str(detail), .. }, .. }] => {
                path_text(&field.value).map(|field| (field, detail.clone()))
            }
            _ => {
                let word = entry.word().unwrap_or_default();
                let message = format!("a comparison with other values is written `{word}(values, \"detail\")`");
                self.error(codes::BAD_VALUE, &entry.value.span, &message);
                None
            }
        }
    }

    /// `short_keys(96, assertion, ..)`.
    fn short_keys(&mut self, entry: &Argument) -> Option<Assertion> {
        let arguments = match &entry.value.kind {
            ExprKind::Call(_, arguments) => arguments.as_slice(),
            _ => &[],
        };
        match arguments {
            [Argument { value: ValueExpr { kind: ExprKind::Int(bytes), .. }, .. }, inner @ ..] => {
                Some(Assertion::ShortKeys(*bytes, inner.iter().filter_map(|entry| self.assertion(entry)).collect()))
            }
            _ => {
                self.error(codes::BAD_VALUE, &entry.value.span, "expected a number of bytes, then assertions");
                None
            }
        }
    }

    /// `distinct`, `distinct(field, ..)`, or `distinct(field, .., "detail")`.
    fn distinct_items(&mut self, entry: &Argument) -> Assertion {
        let arguments = arguments(entry);
        let detail = arguments.iter().find_map(|argument| match &argument.value.kind {
            ExprKind::Str(detail) => Some(detail.clone()),
            _ => None,
        });
        let fields = arguments.iter().filter(|argument| !matches!(argument.value.kind, ExprKind::Str(_)));
        let fields = fields.filter_map(|one| path_text(&one.value)).collect();
        Assertion::Distinct(fields, detail.unwrap_or_default())
    }

    /// `choose = option`, or `choose(option, CONDITION, ..)`.
    fn choose(&mut self, entry: &Argument) -> Option<Assertion> {
        match arguments(entry) {
            _ if entry.key.is_some() => self.ident(entry).map(|option| Assertion::Choose(option.text, Vec::new())),
            [option, conditions @ ..] if !conditions.is_empty() => {
                path_text(&option.value).map(|option| Assertion::Choose(option, self.conditions(conditions)))
            }
            _ => {
                let message = "an option is chosen by `choose(option, CONDITION, ..)`";
                self.error(codes::BAD_VALUE, &entry.value.span, message);
                None
            }
        }
    }

    /// The names in parentheses.
    fn compared(&mut self, entry: &Argument) -> Vec<String> {
        arguments(entry).iter().filter_map(|one| path_text(&one.value)).collect()
    }

    /// `word = SET`, or `word(SET, MORE)`.
    fn set_with(&mut self, entry: &Argument, more: fn(&ValueExpr) -> Option<String>) -> Option<(String, String)> {
        if entry.key.is_some() {
            return self.ident(entry).map(|set| (set.text, String::new()));
        }
        let set = match arguments(entry) {
            [set, other] => path_text(&set.value).zip(more(&other.value)),
            _ => None,
        };
        if set.is_none() {
            self.error(codes::BAD_VALUE, &entry.value.span, "a set of texts is named like an option");
        }
        set
    }

    /// `word(place, assertion, ..)`.
    fn placed(&mut self, entry: &Argument) -> Option<(String, Vec<Assertion>)> {
        let arguments = arguments(entry);
        let place = arguments.first().and_then(|first| match &first.value.kind {
            ExprKind::Str(text) => Some(text.clone()),
            _ => path_text(&first.value),
        });
        let Some(place) = place else {
            self.error(codes::BAD_VALUE, &entry.value.span, "expected a field, then assertions");
            return None;
        };
        Some((place, arguments[1..].iter().filter_map(|entry| self.assertion(entry)).collect()))
    }

    fn inner(&mut self, entry: &Argument) -> Option<Vec<Assertion>> {
        match &entry.value.kind {
            ExprKind::Call(_, entries) => Some(entries.iter().filter_map(|entry| self.assertion(entry)).collect()),
            _ => {
                self.error(codes::BAD_VALUE, &entry.value.span, "expected assertions in parentheses");
                None
            }
        }
    }

    pub(super) fn condition(&mut self, entry: &Argument) -> Option<Condition> {
        if let Some(key) = &entry.key {
            if key.text() == "subresource" {
                return self.ident(entry).map(|name| Condition::Subresource(name.text));
            }
            return Some(Condition::Is(key.text(), self.values(entry)));
        }
        let arguments = arguments(entry);
        let name = arguments.first().and_then(|argument| path_text(&argument.value));
        match (entry.word().as_deref(), name, arguments) {
            (Some("update"), None, []) => Some(Condition::Update),
            (Some("create"), None, []) => Some(Condition::Create),
            (Some("no_member"), None, []) => Some(Condition::NoMember),
            (Some("several"), None, []) => Some(Condition::Several),
            (Some("set"), Some(field), [_]) => Some(Condition::Set(field)),
            (Some("begins"), Some(field), [_, texts @ ..]) => {
                Some(Condition::Begins(field, texts.iter().filter_map(|one| text(&one.value)).collect()))
            }
            (Some("noted"), Some(field), [_, set]) => path_text(&set.value).map(|set| Condition::Noted(field, set)),
            (Some("uses"), Some(gate), [_]) => Some(Condition::Uses(gate)),
            (Some("unset"), Some(field), [_]) => Some(Condition::Unset(field)),
            (Some("single"), Some(field), [_]) => Some(Condition::Single(field)),
            (Some("text"), Some(field), [_]) => Some(Condition::Text(field)),
            (Some("blank"), Some(field), [_]) => Some(Condition::Blank(field)),
            (Some("member"), Some(field), [_]) => Some(Condition::Member(field)),
            (Some("none"), Some(_), fields) => {
                Some(Condition::None(fields.iter().filter_map(|one| path_text(&one.value)).collect()))
            }
            (Some("many"), Some(_), fields) => {
                Some(Condition::Many(fields.iter().filter_map(|one| path_text(&one.value)).collect()))
            }
            (Some("changed"), Some(field), [_]) => Some(Condition::Changed(field)),
            (Some("resized"), Some(field), [_]) => Some(Condition::Resized(field)),
            (Some("sent_empty"), Some(field), [_]) => Some(Condition::SentEmpty(field)),
            (Some("same"), Some(one), [_, other]) => path_text(&other.value).map(|other| Condition::Same(one, other)),
            (Some("holds"), Some(field), [_, inner @ ..]) if !inner.is_empty() => {
                let field = if field == "self" { String::new() } else { field };
                Some(Condition::Holds(field, inner.iter().filter_map(|entry| self.assertion(entry)).collect()))
            }
            (Some("version"), Some(_), versions) => {
                Some(Condition::Version(versions.iter().filter_map(|one| path_text(&one.value)).collect()))
            }
            (Some("gate"), Some(gate), [_]) => Some(Condition::Gate(gate)),
            (Some("option"), Some(option), [_]) => Some(Condition::Option(option)),
            (Some("part"), Some(_), parts) => {
                Some(Condition::Part(parts.iter().filter_map(|part| path_text(&part.value)).collect()))
            }
            (Some("not"), _, [inner]) => self.condition(inner).map(|inner| Condition::Not(Box::new(inner))),
            (Some("was"), _, [inner]) => self.condition(inner).map(|inner| Condition::Was(Box::new(inner))),
            (Some("any"), _, inner @ [_, _, ..]) => Some(Condition::Any(self.conditions(inner))),
            (Some("all"), _, inner @ [_, _, ..]) => Some(Condition::All(self.conditions(inner))),
            _ => self.other_condition(entry, arguments),
        }
    }

    pub(super) fn conditions(&mut self, entries: &[Argument]) -> Vec<Condition> {
        entries.iter().filter_map(|entry| self.condition(entry)).collect()
    }

    /// `field = A` or `field = (A, B)`.
    fn values(&mut self, entry: &Argument) -> Vec<String> {
        match &entry.value.kind {
            ExprKind::Bool(value) => vec![value.to_string()],
            ExprKind::Int(number) => vec![number.to_string()],
            _ => path_text(&entry.value).map_or_else(|| self.strings(entry), |value| vec![value]),
        }
    }
}

/// A string literal.
fn text(value: &ValueExpr) -> Option<String> {
    match &value.kind {
        ExprKind::Str(text) => Some(text.clone()),
        _ => None,
    }
}

/// The arguments of a word.
fn arguments(entry: &Argument) -> &[Argument] {
    match &entry.value.kind {
        ExprKind::Call(_, arguments) => arguments,
        _ => &[],
    }
}
