//! Fairness in simulated time. Each client sends its next request as soon as the previous one ends.

use super::*;
use crate::config::{FlowSchema, mandatory_schemas};
use crate::digest::{Digest, RequestDetails};
use crate::flow::Flow;
use crate::metrics::Metrics;
use crate::work::WorkEstimate;
use prometheus::Registry;
use std::collections::BTreeMap;
use std::sync::Arc;

const MS: Duration = Duration::from_millis(1);
const QUEUES: Queuing = Queuing::Queues { count: 64, hand_size: 6, length: 50 };
/// Fairness applies to queues: it is exact for flows that have one queue each.
const ONE_EACH: Queuing = Queuing::Queues { count: 512, hand_size: 1, length: 250 };

struct TestRequest;

impl RequestDetails for TestRequest {
    fn digest(&self) -> Digest<'_> {
        Digest::default()
    }
}

fn flow() -> Arc<Flow> {
    let [_, schema]: [FlowSchema; 2] = mandatory_schemas();
    Arc::new(Flow::new(&schema, &bytes::Bytes::new(), Metrics::new(&Registry::new()).flow("level", "schema")))
}

/// A client with `threads` concurrent requests of the same seats and duration.
#[derive(Clone, Copy)]
struct Client {
    threads: usize,
    seats: u32,
    runs: Duration,
    lingers: Duration,
}

const fn client(threads: usize, seats: u32, runs_ms: u64) -> Client {
    Client { threads, seats, runs: Duration::from_millis(runs_ms), lingers: Duration::ZERO }
}

/// The results of a client.
#[derive(Clone, Copy, Debug, Default)]
struct Got {
    requests: usize,
    rejected: usize,
    seat_seconds: f64,
    waited: Duration,
    longest_wait: Duration,
}

enum Event {
    Send(usize),
    End(usize, RequestId),
    /// Final work is done.
    Release,
}

struct Simulation<'c> {
    set: QueueSet,
    flow: Arc<Flow>,
    clients: &'c [Client],
    /// By time, then in order of planning.
    events: BTreeMap<(Duration, usize), Event>,
    waiting: Vec<(usize, Duration, RequestId, oneshot::Receiver<()>)>,
    got: Vec<Got>,
    planned: usize,
}

impl Simulation<'_> {
    fn plan(&mut self, at: Duration, event: Event) {
        self.planned += 1;
        self.events.insert((at, self.planned), event);
    }

    fn send(&mut self, now: Duration, client: usize) {
        let Client { seats, lingers, .. } = self.clients[client];
        let final_seats = if lingers.is_zero() { 0 } else { seats };
        let work = WorkEstimate { initial_seats: seats, final_seats, additional_latency: lingers };
        let hash = (client as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let arrival = Arrival { flow: self.flow.clone(), request: Arc::new(TestRequest), work, hash };
        match self.set.start(now, arrival) {
            ArrivalOutcome::Executing(id) => self.run(now, client, id, Duration::ZERO),
            ArrivalOutcome::Waiting(id, receiver) => self.waiting.push((client, now, id, receiver)),
            ArrivalOutcome::Rejected => {
                self.got[client].rejected += 1;
                self.plan(now + MS, Event::Send(client));
            }
        }
    }

    fn run(&mut self, now: Duration, client: usize, id: RequestId, waited: Duration) {
        let Client { seats, runs, .. } = self.clients[client];
        let got = &mut self.got[client];
        got.requests += 1;
        got.seat_seconds += f64::from(seats) * runs.as_secs_f64();
        got.waited += waited;
        got.longest_wait = got.longest_wait.max(waited);
        self.plan(now + runs, Event::End(client, id));
    }

    fn step(&mut self, now: Duration, event: Event) {
        match event {
            Event::Send(client) => self.send(now, client),
            Event::Release => self.set.sync(now),
            Event::End(client, id) => {
                self.set.end(now, id);
                if let Some(due) = self.set.next_release() {
                    self.plan(due, Event::Release);
                }
                self.send(now, client);
            }
        }
        for (client, since, id, mut receiver) in std::mem::take(&mut self.waiting) {
            match receiver.try_recv() {
                Ok(()) => self.run(now, client, id, now - since),
                Err(_) => self.waiting.push((client, since, id, receiver)),
            }
        }
    }
}

