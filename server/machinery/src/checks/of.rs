//! What checks look at: structs, their fields, parts of these.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::Condition;
use crate::def::{FieldDef, Flags, Shape};
use crate::field_error::BadValue;
use crate::field_path::Path;
use crate::format::is_valid_percent;
use crate::json;
use crate::reflect::{List, Map, Ref, Value};
use crate::scalar::IntOrString;

/// A struct, a field of one, or a part of a field's value.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub path: &'a Path<'a>,
    /// Nothing for a struct whose checks are made.
    pub field: Option<&'static FieldDef>,
    pub new: Value<'a>,
    pub old: Option<Value<'a>>,
    /// The struct whose checks are made.
    pub home: Ref<'a>,
    /// The list that the struct is an item of, if that is walked.
    pub items: Option<&'a Items<'a>>,
    /// The key of the entry that it is.
    pub key: Option<&'a str>,
    /// How many bytes of keys the paths of entries show.
    pub key_bytes: usize,
    /// The field by which stored items are found, if they are.
    pub pairing: &'static str,
    /// An entry or item that a path names is not empty if it is there.
    pub is_entry: bool,
}

/// The items of a list that is walked.
pub(super) struct Items<'a> {
    count: usize,
    /// The list, and how many items of it were met.
    list: Value<'a>,
    met: Cell<usize>,
    /// How many of them were looked at for conditions, by the place of the conditions, and whether one met them.
    preceded: RefCell<HashMap<usize, (usize, bool)>>,
    /// The values that were met, by the field that they are of.
    seen: RefCell<HashSet<(usize, String)>>,
    /// The list that is stored.
    old: Option<Value<'a>>,
    /// The values in its items, by field, as far as they were asked for.
    stored: RefCell<HashMap<usize, HashSet<String>>>,
}

impl<'a> Items<'a> {
    /// A list of so many items, of which none was met.
    pub fn new(count: usize, list: Value<'a>, old: Option<Value<'a>>) -> Self {
        let (met, preceded, seen, stored) = Default::default();
        Items { count, list, met, preceded, seen, old, stored }
    }

    /// Whether an item before the one that is met last meets conditions. Each item is asked once.
    pub fn is_preceded(&self, conditions: &[Condition], meets: impl Fn(Ref<'a>) -> bool) -> bool {
        let Value::StructList(list) = self.list else { return false };
        let before = self.met.get().saturating_sub(1);
        let mut preceded = self.preceded.borrow_mut();
        let (asked, is_met) = preceded.entry(conditions.as_ptr().addr()).or_default();
        if !*is_met && *asked < before {
            *is_met = (*asked..before).filter_map(|index| list.get(index)).any(meets);
            *asked = before;
        }
        *is_met
    }

    /// Whether the stored list has an item with the value of a field.
    fn is_stored(&self, of: Of<'_>) -> bool {
        if let (Value::Struct(_), Some(Value::StructList(stored))) = (of.new, self.old) {
            return stored.iter().any(|item| Value::Struct(item) == of.new);
        }
        let mut stored = self.stored.borrow_mut();
        let values = stored.entry(of.place()).or_insert_with(|| self.stored_values(of.field));
        text_of(of.new).is_some_and(|text| values.contains(text.as_ref()))
    }

    fn stored_values(&self, field: Option<&FieldDef>) -> HashSet<String> {
        let name = field.map_or("", |field| field.json);
        let values: Vec<Value<'_>> = match self.old {
            Some(Value::List(list)) => (0..list.len()).filter_map(|index| list.get(index)).collect(),
            Some(Value::StructList(list)) => list.iter().filter_map(|item| item.by_name(name)).collect(),
            _ => Vec::new(),
        };
        values.into_iter().filter_map(text_of).map(Cow::into_owned).collect()
    }

    pub fn are_several(&self) -> bool {
        self.count > 1
    }

