//! The seam for admission: what may change or refuse an object between decoding and storing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use machinery::catalog::KindDef;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Outcome, Pending, ReadRevision, Reservation};
use serde_json::Value;
use serving::User;
use serving::audit::AuditContext;
use serving::warnings::Warnings;

use crate::open::OpenKind;

/// What is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

/// The facts of a request that admission judges (`admission.Attributes`).
pub struct Attributes {
    pub operation: Operation,
    /// The kind of the body: of a subresource often another one than the resource's.
    pub kind: &'static KindDef,
    /// Group and version of the resource.
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    /// What the name of a new object without a name will begin with (`metadata.generateName`).
    pub generate_name: String,
    pub user: Arc<User>,
    pub dry_run: bool,
    /// What the writer is warned of.
    pub warnings: Warnings,
    /// What is recorded of the request.
    pub trail: AuditContext,
    /// How new what is looked up for it has to be.
    pub as_of: ReadRevision,
    /// What plugins have reserved for the write.
    pub reservations: Reservations,
    /// The definition of a custom resource; `None` for a resource of the catalog.
    pub definition: Option<Arc<dyn OpenKind>>,
    /// What policies and webhooks have seen of a custom resource in other versions.
    pub conversions: Conversions,
}

impl Attributes {
    /// The name that messages show: of an object that has none yet, what it will begin with (`extractResourceName`).
    pub fn shown_name(&self) -> &str {
        let known = [self.name.as_str(), self.generate_name.as_str()];
        known.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
    }
}

/// Documents of one request in other versions. A conversion, which may call a webhook, is made once, however many policies and webhooks
/// see the request in that version.
#[derive(Default)]
pub struct Conversions(Mutex<Vec<Conversion>>);

struct Conversion {
    source: Value,
    api_version: String,
    result: Result<Value, Status>,
}

impl Conversions {
    /// How many documents are kept: the object before and after mutation, and the old one, in two versions.
    const MOST: usize = 6;

    /// The document in a version, converted unless that was done before.
    ///
    /// # Errors
    /// Those of the conversion, which is not tried again either.
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
        if kept.len() == Self::MOST {
            kept.remove(0);
        }
        kept.push(Conversion { source, api_version: api_version.to_owned(), result: result.clone() });
        result
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Conversion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What admission plugins have reserved for one write: usage of a quota. It ends with the write, also when the write is dropped.
#[derive(Default)]
pub struct Reservations(Mutex<Vec<Reservation>>);

impl Reservations {
    /// Adds what ends with the write.
    pub fn add(&self, pending: Box<dyn Pending>) {
        self.list().push(Reservation::new(pending));
    }

    /// Ends everything that was added, in the reverse order.
    pub async fn settle(&self, outcome: Outcome) {
        let all = std::mem::take(&mut *self.list());
        for mut reservation in all.into_iter().rev() {
            reservation.outcome = outcome;
            reservation.finish().await;
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<Reservation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plugin or a chain of them. Objects are in hub form.
#[async_trait]
pub trait Admission: Send + Sync {
    /// May change the object.
    async fn admit(&self, _: &Attributes, _object: &mut Owned, _old: Option<&Owned>) -> Result<(), Status> {
        Ok(())
    }

    /// May refuse an object that is valid and about to be stored. `object` is absent on delete.
    async fn validate(&self, _: &Attributes, _object: Option<&Owned>, _old: Option<&Owned>) -> Result<(), Status> {
        Ok(())
    }
}

/// Several of them, one after the other; without any, everything is admitted.
pub struct AdmissionChain(pub Vec<Arc<dyn Admission>>);

#[async_trait]
impl Admission for AdmissionChain {
    async fn admit(&self, attributes: &Attributes, object: &mut Owned, old: Option<&Owned>) -> Result<(), Status> {
        for plugin in &self.0 {
            plugin.admit(attributes, object, old).await?;
        }
        Ok(())
    }

    async fn validate(
        &self,
        attributes: &Attributes,
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
    fn a_document_is_converted_once_for_each_version() {
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
        assert_eq!(conversions.lock().len(), Conversions::MOST);
    }
}
