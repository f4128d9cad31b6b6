//! One request of a queue set.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::ESTIMATED_SERVICE;
use crate::digest::Asked;
use crate::flow::Flow;
use crate::work::{SeatSeconds, WorkEstimate};

/// What a queue set is told of a request.
pub struct Arrival {
    pub flow: Arc<Flow>,
    pub asked: Arc<dyn Asked>,
    pub work: WorkEstimate,
    /// Of its flow: it decides which queues may be joined.
    pub hash: u64,
}

/// A request that waits or runs.
pub struct Entry {
    pub arrival: Arrival,
    pub arrived: Duration,
    /// When, in virtual time.
    pub arrived_virtually: SeatSeconds,
    /// When it began to run.
    pub started: Duration,
    /// The queue that it went, or would have gone, through; none where there are no queues.
    pub queue: Option<usize>,
    pub stage: Stage,
    /// When it was first kept waiting only because it is wide.
    pub too_wide_since: Option<Duration>,
    /// Whether it ran before a wider one whose turn it was.
    pub has_passed: bool,
}

/// How far a request is.
pub enum Stage {
    /// Told when it may run.
    Waiting(oneshot::Sender<()>),
    Executing,
    /// It has been answered, and its final work goes on.
    Lingering,
}

impl Entry {
    pub fn seats(&self) -> u32 {
        self.arrival.work.max_seats()
    }

    /// Its work in all, as estimated before it runs.
    pub fn total_work(&self) -> SeatSeconds {
        let work = &self.arrival.work;
        SeatSeconds::new(work.initial_seats, ESTIMATED_SERVICE) + work.final_work()
    }
}