    /// Takes the value of a field, or its values in these fields; false when it was there before.
    pub fn add(&self, of: Of<'_>, fields: &[&[&str]]) -> bool {
        let mut text = String::new();
        let mut add = |value: Value<'_>| {
            let value = text_of(value).unwrap_or_default();
            let _ = write!(text, "{}:{value}", value.len());
        };
        if fields.is_empty() {
            add(of.new);
        }
        fields.iter().for_each(|field| add(of.at(field).new));
        self.seen.borrow_mut().insert((of.place(), text))
    }
}

impl<'a> Of<'a> {
    /// A struct, to make its checks.
    pub fn structure(path: &'a Path<'a>, new: Ref<'a>, old: Option<Ref<'a>>, items: Option<&'a Items>) -> Self {
        let (new, old, home) = (Value::Struct(new), old.map(Value::Struct), new);
        let (key, is_entry, key_bytes, pairing) = (None, false, usize::MAX, "");
        Of { path, field: None, new, old, home, items, key, is_entry, key_bytes, pairing }
    }

    /// The stored form of a struct whose checks are made.
    pub fn stored(self) -> Option<Self> {
        let old = self.old?.as_struct()?;
        Some(Of { new: Value::Struct(old), old: None, home: old, ..self })
    }

    pub fn part(self, path: &'a Path<'a>, new: Value<'a>) -> Self {
        Of { path, new, old: None, is_entry: false, key: None, key_bytes: usize::MAX, pairing: "", ..self }
    }

