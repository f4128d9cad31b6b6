//! Decoding of stored custom objects into the cache: JSON text in the stored version, with its
//! revision, pruned and defaulted. Most objects were written with the current schema; their text is
//! scanned without building a tree.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use endpoints::Origin;
use machinery::json::{self, Issues, Scanner};
use machinery::reflect::{Mut, Ref};
use registry::EntryDecoder;
use serde_json::Value;
use storage::cache::{Damage, Description, Entry, LabelsAndFields};
use storage::{KeyValue, Revision};

use crate::custom::{CustomKind, CustomVersion};
use crate::error::{Error, Result};
use crate::unstructured::Unstructured;

/// Decodes objects of one definition with its current schema.
pub struct TextForm(RwLock<Arc<CustomKind>>);

impl TextForm {
    pub fn new(kind: Arc<CustomKind>) -> Self {
        TextForm(RwLock::new(kind))
    }

    /// Replaces the definition for subsequent objects.
    pub fn replace(&self, kind: Arc<CustomKind>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = kind;
    }

    fn kind(&self) -> Arc<CustomKind> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read(&self, kv: &KeyValue) -> Result<Description> {
        let kind = self.kind();
        match scan(&kind, kv) {
            Some(description) => Ok(description),
            None => Self::read_tree(&kind, kv),
        }
    }

    fn read_tree(kind: &CustomKind, kv: &KeyValue) -> Result<Description> {
        let mut object = Unstructured::default();
        json::decode(&kv.value, Mut::of(&mut object), &mut Issues::ignore())?;
        let api_version = std::mem::take(&mut object.type_meta.api_version);
        let version = kind.version_of(&api_version);
        if let Some(version) = version {
            version.complete(&mut object, Origin::Stored, &mut Issues::ignore())?;
        }
        // Objects from before the generation was introduced.
        object.metadata.generation = object.metadata.generation.max(1);
        let revision = kv.mod_revision.to_string();
        let stored_revision = std::mem::replace(&mut object.metadata.resource_version, revision);
        let attributes = attributes(kind, version, &object);
        let text = text(&api_version, &kind.kind, &object);
        object.metadata.resource_version = stored_revision;
        let changed = self::text(&api_version, &kind.kind, &object) != kv.value;
        Ok(Description { object: text.into(), attributes, stored: changed.then(|| kv.value.clone()), damage: None })
    }
}

/// Describes an object whose text changes only by its revision. Returns nothing if that is not
/// certain.
fn scan(kind: &CustomKind, kv: &KeyValue) -> Option<Description> {
    let text = std::str::from_utf8(&kv.value).ok()?;
    let parts = Parts::of(text)?;
    let version = kind.version_of(parts.api_version).filter(|_| parts.kind == kind.kind)?;
    if version.schema().is_some_and(|schema| !schema::is_complete(text, schema)) {
        return None;
    }
    let mut object = Unstructured::default();
    let mut issues = Issues::collect();
    let metadata = text.get(parts.metadata)?.as_bytes();
    json::decode(metadata, Mut::of(&mut object.metadata), &mut issues).ok()?;
    let is_odd = issues.iter().next().is_some() || object.metadata.generation < 1;
    if is_odd || !object.metadata.resource_version.is_empty() || !object.metadata.self_link.is_empty() {
        return None;
    }
    if !kind.selectable.is_empty() {
        json::decode(&kv.value, Mut::of(&mut object), &mut Issues::ignore()).ok()?;
    }
    let (before, behind) = text.split_at_checked(parts.revision)?;
    let revision = format!("\"resourceVersion\":\"{}\",", kv.mod_revision);
    let object_text = [before, &revision, behind].concat();
    Some(Description {
        object: object_text.into(),
        attributes: attributes(kind, Some(version), &object),
        ..Description::default()
    })
}

/// Positions of fields that every object has in a text.
#[derive(Default)]
struct Parts<'t> {
    api_version: &'t str,
    kind: &'t str,
    metadata: Range<usize>,
    /// Offset at which the metadata's `resourceVersion` is inserted.
    revision: usize,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let mut parts = Parts::default();
        let plain = |range: Range<usize>| text.get(range)?.strip_prefix('"')?.strip_suffix('"');
        Scanner::new(text).members(|name, at| {
            let start = at.at();
            match name {
                "metadata" => at.members(|name, at| {
                    if parts.revision == 0 && name > "resourceVersion" {
                        // The offset before the name, its quotation marks and the colon.
                        parts.revision = at.at().checked_sub(name.len() + 3)?;
                    }
                    at.skip()
                })?,
                _ => at.skip()?,
            }
            match name {
                "apiVersion" => parts.api_version = plain(start..at.at())?,
                "kind" => parts.kind = plain(start..at.at())?,
                "metadata" => parts.metadata = start..at.at(),
                _ => {}
            }
            Some(())
        })?;
        (parts.revision > 0).then_some(parts)
    }
}

/// Encodes an object as it is stored and served.
pub fn text(api_version: &str, kind: &str, object: &Unstructured) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    json::encode_object(api_version, kind, Ref::of(object), &mut out);
    out.push(b'\n');
    out.shrink_to_fit();
    out
}

