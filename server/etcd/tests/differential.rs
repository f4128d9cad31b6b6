//! Generated sequences of operations, sent to this server and to a real etcd: the answers are the same,
//! field by field, apart from the numbers of cluster and member.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::fmt::Debug;
use std::time::Duration;

use common::{
    COMPACT, Calls, DELETE_RANGE, GRANT, HASH_KV, LEASES, PUT, RANGE, REVOKE, RealEtcd, Served, TIME_TO_LIVE, TXN,
    WATCH,
    proto::{
        CompactionRequest, CompactionResponse, Compare, DeleteRangeRequest, DeleteRangeResponse, HashKvRequest,
        HashKvResponse, LeaseGrantRequest, LeaseGrantResponse, LeaseLeasesResponse, LeaseRevokeRequest,
        LeaseRevokeResponse, LeaseTimeToLiveRequest, LeaseTimeToLiveResponse, PutRequest, PutResponse, RangeRequest,
        RangeResponse, RequestOp, ResponseHeader, ResponseOp, TxnRequest, TxnResponse, WatchCreateRequest,
        WatchRequest, WatchResponse, compare::TargetUnion, mvccpb::Event, request_op, response_op,
        watch_request::RequestUnion,
    },
};
use needs::needs;
use prost::Message;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};

/// Few keys: etcd's order of equal ones is only defined for less than twelve.
const KEYS: [&str; 7] = ["k/a", "k/b", "k/c", "k/d", "l/a", "l/b", "m"];
const LEASE_IDS: [i64; 3] = [101, 102, -7];

/// An answer without what differs between two servers.
trait Normalize {
    fn normalize(&mut self);
}

fn header(header: &mut Option<ResponseHeader>) {
    if let Some(header) = header {
        (header.cluster_id, header.member_id, header.raft_term) = (0, 0, 0);
    }
}

macro_rules! normalize {
    ($($message:ty $(, $rest:expr)?);* $(;)?) => {
        $(impl Normalize for $message {
            fn normalize(&mut self) {
                header(&mut self.header);
                $(let rest: fn(&mut $message) = $rest; rest(self);)?
            }
        })*
    };
}

normalize! {
    RangeResponse;
    PutResponse;
    DeleteRangeResponse;
    CompactionResponse;
    LeaseGrantResponse;
    LeaseRevokeResponse;
    HashKvResponse;
    TxnResponse, |txn| txn.responses.iter_mut().for_each(operation);
    LeaseTimeToLiveResponse, |lease| { lease.keys.sort(); lease.ttl = lease.ttl.min(1); };
    LeaseLeasesResponse, |leases| leases.leases.sort_by_key(|lease| lease.id);
}

fn operation(op: &mut ResponseOp) {
    match op.response.as_mut().unwrap() {
        response_op::Response::Range(response) => response.normalize(),
        response_op::Response::Put(response) => response.normalize(),
        response_op::Response::DeleteRange(response) => response.normalize(),
        response_op::Response::Txn(response) => response.normalize(),
    }
}

/// Code and message of an error.
#[derive(Debug, PartialEq)]
struct Refused(tonic::Code, String);

/// The two servers.
struct Pair {
    ours: Calls,
    etcd: Calls,
    log: Vec<String>,
}

impl Pair {
    /// Sends a message to both servers and compares the answers.
    async fn send<Q, A>(&mut self, method: &'static str, message: Q) -> Result<A, Refused>
    where
        Q: Message + Clone + Debug + 'static,
        A: Message + Default + Debug + PartialEq + Normalize + 'static,
    {
        self.log.push(format!("{method} {message:?}"));
        let answer = async |calls: &Calls| {
            let answer: Result<A, _> = calls.call(method, message.clone()).await;
            answer
                .map(|mut answer| {
                    answer.normalize();
                    answer
                })
                .map_err(|status| Refused(status.code(), status.message().to_owned()))
        };
        let (ours, etcd) = (answer(&self.ours).await, answer(&self.etcd).await);
        if ours != etcd {
            let last = self.log.len().saturating_sub(12);
            panic!("answers differ\nours: {ours:#?}\netcd: {etcd:#?}\nafter:\n{}", self.log[last..].join("\n"));
        }
        ours
    }
}

/// Generates requests.
struct Generator {
    random: StdRng,
    revision: i64,
    /// The revisions that were compacted. etcd keeps the checksums that it computed before.
    compacted: Vec<i64>,
}

impl Generator {
    fn one_in(&mut self, count: u32) -> bool {
        self.random.random_ratio(1, count)
    }

