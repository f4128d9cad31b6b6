//! Fields: `#[field(4, required, immutable, format = dns1123_subdomain)] pub supplier: String`.

use syn::ext::IdentExt;

use super::ast::{Field, Marks, TypeExpr, TypeKind};
use super::reader::{Attr, ItemReader};
use super::words::{Argument, ExprKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{self, ListSemantics};
use crate::names;

pub(super) const ATTRIBUTES: &[&str] = &["field", "gone", "deprecated", "allow", "breaks"];
pub(super) const WORDS: &[&str] = &[
    "json_only",
    "required",
    "always",
    "omitempty",
    "inline",
    "json",
    "proto",
    "list",
    "map",
    "structure",
    "patch",
    "key",
    "default",
    "default_hidden",
    "min",
    "max",
    "min_length",
    "max_length",
    "max_bytes",
    "min_items",
    "max_items",
    "pattern",
    "format",
    "immutable",
    "unique",
    "dv",
    "gate",
    "gate_with_struct",
    "deprecated",
    "says_kind",
    "go",
    "go_whole",
    "renamed",
];

impl ItemReader<'_> {
    /// Reads the fields of a struct; reports those without a number together with the next free one.
    pub fn fields(&mut self, fields: &syn::FieldsNamed) -> Vec<Field> {
        let read: Vec<Field> = fields.named.iter().map(|field| self.field(field)).collect();
        let next = read.iter().map(|field| field.model.number).max().unwrap_or(0) + 1;
        let numberless = |field: &&Field| field.number.is_none() && !field.json_only && !field.gone && !field.broken;
        for field in read.iter().filter(numberless) {
            let message = format!("`{}` has no protobuf number", field.model.name);
            let diagnostic = Diagnostic::error(codes::NO_NUMBER, &field.model.span, message);
            self.push(diagnostic.help(format!("write `#[field({next})]` above it; {next} is free")));
        }
        read
    }

    fn field(&mut self, field: &syn::Field) -> Field {
        let Some(ident) = &field.ident else { return Field::default() };
        let before = self.diagnostics.len();
        let (docs, attrs) = self.attributes(&field.attrs, ATTRIBUTES, "a field");
        let mut out = Field { ty: self.type_expr(&field.ty), ..Field::default() };
        out.model.name = ident.unraw().to_string();
        out.model.span = self.scope.span(ident.span());
        out.model.docs = docs;
        let mut has_field_words = false;
        for attr in &attrs {
            match attr.name.as_str() {
                "field" if has_field_words => {
                    self.error(codes::REPEATED, &attr.span, "`field(..)` is given twice; join the two")
                }
                "field" => {
                    has_field_words = true;
                    self.field_words(attr, &mut out);
                }
                "gone" => out.gone = true,
                "deprecated" => out.model.deprecated = true,
                _ => self.mark(attr, &mut out.marks),
            }
        }
        if let TypeKind::Option(inner) = out.ty.kind {
            out.model.nullable = true;
            out.ty = *inner;
        }
        self.no_option_inside(&out.ty);
        self.settle(&mut out);
        out.broken = self.diagnostics.len() > before;
        out
    }

    /// Fills in facts that follow from combinations of words.
    fn settle(&mut self, field: &mut Field) {
        let find = |word: &str| field.words.iter().find(|(name, _)| name == word);
        let conflicts = [
            ("required", "always", "`required` is always written already"),
            ("always", "omitempty", "keep one of the two"),
            ("default", "default_hidden", "keep one of the two"),
            ("inline", "json", "an inlined field has no JSON name"),
        ];
        for (first, second, help) in conflicts {
            if let (Some((_, first_span)), Some((_, second_span))) = (find(first), find(second)) {
                let message = format!("`{first}` and `{second}` contradict each other");
                let diagnostic = Diagnostic::error(codes::CONFLICT, second_span, message);
                self.diagnostics.push(diagnostic.also(first_span, "the other one").help(help));
            }
        }
        if let (Some((_, span)), None) = (find("omitempty"), find("required")) {
            let diagnostic = Diagnostic::error(codes::CONFLICT, span, "`omitempty` is for `required` fields");
            self.diagnostics.push(diagnostic.help("an optional field is left out when empty anyway: drop the word"));
        }
        let (always, omitempty) = (find("always").is_some(), find("omitempty").is_some());
        let model = &mut field.model;
        model.omitempty = if model.required { omitempty } else { !always };
        if model.json.is_empty() && !model.inline {
            model.json = names::json_name(&model.name);
        }
        if let (Some(ListSemantics::Map(keys)), Some(_), None) =
            (&model.list, &model.patch_strategy, &model.patch_merge_key)
            && let [only] = keys.as_slice()
        {
            model.patch_merge_key = Some(only.clone());
        }
    }

    fn field_words(&mut self, attr: &Attr, field: &mut Field) {
        let dv = |entry: &Argument| entry.word().as_deref() == Some("dv");
        let once: Vec<Argument> = attr.entries.iter().filter(|entry| !dv(entry)).cloned().collect();
        self.distinct(&once, "field");
        for (index, entry) in attr.entries.iter().enumerate() {
            if let (None, ExprKind::Int(number)) = (&entry.key, &entry.value.kind) {
                match u32::try_from(*number) {
                    Ok(number) if index == 0 => field.model.number = number,
                    Ok(_) => {
                        self.error(codes::BAD_VALUE, entry.span(), "the number comes first in `field(..)`, and once")
                    }
                    Err(_) => self.error(codes::NUMBER_RANGE, entry.span(), format!("{number} is no protobuf number")),
                }
                field.number = Some(entry.span().clone());
                continue;
            }
            let Some(word) = entry.word() else {
                self.unknown(entry, "field", WORDS);
                continue;
            };
            field.words.push((word.clone(), entry.span().clone()));
            field.words.push((format!("{word}="), entry.value.span.clone()));
            self.field_word(&word, entry, field);
        }
    }

    fn field_word(&mut self, word: &str, entry: &Argument, field: &mut Field) {
        let model = &mut field.model;
        match word {
            "json_only" => field.json_only = self.flag(entry),
            "required" => model.required = self.flag(entry),
            "always" | "omitempty" => drop(self.flag(entry)),
            "inline" => model.inline = self.flag(entry),
            "json" => model.json = self.string(entry).unwrap_or_default(),
            "proto" => model.proto_name = self.string(entry),
            "list" => model.list = self.list_semantics(entry),
            "map" => model.map_atomic = self.atomic_or_granular(entry),
            "structure" => model.structure_atomic = self.atomic_or_granular(entry),
            "patch" => model.patch_strategy = self.patch_strategy(entry),
            "key" => model.patch_merge_key = self.ident(entry).map(|key| key.text),
            "default" | "default_hidden" => {
                model.default_hidden = word == "default_hidden";
                field.default = Some(entry.value.clone()).filter(|_| entry.key.is_some());
                if entry.key.is_none() {
                    self.error(codes::BAD_VALUE, entry.span(), format!("`{word}` needs a value: `{word} = ..`"));
                }
            }
            "dv" => model.tags.extend(self.strings(entry)),
            "gate" => model.feature_gate = self.ident(entry).map(|gate| gate.text),
            "gate_with_struct" => model.gate_with_struct = self.flag(entry),
            "deprecated" => model.deprecated = self.flag(entry),
            "says_kind" => model.says_kind = self.flag(entry),
            "go" => model.go_type = self.string(entry),
            "go_whole" => model.go_whole = self.string(entry),
            "renamed" => field.renamed = self.ident(entry),
            _ => self.constraint(word, entry, &mut model.validation),
        }
    }

    fn constraint(&mut self, word: &str, entry: &Argument, validation: &mut model::Validation) {
        match word {
            "min" => validation.min = self.number(entry),
            "max" => validation.max = self.number(entry),
            "min_length" => validation.min_length = self.number(entry),
            "max_length" => validation.max_length = self.number(entry),
            "max_bytes" => validation.max_bytes = self.number(entry),
            "min_items" => validation.min_items = self.number(entry),
            "max_items" => validation.max_items = self.number(entry),
            "pattern" => validation.pattern = self.string(entry),
            "format" => validation.format = self.ident(entry).map(|format| format.text),
            "immutable" => validation.immutable = self.flag(entry),
            "unique" => validation.unique = self.flag(entry),
            _ => self.unknown(entry, "field", WORDS),
        }
    }

    fn list_semantics(&mut self, entry: &Argument) -> Option<ListSemantics> {
        match (&entry.key, &entry.value.kind) {
            (Some(_), ExprKind::Path(path)) if path.ident() == Some("atomic") => Some(ListSemantics::Atomic),
            (Some(_), ExprKind::Path(path)) if path.ident() == Some("set") => Some(ListSemantics::Set),
            (Some(_), ExprKind::Call(path, keys)) if path.ident() == Some("map") && !keys.is_empty() => {
                Some(ListSemantics::Map(self.names(keys).into_iter().map(|key| key.text).collect()))
            }
            _ => {
                self.error(codes::BAD_VALUE, &entry.value.span, "`list` is `atomic`, `set` or `map(KEY, ..)`");
                None
            }
        }
    }

    pub fn atomic_or_granular(&mut self, entry: &Argument) -> Option<bool> {
        self.one_of(entry, &["atomic", "granular"]).map(|word| word == "atomic")
    }

    fn patch_strategy(&mut self, entry: &Argument) -> Option<String> {
        let word = self.one_of(entry, &["merge", "replace", "retain_keys", "merge_retain_keys"])?;
        Some(word.to_string())
    }

    /// `#[allow(..)]` and `#[breaks(..)]`.
    pub fn mark(&mut self, attr: &Attr, marks: &mut Marks) {
        match attr.name.as_str() {
            "allow" => marks.allows.extend(self.names(&attr.entries)),
            "breaks" => marks.breaks.extend(self.breaks(attr)),
            _ => {}
        }
    }

    fn no_option_inside(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Option(_) => {
                let diagnostic =
                    Diagnostic::error(codes::BAD_TYPE, &ty.span, "`Option` is allowed around the whole type only");
                self.push(diagnostic.help("items of lists and maps are never absent: drop the inner `Option`"));
            }
            TypeKind::Vec(inner) | TypeKind::Map(inner) => self.no_option_inside(inner),
            TypeKind::Named(_) | TypeKind::Unit => {}
        }
    }
}
