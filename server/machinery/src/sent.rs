//! What a writer sent, for messages that show it.
//!
//! Upstream's types tell a list or map that is empty from one that is not there (Go's nil), and its messages show which it is: `[]`, `{}` or
//! `null`. Ours do not tell them apart, so a message that shows `null` is completed by what was sent.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::field_error::{BadValue, FieldError};
use crate::json;
use crate::reflect::{self, Ref};

/// The document of one request. It is read once, only when something is wrong with it, or for what it says empty.
/// Clones share it.
#[derive(Clone, Default)]
pub struct Sent(Arc<Mutex<Document>>);

#[derive(Default)]
enum Document {
    #[default]
    None,
    Unread(Box<dyn FnOnce() -> Option<Value> + Send>),
    Read(Value),
}

impl Document {
    fn read(&mut self) -> Option<&Value> {
        if let Document::Unread(_) = self
            && let Document::Unread(read) = std::mem::take(self)
            && let Some(value) = read()
        {
            *self = Document::Read(value);
        }
        match self {
            Document::Read(value) => Some(value),
            _ => None,
        }
    }
}

impl Sent {
    /// Remembers how to read the document.
    pub fn set(&self, read: impl FnOnce() -> Option<Value> + Send + 'static) {
        *self.document() = Document::Unread(Box::new(read));
    }

    fn document(&self) -> MutexGuard<'_, Document> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what is empty in the document where errors show nothing.
    pub fn complete(&self, errors: &mut [FieldError]) {
        if !errors.iter().any(|error| shows_nothing(&error.bad_value)) {
            return;
        }
        let mut sent = self.document();
        let Some(document) = sent.read() else { return };
        for error in errors {
            let sent = match error.bad_value {
                BadValue::NoneIn(field) => find(document, &format!("{}.{field}", error.field)),
                // A few of upstream's paths begin below `spec` and do not say so.
                _ => find(document, &error.field).or_else(|| find(document.get("spec")?, &error.field)),
            };
            if let Some(sent) = sent {
                complete(&mut error.bad_value, sent);
            }
        }
    }
}

impl Sent {
    /// The same for the text of a value in JSON, indented by one space, which stands at a path of the document.
    pub fn complete_text(&self, text: String, path: &str) -> String {
        if !text.contains("null") {
            return text;
        }
        let mut document = self.document();
        let sent = document.read().and_then(|document| find(document, path));
        let tree = serde_json::from_str::<Value>(&text).ok();
        let (Some(sent), Some(mut tree)) = (sent, tree) else { return text };
        if !fill(&mut tree, sent) {
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

impl Sent {
    /// Whether the document has an empty list or map where the object has an empty one, at or below the field of this
    /// name.
    pub fn says_empty(&self, object: Ref<'_>, field: &str) -> bool {
        let mut document = self.document();
        let sent = document.read().and_then(|document| document.get(field));
        matches!((object.by_name(field), sent), (Some(value), Some(sent)) if has_empty(value, sent))
    }

    /// Whether the document has something at this path other than null; nothing when there is no
    /// document.
    pub fn has(&self, path: &str) -> Option<bool> {
        let mut document = self.document();
        document.read().map(|document| find(document, path).is_some_and(|value| !value.is_null()))
    }

    /// The version that the document says it is of, empty when it says none.
    pub fn version(&self) -> String {
        let mut document = self.document();
        let said = document.read().and_then(|document| document.get("apiVersion")?.as_str());
        said.map_or("", |said| said.rsplit('/').next().unwrap_or(said)).to_owned()
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

/// Whether a list or map that is empty, or one below this value, was sent empty.
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
        // Bytes, which are a list to Go.
        (reflect::Value::Bytes(bytes), Value::String(sent)) => sent.is_empty() && bytes.is_empty(),
        _ => false,
    }
}

impl fmt::Debug for Sent {
    /// It may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sent")
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
    let (mut at, mut rest) = (document, path);
    while !rest.is_empty() {
        let (step, behind) = match rest.strip_prefix('[') {
            Some(bracket) => bracket.split_once(']')?,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        rest = behind.strip_prefix('.').unwrap_or(behind);
        at = match at {
            Value::Object(members) => members.get(step)?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

fn complete(shown: &mut BadValue, sent: &Value) {
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

/// Puts what was sent empty where nothing is shown; whether there was such. Go names differ from those of JSON in their case.
fn fill(shown: &mut Value, sent: &Value) -> bool {
    match (shown, sent) {
        (shown @ Value::Null, sent) => {
            let is_empty = match sent {
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                // Bytes, which are a list to Go.
                Value::String(text) => text.is_empty(),
                _ => false,
            };
            if is_empty {
                *shown = sent.clone();
            }
            is_empty
        }
        (Value::Object(shown), Value::Object(sent)) => {
            // Of names that differ in nothing but their case, the first one counts.
            let sent = sent.iter().rev().map(|(name, value)| (name.to_ascii_lowercase(), value));
            let sent: HashMap<String, &Value> = sent.collect();
            shown.iter_mut().fold(false, |filled, (name, value)| {
                let sent = sent.get(&name.to_ascii_lowercase());
                sent.is_some_and(|sent| fill(value, sent)) || filled
            })
        }
        (Value::Array(shown), Value::Array(sent)) if shown.len() == sent.len() => {
            shown.iter_mut().zip(sent).fold(false, |filled, (value, sent)| fill(value, sent) || filled)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_path::Path;

    #[test]
    fn texts_show_what_was_sent_empty() {
        let sent = Sent::default();
        sent.set(|| serde_json::from_str(r#"{"spec": {"accessModes": [], "selector": null}}"#).ok());
        let shown = "{\n \"AccessModes\": null,\n \"Selector\": null\n}".to_owned();
        let expect = "{\n \"AccessModes\": [],\n \"Selector\": null\n}";
        assert_eq!(sent.complete_text(shown.clone(), "spec"), expect);
        assert_eq!(sent.complete_text(shown.clone(), "status"), shown);
        sent.set(|| serde_json::from_str(r#"{"spec": {"request": ""}}"#).ok());
        let spec = Path::new("spec");
        let mut errors = [FieldError::invalid(&spec.child("request"), BadValue::None, "why")];
        sent.complete(&mut errors);
        assert_eq!(errors[0].bad_value.to_string(), "\"\"");
    }

    #[test]
    fn says_what_was_sent_empty() {
        let sent = Sent::default();
        assert!(!sent.is_empty_at("spec"), "no document");
        sent.set(|| serde_json::from_str(r#"{"spec": {"a": [], "b": [{"c": {}}], "d": [1], "e": null}}"#).ok());
        for (path, expect) in [("spec.a", true), ("spec.b[0].c", true), ("spec.d", false), ("spec.e", false)] {
            assert_eq!(sent.is_empty_at(path), expect, "{path}");
        }
    }

    /// What the message of an error at a path shows, of a document.
    fn shown(path: &'static str, value: BadValue, document: &'static str) -> String {
        let sent = Sent::default();
        sent.set(move || serde_json::from_str(document).ok());
        let mut errors = [FieldError::invalid(&Path::new(path), value, "")];
        sent.complete(&mut errors);
        errors[0].bad_value.to_string()
    }

    #[test]
    fn what_was_sent_empty_is_shown_empty() {
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
    fn anything_else_is_shown_as_it_is() {
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
        Sent::default().complete(&mut errors);
        assert_eq!(errors[0].bad_value, BadValue::None);
    }
}
