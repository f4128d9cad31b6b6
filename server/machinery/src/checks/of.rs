//! The subjects of checks: structs, their fields, and parts of these.

use std::borrow::Cow;

use super::items::Items;
use crate::def::Flags;
use crate::field_path::Path;
use crate::format::is_valid_percent;
use crate::reflect::{FieldAccessor, List, Ref, Value};
use crate::scalar::IntOrString;

/// A struct, a field of a struct, or a part of the value of a field.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub path: &'a Path<'a>,
    /// `None` for the checked struct itself.
    pub field: Option<FieldAccessor>,
    pub new: Value<'a>,
    pub old: Option<Value<'a>>,
    /// The key, for an entry of a map.
    pub key: Option<&'a str>,
    /// An entry or item that a path refers to is not empty if it exists.
    pub is_entry: bool,
    pub around: &'a Around<'a>,
}

/// The context of a value.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// The checked struct.
    pub home: Ref<'a>,
    /// The list that contains the struct, if it is being visited.
    pub items: Option<&'a Items<'a>>,
    /// The number of bytes of keys that the paths of entries show.
    pub key_bytes: usize,
    /// The field by which stored items are paired with new ones; empty if they are not.
    pub pairing: &'static str,
}

impl<'a> Around<'a> {
    /// The context of a checked struct.
    pub fn of(home: Ref<'a>, items: Option<&'a Items<'a>>) -> Self {
        Around { home, items, key_bytes: usize::MAX, pairing: "" }
    }
}

impl<'a> Of<'a> {
    /// A checked struct.
    pub fn structure(path: &'a Path<'a>, around: &'a Around<'a>, old: Option<Ref<'a>>) -> Self {
        let (new, old) = (Value::Struct(around.home), old.map(Value::Struct));
        Of { path, field: None, new, old, key: None, is_entry: false, around }
    }

    /// Applies a function to the stored form of a struct, if there is one.
    pub fn with_stored<R>(&self, of: impl FnOnce(&Of<'_>) -> R) -> Option<R> {
        let home = self.old?.as_struct()?;
        let around = Around { home, ..*self.around };
        Some(of(&Of { new: Value::Struct(home), old: None, around: &around, ..*self }))
    }

    /// A part of the value, without a stored form.
    pub fn part(&self, path: &'a Path<'a>, new: Value<'a>, around: &'a Around<'a>) -> Self {
        Of { path, field: self.field, new, old: None, key: None, is_entry: false, around }
    }

    /// Visits an entry of a map.
    fn visit_entry(&self, key: &'a str, value: Value<'a>, around: &Around<'_>, visit: &mut impl FnMut(&Of<'_>)) {
        let shown = shortened(key, self.around.key_bytes);
        let path = self.path.key(&shown);
        let entry =
            Of { path: &path, field: self.field, new: value, old: None, key: Some(key), is_entry: false, around };
        visit(&entry);
    }

