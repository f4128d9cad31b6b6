//! The queues of a priority level: fair queuing of requests that take several seats for an unknown
//! time.
//!
//! Upstream: `fairqueuing/queueset`; KEP-1040 derives the algorithm.
//!
//! The model is that all non-empty queues are served simultaneously, each with an equal share of
//! the level's seats. *Virtual time* `R` is the work that a queue would have received by now.
//! Requests are dispatched one after the other, in the order in which they would have ended in that
//! model. A queue's `next_dispatch` is the virtual time at which its next request would begin. A
//! dispatch advances it by the estimated work of the request; the end of the request corrects it by
//! the real duration.
//!
//! A queue set is a state machine: callers pass the time of each event. A request that finds free
//! seats and an empty queue is charged to its queue but never enqueued.

mod queue;
mod request;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::config::Queuing;
use crate::demand::Demand;
use crate::sharding::Hand;
use crate::work::SeatSeconds;

pub use queue::Queue;
pub use request::{Arrival, QueueSetRequest, RequestId, RequestState};

/// For how long narrow requests may bypass one that needs more seats than are free.
const BYPASS_TIMEOUT: Duration = Duration::from_secs(1);

/// One in this many seats is reserved for requests of one seat. Short requests then do not wait
/// until lists of other clients have been read.
const SEATS_FOR_ONE_NARROW: u32 = 32;

/// The outcome of the arrival of a request.
pub enum ArrivalOutcome {
    Executing(RequestId),
    /// The request may run when the receiver gets a message.
    Waiting(RequestId, oneshot::Receiver<()>),
    Rejected,
}

/// Counters of requests since the creation of the queue set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    pub dispatched: u64,
    pub rejected: u64,
    /// The rejected requests that had been waiting.
    pub cancelled: u64,
}

/// Virtual times of the last dispatch of a waiting request.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastDispatch {
    pub at: SeatSeconds,
    pub start: SeatSeconds,
}

/// The queues and requests of a level; see the module. Times are relative to any fixed moment.
pub struct QueueSet {
    queuing: Queuing,
    /// The limit of seats in use.
    limit: u32,
    /// May hold more queues than configured, until the excess ones are empty.
    queues: Vec<Queue>,
    requests: HashMap<RequestId, QueueSetRequest>,
    /// Requests with final work in progress, by when it is done.
    final_work_by_due: BTreeSet<(Duration, RequestId)>,
    next_id: RequestId,
    /// The virtual time, and the real time at which it was computed.
    virtual_now: SeatSeconds,
    synced: Duration,
    /// The queue that was served last; among equal queues, the next one is served.
    last_served: usize,
    /// Incremented for each hand, so that no queue of a hand is preferred.
    turn: usize,
    active_queues: usize,
    waiting: usize,
    executing: usize,
    seats_in_use: u32,
    /// The seats in use by requests that have bypassed wider ones.
    bypass_seats: u32,
    seats_waiting: u32,
    pub counts: RequestCounts,
    pub demand: Demand,
    pub last_dispatch: LastDispatch,
}

impl QueueSet {
    /// Creates a queue set with `limit` seats.
    pub fn new(queuing: Queuing, limit: u32) -> Self {
        let mut set = QueueSet {
            queuing,
            limit,
            queues: Vec::new(),
            requests: HashMap::new(),
            final_work_by_due: BTreeSet::new(),
            next_id: 0,
            virtual_now: SeatSeconds::default(),
            synced: Duration::ZERO,
            last_served: 0,
            turn: 0,
            active_queues: 0,
            waiting: 0,
            executing: 0,
            seats_in_use: 0,
            bypass_seats: 0,
            seats_waiting: 0,
            counts: RequestCounts::default(),
            demand: Demand::default(),
            last_dispatch: LastDispatch::default(),
        };
        set.resize();
        set
    }

