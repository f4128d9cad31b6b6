//! Reservations beside the writes of a resource, such as addresses: made before an object is stored, kept by the stored object or given
//! back (`BeginCreate`, `BeginUpdate` and `AfterDelete` of `registry.Store`).

use async_trait::async_trait;
use machinery::reflect::Owned;
use machinery::status::Status;
use tokio::runtime::Handle;

use crate::strategy::Context;

/// Makes reservations for every write of a resource.
#[async_trait]
pub trait WriteHook: Send + Sync {
    /// Completes an object that is about to be created, or changed from `old`, before the strategy prepares and validates it.
    async fn begin(&self, context: &Context, new: &mut Owned, old: Option<&Owned>) -> Result<Box<dyn Pending>, Status>;

    /// An object has gone from the store.
    async fn after_delete(&self, object: &Owned);
}

/// What became of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The object is stored as the write has it.
    Stored,
    /// The write changed nothing.
    #[default]
    NotStored,
    /// The store failed during the commit: the object may be stored or not. What belongs to either case stays reserved, and a periodic
    /// repair settles it.
    Unknown,
}

/// What a write has reserved.
#[async_trait]
pub trait Pending: Send {
    /// Ends the reservation: keeps it for the stored object, or gives it back.
    async fn finish(self: Box<Self>, outcome: Outcome);
}

/// A reservation that ends exactly once: with the outcome of its write, also when the write is dropped or panics.
pub struct Reservation {
    pending: Option<Box<dyn Pending>>,
    /// What has become of the write so far.
    pub outcome: Outcome,
}

impl Reservation {
    /// Guards what was reserved.
    pub fn new(pending: Box<dyn Pending>) -> Self {
        Reservation { pending: Some(pending), outcome: Outcome::NotStored }
    }

    /// A write that reserves nothing.
    pub(crate) fn none() -> Self {
        Reservation { pending: None, outcome: Outcome::NotStored }
    }

    /// Ends the reservation with the outcome so far.
    pub async fn finish(mut self) {
        if let Some(pending) = self.pending.take() {
            pending.finish(self.outcome).await;
        }
    }
}

impl Drop for Reservation {
    /// Ends a reservation whose write was dropped, on a task: ending it may have to wait.
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

    struct Tells(mpsc::UnboundedSender<Outcome>);

    #[async_trait]
    impl Pending for Tells {
        async fn finish(self: Box<Self>, outcome: Outcome) {
            let _ = self.0.send(outcome);
        }
    }

    #[tokio::test]
    async fn a_reservation_ends_once() {
        let (sender, mut ended) = mpsc::unbounded_channel();
        let reserve = || Reservation::new(Box::new(Tells(sender.clone())));
        let mut kept = reserve();
        kept.outcome = Outcome::Stored;
        kept.finish().await;
        assert_eq!(ended.recv().await, Some(Outcome::Stored));
        drop(reserve());
        assert_eq!(ended.recv().await, Some(Outcome::NotStored));
        let mut interrupted = reserve();
        interrupted.outcome = Outcome::Unknown;
        drop(interrupted);
        assert_eq!(ended.recv().await, Some(Outcome::Unknown));
        let failed = tokio::spawn({
            let reserved = reserve();
            async move {
                let _reserved = reserved;
                panic!("in the middle of a write");
            }
        });
        assert!(failed.await.is_err());
        assert_eq!(ended.recv().await, Some(Outcome::NotStored));
        drop(sender);
        assert_eq!(ended.recv().await, None);
    }
}