    fn key(&mut self) -> String {
        if self.one_in(40) { String::new() } else { (*KEYS.choose(&mut self.random).unwrap()).to_owned() }
    }

    fn range(&mut self) -> (String, String) {
        let key = self.key();
        match self.random.random_range(0..8) {
            0 => ("k/".into(), "k0".into()),
            1 => (key, "\0".into()),
            2 => ("\0".into(), "\0".into()),
            3 | 4 => (key, self.key()),
            _ => (key, String::new()),
        }
    }

    fn lease(&mut self) -> i64 {
        match self.random.random_range(0..8) {
            0..5 => 0,
            5 => 999,
            _ => *LEASE_IDS.choose(&mut self.random).unwrap(),
        }
    }

    fn some_revision(&mut self) -> i64 {
        match self.random.random_range(0..4) {
            0..2 => 0,
            _ => self.random.random_range((self.revision - 12).max(1)..=self.revision + 1),
        }
    }

    fn range_request(&mut self) -> RangeRequest {
        let (key, range_end) = self.range();
        let mut request = RangeRequest {
            key: key.into(),
            range_end: range_end.into(),
            revision: self.some_revision(),
            limit: self.random.random_range(-1..4),
            serializable: self.one_in(3),
            keys_only: self.one_in(6),
            count_only: self.one_in(8),
            ..RangeRequest::default()
        };
        if self.one_in(2) {
            request.sort_order = self.random.random_range(0..4);
            request.sort_target = self.random.random_range(0..6);
        }
        if self.one_in(4) {
            let (low, high) = ((self.revision - 8).max(0), self.revision + 1);
            request.min_mod_revision = self.random.random_range(low..=high);
            request.max_create_revision = self.random.random_range(low..=high);
        }
        if self.one_in(6) {
            request.max_mod_revision = self.random.random_range(-1..=self.revision);
            request.min_create_revision = self.random.random_range(0..=self.revision);
        }
        request
    }

    fn put_request(&mut self) -> PutRequest {
        let mut request = PutRequest {
            key: self.key().into(),
            value: format!("{}", self.random.random_range(0..50)).into(),
            lease: self.lease(),
            prev_kv: self.one_in(2),
            ignore_value: self.one_in(8),
            ignore_lease: self.one_in(8),
        };
        if request.ignore_value && !self.one_in(4) {
            request.value.clear();
        }
        if request.ignore_lease && !self.one_in(4) {
            request.lease = 0;
        }
        request
    }

    fn delete_request(&mut self) -> DeleteRangeRequest {
        let (key, range_end) = self.range();
        DeleteRangeRequest { key: key.into(), range_end: range_end.into(), prev_kv: self.one_in(2) }
    }

    fn compare(&mut self) -> Compare {
        let (key, range_end) = self.range();
        let revision = self.random.random_range(0..=self.revision);
        let (target, union) = match self.random.random_range(0..5) {
            0 => (0, TargetUnion::Version(self.random.random_range(0..3))),
            1 => (1, TargetUnion::CreateRevision(revision)),
            2 => (2, TargetUnion::ModRevision(if self.one_in(2) { 0 } else { revision })),
            3 => (3, TargetUnion::Value(format!("{}", self.random.random_range(0..50)).into())),
            _ => (4, TargetUnion::Lease(self.lease())),
        };
        Compare {
            result: self.random.random_range(0..4),
            target,
            key: key.into(),
            range_end: range_end.into(),
            target_union: if self.one_in(10) { None } else { Some(union) },
        }
    }

    fn operation(&mut self, depth: u32) -> RequestOp {
        let request = match self.random.random_range(0..10) {
            0..3 => request_op::Request::Range(self.range_request()),
            3..7 => request_op::Request::Put(self.put_request()),
            7..9 => request_op::Request::DeleteRange(self.delete_request()),
            _ if depth < 2 => request_op::Request::Txn(self.txn_request(depth + 1)),
            _ => return RequestOp::default(),
        };
        RequestOp { request: Some(request) }
    }

