//! API priority and fairness of HTTP requests (upstream: `WithPriorityAndFairness`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowcontrol::{Classification, Digest, FlowControl, Initial, RequestDetails, Seat, WorkEstimate};
use http::{HeaderName, HeaderValue};
use machinery::status::Status;
use request::{BoxFuture, Handler, Request, RequestExt, RequestInfo, Response, User, respond};
use telemetry::metrics::{Delayed, GaugeGuard, Metrics};
use tokio::time::Instant;

use super::deadline::Deadline;
use super::in_flight::{TOO_MANY, too_many};
use crate::work::{HeldSeat, Seats};

/// Response headers with the uids of schema and level. Names would reveal the client's priority.
const SCHEMA_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
/// The longest time that a request waits for seats.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Makes each request wait for its seats, and holds them until the response is sent. A watch holds
/// them until its initial events are sent. Other streams need no seats.
pub struct WithFairness<H> {
    inner: H,
    control: FlowControl,
    reads: Arc<Gauges>,
    writes: Arc<Gauges>,
    /// The wait limit of watches; other requests wait at most a quarter of their timeout.
    patience: Duration,
}

struct Gauges {
    executing: prometheus::IntGauge,
    waiting: prometheus::IntGauge,
    dropped: prometheus::IntCounter,
}

/// The digest source of a request while it waits or runs.
struct QueuedRequest {
    info: Arc<RequestInfo>,
    user: Arc<User>,
}

impl RequestDetails for QueuedRequest {
    fn digest(&self) -> Digest<'_> {
        let (info, user) = (&self.info, &self.user);
        Digest {
            user: &user.name,
            groups: &user.groups,
            verb: &info.verb,
            path: &info.path,
            is_resource_request: info.is_resource_request,
            group: &info.api_group,
            version: &info.api_version,
            namespace: &info.namespace,
            resource: &info.resource,
            subresource: &info.subresource,
            name: &info.name,
        }
    }
}

/// The seats of a running request.
struct RequestSeats {
    held: Mutex<Option<(Seat, GaugeGuard)>>,
    /// How the seats are reacquired; `None` for reads, which have no body to wait for.
    readmission: Option<Readmission>,
}

/// The parameters for reacquiring seats.
struct Readmission {
    control: FlowControl,
    class: Classification,
    queued: Arc<QueuedRequest>,
    work: WorkEstimate,
    patience: Duration,
    gauges: Arc<Gauges>,
}

impl Readmission {
    async fn admit(&self) -> Result<(Seat, GaugeGuard), Status> {
        let waiting = GaugeGuard::new(&self.gauges.waiting);
        let admitted = self.control.admit(&self.class, self.queued.clone(), self.work, self.patience).await;
        drop(waiting);
        match admitted {
            Ok(seat) => Ok((seat, GaugeGuard::new(&self.gauges.executing))),
            Err(rejected) => {
                self.gauges.dropped.inc();
                Err(Status::too_many_requests(TOO_MANY, rejected.retry_after.try_into().unwrap_or(i32::MAX)))
            }
        }
    }
}

impl RequestSeats {
    fn held(&self) -> MutexGuard<'_, Option<(Seat, GaugeGuard)>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seats for RequestSeats {
    fn give_back(&self) {
        drop(self.held().take());
    }

    fn take_again(&self) -> Option<BoxFuture<'_, Result<(), Status>>> {
        let readmission = self.readmission.as_ref().filter(|_| self.held().is_none())?;
        Some(Box::pin(async move {
            let seat = readmission.admit().await?;
            *self.held() = Some(seat);
            Ok(())
        }))
    }
}

impl<H> WithFairness<H> {
    /// Creates the filter for this flow control. `request_timeout` is the default timeout of
    /// requests.
    pub fn new(inner: H, control: FlowControl, request_timeout: Duration, metrics: &Metrics) -> Self {
        let gauges = |kind| {
            Arc::new(Gauges {
                executing: metrics.in_flight(kind),
                waiting: metrics.in_queue(kind),
                dropped: metrics.dropped(kind),
            })
        };
        let (reads, writes) = (gauges("readOnly"), gauges("mutating"));
        WithFairness { inner, control, reads, writes, patience: request_timeout / 4 }
    }

