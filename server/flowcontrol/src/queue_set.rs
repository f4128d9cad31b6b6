//! The queues of a priority level: fair queuing for requests that take several seats for a time nobody knows beforehand (upstream:
//! `fairqueuing/queueset`; KEP-1040 derives the algorithm).
//!
//! Imagine that all queues with something to do were served at the same time, each with the same part of the level's seats. *Virtual
//! time* `R` is the work that a queue would have got that way by now. Requests are served one after the other in the order in which they
//! would have ended there. A queue's `next_dispatch` is when its next request would begin; it moves on by the estimated work of a request
//! that is served, and is put right when its real duration is known.
//!
//! A queue set is a state machine: it does what it is told, at the time it is told. A request that finds seats free and nobody waiting is
//! only charged to its queue and never put in it.

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
pub use request::{Arrival, Entry, Stage};

/// How long a request is expected to run. What it really took is charged afterwards.
pub const ESTIMATED_SERVICE: Duration = Duration::from_millis(3);

/// For how long narrow requests may pass one that is too wide for the seats that are free.
const PATIENCE: Duration = Duration::from_secs(1);

/// One seat in so many is only for requests that take one: what is short does not wait until the lists of others have been read.
const SEATS_FOR_ONE_NARROW: u32 = 32;

/// Names a request of a queue set; never used twice.
pub type RequestId = u64;

/// What becomes of a request that has arrived.
pub enum Outcome {
    Executing(RequestId),
    /// It may run when the receiver hears something.
    Waiting(RequestId, oneshot::Receiver<()>),
    Rejected,
}

/// What has become of requests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub dispatched: u64,
    pub rejected: u64,
    /// Of the rejected ones, those that had waited.
    pub cancelled: u64,
}

/// What the last dispatch of a waiting request looked like in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastDispatch {
    pub at: SeatSeconds,
    pub start: SeatSeconds,
}

/// See the module. Times are counted from any one moment.
pub struct QueueSet {
    queuing: Queuing,
    /// Seats that may be taken at a time.
    limit: u32,
    /// There may be more than are wanted, until those are empty.
    queues: Vec<Queue>,
    requests: HashMap<RequestId, Entry>,
    /// Requests whose final work goes on, by when it is done.
    lingering: BTreeSet<(Duration, RequestId)>,
    next_id: RequestId,
    /// Virtual time, and the real one at which it was that.
    virtual_now: SeatSeconds,
    synced: Duration,
    /// The queue that was served last; of queues that are equal, the next one is served.
    last_served: usize,
    /// Changes with every hand, so that no queue of a hand is preferred.
    turn: usize,
    active_queues: usize,
    waiting: usize,
    executing: usize,
    seats_in_use: u32,
    /// Of those, the ones of requests that have passed wider ones.
    seats_of_passers: u32,
    seats_waiting: u32,
    pub counts: Counts,
    pub demand: Demand,
    pub last_dispatch: LastDispatch,
}

impl QueueSet {
    /// A queue set with so many seats.
    pub fn new(queuing: Queuing, limit: u32) -> Self {
        let mut set = QueueSet {
            queuing,
            limit,
            queues: Vec::new(),
            requests: HashMap::new(),
            lingering: BTreeSet::new(),
            next_id: 0,
            virtual_now: SeatSeconds::default(),
            synced: Duration::ZERO,
            last_served: 0,
            turn: 0,
            active_queues: 0,
            waiting: 0,
            executing: 0,
            seats_in_use: 0,
            seats_of_passers: 0,
            seats_waiting: 0,
            counts: Counts::default(),
            demand: Demand::default(),
            last_dispatch: LastDispatch::default(),
        };
        set.resize();
        set
    }

    /// Changes queues and seats. Requests stay where they are; queues that are no longer wanted go when they are empty.
    pub fn configure(&mut self, now: Duration, queuing: Queuing, limit: u32) {
        self.sync(now);
        (self.queuing, self.limit) = (queuing, limit);
        self.resize();
        self.dispatch_all(now);
    }