    /// Changes queues and seats. Requests stay in their queues; excess queues are removed when they
    /// are empty.
    pub fn configure(&mut self, now: Duration, queuing: Queuing, limit: u32) {
        self.sync(now);
        (self.queuing, self.limit) = (queuing, limit);
        self.resize();
        self.dispatch_all(now);
    }

    /// Admits, queues, or rejects a request.
    pub fn start(&mut self, now: Duration, arrival: Arrival) -> ArrivalOutcome {
        self.sync(now);
        let seats = arrival.work.max_seats();
        let Queuing::Queues { hand_size, length, count } = self.queuing else {
            if self.queuing == Queuing::Reject && !self.fits(seats) {
                self.counts.rejected += 1;
                arrival.flow.metrics.rejected_no_seat.inc();
                return ArrivalOutcome::Rejected;
            }
            return ArrivalOutcome::Executing(self.execute_at_once(now, arrival, None));
        };
        let index = self.choose(arrival.hash, count, hand_size);
        if self.seats_in_use >= self.limit && self.queues[index].waiting.len() >= length {
            self.counts.rejected += 1;
            arrival.flow.metrics.rejected_queue_full.inc();
            return ArrivalOutcome::Rejected;
        }
        self.open_queue(index);
        if self.waiting == 0 && self.seats_in_use < self.limit && self.fits(seats) {
            return ArrivalOutcome::Executing(self.execute_at_once(now, arrival, Some(index)));
        }
        let (id, receiver) = self.enqueue(now, arrival, index);
        self.dispatch_all(now);
        ArrivalOutcome::Waiting(id, receiver)
    }

    /// Ends a running request, or cancels a waiting one.
    ///
    /// If the request has final work, its seats stay taken until that is done.
    pub fn end(&mut self, now: Duration, id: RequestId) {
        self.sync(now);
        match self.requests.get(&id).map(|entry| &entry.stage) {
            Some(RequestState::Waiting(_)) => self.cancel(now, id),
            Some(RequestState::Executing) => self.finish(now, id),
            Some(RequestState::FinalWork) | None => {}
        }
    }

    /// When the next final work is done. Later calls release its seats before they do anything
    /// else; a timer is needed only for waiting requests.
    pub fn next_release(&self) -> Option<Duration> {
        self.final_work_by_due.first().map(|(due, _)| *due)
    }

    /// Releases the seats of a request that has ended.
    fn release(&mut self, now: Duration, id: RequestId) {
        let Some(entry) = self.requests.remove(&id) else { return };
        let seats = entry.seats();
        self.seats_in_use -= seats;
        if entry.has_bypassed {
            self.bypass_seats -= seats;
        }
        entry.arrival.flow.metrics.seats_executing.sub(i64::from(seats));
        if let Some(index) = entry.queue {
            self.queues[index].seats_in_use -= seats;
        }
        self.update_demand(now);
        self.dispatch_all(now);
        self.resize();
    }

    /// Releases the seats of requests that have held them longer than `max_duration`. Clients that
    /// do not read responses must not block others.
    pub fn expire(&mut self, now: Duration, max_duration: Duration) {
        self.sync(now);
        let is_old = |entry: &QueueSetRequest| {
            matches!(entry.stage, RequestState::Executing) && now > entry.started + max_duration
        };
        let old: Vec<RequestId> = self.requests.iter().filter(|(_, e)| is_old(e)).map(|(id, _)| *id).collect();
        for id in old {
            self.end(now, id);
            self.release(now, id);
        }
    }