    fn patience(&self, request: &Request) -> Duration {
        let left = |deadline: &Deadline| deadline.0.saturating_duration_since(Instant::now()) / 4;
        request.extensions().get().map_or(self.patience, left).min(MAX_WAIT)
    }
}

impl<H: Handler> WithFairness<H> {
    async fn serve(&self, mut request: Request, queued: Arc<QueuedRequest>) -> Response {
        let digest = queued.digest();
        let class = self.control.classify(&digest);
        let gauges = if queued.info.is_read_only() { &self.reads } else { &self.writes };
        let work = self.control.estimate(&class, &digest, initial(&queued.info));
        let waiting = GaugeGuard::new(&gauges.waiting);
        let arrived = Instant::now();
        let seat = self.control.admit(&class, queued.clone(), work, self.patience(&request)).await;
        drop(waiting);
        if let Some(delayed) = request.extensions().get::<Delayed>() {
            delayed.add(arrived.elapsed());
        }
        let response = match seat {
            Err(rejected) => {
                gauges.dropped.inc();
                too_many(rejected.retry_after)
            }
            Ok(seat) => {
                let readmission = || Readmission {
                    control: self.control.clone(),
                    class: class.clone(),
                    queued: queued.clone(),
                    work,
                    patience: self.patience(&request),
                    gauges: gauges.clone(),
                };
                let readmission = (!queued.info.is_read_only()).then(readmission);
                let held = Mutex::new(Some((seat, GaugeGuard::new(&gauges.executing))));
                let seat = HeldSeat::new(Arc::new(RequestSeats { held, readmission }));
                request.extensions_mut().insert(seat.clone());
                let watched =
                    (digest.verb == "watch" && receives_all_changes(&queued.info)).then(|| self.control.watch(&digest));
                let response = self.inner.handle(request).await;
                match digest.verb {
                    "watch" => response.map(|body| body.hold(watched).hold_until_begun(seat)),
                    _ => response.map(|body| body.hold(seat)),
                }
            }
        };
        with_uid_headers(response, &class)
    }
}

impl<H: Handler> Handler for WithFairness<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let (Some(info), Some(user)) = (request.info().cloned(), request.user().cloned()) else {
            let status = Status::internal("no user or request info found in the request's context");
            return Box::pin(std::future::ready(respond::failure(&request, &status)));
        };
        if info.is_long_running() && info.verb != "watch" {
            return self.inner.handle(request);
        }
        Box::pin(self.serve(request, Arc::new(QueuedRequest { info, user })))
    }
}

/// The part of a collection's current objects that a request reads.
fn initial(info: &RequestInfo) -> Option<Initial> {
    let query = &info.query;
    match &*info.verb {
        "list" => Some(Initial { limit: query.text("limit").parse().unwrap_or(0) }),
        // A watch without a resource version starts with the current objects, as does one that
        // requests them.
        "watch" => (matches!(query.text("resourceVersion"), "" | "0") || query.flag("sendInitialEvents"))
            .then(Initial::default),
        _ => None,
    }
}

/// Whether a watch receives all changes. A watch with an equality field selector receives few of
/// them, through an index.
fn receives_all_changes(info: &RequestInfo) -> bool {
    let Ok(selector) = info.selectors.fields() else { return true };
    !selector.requirements().iter().any(|term| term.equal && !term.field.starts_with("metadata."))
}

