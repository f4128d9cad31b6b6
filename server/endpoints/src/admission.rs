//! Admission interface: plugins that mutate or reject an object between decoding and storage.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use audit::AuditContext;
use machinery::catalog::KindDef;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{ReadRevision, Reservation, ReservationGuard, WriteOutcome};
use request::User;
use request::warnings::Warnings;
use serde_json::Value;

use crate::open::OpenKind;

/// The operation that admission checks (`admission.Operation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

/// Attributes of a request, as admission plugins see them (`admission.Attributes`).
pub struct AdmissionAttributes {
    pub operation: Operation,
    /// The kind of the body. For a subresource it often differs from the kind of the resource.
    pub kind: &'static KindDef,
    /// Group and version of the resource.
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    /// The name prefix of a new object without a name (`metadata.generateName`).
    pub generate_name: String,
    pub user: Arc<User>,
    pub dry_run: bool,
    /// Warnings for the client.
    pub warnings: Warnings,
    /// The audit event of the request.
    pub trail: AuditContext,
    /// The minimum revision for reads that admission performs for this request.
    pub as_of: ReadRevision,
    /// Reservations that plugins hold for the write.
    pub reservations: Reservations,
    /// The definition of a custom resource; `None` for a resource of the catalog.
    pub definition: Option<Arc<dyn OpenKind>>,
    /// Conversions of a custom resource to the versions that policies and webhooks match.
    pub conversions: Conversions,
}

impl AdmissionAttributes {
    /// The name for messages: the object's name, else its `generateName` (`extractResourceName`).
    pub fn shown_name(&self) -> &str {
        let known = [self.name.as_str(), self.generate_name.as_str()];
        known.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
    }
}

/// Converted documents of one request. A conversion may call a webhook. It runs once per version,
/// no matter how many policies and webhooks use that version.
#[derive(Default)]
pub struct Conversions(Mutex<Vec<Conversion>>);

struct Conversion {
    source: Value,
    api_version: String,
    result: Result<Value, Status>,
}

impl Conversions {
    /// Capacity: the mutated and unmutated object and the old object, in two versions.
    const CAPACITY: usize = 6;

    /// Returns the document in a version; converts it on first use.
    ///
    /// # Errors
    /// Returns the error of the conversion. A failed conversion is not retried.
    pub fn convert(
        &self,
        source: Value,
        api_version: &str,
        convert: impl FnOnce(&Value) -> Result<Value, Status>,
    ) -> Result<Value, Status> {
        let is_known = |known: &&Conversion| known.api_version == api_version && known.source == source;
        if let Some(known) = self.lock().iter().find(is_known) {
            return known.result.clone();
        }
        let result = convert(&source);
        let mut kept = self.lock();
        if kept.len() == Self::CAPACITY {
            kept.remove(0);
        }
        kept.push(Conversion { source, api_version: api_version.to_owned(), result: result.clone() });
        result
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Conversion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resources that admission plugins reserve for one write, such as quota usage. Reservations end
/// with the write, also when the write is dropped.
#[derive(Default)]
pub struct Reservations(Mutex<Vec<ReservationGuard>>);

impl Reservations {
    /// Adds a reservation that ends with the write.
    pub fn add(&self, pending: Box<dyn Reservation>) {
        self.list().push(ReservationGuard::new(pending));
    }

    /// Ends all reservations, in reverse order.
    pub async fn settle(&self, outcome: WriteOutcome) {
        let all = std::mem::take(&mut *self.list());
        for mut reservation in all.into_iter().rev() {
            reservation.outcome = outcome;
            reservation.finish().await;
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<ReservationGuard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An admission plugin, or a chain of plugins. Objects are in hub form.
#[async_trait]
pub trait Admission: Send + Sync {
    /// Mutates the object or rejects the request.
    async fn admit(&self, _: &AdmissionAttributes, _object: &mut Owned, _old: Option<&Owned>) -> Result<(), Status> {
        Ok(())
    }

    /// Rejects a valid object before it is stored. `object` is absent on delete.
    async fn validate(
        &self,
        _: &AdmissionAttributes,
        _object: Option<&Owned>,
        _old: Option<&Owned>,
    ) -> Result<(), Status> {
        Ok(())
    }
}

/// A sequence of admission plugins. An empty chain admits everything.
pub struct AdmissionChain(pub Vec<Arc<dyn Admission>>);

#[async_trait]
impl Admission for AdmissionChain {
    async fn admit(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        for plugin in &self.0 {
            plugin.admit(attributes, object, old).await?;
        }
        Ok(())
    }

    async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        for plugin in &self.0 {
            plugin.validate(attributes, object, old).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn converts_document_once_per_version() {
        let (conversions, mut calls) = (Conversions::default(), 0);
        let mut convert = |source: &Value, version: &str| {
            conversions.convert(source.clone(), version, |source| {
                calls += 1;
                if version == "broken" { Err(Status::internal("why")) } else { Ok(json!([source, version])) }
            })
        };
        for source in [json!({"a": 1}), json!({"a": 2})] {
            for version in ["v1", "v2", "broken"] {
                let first = convert(&source, version);
                assert_eq!(convert(&source, version), first);
                assert_eq!(first.is_ok(), version != "broken");
            }
        }
        (0..100).for_each(|n| drop(convert(&json!(n), "v1")));
        assert_eq!(calls, 6 + 100);
        assert_eq!(conversions.lock().len(), Conversions::CAPACITY);
    }
}
