//! Objects between the version that they are stored in and the one that is asked for.

use std::sync::Arc;

use async_trait::async_trait;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Owned};
use machinery::status::Status;
use registry::Versions;
use storage::cache::Entry;

use crate::custom::{CustomKind, Version};
use crate::form::text;
use crate::unstructured::Unstructured;

/// The conversion of a definition whose versions differ in what their schemas know.
pub struct OneVersion {
    kind: Arc<CustomKind>,
    name: String,
    /// What the text of an object of this version begins with.
    head: Vec<u8>,
}

impl OneVersion {
    pub fn new(kind: Arc<CustomKind>, version: &Version) -> Self {
        let head = format!("{{\"apiVersion\":\"{}\",", version.api_version).into_bytes();
        OneVersion { name: version.name.clone(), kind, head }
    }

    fn version(&self, name: &str) -> Result<&Version, Status> {
        self.kind.version(name).ok_or_else(|| Status::internal(format!("there is no version {name}")))
    }

    fn read_one(&self, entry: &Arc<Entry>) -> Result<Arc<Entry>, Status> {
        let version = self.version(&self.name)?;
        let id = std::ptr::from_ref(version.def) as u64;
        if let Some(known) = entry.encoding(id) {
            return Ok(Arc::new(entry.with_object(known)));
        }
        let mut object = Unstructured::default();
        json::decode(&entry.object, Mut::of(&mut object), &mut Issues::ignore()).map_err(Status::internal)?;
        version.prune(&mut object);
        let converted = text(&version.api_version, &self.kind.kind, &object);
        entry.keep_encoding(id, &converted);
        Ok(Arc::new(entry.with_object(converted)))
    }
}

#[async_trait]
impl Versions for OneVersion {
    fn is_read(&self, entry: &Entry) -> bool {
        entry.object.starts_with(&self.head)
    }

    async fn read(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status> {
        let read = |entry: Arc<Entry>| if self.is_read(&entry) { Ok(entry) } else { self.read_one(&entry) };
        entries.into_iter().map(read).collect()
    }

    async fn write(&self, object: &Owned) -> Result<Vec<u8>, Status> {
        let object = object.downcast_ref::<Unstructured>();
        let mut object = object.cloned().ok_or_else(|| Status::internal("no custom object"))?;
        object.metadata.resource_version.clear();
        object.metadata.self_link.clear();
        let stored = self.version(&self.kind.storage_version)?;
        if stored.name != self.name {
            stored.prune(&mut object);
        }
        Ok(text(&stored.api_version, &self.kind.kind, &object).to_vec())
    }
}
