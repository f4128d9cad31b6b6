//! Checks of a struct's fields: numbers, names, and whether words fit types.

use std::collections::HashMap;

use super::Checker;
use super::formats::Formats;
use crate::Error;
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Field, ListSemantics, Role, Struct, StructId, TypeRef};
use crate::parse::type_text;
use crate::paths;

/// Numbers that protobuf reserves, and the greatest number.
const RESERVED: std::ops::RangeInclusive<u32> = 19_000..=19_999;
const GREATEST: u32 = (1 << 29) - 1;

impl Checker<'_> {
    pub(super) fn structure(&mut self, one: &Struct, formats: &Formats) {
        if one.role == Role::List {
            return;
        }
        self.numbers(one);
        self.json_names(one);
        self.items_shape(one);
        for field in &one.fields {
            self.words_fit(field);
            self.nesting(field);
            self.map_keys(field);
            self.inline_shape(field);
            self.format(field, formats);
            self.bounds(field);
        }
    }

    /// Resolves a path from a struct of the model.
    pub(super) fn follow(&self, one: &Struct, path: &str) -> Result<paths::PathTarget<'_>, Error> {
        let index = self.model.structs.iter().position(|other| std::ptr::eq(other, one));
        match index {
            Some(index) => paths::follow(self.model, StructId(index), path),
            None => Err(Error::ForeignStruct(one.name.clone())),
        }
    }

    /// The lowest number greater than those that any version's form of a struct uses.
    fn next_number(&self, one: &Struct) -> u32 {
        let forms = self.model.structs.iter().filter(|form| (&form.module, &form.name) == (&one.module, &one.name));
        let numbers = forms.flat_map(|form| &form.fields).map(|field| field.number);
        numbers.filter(|number| *number <= GREATEST).max().unwrap_or(0) + 1
    }

    fn numbers(&mut self, one: &Struct) {
        let mut seen: HashMap<u32, &Field> = HashMap::new();
        let next = self.next_number(one);
        for field in &one.fields {
            let number = field.number;
            let place = self.word(&field.span, "number");
            let is_declared = self.origins.find(&field.span, "number").is_some();
            if is_declared && (number == 0 || number > GREATEST || RESERVED.contains(&number)) {
                let diagnostic =
                    Diagnostic::error(codes::NUMBER_RANGE, &place, format!("{number} is no protobuf number"));
                self.push(
                    diagnostic
                        .help(format!("use 1 to {GREATEST} without 19000 to 19999, which protobuf keeps for itself")),
                );
            }
            let Some(first) = seen.get(&number).filter(|_| number > 0) else {
                seen.insert(number, field);
                continue;
            };
            let message = format!("protobuf number {number} is used twice");
            let diagnostic = Diagnostic::error(codes::NUMBER_TWICE, &place, message);
            let first = self.word(&first.span, "number");
            self.push(diagnostic.also(&first, "first used here").help(format!("the next free number is {next}")));
        }
    }

    /// Checks that the JSON names of one object are distinct, those of inlined structs included.
    fn json_names(&mut self, one: &Struct) {
        let mut seen: HashMap<&str, &Field> = HashMap::new();
        let mut twice = Vec::new();
        collect(self, one, &mut |name, field| match seen.get(name) {
            Some(first) => twice.push((name.to_string(), field.span.clone(), first.span.clone())),
            None => drop(seen.insert(name, field)),
        });
        for (name, span, first) in twice {
            let diagnostic =
                Diagnostic::error(codes::JSON_TWICE, &span, format!("the JSON name `{name}` is used twice"));
            self.push(diagnostic.also(&first, "first used here"));
        }
        let implied = ["apiVersion", "kind"];
        let reserved =
            one.fields.iter().filter(|field| one.role != Role::Part && implied.contains(&field.json.as_str()));
        for field in reserved {
            let message = format!("`{}` of a kind is implied", field.json);
            self.push(Diagnostic::error(codes::JSON_TWICE, &field.span, message).help("drop the field"));
        }
    }

    fn items_shape(&mut self, one: &Struct) {
        let bare_list =
            matches!(one.fields.as_slice(), [only] if only.name == "items" && matches!(only.ty, TypeRef::List(_)));
        if one.transparent && !bare_list {
            let diagnostic =
                Diagnostic::error(codes::SHAPE, &one.span, "`#[proto(items)]` is for a struct around one list");
            self.push(diagnostic.help("give it exactly one field, `items: Vec<..>`"));
        }
    }

    fn inline_shape(&mut self, field: &Field) {
        if field.inline && !matches!(field.ty, TypeRef::Struct(_)) {
            let place = self.word(&field.span, "inline");
            self.push(Diagnostic::error(codes::SHAPE, &place, "only a struct can be inlined").help("drop `inline`"));
        }
    }

    fn words_fit(&mut self, field: &Field) {
        let is_list = matches!(field.ty, TypeRef::List(_));
        let is_map = matches!(field.ty, TypeRef::Map(_));
        let is_struct = matches!(field.ty, TypeRef::Struct(_));
        let is_number = matches!(field.ty, TypeRef::I32 | TypeRef::I64 | TypeRef::F64 | TypeRef::Duration);
        let is_text = matches!(field.ty, TypeRef::String | TypeRef::Bytes | TypeRef::Enum(_) | TypeRef::IntOrString);
        let words = [
            (["list"].as_slice(), is_list || field.list == Some(ListSemantics::Atomic), "lists"),
            (&["unique"], is_list, "lists"),
            (&["says_kind"], self.is_list_of_core_objects(&field.ty), "lists of kinds of core/v1"),
            (&["map"], is_map, "maps"),
            (&["structure"], is_struct, "structs"),
            (&["min", "max"], is_number, "numbers"),
            (&["min_length", "max_length", "max_bytes", "pattern", "format"], is_text, "strings"),
            (&["min_items", "max_items"], is_list || is_map, "lists and maps"),
            (&["patch", "key"], is_list || is_map || is_struct, "lists, maps and structs"),
        ];
        for (words, fits, what) in words {
            for word in words.iter().filter(|_| !fits) {
                let Some(place) = self.origins.find(&field.span, word).cloned() else { continue };
                let message =
                    format!("`{word}` is for {what}, and `{}` is `{}`", field.name, type_text(self.model, &field.ty));
                self.push(Diagnostic::error(codes::WORD_TYPE, &place, message));
            }
        }
        if field.patch_strategy.is_none()
            && let Some(place) = self.origins.find(&field.span, "key").cloned()
        {
            self.push(Diagnostic::error(codes::CONFLICT, &place, "`key` goes with `patch = merge`"));
        }
    }

    fn is_list_of_core_objects(&self, ty: &TypeRef) -> bool {
        let TypeRef::List(items) = ty else { return false };
        let TypeRef::Struct(id) = **items else { return false };
        let item = &self.model.structs[id.0];
        item.role == Role::Object && item.module == "core" && item.version == "v1"
    }

    /// Rejects nested lists and maps, which have no descriptor, and `Option` around a list or map: an
    /// absent one equals an empty one.
    fn nesting(&mut self, field: &Field) {
        let (TypeRef::List(inner) | TypeRef::Map(inner)) = &field.ty else { return };
        let (what, help) = match **inner {
            TypeRef::List(_) | TypeRef::Map(_) => ("a list or map in another one", "put a struct around the inner one"),
            _ if field.nullable => ("an `Option` around a list or map", "drop `Option`: an absent one is an empty one"),
            _ => return,
        };
        let place = self.word(&field.span, "type");
        self.push(Diagnostic::error(codes::BAD_TYPE, &place, format!("the API cannot carry {what}")).help(help));
    }

    fn map_keys(&mut self, field: &Field) {
        let (Some(ListSemantics::Map(keys)), TypeRef::List(items)) = (&field.list, &field.ty) else { return };
        let place = self.word(&field.span, "list=");
        let TypeRef::Struct(id) = **items else {
            let message = "`list = map(..)` is for lists of structs";
            return self.push(
                Diagnostic::error(codes::MAP_KEY, &place, message).help("write `list = set` or `list = atomic`"),
            );
        };
        let item = &self.model.structs[id.0];
        let mut found = Vec::new();
        for key in keys {
            match paths::find(self.model, id, key) {
                None => {
                    let diagnostic =
                        Diagnostic::error(codes::MAP_KEY, &place, format!("`{}` has no field `{key}`", item.name));
                    found.push(diagnostic.suggest(key, paths::json_names(self.model, id)));
                }
                Some((_, of)) if !is_scalar(&of.ty) => {
                    let message = format!("the key `{key}` is `{}`; keys are scalars", type_text(self.model, &of.ty));
                    found.push(Diagnostic::error(codes::MAP_KEY, &place, message).also(&of.span, "declared here"));
                }
                Some(_) => {}
            }
        }
        self.diagnostics.extend(found);
    }

    fn format(&mut self, field: &Field, formats: &Formats) {
        let Some(format) = field.validation.format.as_ref().filter(|_| !formats.fields.is_empty()) else { return };
        if !formats.fields.contains(format) {
            let place = self.word(&field.span, "format=");
            let diagnostic = Diagnostic::error(codes::FORMAT, &place, format!("unknown format `{format}`"));
            self.push(diagnostic.suggest(format, formats.fields.iter().map(String::as_str)));
        }
    }

    fn bounds(&mut self, field: &Field) {
        let v = &field.validation;
        let pairs = [
            ("min", "max", v.min.zip(v.max).is_some_and(|(min, max)| min > max)),
            ("min_length", "max_length", v.min_length.zip(v.max_length).is_some_and(|(min, max)| min > max)),
            ("min_items", "max_items", v.min_items.zip(v.max_items).is_some_and(|(min, max)| min > max)),
        ];
        for (least, most, _) in pairs.iter().filter(|(_, _, crossed)| *crossed) {
            let (place, other) = (self.word(&field.span, most), self.word(&field.span, least));
            let message = format!("`{most}` is below `{least}`, so nothing fits");
            self.push(Diagnostic::error(codes::CONFLICT, &place, message).also(&other, "the other one"));
        }
    }
}

/// Calls `add` with every JSON name of a struct and the struct's field that contributes it.
fn collect<'m>(checker: &Checker<'m>, one: &'m Struct, add: &mut impl FnMut(&'m str, &'m Field)) {
    for field in &one.fields {
        match field.ty {
            TypeRef::Struct(id) if field.json.is_empty() => {
                paths::json_names(checker.model, id).into_iter().for_each(|name| add(name, field));
            }
            _ if field.json.is_empty() => {}
            _ => add(&field.json, field),
        }
    }
}

fn is_scalar(ty: &TypeRef) -> bool {
    matches!(
        ty,
        TypeRef::String | TypeRef::Bool | TypeRef::I32 | TypeRef::I64 | TypeRef::Enum(_) | TypeRef::IntOrString
    )
}
