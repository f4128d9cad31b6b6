//! Reads and writes the text of a `fieldsV1` without an intermediate tree, because every write of an
//! object reads its owners.

use std::fmt;

use machinery::json;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::{FieldSet, FieldSetBuilder, PathElement};
use crate::Error;

impl FieldSet {
    /// Parses the text of a `fieldsV1`. Elements of unknown types are dropped, as upstream does.
    ///
    /// # Errors
    /// As [`FieldSet::from_value`].
    pub fn from_json(text: &[u8]) -> Result<Self, Error> {
        let mut reader = serde_json::Deserializer::from_slice(text);
        match Place.deserialize(&mut reader) {
            Ok((set, _)) => Ok(set),
            // The slow path finds the error.
            Err(_) => Self::from_value(&serde_json::from_slice(text).unwrap_or(Value::Null)),
        }
    }

    /// Appends the text of a `fieldsV1`, in upstream's order.
    pub fn append_json(&self, out: &mut Vec<u8>) {
        self.append_object(false, &mut Vec::new(), out);
    }

    /// Appends the object of this set; `name` is a buffer for the text of an element.
    fn append_object(&self, is_member: bool, name: &mut Vec<u8>, out: &mut Vec<u8>) {
        let start = out.len();
        if is_member && !self.is_empty() {
            out.extend_from_slice(br#",".":{}"#);
        }
        for entry in &self.entries {
            out.push(b',');
            match &entry.element {
                PathElement::Field(field) => json::prefixed_string(out, "f:", field),
                element => {
                    name.clear();
                    element.append_text(name);
                    json::string(out, std::str::from_utf8(name).unwrap_or_default());
                }
            }
            out.push(b':');
            entry.below.append_object(entry.is_member, name, out);
        }
        match out.get_mut(start) {
            Some(comma) => *comma = b'{',
            None => out.push(b'{'),
        }
        out.push(b'}');
    }
}

/// An object of a `fieldsV1`: the set of fields below it, and whether it is itself a field.
struct Place;

impl<'de> DeserializeSeed<'de> for Place {
    type Value = (FieldSet, bool);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Place {
    type Value = (FieldSet, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut set = FieldSetBuilder::default();
        let mut is_member = false;
        while let Some(key) = map.next_key_seed(Key)? {
            let (child, child_is_member) = map.next_value_seed(Place)?;
            match key {
                Member::Itself => is_member = true,
                Member::Step(element) => set.add(element, child_is_member, child),
                Member::Unknown => {}
            }
        }
        let is_leaf = set.is_empty();
        Ok((set.build(), is_member || is_leaf))
    }
}

/// A parsed key of an object, read without a copy of its text.
enum Member {
    /// The key `.`: the object is itself a field.
    Itself,
    Step(PathElement),
    /// An element of an unknown type.
    Unknown,
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step of a path")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Member, E> {
        if key == "." {
            return Ok(Member::Itself);
        }
        Ok(PathElement::parse(key).map_err(E::custom)?.map_or(Member::Unknown, Member::Step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_numbers_come_back_as_they_were() {
        for number in ["0.1", "4.444444444444444e+38", "444444444444444444444444444444487444444877", "1e-7"] {
            let set = FieldSet::from_json(format!("{{\"v:{number}\":{{}}}}").as_bytes()).unwrap();
            let mut out = Vec::new();
            set.append_json(&mut out);
            assert_eq!(FieldSet::from_json(&out).as_ref(), Ok(&set), "{number}");
        }
        // Negative zero is written as zero, as upstream does.
        let mut out = Vec::new();
        FieldSet::from_json(b"{\"v:-0.0\":{}}").unwrap().append_json(&mut out);
        assert_eq!(out, b"{\"v:0\":{}}");
    }

    #[test]
    fn reads_and_writes_as_the_tree_does() {
        let texts = [
            "{}",
            r#"{"f:data":{".":{},"f:a":{},"f:b":{}}}"#,
            r#"{"f:metadata":{"f:labels":{"f:x/y":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:ports":{"v:1":{},"i:0":{}}}}}}"#,
            r#"{"f:b":{},"f:a":{"f:c":{}},"u:x":{}}"#,
            r#"{"f:a":{".":{"f:deep":{}}}}"#,
            r#"{"f":{}}"#,
            r#"{"Ƥ":{}}"#,
            r#"{"fé":{}}"#,
            r#"{"f:a":1}"#,
            "[]",
            "null",
            "{",
        ];
        for text in texts {
            let tree = serde_json::from_str(text).unwrap_or(Value::Null);
            let set = FieldSet::from_json(text.as_bytes());
            assert_eq!(set, FieldSet::from_value(&tree), "{text}");
            let Ok(set) = set else { continue };
            let mut out = Vec::new();
            set.append_json(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), set.to_value().to_string(), "{text}");
        }
    }
}
