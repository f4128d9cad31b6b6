//! Decoding of stored values into cache entries: the message with its revision, and the values that
//! selectors match. No other part of an object is decoded.

use apimachinery::meta::v1::ObjectMeta;
use bytes::Bytes;
use machinery::catalog::{Catalog, KindDef, SelectableDef};
use machinery::def::StructDef;
use machinery::protobuf;
use machinery::protobuf::{Mask, decode_masked, with_text};
use machinery::reflect::{Owned, Ref, Struct};
use storage::cache::{Damage, Description, Entry, EntryDecoder, LabelsAndFields};
use storage::{KeyValue, Revision};

use crate::complete::Complete;
use crate::error::Result;
use crate::metadata::meta;

/// Decodes values of one kind in its storage version.
pub(crate) struct StoredForm {
    kind: &'static KindDef,
    complete: Complete,
    selectable: Vec<&'static SelectableDef>,
    /// The fields to decode for the attributes; `None` decodes everything.
    mask: Option<Mask>,
    /// Protobuf numbers of `metadata`, and of `resourceVersion` in it.
    metadata: u32,
    resource_version: u32,
}

impl StoredForm {
    /// Creates a decoder. The attributes of its entries have the values of `selectable`, in this order.
    pub fn new(catalog: &'static Catalog, kind: &'static KindDef, selectable: Vec<&'static SelectableDef>) -> Self {
        let mask = mask(kind, &selectable);
        let number = |def: &'static StructDef, name| def.json_field(name).map_or(0, |field| field.number);
        StoredForm {
            kind,
            complete: Complete::new(catalog, kind),
            selectable,
            mask,
            metadata: number(kind.def, "metadata"),
            resource_version: number(ObjectMeta::def(), "resourceVersion"),
        }
    }

    fn read(&self, raw: &[u8], revision: Revision) -> Result<(Bytes, LabelsAndFields)> {
        let object = with_text(raw, self.metadata, self.resource_version, &revision.to_string())?;
        let mut value = Owned::new(self.kind.def);
        let attributes = match &self.mask {
            Some(mask) => {
                decode_masked(raw, mask, value.as_mut())?;
                self.attributes(value.as_ref())
            }
            None => {
                protobuf::decode(raw, value.as_mut())?;
                self.attributes(self.kind.to_hub(value).as_ref())
            }
        };
        Ok((object.into(), attributes))
    }

    fn attributes(&self, hub: Ref<'_>) -> LabelsAndFields {
        let fields: Vec<String> = self.selectable.iter().map(|field| field.value.of(hub)).collect();
        let labels = meta(hub).into_iter().flat_map(|meta| &meta.labels);
        LabelsAndFields::new(&fields, labels.map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

impl EntryDecoder for StoredForm {
    fn describe(&self, kv: &KeyValue) -> Description {
        let complete = self.complete.message(&kv.value);
        let read = complete.and_then(|message| Ok((self.read(&message.raw, kv.mod_revision)?, message.is_stored)));
        match read {
            Ok(((object, attributes), is_stored)) => {
                let stored = (!is_stored).then(|| kv.value.clone());
                Description { object, attributes, stored, damage: None }
            }
            Err(error) => damaged(&error.to_string()),
        }
    }

    fn at_revision(&self, entry: &Entry, revision: Revision) -> Description {
        match with_text(&entry.object, self.metadata, self.resource_version, &revision.to_string()) {
            Ok(object) => {
                Description { object: object.into(), attributes: entry.attributes.clone(), stored: None, damage: None }
            }
            Err(error) => damaged(&error.to_string()),
        }
    }
}

fn damaged(why: &str) -> Description {
    Description { damage: Some(Damage::Undecodable(why.into())), ..Description::default() }
}

/// Returns the mask of labels and selectable fields; `None` when a field does not declare the fields
/// that it reads.
fn mask(kind: &'static KindDef, selectable: &[&'static SelectableDef]) -> Option<Mask> {
    if kind.conversion.is_some() {
        return None;
    }
    let mut mask = Mask::new(kind.def);
    let known = mask.add(&["metadata", "labels"])
        && selectable.iter().all(|field| field.reads.iter().all(|path| mask.add(path)) && !field.reads.is_empty());
    known.then_some(mask)
}
