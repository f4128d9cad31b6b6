//! Serde implementation over descriptors, so that declared types support any serde format.
//! Performance-critical formats have their own codecs.

use std::collections::BTreeMap;
use std::fmt;

use base64::engine::{Engine, general_purpose::STANDARD};
use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

use crate::def::JsonForm;
use crate::json::{self, Issues, each_scalar};
use crate::reflect::{List, ListMut, Map, MapMut, Mut, OneMut, OptMut, Ref, Slot, StructList, StructMap, Value};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// A scalar in serde formats: its JSON form.
trait SerdeScalar: Default {
    fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
    fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

macro_rules! plain_scalars {
    ($($ty:ty),*) => {$(
        impl SerdeScalar for $ty {
            fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.serialize(serializer)
            }

            fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // JSON's null leaves every field unset.
                Ok(Option::deserialize(deserializer)?.unwrap_or_default())
            }
        }
    )*};
}
plain_scalars!(bool, i32, i64, f64, String, Quantity, Time, MicroTime, Duration, IntOrString);

impl SerdeScalar for Bytes {
    fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self))
    }

    fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: String = Option::deserialize(deserializer)?.unwrap_or_default();
        json::from_base64(&text).map(Bytes::from).map_err(|at| D::Error::custom(json::Error::Base64(at)))
    }
}

macro_rules! raw_scalars {
    ($($ty:ty),*) => {$(
        impl SerdeScalar for $ty {
            fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.as_bytes().as_ref() {
                    [] => serializer.serialize_unit(),
                    text => json::parse(text, &mut Issues::ignore()).unwrap_or_default().serialize(serializer),
                }
            }

            fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut text = Vec::new();
                json::encode_value(&json::Value::deserialize(deserializer)?, &mut text);
                Ok(Self::from_json(text.into()))
            }
        }
    )*};
}
raw_scalars!(RawExtension, FieldsV1, JsonValue);

impl SerdeScalar for Document {
    fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }

    fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|members: Option<_>| Document(members.unwrap_or_default()))
    }
}

/// Serializes a scalar with its own format.
struct Scalar<'a, T>(&'a T);

impl<T: SerdeScalar> Serialize for Scalar<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.save(serializer)
    }
}

impl Serialize for Ref<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match json::in_form(*self) {
            Value::Struct(fields) => fields.serialize_fields(serializer),
            value => value.serialize(serializer),
        }
    }
}

impl Ref<'_> {
    fn serialize_fields<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = Vec::new();
        self.each_member(0, |flat, value| members.push((flat, *value)));
        let undeclared = self.undeclared();
        let mut map =
            serializer.serialize_map(Some(members.len() + undeclared.map_or(0, |document| document.0.len())))?;
        for (flat, value) in members {
            map.serialize_entry(flat.field.json, &flat.shown(value))?;
        }
        for (name, value) in undeclared.into_iter().flat_map(|document| &document.0) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(v) => v.save(serializer),
            Value::I32(v) => v.save(serializer),
            Value::I64(v) => v.save(serializer),
            Value::F64(v) => v.save(serializer),
            Value::String(v) => serializer.serialize_str(v),
            Value::Bytes(v) => v.save(serializer),
            Value::Quantity(v) => v.save(serializer),
            Value::Time(v) => v.save(serializer),
            Value::MicroTime(v) => v.save(serializer),
            Value::Duration(v) => v.save(serializer),
            Value::IntOrString(v) => v.save(serializer),
            Value::RawExtension(v) => v.save(serializer),
            Value::FieldsV1(v) => v.save(serializer),
            Value::Json(v) => v.save(serializer),
            Value::Document(v) => v.save(serializer),
            Value::Struct(v) => v.serialize(serializer),
            Value::List(v) if v.is_empty() => serializer.serialize_unit(),
            Value::List(v) => each_scalar!(v, List, v => serializer.collect_seq(v.iter().map(Scalar))),
            Value::Map(v) if v.is_empty() => serializer.serialize_unit(),
            Value::Map(v) => each_scalar!(v, Map, v => serializer.collect_map(v.iter().map(|(k, v)| (k, Scalar(v))))),
            Value::StructList(v) => serialize_list(v, serializer),
            Value::StructMap(v) => serialize_map(v, serializer),
        }
    }
}

fn serialize_list<S: Serializer>(list: StructList<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    if list.is_empty() {
        return serializer.serialize_unit();
    }
    let mut seq = serializer.serialize_seq(Some(list.len()))?;
    list.iter().try_for_each(|item| seq.serialize_element(&item))?;
    seq.end()
}

fn serialize_map<S: Serializer>(map: StructMap<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    if map.is_empty() {
        return serializer.serialize_unit();
    }
    let mut out = serializer.serialize_map(Some(map.len()))?;
    let mut result = Ok(());
    map.for_each(|key, item| {
        if result.is_ok() {
            result = out.serialize_entry(key, &item);
        }
    });
    result?;
    out.end()
}

/// Deserializes into a struct. Absent fields keep their values, unknown ones are skipped.
///
/// # Errors
/// The error of the deserializer, and its custom error when a scalar is malformed.
pub fn deserialize_into<'de, D: Deserializer<'de>>(into: Mut<'_>, deserializer: D) -> Result<(), D::Error> {
    Place(into).deserialize(deserializer)
}