/// Simulates a level for half a minute, and returns the results of the clients.
fn simulate(queuing: Queuing, seats: u32, clients: &[Client]) -> (Vec<Got>, QueueSet) {
    let mut simulation = Simulation {
        set: QueueSet::new(queuing, seats),
        flow: flow(),
        clients,
        events: BTreeMap::new(),
        waiting: Vec::new(),
        got: vec![Got::default(); clients.len()],
        planned: 0,
    };
    for (index, client) in clients.iter().enumerate() {
        (0..client.threads).for_each(|_| simulation.plan(Duration::ZERO, Event::Send(index)));
    }
    while let Some(((now, _), event)) = simulation.events.pop_first() {
        if now > Duration::from_secs(30) {
            break;
        }
        simulation.step(now, event);
    }
    (simulation.got, simulation.set)
}

/// Checks that clients with more demand than seats get equal work, within a percentage.
#[track_caller]
fn check_equal(seats: u32, clients: &[Client], percent: f64) {
    let (got, _) = simulate(ONE_EACH, seats, clients);
    let fair = got.iter().map(|got| got.seat_seconds).sum::<f64>() / got.len() as f64;
    for got in &got {
        assert!((got.seat_seconds - fair).abs() <= fair * percent / 100.0, "{got:?} of {fair}");
    }
    assert!(fair * got.len() as f64 > 0.9 * f64::from(seats) * 30.0, "seats were not used: {got:?}");
}

#[test]
fn flows_get_equal_work() {
    check_equal(10, &[client(20, 1, 10), client(20, 1, 10)], 2.0);
    check_equal(10, &[client(100, 1, 10), client(12, 1, 10), client(30, 1, 10)], 5.0);
    check_equal(10, &[client(40, 1, 50), client(40, 1, 5)], 5.0);
    check_equal(12, &[client(40, 4, 10), client(40, 1, 10)], 10.0);
}

#[test]
fn low_demand_flow_hardly_waits() {
    let (got, _) = simulate(QUEUES, 10, &[client(250, 1, 20), client(1, 1, 5)]);
    let mouse = got[1];
    assert!(mouse.requests > 600 && mouse.rejected == 0, "{mouse:?}");
    assert!(mouse.waited / mouse.requests as u32 <= 25 * MS, "{mouse:?}");
}

#[test]
fn wide_requests_are_not_starved() {
    let (got, _) = simulate(QUEUES, 10, &[client(20, 1, 10), client(1, 10, 10), client(20, 1, 10)]);
    assert!(got[1].requests > 300 && got[1].longest_wait < 100 * MS, "{got:?}");
    // Not even when they are wider than the whole level.
    let (got, _) = simulate(QUEUES, 4, &[client(20, 1, 10), client(1, 10, 10)]);
    assert!(got[1].requests > 30, "{got:?}");
}

#[test]
fn narrow_requests_bypass_wide_ones_without_starving_them() {
    // Four lists of ten seats run, others wait, and nine seats are left.
    let (got, _) = simulate(QUEUES, 49, &[client(16, 10, 300), client(4, 1, 1)]);
    assert!(got[1].requests > 20_000 && got[1].longest_wait < 10 * MS, "{got:?}");
    assert!(got[0].requests >= 4 * 90, "{got:?}");
    // Seven lists of eight seats would take all seats.
    let (got, _) = simulate(QUEUES, 56, &[client(16, 8, 300), client(4, 1, 1)]);
    assert!(got[1].longest_wait < 10 * MS && got[0].requests >= 6 * 90, "{got:?}");
    // Any number of narrow requests leave the wide ones their share.
    let (got, _) = simulate(QUEUES, 49, &[client(16, 10, 300), client(100, 1, 10), client(100, 1, 10)]);
    assert!(got[0].seat_seconds > 0.25 * 49.0 * 30.0, "{got:?}");
}

#[test]
fn no_request_waits_while_seats_are_free() {
    let (got, set) = simulate(QUEUES, 20, &[client(8, 1, 10), client(4, 3, 7)]);
    assert!(got.iter().all(|got| got.waited.is_zero() && got.rejected == 0), "{got:?}");
    assert_eq!(set.counts.rejected, 0);
    let (got, _) = simulate(Queuing::Exempt, 0, &[client(50, 1, 100)]);
    assert_eq!((got[0].requests, got[0].waited), (50 * 301, Duration::ZERO));
}

