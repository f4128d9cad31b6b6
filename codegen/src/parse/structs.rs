//! Attributes of structs and enums, except those of kinds.

use super::ast::{Attrs, Break, Convert, DeclBody, Defaults, Marked, Union};
use super::reader::{Attr, ItemReader, path_text};
use super::words::{Argument, ExprKind, Path, ValueExpr};
use crate::diagnostics::{Diagnostic, codes};
use crate::model::Rule;

pub(super) const STRUCT_ATTRIBUTES: &[&str] = &[
    "kind",
    "versions",
    "subresource",
    "column",
    "selectable",
    "strategy",
    "structure",
    "default",
    "normalize",
    "validate",
    "condition",
    "check",
    "rule",
    "union",
    "proto",
    "json",
    "differs",
    "gone",
    "convert",
    "deprecated",
    "direct",
    "allow",
    "breaks",
];
pub(super) const ENUM_ATTRIBUTES: &[&str] = &["open", "versions", "gone", "allow", "breaks"];
pub(super) const RULE_WORDS: &[&str] = &["field", "message", "message_expression", "optional_old_self", "reason"];
pub(super) const CONVERT_WORDS: &[&str] = &["by_hand", "here", "hub"];
pub(super) const BREAKS_WORDS: &[&str] = &["field", "value", "name", "since", "reason"];
pub(super) const UNION_WORDS: &[&str] = &["discriminator", "members", "without", "zero_allowed"];

