//! Seats that a request has.

use std::time::Duration;

use crate::control::{Class, FlowControl};
use crate::queue_set::RequestId;

/// The seats of a request, or its place in a queue. Given back when this is dropped, those of its final work a little later.
pub struct Seat {
    control: FlowControl,
    class: Class,
    id: RequestId,
    is_watch: bool,
    /// When the request began to run; none while it waits.
    began: Option<Duration>,
}

/// There was no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// In how many seconds the client should come again.
    pub retry_after: u64,
}

impl Seat {
    pub(crate) fn new(control: FlowControl, class: &Class, id: RequestId, is_watch: bool) -> Self {
        Seat { control, class: class.clone(), id, is_watch, began: None }
    }

    pub(crate) fn begin(&mut self, now: Duration) {
        self.began = Some(now);
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
        let Some(linger) = self.class.level.end(now, self.id) else { return };
        let (control, level, id) = (self.control.clone(), self.class.level.clone(), self.id);
        let release = move || level.release(control.now(), id);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(linger).await;
                release();
            })),
            Err(_) => release(),
        }
    }
}
