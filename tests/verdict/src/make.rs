//! Random objects of declared kinds, at and around the limits of their constraints.

use codegen::model::{Field, ListSemantics, Model, StructId, TypeRef, Union};
use differential::random::Random;
use regex::Regex;
use serde_json::{Map, Value, json};

/// Texts that differ under at least one constraint.
const TEXTS: [&str; 26] = [
    "a",
    "b",
    "ab",
    "a-b",
    "abc",
    "abcd",
    "abcde",
    "abcdef",
    "odd",
    "bad",
    "A",
    "TCP",
    "a_b",
    "",
    "é",
    "éé",
    "日本語",
    "a.b",
    "a.b.c",
    "-a",
    "a-",
    "0",
    "a b",
    "ab-",
    "example.com/a",
    "😀😀",
];
const IDENTITIES: [&str; 5] = [
    "123e4567-e89b-12d3-a456-426614174000",
    "123E4567-E89B-12D3-A456-426614174000",
    "123e4567e89b12d3a456426614174000",
    "123e4567-e89b-12d3-a456-42661417400",
    "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
];
const QUANTITIES: [&str; 12] = ["1", "0", "500m", "1Gi", "3k", "0.5", "1.5", "2", "1e3", "-1", "100n", "+1"];
const BAD_QUANTITIES: [&str; 4] = ["one", "", "1 Gi", "1.5."];
const TIMES: [&str; 4] =
    ["2026-01-02T03:04:05Z", "1999-12-31T23:59:59Z", "2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05.678Z"];
const BAD_TIMES: [&str; 4] = ["yesterday", "2026-01-02", "2026-13-02T03:04:05Z", "2026-01-02 03:04:05"];
const DURATIONS: [&str; 7] = ["1m0s", "-5s", "0s", "100ms", "60s", "1h", "1.5h"];
const BAD_DURATIONS: [&str; 4] = ["60", "1 day", "s", "1d"];
/// Map keys, including names that no definition declares.
const KEYS: [&str; 5] = ["a", "b", "tier", "d", "e"];

/// Generates values.
pub struct Maker<'m> {
    pub model: &'m Model,
    pub random: Random,
    /// Percentage of values at or beyond the limits of their constraints.
    pub edge: usize,
    /// Whether every value has its declared type, as in stored objects.
    pub typed: bool,
    /// Whether quantities may have several spellings, and numbers may exceed their types.
    ///
    /// The native kind stores one spelling of a quantity, and an apply truncates numbers; the
    /// managed fields would differ.
    pub loose: bool,
}

