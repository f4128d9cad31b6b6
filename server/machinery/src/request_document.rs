//! The document of a write request, for messages that show parts of it.
//!
//! Upstream's types distinguish an empty list or map from an absent one (Go's nil), and its
//! messages show the difference: `[]`, `{}` or `null`. The types here do not, so a message that
//! shows `null` is completed from the document.

mod document;

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::def::{Shape, StructDef};
use crate::field_error::{BadValue, FieldError};
use crate::json;
use crate::reflect::{self, Ref};
pub use document::RequestDocument;

impl RequestDocument {
    /// Replaces null by the empty lists and maps of the document, in errors about an object of this
    /// type.
    pub fn complete(&self, errors: &mut [FieldError], of: &'static StructDef) {
        if !errors.iter().any(|error| shows_nothing(&error.bad_value)) {
            return;
        }
        let mut sent = self.document();
        let Some(document) = sent.read() else { return };
        let document = Part { value: document, shape: Some(Shape::Struct(of)) };
        for error in errors {
            let sent = match error.bad_value {
                BadValue::NoneIn(field) => document.find(&format!("{}.{field}", error.field)),
                // A few of upstream's paths start below `spec` without that prefix.
                _ => document.find(&error.field).or_else(|| document.member("spec")?.find(&error.field)),
            };
            if let Some(sent) = sent {
                complete(&mut error.bad_value, sent);
            }
        }
    }
}

impl RequestDocument {
    /// As [`Self::complete`], for the JSON text of a value of this type, indented by one space, at
    /// a path of the document.
    pub fn complete_text(&self, text: String, path: &str, of: &'static StructDef) -> String {
        if !text.contains("null") {
            return text;
        }
        let mut document = self.document();
        let sent = document.read().and_then(|document| find(document, path));
        let tree = serde_json::from_str::<Value>(&text).ok();
        let (Some(sent), Some(mut tree)) = (sent, tree) else { return text };
        if !fill(&mut tree, Part { value: sent, shape: Some(Shape::Struct(of)) }) {
            return text;
        }
        let mut out = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b" "));
        match tree.serialize(&mut serializer) {
            Ok(()) => String::from_utf8_lossy(&out).into_owned(),
            Err(_) => text,
        }
    }
}

impl RequestDocument {
    /// Whether the document has an empty list or map where the object has an empty one, at or below
    /// this field.
    pub fn has_sent_empty(&self, object: Ref<'_>, field: &str) -> bool {
        let mut document = self.document();
        let sent = document.read().and_then(|document| document.get(field));
        matches!((object.by_name(field), sent), (Some(value), Some(sent)) if has_empty(value, sent))
    }

    /// Whether the document has a value other than null at this path; `None` without a document.
    pub fn has(&self, path: &str) -> Option<bool> {
        let mut document = self.document();
        document.read().map(|document| find(document, path).is_some_and(|value| !value.is_null()))
    }

    /// The version in the `apiVersion` of the document; empty if there is none.
    pub fn version(&self) -> String {
        let mut document = self.document();
        let api_version = document.read().and_then(|document| document.get("apiVersion")?.as_str());
        api_version.map_or("", |text| text.rsplit('/').next().unwrap_or(text)).to_owned()
    }

    /// Whether the document has an empty list or map at this path, such as `spec.rules[0].values`.
    pub fn is_empty_at(&self, path: &str) -> bool {
        match self.document().read().and_then(|document| find(document, path)) {
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Object(members)) => members.is_empty(),
            _ => false,
        }
    }
}

/// Whether an empty list or map, at or below this value, is also empty in the document.
fn has_empty(value: reflect::Value<'_>, sent: &Value) -> bool {
    let below = |object: Ref<'_>, sent: &Value| {
        object.def().fields.iter().enumerate().any(|(index, field)| match field.json {
            "" => has_empty(object.get(index), sent),
            name => sent.get(name).is_some_and(|sent| has_empty(object.get(index), sent)),
        })
    };
    match (value, sent) {
        (reflect::Value::Struct(object), sent) => below(object, sent),
        (reflect::Value::StructList(items), Value::Array(sent)) if !items.is_empty() => {
            items.iter().zip(sent).any(|(item, sent)| below(item, sent))
        }
        (reflect::Value::StructMap(entries), Value::Object(sent)) if !entries.is_empty() => {
            sent.iter().any(|(key, sent)| entries.get(key).is_some_and(|entry| below(entry, sent)))
        }
        (value, Value::Array(sent)) => sent.is_empty() && value.is_empty(),
        (value, Value::Object(sent)) => sent.is_empty() && value.is_empty() && !matches!(value, reflect::Value::Null),
        // Bytes are a list in Go.
        (reflect::Value::Bytes(bytes), Value::String(sent)) => sent.is_empty() && bytes.is_empty(),
        _ => false,
    }
}

impl fmt::Debug for RequestDocument {
    /// The content is not printed, because it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestDocument")
    }
}

