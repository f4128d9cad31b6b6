//! One request of a queue set.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::digest::RequestDetails;
use crate::flow::Flow;
use crate::work::{SeatSeconds, WorkEstimate};

/// The expected duration of a request. The real duration is charged afterwards.
pub const ESTIMATED_SERVICE: Duration = Duration::from_millis(3);

/// Identifies a request of a queue set; never reused.
pub type RequestId = u64;

/// The attributes of an arriving request.
pub struct Arrival {
    pub flow: Arc<Flow>,
    pub request: Arc<dyn RequestDetails>,
    pub work: WorkEstimate,
    /// The hash of the flow; it determines the queues that the request may join.
    pub hash: u64,
}

/// A request that waits or runs.
pub struct QueueSetRequest {
    pub arrival: Arrival,
    pub arrived: Duration,
    /// The arrival in virtual time.
    pub arrived_virtually: SeatSeconds,
    /// When it began to run.
    pub started: Duration,
    /// The queue to which it is charged; `None` in levels without queues.
    pub queue: Option<usize>,
    pub stage: RequestState,
    /// When it was first passed over because too few seats were free.
    pub too_wide_since: Option<Duration>,
    /// Whether it ran before a wider request that was next.
    pub has_bypassed: bool,
}

/// The state of a request.
pub enum RequestState {
    /// The sender signals that the request may run.
    Waiting(oneshot::Sender<()>),
    Executing,
    /// The response is complete, and final work is in progress.
    FinalWork,
}

impl QueueSetRequest {
    pub fn seats(&self) -> u32 {
        self.arrival.work.max_seats()
    }

    /// The total work, as estimated before the request runs.
    pub fn total_work(&self) -> SeatSeconds {
        let work = &self.arrival.work;
        SeatSeconds::new(work.initial_seats, ESTIMATED_SERVICE) + work.final_work()
    }
}