    /// The stored form of an item, if stored items are paired.
    fn pair(&self, item: Ref<'a>) -> Option<Value<'a>> {
        let pairing = self.around.pairing;
        let Some(Value::StructList(stored)) = self.old.filter(|_| !pairing.is_empty()) else { return None };
        let value = item.by_name(pairing);
        stored.iter().find(|old| old.by_name(pairing) == value).map(Value::Struct)
    }

    /// Moves to a field of the struct, an entry of the map or an item of the list, in the new and
    /// the stored value.
    ///
    /// Returns false if the value has no such part. A missing entry or item becomes null.
    pub fn advance(&mut self, name: &'a str) -> bool {
        self.advance_to(name, None)
    }

    /// As [`Self::advance`], with the place of the field if it is resolved.
    pub fn advance_to(&mut self, name: &'a str, place: Option<FieldAccessor>) -> bool {
        match self.new {
            Value::Struct(new) => {
                let place = place.filter(|place| place.is_in(new.def()));
                let Some(place) = place.or_else(|| FieldAccessor::find(new.def(), name)) else { return false };
                *self = self.field_of(self.path, new, place);
            }
            Value::Map(_) | Value::StructMap(_) | Value::List(_) | Value::StructList(_) => {
                self.is_entry = true;
                self.key = None;
                self.new = entry(self.new, name).unwrap_or(Value::Null);
                self.old = self.old.and_then(|old| stored_below(old, name));
            }
            _ => return false,
        }
        true
    }

    /// A field of the struct, with its stored value.
    #[inline(always)]
    pub fn field_of(&self, path: &'a Path<'a>, new: Ref<'a>, place: FieldAccessor) -> Of<'a> {
        let old = match self.old {
            None => None,
            Some(Value::Struct(old)) if std::ptr::eq(old.def(), new.def()) => Some(place.value(old)),
            Some(old) => stored_below(old, place.field().json),
        };
        let new = place.value(new);
        Of { path, field: Some(place), new, old, key: None, is_entry: false, around: self.around }
    }

    /// The path of a field, entry or item.
    pub fn path_to(&self, name: &'a str) -> Path<'a> {
        match self.new {
            Value::Map(_) | Value::StructMap(_) => self.path.key(name),
            Value::List(_) | Value::StructList(_) => self.path.index(name.parse().unwrap_or_default()),
            _ => self.path.child(name),
        }
    }

    /// The value at the end of a path, or null.
    pub fn at(mut self, way: &[&'a str]) -> Self {
        for name in way {
            if !self.advance(name) {
                (self.field, self.new, self.old, self.is_entry) = (None, Value::Null, None, false);
            }
        }
        self
    }

    /// Whether something holds at the end of a path, in at least one item of the lists on the path.
    pub fn any_at(&self, way: &[&'a str], holds: &dyn Fn(&Of<'a>) -> bool) -> bool {
        match (way.split_first(), self.new) {
            (None, _) => holds(self),
            (Some((name, _)), Value::StructList(items)) if name.parse::<usize>().is_err() => {
                items.iter().any(|item| Of { new: Value::Struct(item), old: None, ..*self }.any_at(way, holds))
            }
            (Some((name, rest)), _) => self.at(&[*name]).any_at(rest, holds),
        }
    }

    /// The value at the end of a path from the checked struct.
    pub fn of_home(&self, way: &[&'a str]) -> Self {
        Of { is_entry: false, field: None, new: Value::Struct(self.around.home), old: None, ..*self }.at(way)
    }

    /// Whether the value is a list with a text that is not one of these.
    pub fn has_other(&self, known: &[&str]) -> bool {
        let Value::List(List::String(texts)) = self.new else { return false };
        texts.iter().any(|text| !known.contains(&text.as_str()))
    }

    /// Replaces field names in braces in a detail by the texts of these fields of the
    /// checked struct.
    pub fn filled_in(&self, detail: &'static str) -> Cow<'static, str> {
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

    /// Whether the value is null, or a text with only white space.
    pub fn is_blank(&self) -> bool {
        match self.new {
            Value::String(text) => text.trim().is_empty(),
            value => matches!(value, Value::Null),
        }
    }

    /// The total size of the keys and values of a map in bytes.
    pub fn total_bytes(&self) -> usize {
        let mut total = 0;
        if let Value::Map(map) = self.new {
            map.for_each(|key, value| total += key.len() + text_of(value).map_or(0, |text| text.len()));
        }
        total
    }

    /// Whether the value at the end of a path differs from the stored one. Lists are compared item
    /// by item.
    pub fn changes(&self, way: &[&'a str]) -> bool {
        let Some((name, rest)) = way.split_first() else { return self.old != Some(self.new) };
        match (self.new, self.old) {
            (Value::StructList(new), Some(Value::StructList(old))) if name.parse::<usize>().is_err() => {
                let mut pairs = new.iter().zip(old.iter()).map(|(new, old)| (Value::Struct(new), Value::Struct(old)));
                let is_other = |(new, old)| Of { new, old: Some(old), ..*self }.changes(way);
                new.len() != old.len() || pairs.any(is_other)
            }
            _ => self.at(&[*name]).changes(rest),
        }
    }

    /// Whether the value is stored already: in its field, or in an item of the stored list.
    pub fn is_stored(&self) -> bool {
        self.old == Some(self.new) || self.around.items.is_some_and(|items| items.is_stored(self))
    }

    /// A number that identifies the field of the value.
    pub(super) fn place(&self) -> usize {
        self.field.map_or(0, |place| std::ptr::from_ref(place.field()).addr())
    }

    /// Whether an update changes the value.
    pub fn has_changed(&self) -> bool {
        self.old.is_some_and(|old| old != self.new)
    }

    /// The value as a number.
    pub fn number(&self) -> Option<i64> {
        match self.new {
            Value::I32(number) => Some(number.into()),
            Value::I64(number) => Some(number),
            _ => None,
        }
    }

    /// The value as text: a text, number, boolean or document.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match self.new {
            Value::RawExtension(document) => Some(String::from_utf8_lossy(document.as_bytes())),
            value => text_of(value),
        }
    }

    /// Whether the value is 0, `0%`, or null.
    pub fn is_zero(&self) -> bool {
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
    pub fn each(&self, mut visit: impl FnMut(&Of<'_>)) {
        let items = Items::new(length(self.new), self.new, self.old);
        let around = &Around::of(self.around.home, Some(&items));
        match self.new {
            Value::List(list) => {
                for (index, item) in (0..list.len()).filter_map(|index| Some((index, list.get(index)?))) {
                    visit(&self.part(&self.path.index(index), item, around));
                }
            }
            Value::StructList(list) => {
                for (index, item) in list.iter().enumerate() {
                    let (path, old) = (self.path.index(index), self.pair(item));
                    items.meet(index);
                    visit(&Of { old, ..self.part(&path, Value::Struct(item), around) });
                }
            }
            Value::Map(map) => {
                let around = &Around { items: self.around.items, ..*around };
                map.for_each(|key, value| self.visit_entry(key, value, around, &mut visit));
            }
            Value::StructMap(map) => {
                let around = &Around { items: self.around.items, ..*around };
                map.for_each(|key, value| self.visit_entry(key, Value::Struct(value), around, &mut visit));
            }
            _ => {}
        }
    }

    /// Visits each struct in a field. Items of lists and maps have no stored form, unless they are
    /// paired.
    pub fn each_struct(&self, mut visit: impl FnMut(&Of<'_>)) {
        let mut structure = |path: &Path<'_>, home: Ref<'_>, old: Option<Value<'_>>, items: Option<&Items<'_>>| {
            let around = Around::of(home, items);
            visit(&Of::structure(path, &around, old.and_then(Value::as_struct)));
        };
        match self.new {
            Value::Struct(new) => structure(self.path, new, self.old, None),
            _ => self.each(|item| {
                if let Value::Struct(new) = item.new {
                    structure(item.path, new, item.old, item.around.items);
                }
            }),
        }
    }

    /// Visits the inlined structs of the struct.
    pub fn inlined(&self, mut visit: impl FnMut(&Of<'_>)) {
        let Value::Struct(new) = self.new else { return };
        let old = self.old.and_then(Value::as_struct);
        for (index, field) in new.def().fields.iter().enumerate() {
            if let (true, Value::Struct(inner)) = (field.flags.has(Flags::INLINE), new.get(index)) {
                let old = old.and_then(|old| old.get(index).as_struct());
                let around = Around::of(inner, self.around.items);
                visit(&Of::structure(self.path, &around, old));
            }
        }
    }

    /// The keys of a map.
    pub fn keys(&self) -> Vec<&'a str> {
        let mut keys = Vec::new();
        match self.new {
            Value::Map(map) => map.for_each(|key, _| keys.push(key)),
            Value::StructMap(map) => map.for_each(|key, _| keys.push(key)),
            _ => {}
        }
        keys
    }

    /// Whether the value is empty in Go: nil, an empty string, or no items. A number, a boolean, an
    /// embedded struct and the target of a pointer are never empty.
    pub fn is_empty(&self) -> bool {
        match self.new {
            Value::Null => true,
            Value::Bool(_) | Value::I32(_) | Value::I64(_) | Value::F64(_) => false,
            value => !self.is_entry && !self.field.is_some_and(FieldAccessor::is_pointer) && value.is_empty(),
        }
    }
}

/// Whether a value, or an item of it, is one of these texts, numbers and booleans.
pub(super) fn is_one_of(value: Value<'_>, known: &[&str]) -> bool {
    let is_number = |number: i64| known.iter().any(|text| text.parse::<i64>() == Ok(number));
    let is = |value| known.contains(&text_of(value).unwrap_or_default().as_ref());
    match value {
        Value::I32(number) => is_number(number.into()),
        Value::I64(number) => is_number(number),
        Value::List(list) => (0..list.len()).filter_map(|index| list.get(index)).any(is),
        value => is(value),
    }
}

/// A text, number or boolean as text.
pub(super) fn text_of(value: Value<'_>) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::String(text) => text.into(),
        Value::Bool(value) => if value { "true" } else { "false" }.into(),
        Value::I32(number) => number.to_string().into(),
        Value::I64(number) => number.to_string().into(),
        Value::Quantity(quantity) => quantity.to_string().into(),
        Value::IntOrString(IntOrString::Int(number)) => number.to_string().into(),
        Value::IntOrString(IntOrString::String(text)) => text.into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes),
        _ => return None,
    })
}

/// Removes the middle of a text that has more than `max` bytes.
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

/// A field, entry or item of the stored value.
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

/// The number of items of a list or map.
pub(super) fn length(value: Value<'_>) -> usize {
    match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::StructList(list) => list.len(),
        Value::StructMap(map) => map.len(),
        _ => 0,
    }
}
