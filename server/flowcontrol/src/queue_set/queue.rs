//! One queue of a queue set.

use std::collections::VecDeque;

use super::request::RequestId;
use crate::work::SeatSeconds;

/// Waiting requests, oldest first, and the usage by requests that left the queue.
#[derive(Debug, Default)]
pub struct Queue {
    pub waiting: VecDeque<RequestId>,
    /// The work of the waiting requests.
    pub work_waiting: SeatSeconds,
    pub initial_seats_waiting: u32,
    pub max_seats_waiting: u32,
    /// The number of running requests.
    pub executing: usize,
    /// The seats of running requests and of final work in progress.
    pub seats_in_use: u32,
    /// When, in virtual time, the next request is served.
    pub next_dispatch: SeatSeconds,
}

impl Queue {
    /// Whether the queue takes part in sharing the seats.
    pub fn is_active(&self) -> bool {
        !self.waiting.is_empty() || self.executing > 0
    }

    /// Whether the queue has no waiting or running requests and no seats in use.
    pub fn is_unused(&self) -> bool {
        !self.is_active() && self.seats_in_use == 0
    }
}