    fn txn_request(&mut self, depth: u32) -> TxnRequest {
        let compares = self.random.random_range(0..3);
        let (success, failure) = (self.random.random_range(0..4), self.random.random_range(0..3));
        TxnRequest {
            compare: (0..compares).map(|_| self.compare()).collect(),
            success: (0..success).map(|_| self.operation(depth)).collect(),
            failure: (0..failure).map(|_| self.operation(depth)).collect(),
        }
    }
}

async fn step(pair: &mut Pair, generator: &mut Generator) {
    match generator.random.random_range(0..100) {
        0..30 => {
            let request = generator.put_request();
            let _ = pair.send::<_, PutResponse>(PUT, request).await;
        }
        30..40 => {
            let request = generator.delete_request();
            let _ = pair.send::<_, DeleteRangeResponse>(DELETE_RANGE, request).await;
        }
        40..60 => {
            let request = generator.range_request();
            let _ = pair.send::<_, RangeResponse>(RANGE, request).await;
        }
        60..85 => {
            let request = generator.txn_request(0);
            let _ = pair.send::<_, TxnResponse>(TXN, request).await;
        }
        85..88 => {
            let request = LeaseGrantRequest { id: *LEASE_IDS.choose(&mut generator.random).unwrap(), ttl: 5000 };
            let _ = pair.send::<_, LeaseGrantResponse>(GRANT, request).await;
        }
        88..90 => {
            let request = LeaseRevokeRequest { id: *LEASE_IDS.choose(&mut generator.random).unwrap() };
            let _ = pair.send::<_, LeaseRevokeResponse>(REVOKE, request).await;
        }
        90..93 => {
            let id = *LEASE_IDS.choose(&mut generator.random).unwrap();
            let _ =
                pair.send::<_, LeaseTimeToLiveResponse>(TIME_TO_LIVE, LeaseTimeToLiveRequest { id, keys: true }).await;
            let _ = pair.send::<_, LeaseLeasesResponse>(LEASES, ()).await;
        }
        93..98 => {
            let revision = generator.some_revision();
            if !generator.compacted.contains(&revision) {
                let _ = pair.send::<_, HashKvResponse>(HASH_KV, HashKvRequest { revision }).await;
            }
        }
        _ => {
            let revision = generator.random.random_range((generator.revision - 9).max(1)..=generator.revision + 1);
            let request = CompactionRequest { revision, physical: true };
            if pair.send::<_, CompactionResponse>(COMPACT, request).await.is_ok() {
                generator.compacted.push(revision);
            }
        }
    }
    let all = RangeRequest { key: "\0".into(), range_end: "\0".into(), ..RangeRequest::default() };
    let now: RangeResponse = pair.send(RANGE, all).await.unwrap();
    generator.revision = now.header.unwrap().revision;
}

/// Reads the changes from a revision up to another one, or the cancellation.
async fn changes(calls: &Calls, from: i64, last: i64) -> Result<Vec<Event>, (i64, bool)> {
    let create = WatchCreateRequest {
        key: "\0".into(),
        range_end: "\0".into(),
        start_revision: from,
        prev_kv: true,
        ..WatchCreateRequest::default()
    };
    let request = WatchRequest { request_union: Some(RequestUnion::Create(create)) };
    let requests =
        futures_util::StreamExt::chain(futures_util::stream::iter([request]), futures_util::stream::pending());
    let mut responses = calls.0.open::<_, WatchResponse>(WATCH, requests).await.unwrap();
    let mut events: Vec<Event> = Vec::new();
    while events.last().is_none_or(|event| event.kv.as_ref().unwrap().mod_revision < last) {
        let response = tokio::time::timeout(Duration::from_secs(60), responses.message()).await.unwrap();
        let response = response.unwrap().unwrap();
        if response.canceled {
            return Err((response.compact_revision, response.header.unwrap().revision == 0));
        }
        events.extend(response.events);
    }
    Ok(events)
}

async fn run(seed: u64, steps: usize) {
    let (served, etcd) = (Served::start(&["--unsafe-no-fsync"]).await, RealEtcd::start());
    let mut pair = Pair { ours: served.calls().await, etcd: Calls::connect(&etcd.url).await, log: Vec::new() };
    let mut generator = Generator { random: StdRng::seed_from_u64(seed), revision: 1, compacted: Vec::new() };
    for _ in 0..steps {
        step(&mut pair, &mut generator).await;
    }
    let last = pair.ours.put("k/last", "x").await;
    assert_eq!(pair.etcd.put("k/last", "x").await, last);
    let lowest = (last - 15).max(1);
    for from in lowest..=last {
        let (ours, etcd) = (changes(&pair.ours, from, last).await, changes(&pair.etcd, from, last).await);
        assert_eq!(ours, etcd, "changes from revision {from} of {last}, seed {seed}");
    }
    served.stop().await;
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_generated_operations_are_those_of_etcd() {
    for seed in 0..4 {
        run(seed, 400).await;
    }
}