    /// Takes a request in.
    pub fn start(&mut self, now: Duration, arrival: Arrival) -> Outcome {
        self.sync(now);
        let seats = arrival.work.max_seats();
        let Queuing::Queues { hand_size, length, count } = self.queuing else {
            if self.queuing == Queuing::Reject && !self.fits(seats) {
                self.counts.rejected += 1;
                arrival.flow.metrics.rejected_no_seat.inc();
                return Outcome::Rejected;
            }
            return Outcome::Executing(self.execute_at_once(now, arrival, None));
        };
        let index = self.choose(arrival.hash, count, hand_size);
        if self.seats_in_use >= self.limit && self.queues[index].waiting.len() >= length {
            self.counts.rejected += 1;
            arrival.flow.metrics.rejected_queue_full.inc();
            return Outcome::Rejected;
        }
        self.open_queue(index);
        if self.waiting == 0 && self.seats_in_use < self.limit && self.fits(seats) {
            return Outcome::Executing(self.execute_at_once(now, arrival, Some(index)));
        }
        let (id, told) = self.enqueue(now, arrival, index);
        self.dispatch_all(now);
        Outcome::Waiting(id, told)
    }

    /// A request is done with, or does not want to wait any longer. If it has final work its seats stay taken until that is done too.
    pub fn end(&mut self, now: Duration, id: RequestId) {
        self.sync(now);
        match self.requests.get(&id).map(|entry| &entry.stage) {
            Some(Stage::Waiting(_)) => self.cancel(now, id),
            Some(Stage::Executing) => self.finish(now, id),
            Some(Stage::Lingering) | None => {}
        }
    }

    /// When final work will next be done. Whatever is done to the queue set from then on takes notice of that first; who waits for those seats
    /// is served no sooner.
    pub fn next_release(&self) -> Option<Duration> {
        self.lingering.first().map(|(due, _)| *due)
    }

    /// Frees the seats of a request that has ended.
    fn release(&mut self, now: Duration, id: RequestId) {
        let Some(entry) = self.requests.remove(&id) else { return };
        let seats = entry.seats();
        self.seats_in_use -= seats;
        if entry.has_passed {
            self.seats_of_passers -= seats;
        }
        entry.arrival.flow.metrics.seats_executing.sub(i64::from(seats));
        if let Some(index) = entry.queue {
            self.queues[index].seats_in_use -= seats;
        }
        self.note_demand(now);
        self.dispatch_all(now);
        self.resize();
    }

    /// Takes the seats from requests that have had them for longer than any request may run: their clients do not read the answers, and
    /// must not keep others out.
    pub fn expire(&mut self, now: Duration, longest: Duration) {
        self.sync(now);
        let is_old = |entry: &Entry| matches!(entry.stage, Stage::Executing) && now > entry.started + longest;
        let old: Vec<RequestId> = self.requests.iter().filter(|(_, e)| is_old(e)).map(|(id, _)| *id).collect();
        for id in old {
            self.end(now, id);
            self.release(now, id);
        }
    }