    /// Whether no request waits or runs.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0 && self.executing == 0
    }

    pub fn queuing(&self) -> Queuing {
        self.queuing
    }

    pub fn virtual_now(&self) -> SeatSeconds {
        self.virtual_now
    }

    /// The numbers of waiting and of running requests.
    pub fn load(&self) -> (usize, usize) {
        (self.waiting, self.executing)
    }

    /// The queues, for debug documents.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// The waiting and running requests, for debug documents.
    pub fn requests(&self) -> &HashMap<RequestId, QueueSetRequest> {
        &self.requests
    }

    /// Adds missing queues, and removes excess ones from the end while they are unused.
    fn resize(&mut self) {
        let wanted = match self.queuing {
            Queuing::Queues { count, .. } => count,
            Queuing::Exempt | Queuing::Reject => 0,
        };
        while self.queues.len() > wanted && self.queues.last().is_some_and(Queue::is_unused) {
            self.queues.pop();
        }
        if self.queues.len() < wanted {
            self.queues.resize_with(wanted, Queue::default);
        }
    }

    /// Processes the events that were due since the last call, each at its own time.
    pub fn sync(&mut self, now: Duration) {
        while let Some(&(due, id)) = self.final_work_by_due.first().filter(|(due, _)| *due <= now) {
            self.final_work_by_due.remove(&(due, id));
            self.advance_virtual_time(due);
            self.release(due, id);
        }
        self.advance_virtual_time(now);
    }

    /// Advances virtual time by the work that each active queue could have received since the last
    /// call.
    fn advance_virtual_time(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.synced);
        self.synced = self.synced.max(now);
        if self.active_queues > 0 {
            let seats = (self.seats_in_use + self.seats_waiting).min(self.limit);
            self.virtual_now += SeatSeconds::new(seats, passed).shared_by(self.active_queues);
        }
    }

    /// The queue of the flow's hand with the least waiting work.
    fn choose(&mut self, hash: u64, count: usize, hand_size: usize) -> usize {
        self.turn = self.turn.wrapping_add(1);
        let hand = Hand::deal(hash, count, hand_size);
        hand.after_turn(self.turn).min_by_key(|index| self.queues[*index].work_waiting).unwrap_or(0)
    }

    /// Whether enough seats are free. A request wider than the whole level fits when no other runs.
    fn fits(&self, seats: u32) -> bool {
        match self.queuing {
            Queuing::Exempt => true,
            _ if seats > self.limit => self.executing == 0,
            _ if seats == 1 => self.seats_in_use < self.limit,
            _ => self.seats_in_use + seats <= (self.limit - self.limit / SEATS_FOR_ONE_NARROW).max(seats),
        }
    }

    /// Prevents a queue from starting before the current virtual time: idle time does not
    /// accumulate credit.
    fn open_queue(&mut self, index: usize) {
        let queue = &mut self.queues[index];
        if !queue.is_active() {
            queue.next_dispatch = self.virtual_now;
        } else if queue.waiting.is_empty() {
            queue.next_dispatch = queue.next_dispatch.max(self.virtual_now);
        }
    }

    fn entry(
        &mut self,
        now: Duration,
        arrival: Arrival,
        queue: Option<usize>,
        stage: RequestState,
    ) -> (RequestId, QueueSetRequest) {
        self.next_id += 1;
        let arrived_virtually = self.virtual_now;
        let entry = QueueSetRequest {
            arrival,
            arrived: now,
            arrived_virtually,
            started: now,
            queue,
            stage,
            too_wide_since: None,
            has_bypassed: false,
        };
        (self.next_id, entry)
    }

    fn execute_at_once(&mut self, now: Duration, arrival: Arrival, queue: Option<usize>) -> RequestId {
        let arrival = match queue {
            Some(_) => Arrival { work: arrival.work.narrowed(self.limit), ..arrival },
            None => arrival,
        };
        let (id, entry) = self.entry(now, arrival, queue, RequestState::Executing);
        self.execute(now, id, entry);
        id
    }

    /// Starts a request.
    fn execute(&mut self, now: Duration, id: RequestId, entry: QueueSetRequest) {
        let (seats, work) = (entry.seats(), entry.total_work());
        self.executing += 1;
        self.seats_in_use += seats;
        self.counts.dispatched += 1;
        let metrics = &entry.arrival.flow.metrics;
        metrics.dispatched.inc();
        metrics.requests_executing.inc();
        metrics.seats_executing.add(i64::from(seats));
        if let Some(index) = entry.queue {
            self.change(index, |queue| {
                queue.executing += 1;
                queue.seats_in_use += seats;
                queue.next_dispatch += work;
            });
        }
        self.requests.insert(id, entry);
        self.update_demand(now);
    }

    /// Changes a queue, and updates the count of active queues.
    fn change(&mut self, index: usize, f: impl FnOnce(&mut Queue)) {
        let queue = &mut self.queues[index];
        let before = queue.is_active();
        f(queue);
        match (before, queue.is_active()) {
            (false, true) => self.active_queues += 1,
            (true, false) => self.active_queues -= 1,
            _ => {}
        }
    }

    fn enqueue(&mut self, now: Duration, arrival: Arrival, index: usize) -> (RequestId, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        let (id, entry) = self.entry(now, arrival, Some(index), RequestState::Waiting(sender));
        let (seats, initial, work) = (entry.seats(), entry.arrival.work.initial_seats, entry.total_work());
        self.waiting += 1;
        self.seats_waiting += seats;
        self.change(index, |queue| {
            queue.waiting.push_back(id);
            queue.work_waiting += work;
            queue.initial_seats_waiting += initial;
            queue.max_seats_waiting += seats;
        });
        let metrics = &entry.arrival.flow.metrics;
        metrics.requests_waiting.inc();
        metrics.seats_waiting.add(i64::from(seats));
        metrics.queue_length.observe(self.queues[index].waiting.len() as f64);
        self.requests.insert(id, entry);
        self.update_demand(now);
        (id, receiver)
    }

    /// Removes a waiting request from its queue.
    fn dequeue(&mut self, id: RequestId) -> Option<QueueSetRequest> {
        let entry = self.requests.remove(&id)?;
        let (seats, initial, work) = (entry.seats(), entry.arrival.work.initial_seats, entry.total_work());
        self.waiting -= 1;
        self.seats_waiting -= seats;
        if let Some(index) = entry.queue {
            self.change(index, |queue| {
                queue.waiting.retain(|other| *other != id);
                queue.work_waiting -= work;
                queue.initial_seats_waiting -= initial;
                queue.max_seats_waiting -= seats;
            });
        }
        let metrics = &entry.arrival.flow.metrics;
        metrics.requests_waiting.dec();
        metrics.seats_waiting.sub(i64::from(seats));
        Some(entry)
    }

    fn cancel(&mut self, now: Duration, id: RequestId) {
        let Some(entry) = self.dequeue(id) else { return };
        self.counts.rejected += 1;
        self.counts.cancelled += 1;
        entry.arrival.flow.metrics.rejected_time_out.inc();
        if let Some(index) = entry.queue {
            self.limit_credit(index);
        }
        self.update_demand(now);
        self.dispatch_all(now);
        self.resize();
    }

    fn finish(&mut self, now: Duration, id: RequestId) {
        let Some(entry) = self.requests.get_mut(&id) else { return };
        entry.stage = RequestState::FinalWork;
        let (work, started, queue) = (entry.arrival.work, entry.started, entry.queue);
        entry.arrival.flow.metrics.requests_executing.dec();
        self.executing -= 1;
        if let Some(index) = queue {
            // Replace the estimated work, charged at the start, by the real one.
            let charged = SeatSeconds::new(work.initial_seats, request::ESTIMATED_SERVICE);
            let used = SeatSeconds::new(work.initial_seats, now.saturating_sub(started));
            self.change(index, |queue| {
                queue.executing -= 1;
                queue.next_dispatch += used - charged;
            });
            self.limit_credit(index);
        }
        match work.additional_latency.is_zero() {
            true => self.release(now, id),
            false => drop(self.final_work_by_due.insert((now + work.additional_latency, id))),
        }
    }

    /// Prevents the oldest request of a queue from starting before its arrival in virtual time. A
    /// queue that could not use its seats does not accumulate credit.
    fn limit_credit(&mut self, index: usize) {
        let oldest = self.queues[index].waiting.front().and_then(|id| self.requests.get(id));
        if let Some(arrived) = oldest.map(|entry| entry.arrived_virtually) {
            let queue = &mut self.queues[index];
            queue.next_dispatch = queue.next_dispatch.max(arrived);
        }
    }

    fn dispatch_all(&mut self, now: Duration) {
        while self.waiting > 0 && self.seats_in_use < self.limit && self.dispatch(now) {}
    }

    /// Dispatches the request that would end first in virtual time if its seats are free, or else
    /// one that may bypass it.
    fn dispatch(&mut self, now: Duration) -> bool {
        let Some((index, id)) = self.next(|_, _| true) else { return false };
        let Some(seats) = self.requests.get(&id).map(QueueSetRequest::seats) else { return false };
        if self.fits(seats) {
            self.serve(now, index, id, false);
            return true;
        }
        let Some(next) = self.requests.get_mut(&id) else { return false };
        let since = *next.too_wide_since.get_or_insert(now);
        next.arrival.flow.metrics.no_accommodation.inc();
        let Some((index, id)) = self.bypassing_request(seats).filter(|_| now < since + BYPASS_TIMEOUT) else {
            return false;
        };
        self.serve(now, index, id, true);
        true
    }

    /// Finds a request that may bypass one that needs more seats than are free: the only request of
    /// its queue.
    ///
    /// Upstream allows no bypass, so that a narrow request waits as long as the lists of other
    /// clients take. The wide request still runs when the current requests have ended: bypassing
    /// requests leave the seats that it needs.
    fn bypassing_request(&self, wide: u32) -> Option<(usize, RequestId)> {
        let left = self.limit.checked_sub(wide)?.checked_sub(self.bypass_seats)?;
        let may_bypass = |entry: &QueueSetRequest| entry.seats() <= left && self.fits(entry.seats());
        self.next(|queue, entry| may_bypass(entry) && queue.executing == 0 && queue.waiting.len() == 1)
    }

    /// Starts a waiting request.
    fn serve(&mut self, now: Duration, index: usize, id: RequestId, has_bypassed: bool) {
        let Some(mut entry) = self.dequeue(id) else { return };
        self.last_served = index;
        self.last_dispatch = LastDispatch { at: self.virtual_now, start: self.queues[index].next_dispatch };
        let stage = std::mem::replace(&mut entry.stage, RequestState::Executing);
        entry.started = now;
        entry.arrival.work = entry.arrival.work.narrowed(self.limit);
        entry.has_bypassed = has_bypassed;
        if has_bypassed {
            self.bypass_seats += entry.seats();
        }
        self.execute(now, id, entry);
        if let RequestState::Waiting(sender) = stage
            && sender.send(()).is_err()
        {
            // The client stopped waiting.
            self.end(now, id);
            self.release(now, id);
        }
        self.limit_credit(index);
    }

    /// The oldest request that would end first in virtual time among the eligible ones, and its
    /// queue.
    fn next(&self, is_eligible: impl Fn(&Queue, &QueueSetRequest) -> bool) -> Option<(usize, RequestId)> {
        let count = self.queues.len();
        let in_turn = (1..=count).map(|step| (self.last_served + step) % count);
        let heads = in_turn.filter_map(|index| {
            let queue = &self.queues[index];
            let id = *queue.waiting.front()?;
            let entry = self.requests.get(&id).filter(|entry| is_eligible(queue, entry))?;
            Some((queue.next_dispatch + entry.total_work(), index, id))
        });
        heads.min_by_key(|(end, ..)| *end).map(|(_, index, id)| (index, id))
    }

    fn update_demand(&mut self, now: Duration) {
        self.demand.set(now, self.seats_in_use + self.seats_waiting);
    }
}