fn shows_nothing(value: &BadValue) -> bool {
    match value {
        BadValue::None | BadValue::NoneIn(_) => true,
        BadValue::Json(text) => text.contains("null"),
        _ => false,
    }
}

/// The value at the path of an error: `spec.rules[0].values`, `metadata.labels[example.com/a]`.
fn find<'d>(document: &'d Value, path: &str) -> Option<&'d Value> {
    Some(Part { value: document, shape: None }.find(path)?.value)
}

/// A value of the document, and its type, if it is known.
#[derive(Clone, Copy)]
struct Part<'d> {
    value: &'d Value,
    shape: Option<Shape>,
}

impl<'d> Part<'d> {
    fn find(self, path: &str) -> Option<Self> {
        let (mut at, mut rest) = (self, path);
        while !rest.is_empty() {
            let (step, behind) = match rest.strip_prefix('[') {
                Some(bracket) => bracket.split_once(']')?,
                None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
            };
            rest = behind.strip_prefix('.').unwrap_or(behind);
            at = match at.value {
                Value::Object(_) => at.member(step)?,
                Value::Array(items) => at.item(items.get(step.parse::<usize>().ok()?)?),
                _ => return None,
            };
        }
        Some(at)
    }

    fn member(self, name: &str) -> Option<Self> {
        let value = self.value.as_object()?.get(name)?;
        Some(Part { value, shape: self.shape_of(name) })
    }

    /// An item of a list.
    fn item(self, value: &'d Value) -> Self {
        Part { value, shape: self.shape.and_then(Shape::struct_def).map(Shape::Struct) }
    }

    /// The type of a member; for a map, that of an entry.
    fn shape_of(self, name: &str) -> Option<Shape> {
        match self.shape? {
            Shape::StructMap(entry, _) => Some(Shape::Struct(entry)),
            shape => {
                let mut fields = shape.struct_def()?.fields.iter();
                Some(fields.find(|field| field.json.eq_ignore_ascii_case(name))?.shape())
            }
        }
    }

    /// Whether an error shows this empty value instead of null.
    ///
    /// An empty struct in the request that the object does not have was dropped, such as a gated
    /// field. For a struct that is never absent, upstream shows null on purpose.
    fn is_empty(self) -> bool {
        match self.value {
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => {
                members.is_empty() && !matches!(self.shape, Some(Shape::Struct(_) | Shape::OptStruct(_)))
            }
            // Bytes are a list in Go.
            Value::String(text) => text.is_empty(),
            _ => false,
        }
    }
}