    /// Whether nothing waits or runs.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0 && self.executing == 0
    }

    pub fn queuing(&self) -> Queuing {
        self.queuing
    }

    pub fn virtual_now(&self) -> SeatSeconds {
        self.virtual_now
    }

    /// How many wait, and how many run.
    pub fn load(&self) -> (usize, usize) {
        (self.waiting, self.executing)
    }

    /// The queues, for documents.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// The requests that wait or run, for documents.
    pub fn requests(&self) -> &HashMap<RequestId, Entry> {
        &self.requests
    }

    /// Makes the queues that are missing, and drops the last ones if there are too many and nothing is in them.
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

    /// Catches up with time: what was to happen since the last call happens as of when it was to.
    pub fn sync(&mut self, now: Duration) {
        while let Some(&(due, id)) = self.lingering.first().filter(|(due, _)| *due <= now) {
            self.lingering.remove(&(due, id));
            self.pass(due);
            self.release(due, id);
        }
        self.pass(now);
    }

    /// Lets virtual time pass as it did since the last call: by the work that each active queue could have got.
    fn pass(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.synced);
        self.synced = self.synced.max(now);
        if self.active_queues > 0 {
            let seats = (self.seats_in_use + self.seats_waiting).min(self.limit);
            self.virtual_now += SeatSeconds::new(seats, passed).shared_by(self.active_queues);
        }
    }

    /// Of the queues that the flow may join, the one with the least work waiting.
    fn choose(&mut self, hash: u64, count: usize, hand_size: usize) -> usize {
        self.turn = self.turn.wrapping_add(1);
        let hand = Hand::deal(hash, count, hand_size);
        hand.after_turn(self.turn).min_by_key(|index| self.queues[*index].work_waiting).unwrap_or(0)
    }

    /// Whether so many seats are free. A request that is wider than the whole level gets in when nothing else runs.
    fn fits(&self, seats: u32) -> bool {
        match self.queuing {
            Queuing::Exempt => true,
            _ if seats > self.limit => self.executing == 0,
            _ if seats == 1 => self.seats_in_use < self.limit,
            _ => self.seats_in_use + seats <= (self.limit - self.limit / SEATS_FOR_ONE_NARROW).max(seats),
        }
    }

    /// Lets nothing of a queue begin before now in virtual time: a queue saves up no time in which it had nothing to do.
    fn open_queue(&mut self, index: usize) {
        let queue = &mut self.queues[index];
        if !queue.is_active() {
            queue.next_dispatch = self.virtual_now;
        } else if queue.waiting.is_empty() {
            queue.next_dispatch = queue.next_dispatch.max(self.virtual_now);
        }
    }

    fn entry(&mut self, now: Duration, arrival: Arrival, queue: Option<usize>, stage: Stage) -> (RequestId, Entry) {
        self.next_id += 1;
        let arrived_virtually = self.virtual_now;
        let entry = Entry {
            arrival,
            arrived: now,
            arrived_virtually,
            started: now,
            queue,
            stage,
            too_wide_since: None,
            has_passed: false,
        };
        (self.next_id, entry)
    }

    fn execute_at_once(&mut self, now: Duration, arrival: Arrival, queue: Option<usize>) -> RequestId {
        let arrival = match queue {
            Some(_) => Arrival { work: arrival.work.narrowed(self.limit), ..arrival },
            None => arrival,
        };
        let (id, entry) = self.entry(now, arrival, queue, Stage::Executing);
        self.execute(now, id, entry);
        id
    }

    /// A request begins to run.
    fn execute(&mut self, now: Duration, id: RequestId, entry: Entry) {
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
        self.note_demand(now);
    }

    /// Changes a queue, and keeps count of those that are active.
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
        let (tell, told) = oneshot::channel();
        let (id, entry) = self.entry(now, arrival, Some(index), Stage::Waiting(tell));
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
        self.note_demand(now);
        (id, told)
    }

    /// Takes a request that waits out of its queue.
    fn dequeue(&mut self, id: RequestId) -> Option<Entry> {
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
            self.bound(index);
        }
        self.note_demand(now);
        self.dispatch_all(now);
        self.resize();
    }

    fn finish(&mut self, now: Duration, id: RequestId) {
        let Some(entry) = self.requests.get_mut(&id) else { return };
        entry.stage = Stage::Lingering;
        let (work, started, queue) = (entry.arrival.work, entry.started, entry.queue);
        entry.arrival.flow.metrics.requests_executing.dec();
        self.executing -= 1;
        if let Some(index) = queue {
            // What was charged when it began is put right: it ran for this long, not for as long as was estimated.
            let charged = SeatSeconds::new(work.initial_seats, ESTIMATED_SERVICE);
            let used = SeatSeconds::new(work.initial_seats, now.saturating_sub(started));
            self.change(index, |queue| {
                queue.executing -= 1;
                queue.next_dispatch += used - charged;
            });
            self.bound(index);
        }
        match work.additional_latency.is_zero() {
            true => self.release(now, id),
            false => drop(self.lingering.insert((now + work.additional_latency, id))),
        }
    }

    /// Lets the oldest request of a queue not begin before it arrived, in virtual time: a queue that could not use its seats does not save
    /// them up.
    fn bound(&mut self, index: usize) {
        let oldest = self.queues[index].waiting.front().and_then(|id| self.requests.get(id));
        if let Some(arrived) = oldest.map(|entry| entry.arrived_virtually) {
            let queue = &mut self.queues[index];
            queue.next_dispatch = queue.next_dispatch.max(arrived);
        }
    }

    fn dispatch_all(&mut self, now: Duration) {
        while self.waiting > 0 && self.seats_in_use < self.limit && self.dispatch(now) {}
    }

    /// Lets the request run that would end first in virtual time, if there are seats for it, or else one that may pass it.
    fn dispatch(&mut self, now: Duration) -> bool {
        let Some((index, id)) = self.next(|_, _| true) else { return false };
        let Some(seats) = self.requests.get(&id).map(Entry::seats) else { return false };
        if self.fits(seats) {
            self.serve(now, index, id, false);
            return true;
        }
        let Some(next) = self.requests.get_mut(&id) else { return false };
        let since = *next.too_wide_since.get_or_insert(now);
        next.arrival.flow.metrics.no_accommodation.inc();
        let Some((index, id)) = self.passer(seats).filter(|_| now < since + PATIENCE) else { return false };
        self.serve(now, index, id, true);
        true
    }

    /// Who may run although it is the turn of a request that is too wide for the seats that are free: the only request of its queue. Upstream
    /// lets nobody pass, and who asks for little then waits for as long as somebody else's lists take. The wide one runs all the same
    /// when those that run now have ended: passers leave as many seats as it needs.
    fn passer(&self, wide: u32) -> Option<(usize, RequestId)> {
        let left = self.limit.checked_sub(wide)?.checked_sub(self.seats_of_passers)?;
        let may_pass = |entry: &Entry| entry.seats() <= left && self.fits(entry.seats());
        self.next(|queue, entry| may_pass(entry) && queue.executing == 0 && queue.waiting.len() == 1)
    }

    /// Lets a request run that was waiting.
    fn serve(&mut self, now: Duration, index: usize, id: RequestId, has_passed: bool) {
        let Some(mut entry) = self.dequeue(id) else { return };
        self.last_served = index;
        self.last_dispatch = LastDispatch { at: self.virtual_now, start: self.queues[index].next_dispatch };
        let stage = std::mem::replace(&mut entry.stage, Stage::Executing);
        entry.started = now;
        entry.arrival.work = entry.arrival.work.narrowed(self.limit);
        entry.has_passed = has_passed;
        if has_passed {
            self.seats_of_passers += entry.seats();
        }
        self.execute(now, id, entry);
        if let Stage::Waiting(tell) = stage
            && tell.send(()).is_err()
        {
            // Nobody waits for it any longer.
            self.end(now, id);
            self.release(now, id);
        }
        self.bound(index);
    }

    /// The queue whose oldest request would end first in virtual time, of those that are meant, and that request.
    fn next(&self, is_meant: impl Fn(&Queue, &Entry) -> bool) -> Option<(usize, RequestId)> {
        let count = self.queues.len();
        let in_turn = (1..=count).map(|step| (self.last_served + step) % count);
        let heads = in_turn.filter_map(|index| {
            let queue = &self.queues[index];
            let id = *queue.waiting.front()?;
            let entry = self.requests.get(&id).filter(|entry| is_meant(queue, entry))?;
            Some((queue.next_dispatch + entry.total_work(), index, id))
        });
        heads.min_by_key(|(end, ..)| *end).map(|(_, index, id)| (index, id))
    }

    fn note_demand(&mut self, now: Duration) {
        self.demand.set(now, self.seats_in_use + self.seats_waiting);
    }
}
