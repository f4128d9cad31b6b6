//! The seam for admission: what may change or refuse an object between decoding and storing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use machinery::catalog::KindDef;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{AsOf, Outcome, Pending, Reservation};
use serving::User;
use serving::audit::Trail;
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
    pub user: Arc<User>,
    pub dry_run: bool,
    /// What the writer is warned of.
    pub warnings: Warnings,
    /// What is recorded of the request.
    pub trail: Trail,
    /// How new what is looked up for it has to be.
    pub as_of: AsOf,
    /// What plugins have reserved for the write.
    pub reservations: Reservations,
    /// The definition of a custom resource; `None` for a resource of the catalog.
    pub definition: Option<Arc<dyn OpenKind>>,
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