/// Converts an object to a document.
pub fn document(api_version: &str, kind: &str, object: &Unstructured) -> Value {
    let mut document = json::to_value(Ref::of(object));
    if let Value::Object(members) = &mut document {
        members.insert("kind".into(), kind.into());
        members.insert("apiVersion".into(), api_version.into());
    }
    document
}

/// Returns the attributes of an object for selectors of a version.
pub fn attributes(kind: &CustomKind, version: Option<&CustomVersion>, object: &Unstructured) -> LabelsAndFields {
    let from = version.map_or("", |version| &version.name);
    let fields = kind.selectable.values(object, from, &kind.conversion);
    let labels = object.metadata.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    LabelsAndFields::new(&fields, labels)
}

fn damaged(error: &Error) -> Description {
    Description { damage: Some(Damage::Undecodable(error.to_string().into())), ..Description::default() }
}

impl EntryDecoder for TextForm {
    fn describe(&self, kv: &KeyValue) -> Description {
        self.read(kv).unwrap_or_else(|error| damaged(&error))
    }

    fn at_revision(&self, entry: &Entry, revision: Revision) -> Description {
        let mut object = Unstructured::default();
        if let Err(why) = json::decode(&entry.object, Mut::of(&mut object), &mut Issues::ignore()) {
            return damaged(&why.into());
        }
        object.metadata.resource_version = revision.to_string();
        let object = text(&object.type_meta.api_version, &object.type_meta.kind, &object);
        Description { object: object.into(), attributes: entry.attributes.clone(), stored: None, damage: None }
    }
}

#[cfg(test)]
mod tests {
    use apimachinery::apiextensions::v1::CustomResourceDefinition;
    use serde_json::json;

    use super::*;
    use crate::conversion::Calls;

    fn kind(schema: Value) -> CustomKind {
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let names = json!({"plural": "widgets", "kind": "Widget"});
        let document = json!({
            "spec": {"group": "x.y", "scope": "Namespaced", "names": names, "versions": [version]},
            "status": {"acceptedNames": names},
        });
        let mut definition = CustomResourceDefinition::default();
        json::from_value(&document, Mut::of(&mut definition), &mut Issues::ignore()).expect("a definition");
        CustomKind::of(&definition, false, &Arc::new(Calls::without_services()))
    }

    /// Returns the text of the decoded entry and whether scanning sufficed. Checks that both ways
    /// agree.
    fn read(kind: &CustomKind, stored: &str) -> (String, bool) {
        let kv = KeyValue { value: format!("{stored}\n").into(), mod_revision: 7, ..KeyValue::default() };
        let tree = TextForm::read_tree(kind, &kv).expect("an object");
        let scanned = scan(kind, &kv);
        if let Some(scanned) = &scanned {
            assert_eq!((&scanned.object, &scanned.attributes), (&tree.object, &tree.attributes), "{stored}");
            assert!(scanned.stored.is_none() && tree.stored.is_none(), "{stored}");
        }
        (String::from_utf8_lossy(&tree.object).trim_end().to_owned(), scanned.is_some())
    }

    #[test]
    fn scans_texts_that_decoding_does_not_change() {
        let kind = kind(json!({"type": "object", "properties": {
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "spec": {"type": "object", "properties": {
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}},
                "none": {"type": "string", "nullable": true},
                "size": {"type": "integer"},
            }},
        }}));
        let object = |members: &str| {
            let metadata = r#"{"generation":1,"labels":{"a":"b"},"name":"a","uid":"u"}"#;
            format!(r#"{{"apiVersion":"x.y/v1","kind":"Widget","metadata":{metadata}{members}}}"#)
        };
        let check = |members: &str, expect: &str, scanned: bool| {
            let expect = object(expect).replace(r#""uid""#, r#""resourceVersion":"7","uid""#);
            assert_eq!(read(&kind, &object(members)), (expect, scanned), "{members}");
        };
        let same = |members: &str, scanned: bool| check(members, members, scanned);
        same("", true);
        same(r#","open":{"x":{"b":[{}],"c":null}},"spec":{"labels":{"é":"\"{"},"list":[{"n":1}],"none":null}"#, true);
        check(r#","spec":{"list":[{}]}"#, r#","spec":{"list":[{"n":1}]}"#, false);
        check(r#","spec":{"other":1,"size":1}"#, r#","spec":{"size":1}"#, false);
        check(r#","spec":{"size":null}"#, r#","spec":{}"#, false);
        check(r#","spec":{"size":1,"list":[]}"#, r#","spec":{"list":[],"size":1}"#, false);
        check(r#","spec":{ "size":1}"#, r#","spec":{"size":1}"#, false);
        // Changes in metadata are detected as well.
        for (from, to) in [(r#""generation":1,"#, ""), (r#"{"a":"b"}"#, r#"{"a":"b"},"mine":1"#)] {
            let (text, scanned) = read(&kind, &object("").replace(from, to));
            assert_eq!((text, scanned), (object("").replace(r#""uid""#, r#""resourceVersion":"7","uid""#), false));
        }
    }
}
