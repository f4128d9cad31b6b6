//! How stored custom objects are read into the cache: as JSON text in their stored version, with their revision in it, and with what their
//! schema makes of them.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref};
use registry::Describe;
use serde_json::Value;
use storage::cache::{Attributes, Description, Entry};
use storage::{KeyValue, Revision};

use crate::custom::CustomKind;
use crate::unstructured::Unstructured;

/// Reads the objects of one definition, by what it says at the moment.
pub struct TextForm(RwLock<Arc<CustomKind>>);

impl TextForm {
    pub fn new(kind: Arc<CustomKind>) -> Self {
        TextForm(RwLock::new(kind))
    }

    /// Reads by another definition from now on.
    pub fn replace(&self, kind: Arc<CustomKind>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = kind;
    }

    fn kind(&self) -> Arc<CustomKind> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read(&self, kv: &KeyValue) -> Result<Description, String> {
        let kind = self.kind();
        let mut object = Unstructured::default();
        json::decode(&kv.value, Mut::of(&mut object), &mut Issues::ignore()).map_err(|e| e.to_string())?;
        let api_version = std::mem::take(&mut object.type_meta.api_version);
        let version = kind.version_of(&api_version);
        if let Some(version) = version {
            version.complete(&mut object, true, &mut Issues::ignore())?;
        }
        // Objects of before there was a generation.
        object.metadata.generation = object.metadata.generation.max(1);
        let revision = kv.mod_revision.to_string();
        let stored_revision = std::mem::replace(&mut object.metadata.resource_version, revision);
        let attributes = attributes(&kind, &object);
        let text = text(&api_version, &kind.kind, &object);
        object.metadata.resource_version = stored_revision;
        let changed = self::text(&api_version, &kind.kind, &object) != kv.value;
        Ok(Description { object: text, attributes, stored: changed.then(|| kv.value.clone()), damage: None })
    }
}

/// The text of an object as it is stored and served.
pub fn text(api_version: &str, kind: &str, object: &Unstructured) -> Bytes {
    let mut out = Vec::with_capacity(1024);
    json::encode_object(api_version, kind, Ref::of(object), &mut out);
    out.push(b'\n');
    out.shrink_to_fit();
    out.into()
}

/// The same as a tree.
pub fn document(api_version: &str, kind: &str, object: &Unstructured) -> Value {
    let mut document = json::to_value(Ref::of(object));
    if let Value::Object(members) = &mut document {
        members.insert("kind".into(), kind.into());
        members.insert("apiVersion".into(), api_version.into());
    }
    document
}

fn attributes(kind: &CustomKind, object: &Unstructured) -> Attributes {
    let fields: Vec<String> = kind.selectable.iter().map(|field| field.value.of(Ref::of(object))).collect();
    let labels = object.metadata.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Attributes::new(&fields, labels)
}

fn damaged(why: String) -> Description {
    Description { damage: Some(why.into()), ..Description::default() }
}

impl Describe for TextForm {
    fn describe(&self, kv: &KeyValue) -> Description {
        self.read(kv).unwrap_or_else(damaged)
    }

    fn at_revision(&self, entry: &Entry, revision: Revision) -> Description {
        let mut object = Unstructured::default();
        if let Err(why) = json::decode(&entry.object, Mut::of(&mut object), &mut Issues::ignore()) {
            return damaged(why.to_string());
        }
        object.metadata.resource_version = revision.to_string();
        let object = text(&object.type_meta.api_version, &object.type_meta.kind, &object);
        Description { object, attributes: entry.attributes.clone(), stored: None, damage: None }
    }
}
