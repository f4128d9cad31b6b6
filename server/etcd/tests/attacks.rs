//! What a client may ask for, how much of it, and what happens when it goes away.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::time::{Duration, Instant};

use common::{
    ALARM, Calls, GRANT, KEEP_ALIVE, PUT, RANGE, STATUS, Served, TIME_TO_LIVE, TXN, WATCH,
    proto::{
        AlarmRequest, AlarmResponse, LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest,
        LeaseKeepAliveResponse, LeaseTimeToLiveRequest, LeaseTimeToLiveResponse, PutRequest, PutResponse, RangeRequest,
        RangeResponse, RequestOp, StatusResponse, TxnRequest, TxnResponse, WatchCancelRequest, WatchCreateRequest,
        WatchProgressRequest, WatchRequest, WatchResponse, request_op, watch_request::RequestUnion,
    },
};
use futures_util::{StreamExt, stream};
use grpc::{Code, Streaming};
use tokio::sync::mpsc;

/// An open stream of watches.
struct Watching {
    requests: mpsc::UnboundedSender<WatchRequest>,
    responses: Streaming<WatchResponse>,
}

impl Watching {
    async fn open(calls: &Calls) -> Self {
        let (requests, receiver) = mpsc::unbounded_channel();
        let stream = stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
        Self { requests, responses: calls.0.open(WATCH, stream).await.unwrap() }
    }

    fn send(&self, union: RequestUnion) {
        self.requests.send(WatchRequest { request_union: Some(union) }).unwrap();
    }

    fn create(&self, request: WatchCreateRequest) {
        self.send(RequestUnion::Create(request));
    }

    async fn next(&mut self) -> WatchResponse {
        let response = tokio::time::timeout(Duration::from_secs(60), self.responses.message()).await;
        response.expect("no response for a minute").unwrap().expect("the stream ended")
    }
}

fn watch(key: &str) -> WatchCreateRequest {
    WatchCreateRequest { key: key.to_owned().into(), ..WatchCreateRequest::default() }
}

fn put(key: impl Into<String>, bytes: usize) -> PutRequest {
    PutRequest { key: key.into().into(), value: vec![b'x'; bytes].into(), ..PutRequest::default() }
}

async fn refusal(calls: &Calls, request: PutRequest) -> (Code, String) {
    let status = calls.call::<_, PutResponse>(PUT, request).await.unwrap_err();
    (status.code(), status.message().to_owned())
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < end, "the condition does not come to hold");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn large_requests_are_refused_as_by_etcd() {
    let served = Served::start(&["--max-request-bytes=100000", "--max-txn-ops=10"]).await;
    let calls = served.calls().await;
    calls.call::<_, PutResponse>(PUT, put("a", 99_000)).await.unwrap();
    let (code, message) = refusal(&calls, put("a", 100_000)).await;
    assert_eq!((code, message.as_str()), (Code::InvalidArgument, "etcdserver: request is too large"));
    let (code, message) = refusal(&calls, put("a", 700_000)).await;
    assert_eq!(code, Code::ResourceExhausted);
    assert!(message.starts_with("grpc: received message larger than max (7000"), "{message}");
    let many = |count: usize| TxnRequest {
        success: (0..count)
            .map(|i| RequestOp { request: Some(request_op::Request::Put(put(format!("{i}"), 1))) })
            .collect(),
        ..TxnRequest::default()
    };
    calls.call::<_, TxnResponse>(TXN, many(10)).await.unwrap();
    let status = calls.call::<_, TxnResponse>(TXN, many(11)).await.unwrap_err();
    assert_eq!(status.message(), "etcdserver: too many operations in txn request");
    served.stop().await;
}