fn complete(shown: &mut BadValue, sent: Part<'_>) {
    let tree = match shown {
        BadValue::None | BadValue::NoneIn(_) => Some(Value::Null),
        BadValue::Json(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let Some(mut tree) = tree else { return };
    if fill(&mut tree, sent) {
        let mut text = Vec::new();
        json::encode_value_in_order(&tree, &mut text);
        *shown = BadValue::Json(String::from_utf8_lossy(&text).into_owned());
    }
}

/// Replaces nulls by the empty values of the request. Returns whether there were any. Go names
/// differ from JSON names in case.
fn fill(shown: &mut Value, sent: Part<'_>) -> bool {
    match (shown, sent.value) {
        (shown @ Value::Null, value) => {
            if sent.is_empty() {
                *shown = value.clone();
            }
            sent.is_empty()
        }
        (Value::Object(shown), Value::Object(members)) => {
            // Of names that differ in case only, the first one counts.
            let members = members.iter().rev().map(|(name, value)| (name.to_ascii_lowercase(), value));
            let members: HashMap<String, &Value> = members.collect();
            shown.iter_mut().fold(false, |filled, (name, shown)| {
                let value = members.get(&name.to_ascii_lowercase());
                let part = value.map(|value| Part { value, shape: sent.shape_of(name) });
                part.is_some_and(|part| fill(shown, part)) || filled
            })
        }
        (Value::Array(shown), Value::Array(items)) if shown.len() == items.len() => {
            let pairs = shown.iter_mut().zip(items);
            pairs.fold(false, |filled, (shown, item)| fill(shown, sent.item(item)) || filled)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::def::Flags;
    use crate::describe;
    use crate::field_path::Path;
    use crate::reflect::Struct as _;

    const OMIT: Flags = Flags::OMIT_EMPTY;

    #[derive(Clone, Default)]
    struct Spec {
        group: Option<Box<Group>>,
        labels: BTreeMap<String, String>,
    }

    #[derive(Clone, Default)]
    struct Group {
        names: Vec<String>,
    }

    #[derive(Clone, Default)]
    struct Object {
        spec: Spec,
    }

    describe! { Group, GROUP "Group" {} [names: "names", 1, OMIT;] }
    describe! { Spec, SPEC "Spec" {} [group: "group", 1, OMIT; labels: "labels", 2, OMIT;] }
    describe! { Object, OBJECT "Object" {} [spec: "spec", 1, OMIT;] }

    #[test]
    fn texts_show_empty_values_of_document() {
        let sent = RequestDocument::default();
        sent.set(|| serde_json::from_str(r#"{"spec": {"accessModes": [], "selector": null}}"#).ok());
        let shown = "{\n \"AccessModes\": null,\n \"Selector\": null\n}".to_owned();
        let expect = "{\n \"AccessModes\": [],\n \"Selector\": null\n}";
        assert_eq!(sent.complete_text(shown.clone(), "spec", Spec::def()), expect);
        assert_eq!(sent.complete_text(shown.clone(), "status", Spec::def()), shown);
        sent.set(|| serde_json::from_str(r#"{"spec": {"request": ""}}"#).ok());
        let spec = Path::new("spec");
        let mut errors = [FieldError::invalid(&spec.child("request"), BadValue::None, "why")];
        sent.complete(&mut errors, Object::def());
        assert_eq!(errors[0].bad_value.to_string(), "\"\"");
    }

    #[test]
    fn detects_empty_values_of_document() {
        let sent = RequestDocument::default();
        assert!(!sent.is_empty_at("spec"), "no document");
        sent.set(|| serde_json::from_str(r#"{"spec": {"a": [], "b": [{"c": {}}], "d": [1], "e": null}}"#).ok());
        for (path, expect) in [("spec.a", true), ("spec.b[0].c", true), ("spec.d", false), ("spec.e", false)] {
            assert_eq!(sent.is_empty_at(path), expect, "{path}");
        }
    }

    /// The value that the message of an error at a path shows for a document.
    fn shown(path: &'static str, value: BadValue, document: &'static str) -> String {
        let sent = RequestDocument::default();
        sent.set(move || serde_json::from_str(document).ok());
        let mut errors = [FieldError::invalid(&Path::new(path), value, "")];
        sent.complete(&mut errors, Object::def());
        errors[0].bad_value.to_string()
    }

    #[test]
    fn errors_show_empty_values_of_document() {
        let json = |text: &str| BadValue::Json(text.into());
        assert_eq!(shown("spec.cidrs", BadValue::None, r#"{"spec":{"cidrs":[]}}"#), "[]");
        assert_eq!(shown("spec.labels", BadValue::None, r#"{"spec":{"labels":{}}}"#), "{}");
        assert_eq!(shown("labels", BadValue::None, r#"{"spec":{"labels":{}}}"#), "{}", "a path without `spec`");
        assert_eq!(shown("spec", BadValue::NoneIn("rules"), r#"{"spec":{"rules":[]}}"#), "[]");
        assert_eq!(shown("a[1].b[x.y/z]", BadValue::None, r#"{"a":[0,{"b":{"x.y/z":[]}}]}"#), "[]");
        let policy = json(r#"{"Rules":null,"Other":null,"Items":[{"URIs":null}]}"#);
        let sent = r#"{"spec":{"policy":{"items":[{"uris":[]}],"rules":[]}}}"#;
        assert_eq!(shown("spec.policy", policy, sent), r#"{"Rules":[],"Other":null,"Items":[{"URIs":[]}]}"#);
    }

    #[test]
    fn dropped_struct_is_shown_as_null() {
        let spec = BadValue::Json(r#"{"Group":null,"Labels":null}"#.into());
        let sent = r#"{"spec":{"group":{},"labels":{}}}"#;
        assert_eq!(shown("spec", spec, sent), r#"{"Group":null,"Labels":{}}"#);
        assert_eq!(shown("spec.group", BadValue::None, sent), "null");
        assert_eq!(shown("spec", BadValue::None, r#"{"spec":{}}"#), "null");
        assert_eq!(shown("spec.labels", BadValue::None, sent), "{}");
    }

    #[test]
    fn other_values_are_unchanged() {
        let empty = r#"{"spec":{"a":[]}}"#;
        for (path, value, document) in [
            ("spec.b", BadValue::None, empty),
            ("spec.a[0]", BadValue::None, empty),
            ("spec.a", BadValue::None, r#"{"spec":{"a":null}}"#),
            ("spec.a", BadValue::None, r#"{"spec":{"a":["x"]}}"#),
            ("spec", BadValue::Json(r#"{"A":["null"]}"#.into()), r#"{"spec":{"a":["null"]}}"#),
            ("spec.a", BadValue::String("null".into()), empty),
            ("spec.a", BadValue::None, "no document"),
            ("spec", BadValue::NoneIn("rules"), r#"{"spec":{}}"#),
        ] {
            assert_eq!(shown(path, value.clone(), document), value.to_string(), "{path} of {document}");
        }
        let mut errors = [FieldError::invalid(&Path::new("spec"), BadValue::None, "")];
        RequestDocument::default().complete(&mut errors, Object::def());
        assert_eq!(errors[0].bad_value, BadValue::None);
    }
}