    /// An entry of a map, with what is to be made of it.
    fn visit_entry(self, key: &'a str, value: Value<'a>, visit: &mut impl FnMut(Of<'_>)) {
        let shown = shortened(key, self.key_bytes);
        let path = self.path.key(&shown);
        visit(Of { key: Some(key), ..self.part(&path, value) });
    }

    /// The stored form of an item, if stored items are looked for.
    fn pair(self, item: Ref<'a>) -> Option<Value<'a>> {
        let Some(Value::StructList(stored)) = self.old.filter(|_| !self.pairing.is_empty()) else { return None };
        let value = item.by_name(self.pairing);
        stored.iter().find(|old| old.by_name(self.pairing) == value).map(Value::Struct)
    }

    /// A field of the struct, an entry of the map or an item of the list, with what is stored there. Of an entry or item
    /// that is not there it is nothing.
    pub fn step(mut self, name: &'a str) -> Option<Of<'a>> {
        self.advance(name).then_some(self)
    }

    /// Goes a step; false if there is none.
    fn advance(&mut self, name: &'a str) -> bool {
        match self.new {
            Value::Struct(new) => {
                let tables = new.def().tables();
                let Some(index) = tables.find(name) else { return false };
                (self.field, self.is_entry) = (Some(tables.json[index].field), false);
                self.new = new.get_flat(index);
                self.old = self.old.and_then(|old| match old {
                    Value::Struct(old) if std::ptr::eq(old.def(), new.def()) => Some(old.get_flat(index)),
                    old => stored_below(old, name),
                });
            }
            Value::Map(_) | Value::StructMap(_) | Value::List(_) | Value::StructList(_) => {
                self.is_entry = true;
                self.new = entry(self.new, name).unwrap_or(Value::Null);
                self.old = self.old.and_then(|old| stored_below(old, name));
            }
            _ => return false,
        }
        self.key = None;
        true
    }

    /// The path of what a step leads to.
    pub fn path_to(self, name: &'a str) -> Path<'a> {
        match self.new {
            Value::Map(_) | Value::StructMap(_) => self.path.key(name),
            Value::List(_) | Value::StructList(_) => self.path.index(name.parse().unwrap_or_default()),
            _ => self.path.child(name),
        }
    }

    /// What stands at the end of a way, or nothing.
    pub fn at(mut self, way: &[&'a str]) -> Self {
        for name in way {
            if !self.advance(name) {
                (self.field, self.new, self.old, self.is_entry) = (None, Value::Null, None, false);
            }
        }
        self
    }

    /// Whether something holds at the end of a way, or at the end of one of the ways through items of lists.
    pub fn any_at(self, way: &[&'a str], holds: &dyn Fn(Of<'a>) -> bool) -> bool {
        match (way.split_first(), self.new) {
            (None, _) => holds(self),
            (Some((name, _)), Value::StructList(items)) if name.parse::<usize>().is_err() => {
                items.iter().any(|item| Of { new: Value::Struct(item), old: None, ..self }.any_at(way, holds))
            }
            (Some((name, rest)), _) => self.at(&[*name]).any_at(rest, holds),
        }
    }

    /// What stands at the end of a way from the struct whose checks are made.
    pub fn of_home(self, way: &[&'a str]) -> Self {
        Of { is_entry: false, field: None, new: Value::Struct(self.home), old: None, ..self }.at(way)
    }

    /// Whether it, or an item of it, is one of these texts, numbers and truth values.
    pub fn is(self, known: &[&str]) -> bool {
        let is = |value| known.contains(&text_of(value).unwrap_or_default().as_ref());
        match self.new {
            Value::List(list) => (0..list.len()).filter_map(|index| list.get(index)).any(is),
            value => is(value),
        }
    }

    /// Whether it is a list with another text than these.
    pub fn has_other(self, known: &[&str]) -> bool {
        let Value::List(List::String(texts)) = self.new else { return false };
        texts.iter().any(|text| !known.contains(&text.as_str()))
    }

    /// A detail with the texts of fields of the struct whose checks are made, in place of their names in braces.
    pub fn filled_in(self, detail: &'static str) -> Cow<'static, str> {
        let mut parts = detail.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        let mut is_same = true;
        for part in parts {
            let field = part.split_once('}').and_then(|(name, rest)| {
                let way: Vec<&str> = name.split('.').collect();
                self.of_home(&way).text().map(|value| (value, rest))
            });
            match field {
                Some((value, rest)) => {
                    is_same = false;
                    text.push_str(&value);
                    text.push_str(rest);
                }
                None => {
                    text.push('{');
                    text.push_str(part);
                }
            }
        }
        if is_same { detail.into() } else { text.into() }
    }

    /// Whether it is a text without anything but white space, or nothing.
    pub fn is_blank(self) -> bool {
        match self.new {
            Value::String(text) => text.trim().is_empty(),
            value => matches!(value, Value::Null),
        }
    }

    /// How many bytes the keys and values of a map have.
    pub fn total_bytes(self) -> usize {
        let mut total = 0;
        if let Value::Map(map) = self.new {
            map.for_each(|key, value| total += key.len() + text_of(value).map_or(0, |text| text.len()));
        }
        total
    }

    /// Whether what stands at the end of a way is not what is stored there. Lists are compared item by item.
    pub fn changes(self, way: &[&'a str]) -> bool {
        let Some((name, rest)) = way.split_first() else { return self.old != Some(self.new) };
        match (self.new, self.old) {
            (Value::StructList(new), Some(Value::StructList(old))) if name.parse::<usize>().is_err() => {
                let mut pairs = new.iter().zip(old.iter()).map(|(new, old)| (Value::Struct(new), Value::Struct(old)));
                let is_other = |(new, old)| Of { new, old: Some(old), ..self }.changes(way);
                new.len() != old.len() || pairs.any(is_other)
            }
            _ => self.at(&[*name]).changes(rest),
        }
    }

    /// Whether it is stored already: in its field, or in an item of the stored list.
    pub fn is_stored(self) -> bool {
        self.old == Some(self.new) || self.items.is_some_and(|items| items.is_stored(self))
    }

    /// The field that it is of, as a number.
    fn place(self) -> usize {
        self.field.map_or(0, |field| std::ptr::from_ref(field).addr())
    }

    /// Whether an update changes it.
    pub fn has_changed(self) -> bool {
        self.old.is_some_and(|old| old != self.new)
    }

    /// The number that it is.
    pub fn number(self) -> Option<i64> {
        match self.new {
            Value::I32(number) => Some(number.into()),
            Value::I64(number) => Some(number),
            _ => None,
        }
    }

    /// The text, number, truth value or document that it is, as text.
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self.new {
            Value::RawExtension(document) => Some(String::from_utf8_lossy(document.as_bytes())),
            value => text_of(value),
        }
    }

    /// Whether it is none of all: 0, `0%`, or nothing.
    pub fn is_zero(self) -> bool {
        match self.new {
            Value::Null => true,
            Value::IntOrString(IntOrString::String(text)) if is_valid_percent(text).is_empty() => {
                text.trim_end_matches('%').bytes().all(|digit| digit == b'0')
            }
            Value::IntOrString(value) => value.int_value() == 0,
            _ => self.number() == Some(0),
        }
    }

    /// Visits the items of a list or the values of a map.
    pub fn each(self, mut visit: impl FnMut(Of<'_>)) {
        let items = &Items::new(length(self.new), self.new, self.old);
        match self.new {
            Value::List(list) => {
                for (index, item) in (0..list.len()).filter_map(|index| Some((index, list.get(index)?))) {
                    visit(Of { items: Some(items), ..self.part(&self.path.index(index), item) });
                }
            }
            Value::Map(map) => map.for_each(|key, value| self.visit_entry(key, value, &mut visit)),
            Value::StructList(list) => {
                for (index, item) in list.iter().enumerate() {
                    let (path, old) = (self.path.index(index), self.pair(item));
                    items.met.set(index + 1);
                    visit(Of { items: Some(items), old, ..self.part(&path, Value::Struct(item)) });
                }
            }
            Value::StructMap(map) => {
                map.for_each(|key, value| self.visit_entry(key, Value::Struct(value), &mut visit));
            }
            _ => {}
        }
    }

    /// Visits each struct in a field. Items of lists and maps come without their stored form, unless that is looked
    /// for.
    pub fn each_struct(self, mut visit: impl FnMut(Of<'_>)) {
        match self.new {
            Value::Struct(new) => visit(Of::structure(self.path, new, self.old.and_then(Value::as_struct), None)),
            _ => self.each(|item| {
                if let Value::Struct(new) = item.new {
                    visit(Of::structure(item.path, new, item.old.and_then(Value::as_struct), item.items));
                }
            }),
        }
    }

    /// Visits the structs that are inlined in the struct.
    pub fn inlined(self, mut visit: impl FnMut(Of<'_>)) {
        let Value::Struct(new) = self.new else { return };
        let old = self.old.and_then(Value::as_struct);
        for (index, field) in new.def().fields.iter().enumerate() {
            if let (true, Value::Struct(inner)) = (field.flags.has(Flags::INLINE), new.get(index)) {
                let old = old.and_then(|old| old.get(index).as_struct());
                visit(Of::structure(self.path, inner, old, self.items));
            }
        }
    }

    /// The keys of a map.
    pub fn keys(self) -> Vec<&'a str> {
        let mut keys = Vec::new();
        match self.new {
            Value::Map(map) => map.for_each(|key, _| keys.push(key)),
            Value::StructMap(map) => map.for_each(|key, _| keys.push(key)),
            _ => {}
        }
        keys
    }

    /// Whether Go's code would find nothing: nil, no text, no items. A number, a truth value and a struct in place are
    /// never empty, nor is what a pointer leads to.
    pub fn is_empty(self) -> bool {
        let is_pointer = matches!(self.field.map(FieldDef::shape), Some(Shape::Opt(_) | Shape::OptStruct(_)));
        match self.new {
            Value::Null => true,
            Value::Bool(_) | Value::I32(_) | Value::I64(_) | Value::F64(_) => false,
            value => !is_pointer && !self.is_entry && value.is_empty(),
        }
    }

    /// Whether it is no plain text in Go, but one of a type of its own. Texts behind pointers are taken as plain.
    fn is_of_named_type(self) -> bool {
        let is_pointer = matches!(self.field.map(FieldDef::shape), Some(Shape::Opt(_)));
        !is_pointer && self.field.is_some_and(|field| !field.info.go_type.is_empty())
    }

    /// The value as messages show it that upstream gives as a plain text.
    pub fn shown_plain(self) -> BadValue {
        match self.new {
            Value::String(text) if !self.is_of_named_type() => text.into(),
            _ => self.shown(),
        }
    }

    /// The value as messages show it. Texts of named types, and those behind pointers, are shown as JSON.
    pub fn shown(self) -> BadValue {
        let is_named = self.field.is_some_and(|field| {
            let is_pointer = matches!(field.shape(), Shape::Opt(_));
            is_pointer || !field.info.go_type.is_empty() || !field.info.enum_values.is_empty()
        });
        match self.new {
            Value::Bool(value) => BadValue::Bool(value),
            Value::I32(number) => number.into(),
            Value::I64(number) => number.into(),
            Value::F64(number) => BadValue::Float(number),
            Value::Quantity(quantity) => BadValue::json_string(&quantity.to_string()),
            Value::Time(time) if !time.is_zero() => BadValue::json_string(&time.to_string()),
            Value::MicroTime(time) if !time.is_zero() => BadValue::json_string(&time.to_string()),
            Value::IntOrString(IntOrString::Int(number)) => (*number).into(),
            Value::IntOrString(IntOrString::String(text)) => BadValue::json_string(text),
            Value::String(text) if is_named => BadValue::json_string(text),
            Value::String(text) => text.into(),
            Value::List(List::String(items)) => BadValue::strings(items),
            Value::Map(Map::String(values)) => BadValue::string_map(values),
            Value::Map(Map::Quantity(amounts)) if !amounts.is_empty() => {
                let texts = amounts.iter().map(|(name, amount)| (name.clone(), amount.to_string()));
                BadValue::string_map(&texts.collect())
            }
            Value::Bytes(bytes) if !bytes.is_empty() => BadValue::bytes(bytes),
            Value::RawExtension(document) if !document.is_empty() => {
                let mut out = Vec::new();
                document.append_json(&mut out);
                BadValue::Json(String::from_utf8_lossy(&out).into_owned())
            }
            Value::Struct(value) => BadValue::Json(internal_text(value)),
            Value::StructList(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(internal_text).collect();
                BadValue::Json(format!("[{}]", items.join(",")))
            }
            _ => BadValue::None,
        }
    }
}

/// A struct as messages show it: upstream's internal type as JSON.
fn internal_text(value: Ref<'_>) -> String {
    let mut out = Vec::new();
    json::encode_internal(value, json::internal_type, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// A text, number or truth value as text.
fn text_of(value: Value<'_>) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::String(text) => text.into(),
        Value::Bool(value) => value.to_string().into(),
        Value::I32(number) => number.to_string().into(),
        Value::I64(number) => number.to_string().into(),
        Value::Quantity(quantity) => quantity.to_string().into(),
        Value::IntOrString(IntOrString::Int(number)) => number.to_string().into(),
        Value::IntOrString(IntOrString::String(text)) => text.into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes),
        _ => return None,
    })
}

/// A text without its middle where it has more than so many bytes.
fn shortened(text: &str, max: usize) -> Cow<'_, str> {
    const DOTS: &str = "...";
    if text.len() <= max {
        return text.into();
    }
    let left = max.saturating_sub(DOTS.len());
    let bytes = text.as_bytes();
    let (start, end) = (&bytes[..left.div_ceil(2)], &bytes[bytes.len() - left / 2..]);
    format!("{}{DOTS}{}", String::from_utf8_lossy(start), String::from_utf8_lossy(end)).into()
}

/// A field, entry or item of what is stored.
fn stored_below<'a>(old: Value<'a>, name: &str) -> Option<Value<'a>> {
    match old {
        Value::Struct(old) => old.by_name(name),
        old => Some(entry(old, name).unwrap_or(Value::Null)),
    }
}

/// The entry of a map under a key, or the item of a list under an index.
fn entry<'a>(value: Value<'a>, name: &str) -> Option<Value<'a>> {
    match value {
        Value::Map(map) => map.get(name),
        Value::StructMap(map) => map.get(name).map(Value::Struct),
        Value::List(list) => list.get(name.parse().ok()?),
        Value::StructList(list) => list.get(name.parse().ok()?).map(Value::Struct),
        _ => None,
    }
}

/// How many items a list or map has.
pub(super) fn length(value: Value<'_>) -> usize {
    match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::StructList(list) => list.len(),
        Value::StructMap(map) => map.len(),
        _ => 0,
    }
}
