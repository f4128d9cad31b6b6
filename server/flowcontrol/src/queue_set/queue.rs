//! One queue of a queue set.

use std::collections::VecDeque;

use super::RequestId;
use crate::work::SeatSeconds;

/// Requests that wait, oldest first, and what those that left the queue are using.
#[derive(Debug, Default)]
pub struct Queue {
    pub waiting: VecDeque<RequestId>,
    /// The work of those that wait.
    pub work_waiting: SeatSeconds,
    pub initial_seats_waiting: u32,
    pub max_seats_waiting: u32,
    /// How many run.
    pub executing: usize,
    /// The seats of those that run, and of those that have ended and whose final work goes on.
    pub seats_in_use: u32,
    /// When, in virtual time, the next request is served.
    pub next_dispatch: SeatSeconds,
}

impl Queue {
    /// Whether it takes part in sharing the seats.
    pub fn is_active(&self) -> bool {
        !self.waiting.is_empty() || self.executing > 0
    }

    /// Whether nothing of it is left anywhere.
    pub fn is_unused(&self) -> bool {
        !self.is_active() && self.seats_in_use == 0
    }
}