#[test]
fn rejects_request_when_queue_is_full() {
    let narrow = Queuing::Queues { count: 8, hand_size: 2, length: 5 };
    let (got, set) = simulate(narrow, 2, &[client(30, 1, 10), client(3, 1, 10)]);
    assert!(got[0].rejected > 0 && got[1].rejected == 0, "{got:?}");
    assert_eq!(set.counts.rejected, got[0].rejected as u64);
    let (got, _) = simulate(Queuing::Reject, 2, &[client(3, 1, 10)]);
    assert!(got[0].rejected > 0 && got[0].waited.is_zero(), "{got:?}");
}

#[test]
fn final_work_holds_seats_after_response() {
    let (got, _) = simulate(QUEUES, 4, &[Client { lingers: 10 * MS, ..client(8, 1, 10) }]);
    let expect = 4.0 * 30.0 / 2.0;
    assert!((got[0].seat_seconds - expect).abs() < 1.0, "{got:?}");
}

#[test]
fn waiting_requests_are_cancellable_and_seats_expire() {
    let (mut set, flow) = (QueueSet::new(QUEUES, 1), flow());
    let start = |set: &mut QueueSet, now| {
        let (flow, request, work) = (flow.clone(), Arc::new(TestRequest), WorkEstimate::seats(1));
        match set.start(now, Arrival { flow, request, work, hash: 7 }) {
            ArrivalOutcome::Executing(id) => (id, None),
            ArrivalOutcome::Waiting(id, receiver) => (id, Some(receiver)),
            ArrivalOutcome::Rejected => panic!("rejected"),
        }
    };
    let (first, none) = start(&mut set, MS);
    let (second, _receiver) = start(&mut set, MS);
    let (_, third) = start(&mut set, 2 * MS);
    assert!(none.is_none() && third.is_some() && set.load() == (2, 1));
    set.end(3 * MS, second);
    assert_eq!((set.load(), set.counts.cancelled), ((1, 1), 1));
    set.expire(60_000 * MS, 60_000 * MS);
    assert_eq!(set.load(), (1, 1));
    set.expire(60_002 * MS, 60_000 * MS);
    assert!(third.unwrap().try_recv().is_ok() && set.load() == (0, 1));
    // The end of an expired request has no effect.
    set.end(60_003 * MS, first);
    assert_eq!(set.load(), (0, 1));
}

#[test]
fn seats_of_final_work_are_released_when_due() {
    let (mut set, flow) = (QueueSet::new(QUEUES, 2), flow());
    let work = WorkEstimate { initial_seats: 1, final_seats: 2, additional_latency: 10 * MS };
    let start = |set: &mut QueueSet, now| {
        set.start(now, Arrival { flow: flow.clone(), request: Arc::new(TestRequest), work, hash: 7 })
    };
    let ArrivalOutcome::Executing(first) = start(&mut set, MS) else { panic!("queued") };
    set.end(5 * MS, first);
    let ArrivalOutcome::Waiting(second, mut receiver) = start(&mut set, 6 * MS) else { panic!("not queued") };
    set.sync(14 * MS);
    assert_eq!((set.load(), set.next_release()), ((1, 0), Some(15 * MS)));
    set.sync(40 * MS);
    assert!(receiver.try_recv().is_ok() && set.load() == (0, 1) && set.next_release().is_none());
    assert_eq!(set.requests()[&second].started, 15 * MS, "however late that is noticed");
    set.end(50 * MS, second);
    let ArrivalOutcome::Executing(_) = start(&mut set, 70 * MS) else { panic!("seats not released") };
}

#[test]
fn queues_and_seats_are_reconfigurable() {
    let (_, mut set) = simulate(QUEUES, 4, &[client(30, 1, 10), client(30, 2, 10)]);
    let now = Duration::from_secs(31);
    set.configure(now, Queuing::Reject, 1000);
    assert_eq!(set.load().0, 0, "everything that waited runs");
    let ids: Vec<RequestId> = set.requests().keys().copied().collect();
    ids.into_iter().for_each(|id| set.end(now, id));
    assert!(set.is_idle() && set.queues().is_empty());
}
