//! Conversion of objects between the stored version and the requested version.

use std::mem::take;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Owned};
use machinery::status::Status;
use registry::VersionConverter;
use serde_json::Value;
use storage::cache::{EncodingId, Entry, LabelsAndFields};

use crate::conversion::{ConversionStrategy, FieldConversion};
use crate::custom::{CustomKind, CustomVersion};
use crate::form;
use crate::pending::PendingConversions;
use crate::unstructured::Unstructured;

/// A version of a definition, relative to the stored version.
#[derive(Clone)]
pub struct OneVersion {
    kind: Arc<CustomKind>,
    name: String,
    /// The prefix of the text of an object of this version.
    head: Vec<u8>,
    /// Cache key of objects in this version. It differs between compilations of a definition.
    id: EncodingId,
    /// Webhook conversions in progress.
    conversions: PendingConversions,
}

impl OneVersion {
    pub fn new(kind: Arc<CustomKind>, version: &CustomVersion) -> Self {
        let head = format!("{{\"apiVersion\":\"{}\",", version.api_version).into_bytes();
        let index = kind.versions.iter().position(|other| other.name == version.name).unwrap_or_default();
        // The high bit separates these from keys that are addresses.
        let id = 1 << 63 | kind.serial << 16 | index as u64;
        OneVersion { name: version.name.clone(), kind, head, id, conversions: PendingConversions::default() }
    }

    fn version(&self, name: &str) -> Result<&CustomVersion, Status> {
        self.kind.version(name).ok_or_else(|| Status::internal(format!("there is no version {name}")))
    }

    /// Returns the cached conversion of an entry.
    fn known(&self, entry: &Arc<Entry>) -> Option<Arc<Entry>> {
        Some(Arc::new(entry.with_object(entry.encoding(self.id)?)))
    }

    /// Prunes and caches a converted object, and returns its entry.
    fn finish(&self, version: &CustomVersion, entry: &Arc<Entry>, mut object: Unstructured) -> Arc<Entry> {
        version.prune(&mut object);
        let converted = Bytes::from(form::text(&version.api_version, &self.kind.kind, &object));
        entry.keep_encoding(self.id, &converted);
        Arc::new(entry.with_object(converted))
    }

    fn convert_fields(
        &self,
        fields: &FieldConversion,
        version: &CustomVersion,
        entry: &Arc<Entry>,
    ) -> Result<Arc<Entry>, Status> {
        let mut object = Unstructured::default();
        json::decode(&entry.object, Mut::of(&mut object), &mut Issues::ignore()).map_err(Status::internal)?;
        if let Some(from) = self.kind.version_of(&object.type_meta.api_version) {
            fields.convert(&mut object.content.0, &from.name, &version.name)?;
        }
        Ok(self.finish(version, entry, object))
    }

    /// Converts an object of this version to the stored version and encodes it.
    async fn converted(&self, mut object: Unstructured, stored: &CustomVersion) -> Result<Vec<u8>, Status> {
        match &self.kind.conversion {
            ConversionStrategy::Fields(fields) => fields.convert(&mut object.content.0, &self.name, &stored.name)?,
            ConversionStrategy::Webhook(webhook) => {
                let api_version = &self.version(&self.name)?.api_version;
                let document = form::document(api_version, &self.kind.kind, &object);
                object = read(&webhook.convert_one(document, &stored.api_version).await?)?;
            }
        }
        stored.prune(&mut object);
        Ok(form::text(&stored.api_version, &self.kind.kind, &object))
    }

    /// Converts entries of other versions by a webhook.
    async fn convert(self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status> {
        let (ConversionStrategy::Webhook(webhook), version) = (&self.kind.conversion, self.version(&self.name)?) else {
            return Ok(entries);
        };
        let parse = |entry: &Arc<Entry>| json::parse(&entry.object, &mut Issues::ignore()).map_err(Status::internal);
        let objects = entries.iter().map(parse).collect::<Result<_, _>>()?;
        let converted = webhook.convert(objects, &version.api_version).await?;
        let finish = |(entry, value): (&Arc<Entry>, Value)| Ok(self.finish(version, entry, read(&value)?));
        entries.iter().zip(converted).map(finish).collect()
    }
}

fn read(value: &Value) -> Result<Unstructured, Status> {
    let mut object = Unstructured::default();
    json::from_value(value, Mut::of(&mut object), &mut Issues::ignore()).map_err(Status::internal)?;
    Ok(object)
}

#[async_trait]
impl VersionConverter for OneVersion {
    fn is_stored(&self) -> bool {
        self.name == self.kind.storage_version
    }

    fn is_read(&self, entry: &Entry) -> bool {
        entry.object.starts_with(&self.head)
    }

    fn selects_converted(&self) -> bool {
        matches!(self.kind.conversion, ConversionStrategy::Webhook(_))
    }

    fn attributes(&self, entry: &Entry) -> LabelsAndFields {
        let mut object = Unstructured::default();
        match json::decode(&entry.object, Mut::of(&mut object), &mut Issues::ignore()) {
            Ok(()) => form::attributes(&self.kind, self.kind.version(&self.name), &object),
            Err(_) => LabelsAndFields::default(),
        }
    }

    async fn read(&self, mut entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status> {
        let version = self.version(&self.name)?;
        let mut others = Vec::new();
        for (index, entry) in entries.iter_mut().enumerate().filter(|(_, entry)| !self.is_read(entry)) {
            match self.known(entry) {
                Some(known) => *entry = known,
                None => others.push((index, entry.clone())),
            }
        }
        let (places, others): (Vec<usize>, Vec<Arc<Entry>>) = others.into_iter().unzip();
        let converted = match &self.kind.conversion {
            ConversionStrategy::Fields(fields) => {
                others.iter().map(|entry| self.convert_fields(fields, version, entry)).collect::<Result<_, _>>()?
            }
            ConversionStrategy::Webhook(_) => {
                self.conversions.of(&others, |others| self.clone().convert(others)).await?
            }
        };
        for (place, entry) in places.into_iter().zip(converted) {
            entries[place] = entry;
        }
        Ok(entries)
    }

    async fn write(&self, object: &mut Owned) -> Result<Vec<u8>, Status> {
        let object = object.downcast_mut::<Unstructured>().ok_or_else(|| Status::internal("no custom object"))?;
        let kept = (take(&mut object.metadata.resource_version), take(&mut object.metadata.self_link));
        let stored = self.version(&self.kind.storage_version)?;
        let text = match stored.name == self.name {
            true => Ok(form::text(&stored.api_version, &self.kind.kind, object)),
            false => self.converted(object.clone(), stored).await,
        };
        (object.metadata.resource_version, object.metadata.self_link) = kept;
        text
    }
}