impl Maker<'_> {
    /// Generates a value of a struct; sometimes with an undeclared field.
    pub fn structure(&mut self, id: StructId) -> Value {
        let of = &self.model.structs[id.0];
        let mut out = Map::new();
        for field in of.fields.iter().filter(|field| field.json != "metadata" && field.json != "status") {
            // The native kind reads absent fields of a stored object as zero.
            let share = match field.required {
                true if self.typed => 100,
                true => 100 - self.edge / 2,
                false => 45,
            };
            if self.random.percent(share) {
                let value = self.field(field);
                out.insert(field.json.clone(), value);
            }
        }
        for union in &of.unions {
            if !self.random.percent(self.edge * 2) {
                self.set_union_member(id, union, &mut out);
            }
        }
        if !self.typed && self.random.percent(self.edge / 4) {
            out.insert("unheardOf".into(), json!({"x": 1}));
        }
        Value::Object(out)
    }

    /// Sets the one member that a union requires.
    fn set_union_member(&mut self, id: StructId, union: &Union, out: &mut Map<String, Value>) {
        let chosen = self.random.pick(&union.members).clone();
        union.members.iter().filter(|one| **one != chosen).for_each(|(_, member)| drop(out.remove(member)));
        let wanted = match &union.discriminator {
            Some(name) => {
                let values: Vec<&String> = union.without.iter().chain([&chosen.0, &chosen.0]).collect();
                let value = (*self.random.pick(&values)).clone();
                out.insert(name.clone(), value.clone().into());
                value == chosen.0
            }
            None => !union.zero_allowed || self.random.percent(70),
        };
        out.remove(&chosen.1);
        let field = self.model.structs[id.0].fields.iter().find(|field| field.json == chosen.1);
        if let Some(field) = field.filter(|_| wanted) {
            let mut value = self.field(field);
            if value == json!([]) {
                value = json!(["a"]);
            }
            out.insert(chosen.1, value);
        }
    }

    fn is_edge(&mut self) -> bool {
        self.random.percent(self.edge)
    }

    /// Generates a value of a field.
    pub fn field(&mut self, field: &Field) -> Value {
        if !self.typed && self.random.percent(self.edge / 3) {
            return self.odd(field);
        }
        match &field.ty {
            TypeRef::List(item) => self.list(field, item),
            TypeRef::Map(item) => {
                let count = self.count(field);
                let keys: Vec<&str> = KEYS.into_iter().cycle().take(count).collect();
                keys.into_iter().map(|key| (key.to_string(), self.one(field, item))).collect::<Map<_, _>>().into()
            }
            ty => self.one(field, ty),
        }
    }

    /// Generates a value of another type, or null.
    fn odd(&mut self, field: &Field) -> Value {
        let has_format = field.validation.format.is_some();
        let others = match &field.ty {
            TypeRef::Json => return json!({"free": true}),
            // The native kind accepts any value, the schema of a definition only objects.
            TypeRef::RawExtension | TypeRef::FieldsV1 => return Value::Null,
            // Upstream accepts lists for texts with a format.
            TypeRef::Bytes | TypeRef::Time => vec![Value::Null, json!(7), json!(true), json!({"a": 1}), json!("")],
            TypeRef::String if has_format => vec![Value::Null, json!(7), json!(true), json!({"a": 1}), json!("")],
            TypeRef::String | TypeRef::Enum(_) | TypeRef::Duration => {
                vec![Value::Null, json!(7), json!(true), json!(["a"]), json!({"a": 1}), json!("")]
            }
            TypeRef::Bool => vec![Value::Null, json!("true"), json!(1)],
            TypeRef::I32 | TypeRef::I64 | TypeRef::F64 => vec![Value::Null, json!("1"), json!(true), json!({})],
            TypeRef::Quantity | TypeRef::IntOrString => vec![Value::Null, json!(true), json!({"a": 1})],
            TypeRef::List(_) => vec![Value::Null, json!({}), json!("a"), json!([])],
            TypeRef::Map(_) => vec![Value::Null, json!([]), json!("a"), json!({})],
            _ => vec![Value::Null, json!([]), json!("a"), json!(1), json!({})],
        };
        self.random.pick(&others).clone()
    }

    /// Chooses the number of items of a list or map.
    fn count(&mut self, field: &Field) -> usize {
        let least = field.validation.min_items.unwrap_or(u64::from(field.required)) as usize;
        let most = field.validation.max_items.map_or(least + 2, |most| most as usize);
        match self.is_edge() {
            true => {
                let count = *self.random.pick(&[0, least.saturating_sub(1), least, most, most + 1]);
                if self.typed && field.required { count.max(1) } else { count }
            }
            false => least + self.random.below(most.min(least + 3) - least + 1),
        }
    }

    fn list(&mut self, field: &Field, item: &TypeRef) -> Value {
        let mut items: Vec<Value> = (0..self.count(field)).map(|_| self.one(field, item)).collect();
        let keys: &[String] = match &field.list {
            Some(ListSemantics::Map(keys)) => keys,
            _ => &[],
        };
        let is_unique = field.validation.unique || matches!(&field.list, Some(list) if *list != ListSemantics::Atomic);
        // Servers differ in which of two items with one key an update refers to.
        if is_unique && ((self.typed && !keys.is_empty()) || !self.is_edge()) {
            let mut seen = Vec::new();
            items.retain(|item| {
                let identity = match keys {
                    [] => item.clone(),
                    keys => keys.iter().map(|key| item[key].as_str().unwrap_or_default()).collect(),
                };
                let is_new = !seen.contains(&identity);
                seen.push(identity);
                is_new
            });
        } else if is_unique && !items.is_empty() {
            items.push(items[0].clone());
        }
        items.into()
    }

    /// Generates a value for a field: the whole value, or an item.
    fn one(&mut self, field: &Field, ty: &TypeRef) -> Value {
        match ty {
            TypeRef::String => self.text(field),
            TypeRef::Bool => self.random.percent(50).into(),
            TypeRef::I32 => self.number(field, i64::from(i32::MIN), i64::from(i32::MAX)),
            TypeRef::I64 => self.number(field, i64::MIN, i64::MAX),
            TypeRef::F64 => self.random.pick(&[json!(0.5), json!(1), json!(-2.25), json!(0), json!(1e30)]).clone(),
            TypeRef::Bytes => self.spelling(&["", "YQ==", "YWJj"], &["YQ", "?", "YQ==="]),
            TypeRef::Quantity => match self.loose && self.random.percent(20) {
                true => self.random.pick(&[json!(1), json!(0), json!(-3)]).clone(),
                false if self.loose => self.spelling(&QUANTITIES, &BAD_QUANTITIES),
                false => self.spelling(&QUANTITIES[..5], &BAD_QUANTITIES),
            },
            TypeRef::Time | TypeRef::MicroTime if self.loose => self.spelling(&TIMES, &BAD_TIMES),
            TypeRef::Time | TypeRef::MicroTime => self.spelling(&TIMES[..2], &BAD_TIMES),
            TypeRef::Duration if self.loose => self.spelling(&DURATIONS, &BAD_DURATIONS),
            TypeRef::Duration => self.spelling(&DURATIONS[..4], &BAD_DURATIONS),
            TypeRef::IntOrString => {
                self.random.pick(&[json!(0), json!(1), json!(-1), json!("25%"), json!("a"), json!("")]).clone()
            }
            // Updates treat values without a schema as changed.
            TypeRef::RawExtension | TypeRef::FieldsV1 if self.typed => json!({}),
            TypeRef::RawExtension | TypeRef::FieldsV1 => json!({"any": [1, {"thing": "x"}]}),
            TypeRef::Json => self.random.pick(&[json!(1), json!("x"), json!([1]), json!({"a": null})]).clone(),
            TypeRef::Enum(id) => {
                let known: Vec<&str> = self.model.enums[id.0].variants.iter().map(|(_, value, _)| &**value).collect();
                let bad = ["Other", "low", "Middle", ""];
                self.word(&known, if self.typed { &bad[..3] } else { &bad })
            }
            TypeRef::Struct(id) => self.structure(*id),
            TypeRef::List(item) => json!([self.one(field, item)]),
            TypeRef::Map(item) => json!({"a": self.one(field, item)}),
        }
    }

    fn word(&mut self, good: &[&str], bad: &[&str]) -> Value {
        let edge = self.is_edge();
        (*self.random.pick(if edge { bad } else { good })).into()
    }

    /// Chooses a text for a type that is parsed from text.
    fn spelling(&mut self, good: &[&str], bad: &[&str]) -> Value {
        if self.typed { (*self.random.pick(good)).into() } else { self.word(good, bad) }
    }

    fn number(&mut self, field: &Field, least: i64, most: i64) -> Value {
        let (min, max) = (field.validation.min.unwrap_or(0), field.validation.max.unwrap_or(100));
        match self.is_edge() {
            true => {
                let edges = [min - 1, min, max, max + 1, 0, least, most];
                let at = self.random.below(edges.len() + if self.typed || !self.loose { 0 } else { 3 });
                match edges.get(at) {
                    Some(number) => (*number).into(),
                    // Beyond the range of the type.
                    None => {
                        self.random.pick(&[json!(most as i128 as u64 + 1), json!(0.5), json!(4294967296i64)]).clone()
                    }
                }
            }
            false => (min + self.random.below((max - min).min(20) as usize + 1) as i64).into(),
        }
    }

    fn text(&mut self, field: &Field) -> Value {
        let v = &field.validation;
        let mut texts: Vec<String> = TEXTS.map(str::to_owned).to_vec();
        for length in [v.min_length, v.max_length].into_iter().flatten().map(|length| length as usize) {
            let lengths = [length.saturating_sub(1), length, length + 1];
            texts.extend(lengths.iter().flat_map(|length| ["a", "é"].map(|letter| letter.repeat(*length))));
        }
        if let Some(format) = &v.format {
            texts.extend(["a".repeat(63), "a".repeat(64), format!("{}.b", "a".repeat(252))]);
            if format == "uuid" {
                texts.extend(IDENTITIES.map(str::to_owned));
            }
        }
        if !self.is_edge() {
            let pattern = v.pattern.as_deref().and_then(|pattern| Regex::new(pattern).ok());
            texts.retain(|text| {
                let count = text.chars().count() as u64;
                pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
                    && (v.min_length.unwrap_or(u64::from(field.required))..=v.max_length.unwrap_or(6)).contains(&count)
                    && v.format.as_deref().is_none_or(|format| is_of(format, text))
            });
            if v.format.as_deref() == Some("uuid") {
                texts = vec![IDENTITIES[0].to_owned()];
            }
        }
        if self.typed && field.required {
            texts.retain(|text| !text.is_empty());
        }
        self.random.pick(&texts).clone().into()
    }

    /// Changes an object slightly: some fields are regenerated or removed.
    pub fn change(&mut self, id: StructId, value: &mut Value) {
        let model = self.model;
        let of = &model.structs[id.0];
        let Some(members) = value.as_object_mut() else { return };
        let fields: Vec<&Field> =
            of.fields.iter().filter(|field| field.json != "metadata" && field.json != "status").collect();
        if fields.is_empty() {
            return;
        }
        let field = *self.random.pick(&fields);
        let deeper = match (&field.ty, members.get_mut(&field.json)) {
            (TypeRef::Struct(below), Some(inner)) if inner.is_object() => Some((*below, vec![inner])),
            (TypeRef::List(item), Some(Value::Array(items))) => match **item {
                TypeRef::Struct(below) => Some((below, items.iter_mut().filter(|item| item.is_object()).collect())),
                _ => None,
            },
            (TypeRef::Map(item), Some(Value::Object(entries))) => match **item {
                TypeRef::Struct(below) => Some((below, entries.values_mut().filter(|one| one.is_object()).collect())),
                _ => None,
            },
            _ => None,
        };
        match deeper {
            Some((below, mut inner)) if !inner.is_empty() && self.random.percent(85) => {
                let at = self.random.below(inner.len());
                self.change(below, inner[at]);
            }
            _ if self.random.percent(25) => drop(members.remove(&field.json)),
            _ => {
                let value = self.field(field);
                members.insert(field.json.clone(), value);
            }
        }
    }
}

fn is_of(format: &str, text: &str) -> bool {
    let label = |text: &str| {
        let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        is_end(text.chars().next())
            && is_end(text.chars().last())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    match format {
        "dns1123_label" => label(text),
        "dns1123_subdomain" => text.split('.').all(label),
        _ => true,
    }
}