impl ItemReader<'_> {
    pub fn struct_attrs(&mut self, attrs: &[syn::Attribute], body: &DeclBody) -> (String, Attrs) {
        let (docs, read) = self.attributes(attrs, STRUCT_ATTRIBUTES, "a struct");
        let mut out = Attrs::default();
        self.once(
            &read,
            &["kind", "versions", "structure", "proto", "json", "differs", "gone", "normalize", "validate", "strategy"],
        );
        for attr in &read {
            self.struct_attr(attr, &mut out);
        }
        if let (DeclBody::Struct(_), Some(span)) = (body, &out.gone) {
            let diagnostic = Diagnostic::error(codes::CONFLICT, span, "a type that is gone has no fields");
            self.push(diagnostic.help("write `#[gone] struct Name;`"));
        }
        (docs, out)
    }

    pub fn enum_attrs(&mut self, attrs: &[syn::Attribute]) -> (String, Attrs) {
        let (docs, read) = self.attributes(attrs, ENUM_ATTRIBUTES, "an enum");
        let mut out = Attrs::default();
        self.once(&read, &["open", "versions", "gone"]);
        for attr in &read {
            match attr.name.as_str() {
                "open" => out.open = true,
                _ => self.struct_attr(attr, &mut out),
            }
        }
        (docs, out)
    }

    fn once(&mut self, attrs: &[Attr], names: &[&str]) {
        for name in names {
            let mut matching = attrs.iter().filter(|attr| attr.name == *name);
            if let (Some(first), Some(second)) = (matching.next(), matching.next()) {
                let message = format!("`#[{name}]` is given twice");
                self.push(Diagnostic::error(codes::REPEATED, &second.span, message).also(&first.span, "first here"));
            }
        }
    }

    fn struct_attr(&mut self, attr: &Attr, out: &mut Attrs) {
        match attr.name.as_str() {
            "structure" => out.atomic = self.only_word(attr, &["atomic", "granular"]).map(|word| word.text == "atomic"),
            "proto" => out.proto = self.only_word(attr, &["none", "items"]),
            "json" => out.json = self.only_word(attr, &["schema_or_array", "schema_or_bool", "schema_or_strings"]),
            "default" => self.default(attr, out.defaults.get_or_insert_default()),
            "normalize" => out.normalize = self.function_or_none(attr),
            "validate" => out.validate = self.function(attr),
            "condition" => out.conditions.extend(self.named_condition(attr)),
            "check" => out.checks.extend(self.check(attr)),
            "rule" => {
                let rule = self.rule(attr);
                out.rules.get_or_insert_default().extend(rule);
            }
            "union" => {
                let union = self.union(attr);
                out.unions.get_or_insert_default().extend(union);
            }
            "differs" => out.differs = self.only_name(attr),
            "gone" => out.gone = Some(attr.span.clone()),
            "convert" => out.converts.extend(self.convert(attr)),
            "deprecated" => out.deprecated = true,
            "direct" => out.direct = true,
            "allow" | "breaks" => self.mark(attr, &mut out.marks),
            _ => self.kind_attr(attr, out),
        }
    }

    fn only_name(&mut self, attr: &Attr) -> Option<Marked> {
        match self.names(&attr.entries).as_slice() {
            [only] => Some(only.clone()),
            _ => {
                self.error(codes::BAD_VALUE, &attr.span, format!("`{}(..)` takes one name", attr.name));
                None
            }
        }
    }

    fn only_word(&mut self, attr: &Attr, words: &[&'static str]) -> Option<Marked> {
        let name = self.only_name(attr)?;
        if words.contains(&name.text.as_str()) {
            return Some(name);
        }
        let diagnostic = Diagnostic::error(codes::UNKNOWN_WORD, &name.span, format!("unknown word `{}`", name.text));
        self.push(diagnostic.suggest(&name.text, words.iter().copied()));
        None
    }

    /// `by_hand = FN`.
    fn function(&mut self, attr: &Attr) -> Option<Marked> {
        match attr.entries.as_slice() {
            [entry] if entry.word().as_deref() == Some("by_hand") => self.ident(entry),
            _ => {
                self.error(codes::BAD_VALUE, &attr.span, format!("`{}(..)` takes `by_hand = FUNCTION`", attr.name));
                None
            }
        }
    }

    /// `by_hand = FN` or `none`.
    fn function_or_none(&mut self, attr: &Attr) -> Option<Option<Marked>> {
        match attr.entries.as_slice() {
            [entry] if is_none(entry) => Some(None),
            _ => self.function(attr).map(Some),
        }
    }

    fn default(&mut self, attr: &Attr, defaults: &mut Defaults) {
        for entry in &attr.entries {
            match &entry.key {
                Some(key) if key.text() == "by_hand" => defaults.by_hand = self.ident(entry),
                Some(key) => defaults.constants.push((key.clone(), entry.value.clone())),
                None if is_none(entry) => {}
                None => self.error(
                    codes::BAD_VALUE,
                    entry.span(),
                    "`default(..)` takes `PATH = VALUE`, `by_hand = FUNCTION` or `none`",
                ),
            }
        }
    }

    fn rule(&mut self, attr: &Attr) -> Option<Rule> {
        let mut entries = attr.entries.iter();
        let expression = match entries.next() {
            Some(Argument { key: None, value: ValueExpr { kind: ExprKind::Str(text), .. }, .. }) => text.clone(),
            Some(entry) if is_none(entry) => return None,
            _ => {
                self.error(codes::BAD_VALUE, &attr.span, "`rule(..)` starts with a CEL expression as a string");
                return None;
            }
        };
        let mut rule = Rule { expression, span: attr.span.clone(), ..Rule::default() };
        for entry in entries {
            match entry.word().as_deref() {
                Some("field") => rule.field = self.path(entry).unwrap_or_default().text,
                Some("message") => rule.message = self.string(entry).unwrap_or_default(),
                Some("message_expression") => rule.message_expression = self.string(entry).unwrap_or_default(),
                Some("optional_old_self") => rule.optional_old_self = self.flag(entry),
                Some("reason") => rule.reason = self.ident(entry).unwrap_or_default().text,
                _ => self.unknown(entry, "rule", RULE_WORDS),
            }
        }
        Some(rule)
    }

    fn union(&mut self, attr: &Attr) -> Option<Union> {
        if attr.entries.len() == 1 && attr.entries.iter().all(is_none) {
            return None;
        }
        let (discriminator, members) = (None, Vec::new());
        let mut out =
            Union { discriminator, members, without: Vec::new(), zero_allowed: false, span: attr.span.clone() };
        for entry in &attr.entries {
            match (entry.word().as_deref(), &entry.value.kind) {
                (Some("discriminator"), _) => out.discriminator = self.ident(entry),
                (Some("members"), ExprKind::Call(_, members)) => {
                    out.members = members.iter().filter_map(|member| self.member(member)).collect();
                }
                (Some("without"), ExprKind::Call(_, values)) => out.without = self.names(values),
                (Some("zero_allowed"), _) => out.zero_allowed = self.flag(entry),
                _ => self.unknown(entry, "union", UNION_WORDS),
            }
        }
        if out.members.is_empty() {
            self.error(codes::UNION, &attr.span, "a union names its members: `members(Value = member, ..)`");
        }
        Some(out)
    }

    /// `Value = member` or `member`.
    fn member(&mut self, entry: &Argument) -> Option<(Option<Argument>, Marked)> {
        let Some(text) = path_text(&entry.value) else {
            self.error(codes::UNION, entry.span(), "a member is a field: `Value = member`");
            return None;
        };
        let member = Marked { text, span: entry.value.span.clone() };
        Some((entry.key.is_some().then(|| entry.clone()), member))
    }

    fn convert(&mut self, attr: &Attr) -> Option<Convert> {
        let of = match attr.entries.first() {
            Some(Argument {
                key: None,
                value: ValueExpr { kind: ExprKind::Path(Path { segments, span, .. }), .. },
                ..
            }) => Marked { text: segments.join("::"), span: span.clone() },
            _ => {
                self.error(codes::BAD_VALUE, &attr.span, "`convert(..)` starts with the struct that it converts");
                return None;
            }
        };
        let mut out = Convert { of, by_hand: None, here: Vec::new(), hub: Vec::new() };
        for entry in attr.entries.iter().skip(1) {
            match entry.word().as_deref() {
                Some("by_hand") => out.by_hand = self.ident(entry),
                Some("here") => out.here = self.arguments(entry),
                Some("hub") => out.hub = self.arguments(entry),
                _ => self.unknown(entry, "convert", CONVERT_WORDS),
            }
        }
        if out.by_hand.is_none() {
            let diagnostic = Diagnostic::error(codes::BAD_VALUE, &attr.span, "`convert(..)` names no function");
            self.push(diagnostic.help("write `by_hand = NAME` for `fn NAME_to_hub` and `fn NAME_from_hub`"));
        }
        Some(out)
    }

    /// `#[breaks(C002, field = colour, since = "1.37", reason = "..")]`.
    pub fn breaks(&mut self, attr: &Attr) -> Option<Break> {
        let code = match attr.entries.first().and_then(|entry| path_text(&entry.value)) {
            Some(code) if code.starts_with('C') => code,
            _ => {
                self.error(
                    codes::BAD_VALUE,
                    &attr.span,
                    "`breaks(..)` starts with the code that the build reported, such as `C003`",
                );
                return None;
            }
        };
        let mut out = Break { code, span: attr.span.clone(), ..Break::default() };
        for entry in attr.entries.iter().skip(1) {
            match entry.word().as_deref() {
                Some("field" | "value" | "name") => out.what = self.ident(entry).map(|what| what.text),
                Some("since") => out.since = self.string(entry).unwrap_or_default(),
                Some("reason") => out.reason = self.string(entry).unwrap_or_default(),
                _ => self.unknown(entry, "breaks", BREAKS_WORDS),
            }
        }
        if out.reason.is_empty() {
            let diagnostic = Diagnostic::error(codes::BAD_VALUE, &attr.span, "a break needs its reason");
            self.push(diagnostic.help("add `reason = \"..\"`: readers need to know why clients had to change"));
        }
        Some(out)
    }
}

fn is_none(entry: &Argument) -> bool {
    entry.word().as_deref() == Some("none")
}