#[tokio::test]
async fn a_full_quota_refuses_puts_until_the_alarm_is_cleared() {
    let served = Served::start(&["--quota-backend-bytes=3000000", "--unsafe-no-fsync"]).await;
    let calls = served.calls().await;
    let mut written = 0;
    let message = loop {
        match calls.call::<_, PutResponse>(PUT, put(format!("{written}"), 100_000)).await {
            Ok(_) => written += 1,
            Err(status) => break status.message().to_owned(),
        }
        assert!(written < 10_000, "the quota has no effect");
    };
    assert_eq!(message, "etcdserver: mvcc: database space exceeded");
    let status: StatusResponse = calls.call(STATUS, ()).await.unwrap();
    assert!(status.errors[0].ends_with("alarm:NOSPACE "), "{status:?}");
    assert_eq!(status.db_size_quota, 3_000_000);
    let read: RangeResponse =
        calls.call(RANGE, RangeRequest { key: "0".into(), ..RangeRequest::default() }).await.unwrap();
    assert_eq!(read.count, 1, "reads go on");
    let grant = calls.call::<_, LeaseGrantResponse>(GRANT, LeaseGrantRequest { ttl: 60, id: 1 }).await;
    assert!(grant.is_err());
    let alarms: AlarmResponse = calls.call(ALARM, AlarmRequest::default()).await.unwrap();
    assert_eq!(alarms.alarms[0].member_id, status.leader);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_watches_of_a_stream_get_their_changes() {
    const WATCHES: usize = 10_000;
    let served = Served::start(&["--unsafe-no-fsync"]).await;
    let calls = served.calls().await;
    let mut watching = Watching::open(&calls).await;
    for i in 0..WATCHES {
        watching.create(watch(&format!("k{i}")));
    }
    for i in 0..WATCHES {
        let created = watching.next().await;
        assert!(created.created && !created.canceled && created.watch_id == i64::try_from(i).unwrap());
    }
    for i in (0..WATCHES).step_by(97) {
        calls.put(&format!("k{i}"), "x").await;
        let response = watching.next().await;
        assert_eq!((response.watch_id, response.events.len()), (i64::try_from(i).unwrap(), 1));
    }
    watching.send(RequestUnion::Progress(WatchProgressRequest {}));
    let progress = watching.next().await;
    assert_eq!((progress.watch_id, progress.events.len()), (-1, 0));
    drop(watching);
    // The watches end with their stream: a change costs nothing any more, and the server stops at once.
    calls.put("k0", "y").await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_gets_everything_later() {
    const WRITES: usize = 300;
    let served = Served::start(&["--unsafe-no-fsync"]).await;
    let (slow, writer) = (served.calls().await, served.calls().await);
    let mut watching = Watching::open(&slow).await;
    watching.create(WatchCreateRequest { range_end: "\0".into(), prev_kv: true, ..watch("\0") });
    assert!(watching.next().await.created);
    // 60 MB wait for the client; the server keeps a small part of them.
    for i in 0..WRITES {
        writer.call::<_, PutResponse>(PUT, put(format!("{}", i % 3), 200_000)).await.unwrap();
    }
    let mut seen = Vec::new();
    while seen.len() < WRITES {
        let response = watching.next().await;
        seen.extend(response.events.into_iter().map(|event| (event.kv.unwrap().mod_revision, event.prev_kv.is_some())));
    }
    assert!(seen.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0), "without gaps or repetitions");
    assert!(seen[3..].iter().all(|(_, has_prev)| *has_prev));
    served.stop().await;
}

#[tokio::test]
async fn watches_refuse_what_etcd_refuses() {
    let served = Served::start(&[]).await;
    let calls = served.calls().await;
    for i in 0..5 {
        calls.put("a", &format!("{i}")).await;
    }
    served.store.compact_physically(4).await.unwrap();
    let mut watching = Watching::open(&calls).await;
    watching.create(WatchCreateRequest { range_end: "a".into(), ..watch("b") });
    watching.create(WatchCreateRequest { watch_id: 7, ..watch("a") });
    watching.create(WatchCreateRequest { watch_id: 7, ..watch("a") });
    watching.create(WatchCreateRequest { start_revision: -1, ..watch("a") });
    watching.create(WatchCreateRequest { start_revision: 2, ..watch("a") });
    watching.send(RequestUnion::Cancel(WatchCancelRequest { watch_id: 12345 }));
    watching.send(RequestUnion::Cancel(WatchCancelRequest { watch_id: 7 }));
    let reasons = [
        (-1, true, true, "mvcc: watcher range is empty", 0),
        (7, true, false, "", 0),
        (-1, true, true, "mvcc: duplicate watch ID provided on the WatchStream", 0),
        (-1, true, true, "etcdserver: mvcc: required revision has been compacted", 0),
        (0, true, false, "", 0),
        (0, false, true, "", 4),
        (7, false, true, "", 0),
    ];
    for expected in reasons {
        let got = watching.next().await;
        let shape = (got.watch_id, got.created, got.canceled, got.cancel_reason.as_str(), got.compact_revision);
        assert_eq!(shape, expected);
    }
    served.stop().await;
}

#[tokio::test]
async fn filters_fragments_and_periodic_progress_of_watches() {
    let served = Served::start(&["--watch-progress-notify-interval=100ms", "--max-request-bytes=100000"]).await;
    let calls = served.calls().await;
    let mut watching = Watching::open(&calls).await;
    watching.create(WatchCreateRequest { filters: vec![0], ..watch("a") });
    assert!(watching.next().await.created);
    calls.put("a", "1").await;
    let delete = common::proto::DeleteRangeRequest { key: "a".into(), ..Default::default() };
    let _: common::proto::DeleteRangeResponse = calls.call(common::DELETE_RANGE, delete).await.unwrap();
    let response = watching.next().await;
    assert_eq!(response.events.len(), 1, "the put is filtered");
    assert_eq!(response.events[0].r#type, 1);

    let first = calls.put("f/0", "1").await;
    for i in 0..20 {
        calls.call::<_, PutResponse>(PUT, put(format!("f/{i}"), 90_000)).await.unwrap();
    }
    let range = WatchCreateRequest { range_end: "f0".into(), start_revision: first, fragment: true, ..watch("f/") };
    watching.create(range);
    assert!(watching.next().await.created);
    let (mut events, mut parts) = (0, 0);
    while events < 21 {
        let response = watching.next().await;
        events += response.events.len();
        parts += u32::from(response.fragment);
    }
    assert!(parts > 0, "a large response is divided");

    watching.create(WatchCreateRequest { progress_notify: true, ..watch("quiet") });
    let created = watching.next().await;
    let progress = watching.next().await;
    assert_eq!((progress.watch_id, progress.events.len()), (created.watch_id, 0));
    assert_eq!(progress.header.unwrap().revision, created.header.unwrap().revision);
    served.stop().await;
}

#[tokio::test]
async fn a_lease_without_renewal_expires_and_survives_a_restart() {
    let served = Served::start(&["--unsafe-no-fsync"]).await;
    let calls = served.calls().await;
    let granted: LeaseGrantResponse = calls.call(GRANT, LeaseGrantRequest { ttl: 0, id: 0 }).await.unwrap();
    assert_eq!(granted.ttl, 2, "the shortest lifetime with the default timeouts");
    let long: LeaseGrantResponse = calls.call(GRANT, LeaseGrantRequest { ttl: 3600, id: 5 }).await.unwrap();
    for (key, lease) in [("short", granted.id), ("long", long.id)] {
        let _: PutResponse = calls.call(PUT, PutRequest { lease, ..put(key, 1) }).await.unwrap();
    }
    let dir = served.stop().await;
    let served = Served::start_in(dir, &["--unsafe-no-fsync"]).await;
    let calls = served.calls().await;
    let requests = stream::iter([5, granted.id, 99].map(|id| LeaseKeepAliveRequest { id })).chain(stream::pending());
    let mut renewals = calls.0.open::<_, LeaseKeepAliveResponse>(KEEP_ALIVE, requests).await.unwrap();
    for expected in [(5, 3600), (granted.id, 2), (99, 0)] {
        let renewed = renewals.message().await.unwrap().unwrap();
        assert_eq!((renewed.id, renewed.ttl), expected);
    }
    let count = async |key: &str| {
        let request = RangeRequest { key: key.to_owned().into(), ..RangeRequest::default() };
        calls.call::<_, RangeResponse>(RANGE, request).await.unwrap().count
    };
    until(async || count("short").await == 0).await;
    assert_eq!(count("long").await, 1);
    let gone: LeaseTimeToLiveResponse =
        calls.call(TIME_TO_LIVE, LeaseTimeToLiveRequest { id: granted.id, keys: true }).await.unwrap();
    assert_eq!((gone.ttl, gone.granted_ttl), (-1, 0));
    let too_long = calls.call::<_, LeaseGrantResponse>(GRANT, LeaseGrantRequest { ttl: 9_000_000_001, id: 0 }).await;
    assert_eq!(too_long.unwrap_err().message(), "etcdserver: too large lease TTL");
    served.stop().await;
}

#[tokio::test]
async fn unknown_methods_and_paths_are_refused() {
    let served = Served::start(&[]).await;
    let calls = served.calls().await;
    let unknown = calls.call::<(), ()>("/etcdserverpb.KV/Nothing", ()).await.unwrap_err();
    assert_eq!(
        (unknown.code(), unknown.message()),
        (Code::Unimplemented, "unknown method Nothing for service etcdserverpb.KV")
    );
    let unknown = calls.call::<(), ()>("/v3lockpb.Lock/Lock", ()).await.unwrap_err();
    assert_eq!((unknown.code(), unknown.message()), (Code::Unimplemented, "unknown service v3lockpb.Lock"));
    let health: common::proto::HealthCheckResponse = calls.call("/grpc.health.v1.Health/Check", ()).await.unwrap();
    assert_eq!(health.status, 1);
    served.stop().await;
}
