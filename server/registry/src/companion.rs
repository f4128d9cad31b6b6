//! What has to happen beside the writes of a resource: given to an object before it is stored, taken back when it is not stored after all
//! or has gone (`BeginCreate`, `BeginUpdate` and `AfterDelete` of `registry.Store`).

use async_trait::async_trait;
use machinery::reflect::Owned;
use machinery::status::Status;

use crate::strategy::Context;

/// Goes along with every write of a resource.
#[async_trait]
pub trait Companion: Send + Sync {
    /// Completes an object that is about to be created, or changed from `old`, before the strategy prepares and validates it.
    async fn begin(&self, context: &Context, new: &mut Owned, old: Option<&Owned>) -> Result<Box<dyn Pending>, Status>;

    /// An object has gone from the store.
    async fn after_delete(&self, object: &Owned);
}

/// What [`Companion::begin`] did.
#[async_trait]
pub trait Pending: Send {
    /// The end of the write: makes what was done final, or undoes it when the object was not stored.
    async fn finish(self: Box<Self>, stored: bool);
}

/// Nothing to make final or to undo.
pub(crate) struct Nothing;

#[async_trait]
impl Pending for Nothing {
    async fn finish(self: Box<Self>, _: bool) {}
}