fn with_uid_headers(mut response: Response, class: &Classification) -> Response {
    for (name, uid) in [SCHEMA_UID, LEVEL_UID].into_iter().zip(class.uids()) {
        if let Ok(uid) = HeaderValue::from_maybe_shared(uid.clone()) {
            response.headers_mut().insert(name, uid);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowcontrol::Queuing;
    use request::testing::{BlockedHandler, ok, request_by};
    use tokio::sync::Notify;

    fn control(seats: u32) -> FlowControl {
        FlowControl::new(seats, Duration::from_secs(60), &prometheus::Registry::new())
    }

    fn by(group: &str, method: &str, uri: &str) -> Request {
        request_by(User::new("alice", [group, "system:authenticated"]), method, uri)
    }

    #[tokio::test]
    async fn rejects_with_retry_after_without_seat() {
        let (release, metrics) = (Arc::new(Notify::new()), Metrics::default());
        let [mut exempt, catch_all] = flowcontrol::mandatory_schemas();
        exempt.uid = "uid-exempt".into();
        let control = control(1);
        control.configure(vec![exempt, catch_all], Vec::new());
        let filter = WithFairness::new(BlockedHandler(release.clone()), control, Duration::from_secs(60), &metrics);
        let mut first = filter.handle(by("dev", "GET", "/api/v1/pods"));
        assert!(futures_util::poll!(&mut first).is_pending());
        let second = filter.handle(by("dev", "POST", "/api/v1/pods")).await;
        assert_eq!((second.status().as_u16(), second.headers()["retry-after"].as_bytes()), (429, &b"1"[..]));
        assert_eq!((metrics.in_flight("readOnly").get(), metrics.dropped("mutating").get()), (1, 1));
        let mut masters = filter.handle(by("system:masters", "GET", "/api/v1/pods"));
        let mut logs = filter.handle(by("dev", "GET", "/api/v1/namespaces/a/pods/b/log"));
        assert!(futures_util::poll!(&mut masters).is_pending() && futures_util::poll!(&mut logs).is_pending());
        release.notify_one();
        assert_eq!(first.await.headers()["x-kubernetes-pf-flowschema-uid"], "");
        release.notify_one();
        assert_eq!(masters.await.headers()["x-kubernetes-pf-flowschema-uid"], "uid-exempt");
        release.notify_one();
        assert!(!logs.await.headers().contains_key("x-kubernetes-pf-flowschema-uid"));
    }

    #[tokio::test(start_paused = true)]
    async fn waits_at_most_a_quarter_of_the_timeout() {
        let release = Arc::new(Notify::new());
        let [exempt, mut catch_all] = flowcontrol::mandatory_levels();
        catch_all.queuing = Queuing::Queues { count: 1, hand_size: 1, length: 10 };
        let control = control(1);
        control.configure(Vec::new(), vec![exempt, catch_all]);
        let filter = WithFairness::new(
            BlockedHandler(release.clone()),
            control.clone(),
            Duration::from_secs(60),
            &Metrics::default(),
        );
        let mut first = filter.handle(by("dev", "GET", "/api/v1/pods"));
        assert!(futures_util::poll!(&mut first).is_pending());
        let begin = Instant::now();
        let second = filter.handle(by("dev", "GET", "/api/v1/pods")).await;
        assert_eq!((second.status().as_u16(), begin.elapsed().as_secs()), (429, 15));
        // The request of a disconnected client leaves the queue; the next one gets the seat.
        let mut gone = filter.handle(by("dev", "GET", "/api/v1/pods"));
        let mut third = filter.handle(by("dev", "GET", "/api/v1/pods"));
        assert!(futures_util::poll!(&mut gone).is_pending() && futures_util::poll!(&mut third).is_pending());
        drop(gone);
        release.notify_one();
        assert_eq!(first.await.status(), 200);
        release.notify_one();
        assert_eq!(third.await.status(), 200);
    }

    #[tokio::test]
    async fn charges_initial_objects_of_lists_and_watches() {
        for (uri, expect) in [
            ("/api/v1/pods", Some(Initial { limit: 0 })),
            ("/api/v1/pods?limit=500", Some(Initial { limit: 500 })),
            ("/api/v1/pods?watch=1", Some(Initial { limit: 0 })),
            ("/api/v1/pods?watch=1&resourceVersion=0", Some(Initial { limit: 0 })),
            ("/api/v1/pods?watch=1&resourceVersion=7", None),
            ("/api/v1/pods?watch=1&resourceVersion=7&sendInitialEvents=true", Some(Initial { limit: 0 })),
            ("/api/v1/namespaces/a/pods/b", None),
        ] {
            let request = by("dev", "GET", uri);
            assert_eq!(initial(request.info().unwrap()), expect, "{uri}");
        }
        for (query, expect) in [
            ("", true),
            ("fieldSelector=metadata.name%3Da", true),
            ("fieldSelector=spec.nodeName%3Da", false),
            ("fieldSelector=spec.nodeName!%3Da", true),
        ] {
            let request = by("dev", "GET", &format!("/api/v1/pods?watch=1&{query}"));
            assert_eq!(receives_all_changes(request.info().unwrap()), expect, "{query}");
        }
        let filter = WithFairness::new(ok(), control(1), Duration::from_secs(60), &Metrics::default());
        assert_eq!(filter.handle(http::Request::new(request::Body::empty())).await.status(), 500);
    }
}
