//! The seats that a request holds.

use std::sync::Arc;
use std::time::Duration;

use crate::control::{Classification, FlowControl};
use crate::digest::RequestDetails;
use crate::level::MonotonicClock;
use crate::queue_set::{Arrival, RequestId};
use crate::work::WorkEstimate;

/// The seats of a request, or its place in a queue.
///
/// Dropping it releases the seats. Those of final work are released when that is done.
pub struct Seat {
    control: FlowControl,
    class: Classification,
    id: RequestId,
    is_watch: bool,
    /// When the request began to run; `None` while it waits.
    began: Option<Duration>,
}

/// The request was rejected for lack of seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The seconds after which the client should retry.
    pub retry_after: u64,
}

impl Seat {
    fn new(control: FlowControl, class: &Classification, id: RequestId, is_watch: bool) -> Self {
        Seat { control, class: class.clone(), id, is_watch, began: None }
    }

    fn begin(&mut self, now: Duration) {
        self.began = Some(now);
    }
}

impl FlowControl {
    /// Takes seats for a request, waiting for at most `patience` until they are free.
    ///
    /// # Errors
    /// No seat is free and the queue is full, or the request waited too long.
    pub async fn admit(
        &self,
        class: &Classification,
        request: Arc<dyn RequestDetails>,
        work: WorkEstimate,
        patience: Duration,
    ) -> Result<Seat, Rejected> {
        let arrived = self.now();
        let flow = class.flow.clone();
        let digest = request.digest();
        let (is_watch, hash) = (digest.verb == "watch", self.hash(&flow, &digest));
        flow.metrics.estimated_seats.observe(f64::from(work.max_seats()));
        let wait = |executed: bool| {
            let metrics = &class.flow.metrics;
            let histogram = if executed { &metrics.wait_seconds_executed } else { &metrics.wait_seconds_rejected };
            if !class.is_exempt {
                histogram.observe(self.now().saturating_sub(arrived).as_secs_f64());
            }
        };
        let rejected = |retry_after| {
            wait(false);
            Rejected { retry_after }
        };
        let (id, receiver) =
            class.level.start(self, arrived, Arrival { flow, request, work, hash }).map_err(rejected)?;
        // From here on the request is in the queue set until the seat is dropped.
        let mut seat = Seat::new(self.clone(), class, id, is_watch);
        if let Some(receiver) = receiver
            && !matches!(tokio::time::timeout(patience, receiver).await, Ok(Ok(())))
        {
            drop(seat);
            return Err(rejected(class.level.record_timeout(self.now())));
        }
        wait(true);
        seat.begin(self.now());
        Ok(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let now = self.control.now();
        if let Some(began) = self.began {
            let metrics = &self.class.flow.metrics;
            let histogram = if self.is_watch { &metrics.execution_seconds_watch } else { &metrics.execution_seconds };
            histogram.observe(now.saturating_sub(began).as_secs_f64());
        }
        self.class.level.end(&self.control, now, self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prometheus::Registry;
    use tokio::time::Instant;

    use super::*;
    use crate::config::{PriorityLevel, Queuing, mandatory_levels};
    use crate::digest::{Digest, RequestDetails};
    use crate::work::WorkEstimate;

    const MS: Duration = Duration::from_millis(1);

    struct TestRequest;

    impl RequestDetails for TestRequest {
        fn digest(&self) -> Digest<'_> {
            Digest { verb: "patch", ..Digest::default() }
        }
    }

    /// A server with one seat, for which requests may wait.
    fn control() -> FlowControl {
        let control = FlowControl::new(1, Duration::from_secs(60), &Registry::new());
        let [_, level] = mandatory_levels();
        let queuing = Queuing::Queues { count: 1, hand_size: 1, length: 10 };
        control.configure(Vec::new(), vec![PriorityLevel { queuing, ..level }]);
        control
    }

    /// Admits a request, and returns the time that took.
    async fn admit(control: &FlowControl, work: WorkEstimate) -> (Seat, Duration) {
        let (class, began) = (control.classify(&TestRequest.digest()), Instant::now());
        let seat = control.admit(&class, Arc::new(TestRequest), work, Duration::from_secs(5)).await.unwrap();
        (seat, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_request_gets_seats_when_final_work_is_done() {
        let control = control();
        let write = WorkEstimate { initial_seats: 1, final_seats: 1, additional_latency: 40 * MS };
        let (first, waited) = admit(&control, write).await;
        assert_eq!(waited, Duration::ZERO);
        drop(first); // no request waits yet
        tokio::time::sleep(10 * MS).await;
        let (second, waited) = admit(&control, write).await;
        assert!((30 * MS..33 * MS).contains(&waited), "{waited:?}");
        let third = tokio::spawn({
            let control = control.clone();
            async move { admit(&control, WorkEstimate::seats(1)).await.1 }
        });
        tokio::time::sleep(10 * MS).await;
        drop(second); // the third request waits
        let waited = third.await.unwrap();
        assert!((50 * MS..53 * MS).contains(&waited), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn unused_seats_of_final_work_are_released_soon() {
        let control = control();
        let write = WorkEstimate { initial_seats: 1, final_seats: 1, additional_latency: 40 * MS };
        let (seat, _) = admit(&control, write).await;
        let level = seat.class.level.clone();
        drop(seat);
        let is_taken = || !level.lock().queues.requests().is_empty();
        assert!(is_taken());
        tokio::time::sleep(150 * MS).await;
        assert!(!is_taken());
    }
}