/// A deserialization seed for a struct.
struct Place<'a>(Mut<'a>);

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        match self.0.def().json_form {
            JsonForm::Fields | JsonForm::Open => deserializer.deserialize_any(self),
            JsonForm::Items => Field(self.0.slot_flat(0)).deserialize(deserializer),
            // The unions of apiextensions are rare: they are converted through text.
            _ => {
                let tree = json::Value::deserialize(deserializer)?;
                json::from_value(&tree, self.0, &mut json::Issues::ignore()).map_err(D::Error::custom)
            }
        }
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}", self.0.def().name)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let tables = self.0.def().tables();
        while let Some(name) = map.next_key_seed(FieldName(tables))? {
            match name {
                Key::Known(index) => map.next_value_seed(Field(self.0.slot_flat(index)))?,
                Key::Unknown(name) => match self.0.undeclared() {
                    Some(document) => drop(document.0.insert(name, map.next_value()?)),
                    None => drop(map.next_value::<IgnoredAny>()?),
                },
            }
        }
        Ok(())
    }
}

/// A key: the index of a field, or a name that is unknown.
enum Key {
    Known(usize),
    Unknown(String),
}

/// Deserializes a key.
struct FieldName(&'static crate::reflect::Tables);

impl<'de> DeserializeSeed<'de> for FieldName {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de> Visitor<'de> for FieldName {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.find(name).map_or_else(|| Key::Unknown(name.to_owned()), Key::Known))
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Self::Value, E> {
        let name = String::from_utf8_lossy(name);
        Ok(self.0.find(&name).map_or_else(|| Key::Unknown(name.into_owned()), Key::Known))
    }
}

/// A deserialization seed for a field.
struct Field<'a>(Slot<'a>);

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Slot::One(one) => each_scalar!(one, OneMut, v => {
                *v = SerdeScalar::load(deserializer)?;
                Ok(())
            }),
            Slot::Opt(opt) => each_scalar!(opt, OptMut, v => {
                *v = Option::<Loaded<_>>::deserialize(deserializer)?.map(|loaded| loaded.0);
                Ok(())
            }),
            Slot::List(list) => each_scalar!(list, ListMut, v => {
                let items: Option<Vec<Loaded<_>>> = Option::deserialize(deserializer)?;
                *v = items.into_iter().flatten().map(|loaded| loaded.0).collect();
                Ok(())
            }),
            Slot::Map(map) => each_scalar!(map, MapMut, v => {
                let entries: Option<BTreeMap<String, Loaded<_>>> = Option::deserialize(deserializer)?;
                *v = entries.into_iter().flatten().map(|(key, loaded)| (key, loaded.0)).collect();
                Ok(())
            }),
            Slot::Struct(into) => Place(into).deserialize(deserializer),
            slot => deserializer.deserialize_option(Nested(slot)),
        }
    }
}

/// A scalar that is deserialized with its own format.
struct Loaded<T>(T);

impl<'de, T: SerdeScalar> Deserialize<'de> for Loaded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::load(deserializer).map(Loaded)
    }
}

/// An optional struct, or a list or a map of structs.
struct Nested<'a>(Slot<'a>);

impl<'de> Visitor<'de> for Nested<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a struct, a list or a map")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        self.0.clear();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.clear();
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Slot::OptStruct(opt) => Place(opt.get_or_insert()).deserialize(deserializer),
            Slot::StructList(_) => deserializer.deserialize_seq(self),
            _ => deserializer.deserialize_map(self),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Slot::StructList(mut list) = self.0 else { return Err(A::Error::custom("a list where none can be")) };
        list.truncate(0);
        // Reading an item is the only way to detect that there is one, so one extra item is pushed
        // at the end.
        while seq.next_element_seed(Place(list.push()))?.is_some() {}
        let count = list.as_list().len();
        list.truncate(count - 1);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Slot::StructMap(mut map) = self.0 else { return Err(A::Error::custom("a map where none can be")) };
        map.clear();
        while let Some(key) = entries.next_key::<String>()? {
            entries.next_value_seed(Place(map.entry(key)))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Ref<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.def().name);
        for (index, field) in self.def().json_fields().enumerate() {
            let value = self.get_flat(index);
            if !value.is_empty() {
                out.field(field.json, &value);
            }
        }
        out.finish()
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Null => f.write_str("null"),
            Value::Bool(v) => v.fmt(f),
            Value::I32(v) => v.fmt(f),
            Value::I64(v) => v.fmt(f),
            Value::F64(v) => v.fmt(f),
            Value::String(v) => v.fmt(f),
            Value::Bytes(v) => v.fmt(f),
            Value::Quantity(v) => v.fmt(f),
            Value::Time(v) => v.fmt(f),
            Value::MicroTime(v) => v.fmt(f),
            Value::Duration(v) => v.fmt(f),
            Value::IntOrString(v) => v.fmt(f),
            Value::RawExtension(v) => v.fmt(f),
            Value::FieldsV1(v) => v.fmt(f),
            Value::Json(v) => v.fmt(f),
            Value::Document(v) => v.fmt(f),
            Value::Struct(v) => v.fmt(f),
            Value::List(v) => each_scalar!(v, List, v => v.fmt(f)),
            Value::Map(v) => each_scalar!(v, Map, v => v.fmt(f)),
            Value::StructList(v) => f.debug_list().entries(v.iter()).finish(),
            Value::StructMap(v) => {
                let mut map = f.debug_map();
                v.for_each(|key, item| {
                    map.entry(&key, &item);
                });
                map.finish()
            }
        }
    }
}
