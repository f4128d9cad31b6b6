//! Reservations for the writes of a resource, such as addresses. A reservation is made before the
//! object is stored; then the stored object keeps it, or it is released (`BeginCreate`, `BeginUpdate`
//! and `AfterDelete` of `registry.Store`).

use async_trait::async_trait;
use machinery::reflect::Owned;
use machinery::status::Status;
use tokio::runtime::Handle;

use crate::strategy::WriteContext;

/// Makes reservations for every write of a resource.
#[async_trait]
pub trait WriteHook: Send + Sync {
    /// Completes an object before a create, or before a change of `old`.
    ///
    /// The strategy prepares and validates it afterwards.
    ///
    /// # Errors
    /// The Status that rejects the write, such as when a reservation is not possible.
    async fn begin(
        &self,
        context: &WriteContext,
        new: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<Box<dyn Reservation>, Status>;

    /// Called after an object was removed from the store.
    async fn after_delete(&self, object: &Owned);
}

/// The result of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The object is stored as written.
    Stored,
    /// The write changed nothing.
    #[default]
    NotStored,
    /// The store failed during the commit, so the object may be stored or not.
    ///
    /// Reservations for both cases are kept; a periodic repair settles them.
    Unknown,
}

/// The reservation of a write.
#[async_trait]
pub trait Reservation: Send {
    /// Settles the reservation: keeps it for the stored object, or releases it.
    async fn finish(self: Box<Self>, outcome: WriteOutcome);
}

/// A reservation that is settled exactly once with the outcome of its write.
///
/// It is also settled when the write is dropped or panics.
pub struct ReservationGuard {
    pending: Option<Box<dyn Reservation>>,
    /// The outcome of the write so far.
    pub outcome: WriteOutcome,
}

impl ReservationGuard {
    /// Wraps a reservation.
    pub fn new(pending: Box<dyn Reservation>) -> Self {
        ReservationGuard { pending: Some(pending), outcome: WriteOutcome::NotStored }
    }

    /// Returns the guard of a write without a reservation.
    pub(crate) fn none() -> Self {
        ReservationGuard { pending: None, outcome: WriteOutcome::NotStored }
    }

    /// Settles the reservation with the outcome so far.
    pub async fn finish(mut self) {
        if let Some(pending) = self.pending.take() {
            pending.finish(self.outcome).await;
        }
    }
}

impl Drop for ReservationGuard {
    /// Settles the reservation of a dropped write in a new task, because that may have to wait.
    fn drop(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(pending.finish(self.outcome))),
            Err(_) => tracing::warn!(
                "a write was dropped outside of the runtime; the periodic repair settles its reservations"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    struct RecordOutcome(mpsc::UnboundedSender<WriteOutcome>);

    #[async_trait]
    impl Reservation for RecordOutcome {
        async fn finish(self: Box<Self>, outcome: WriteOutcome) {
            let _ = self.0.send(outcome);
        }
    }

    #[tokio::test]
    async fn a_reservation_ends_once() {
        let (sender, mut ended) = mpsc::unbounded_channel();
        let reserve = || ReservationGuard::new(Box::new(RecordOutcome(sender.clone())));
        let mut kept = reserve();
        kept.outcome = WriteOutcome::Stored;
        kept.finish().await;
        assert_eq!(ended.recv().await, Some(WriteOutcome::Stored));
        drop(reserve());
        assert_eq!(ended.recv().await, Some(WriteOutcome::NotStored));
        let mut interrupted = reserve();
        interrupted.outcome = WriteOutcome::Unknown;
        drop(interrupted);
        assert_eq!(ended.recv().await, Some(WriteOutcome::Unknown));
        let failed = tokio::spawn({
            let reserved = reserve();
            async move {
                let _reserved = reserved;
                panic!("in the middle of a write");
            }
        });
        assert!(failed.await.is_err());
        assert_eq!(ended.recv().await, Some(WriteOutcome::NotStored));
        drop(sender);
        assert_eq!(ended.recv().await, None);
    }
}
