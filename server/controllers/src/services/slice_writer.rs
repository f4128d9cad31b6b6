//! Reads and writes endpoint slices.

use std::sync::Arc;

use endpoints::{GroupVersionResource, Loopback};
use generated::discovery::v1::EndpointSlice;
use machinery::selector::LabelSelector;
use machinery::status::Status;
use registry::{Predicate, ResourceStore};

use super::informers::{MANAGED_BY, SERVICE_NAME};
use super::packing::SliceChanges;
use super::projection::Key;
use crate::context::Context;
use crate::per_namespace::is_terminating;

const SLICES: GroupVersionResource = ("discovery.k8s.io", "v1", "endpointslices");

/// Reads and writes the endpoint slices of a controller.
pub struct SliceWriter {
    store: Arc<ResourceStore>,
    loopback: Loopback,
    managed_by: &'static str,
}

impl SliceWriter {
    /// Creates a writer of the slices with a value of [`MANAGED_BY`].
    ///
    /// # Errors
    /// The server lacks endpoint slices.
    pub fn new(context: &Context, managed_by: &'static str) -> Result<Self, Status> {
        Ok(SliceWriter { store: context.store(SLICES.0, SLICES.2)?, loopback: context.loopback(), managed_by })
    }

    /// The current slices of a service, except those that are being deleted. The list is consistent,
    /// because one that lacks slices just written would lead to further ones.
    ///
    /// # Errors
    /// The slices cannot be read.
    pub async fn list(&self, (namespace, service): &Key) -> Result<Vec<EndpointSlice>, Status> {
        let labels = LabelSelector::from_labels([(SERVICE_NAME, service.as_str()), (MANAGED_BY, self.managed_by)]);
        let predicate = Predicate { labels, ..Predicate::default() };
        let objects = self.store.objects(namespace, &predicate).await?;
        let slices = objects.into_iter().filter_map(|object| object.into_inner::<EndpointSlice>().ok());
        Ok(slices.filter(|slice| slice.metadata.deletion_timestamp.is_none()).collect())
    }

    /// Deletes the slices of a service.
    ///
    /// # Errors
    /// The slices cannot be read or deleted.
    pub async fn delete_all(&self, key: &Key) -> Result<(), Status> {
        for slice in self.list(key).await? {
            self.loopback.delete(SLICES, &key.0, &slice.metadata.name).await?;
        }
        Ok(())
    }

    /// Writes changes. Nothing is created in a terminating namespace, nor with `is_deleting`, because the
    /// garbage collector deletes the slices then.
    ///
    /// # Errors
    /// A slice cannot be written, or another writer has changed it.
    pub async fn write(&self, of: &str, changes: SliceChanges, is_deleting: bool) -> Result<(), Status> {
        let failed = |what: String| {
            let of = of.to_owned();
            move |status: Status| {
                Status::internal(format!("failed to {what}EndpointSlice for {of}: {}", status.message))
            }
        };
        for slice in changes.create.into_iter().filter(|_| !is_deleting) {
            match self.loopback.create(SLICES, slice).await {
                Err(status) if is_terminating(&status) => return Ok(()),
                written => drop(written.map_err(failed("create ".to_owned()))?),
            }
        }
        for slice in changes.update {
            let name = slice.metadata.name.clone();
            self.loopback.update(SLICES, slice).await.map_err(failed(format!("update {name} ")))?;
        }
        for slice in changes.delete {
            let (namespace, name) = (&slice.metadata.namespace, &slice.metadata.name);
            self.loopback.delete(SLICES, namespace, name).await.map_err(failed(format!("delete {name} ")))?;
        }
        Ok(())
    }
}
