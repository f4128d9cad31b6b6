//! Completes write requests even if their client disconnects.
//!
//! The future of a request is dropped when its connection or HTTP/2 stream ends, and when the
//! request times out. A write that has begun must not be dropped with it. Its reservations would
//! leak, and steps after the commit would be missing. The rest of such a request moves to a
//! separate task. The task keeps the seats, the in-flight count, and the audit event of the request
//! until the write ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use request::{BoxFuture, Handler, Request, RequestExt, Response};
use tokio::runtime::Handle;

use crate::shutdown::Shutdown;

/// Detaches a write request from its client; in the extensions of requests that may write.
///
/// Until [`detach`](Self::detach) is called, a disconnect cancels the request: in a queue, or while
/// its body arrives.
#[derive(Clone, Debug, Default)]
pub struct Detach(Arc<AtomicBool>);

impl Detach {
    /// From now on, completes the request independently of its client. Must be called before the
    /// first side effect.
    pub fn detach(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_detached(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Completes requests that may write. The shutdown of the server waits for those without a client.
pub struct WithDetachedWrites<H> {
    inner: Arc<H>,
    shutdown: Shutdown,
}

impl<H> WithDetachedWrites<H> {
    /// `shutdown` counts the requests as in flight.
    pub fn new(inner: H, shutdown: Shutdown) -> Self {
        WithDetachedWrites { inner: Arc::new(inner), shutdown }
    }
}

impl<H: Handler + 'static> Handler for WithDetachedWrites<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        if request.info().is_none_or(|info| info.is_read_only() || info.is_long_running()) {
            return self.inner.handle(request);
        }
        let detach = Detach::default();
        request.extensions_mut().insert(detach.clone());
        let (inner, under_way) = (Arc::clone(&self.inner), self.shutdown.enter());
        let request = Box::pin(async move {
            let _under_way = under_way;
            inner.handle(request).await
        });
        Box::pin(Attached { request: Some(request), detach })
    }
}

/// A request attached to its client. When it is dropped after the write has begun, the request
/// continues as a task.
struct Attached {
    /// `None` when the request has ended.
    request: Option<BoxFuture<'static, Response>>,
    detach: Detach,
}

impl Future for Attached {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        // Taken out while it is polled: a request that panics is dropped and does not continue.
        let Some(mut request) = self.request.take() else { return Poll::Pending };
        let polled = request.as_mut().poll(context);
        if polled.is_pending() {
            self.request = Some(request);
        }
        polled
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Without a runtime the process is ending.
        if let (Some(request), true, Ok(runtime)) =
            (self.request.take(), self.detach.is_detached(), Handle::try_current())
        {
            drop(runtime.spawn(request));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::Body;
    use request::testing::request;
    use tokio::sync::{Notify, mpsc};

    /// A handler that reports its start and end, and waits for `go_on` in between.
    struct Write {
        detaches: bool,
        go_on: Arc<Notify>,
        steps: mpsc::UnboundedSender<&'static str>,
    }

    /// Reports that a request was dropped.
    struct Dropped(mpsc::UnboundedSender<&'static str>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send("dropped");
        }
    }

    impl Handler for Write {
        fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
            Box::pin(async move {
                let _dropped = Dropped(self.steps.clone());
                if self.detaches {
                    request.extensions().get::<Detach>().unwrap().detach();
                }
                self.steps.send("begun").unwrap();
                self.go_on.notified().await;
                self.steps.send("ended").unwrap();
                Response::new(Body::empty())
            })
        }
    }

    fn filter(detaches: bool) -> (WithDetachedWrites<Write>, Arc<Notify>, mpsc::UnboundedReceiver<&'static str>) {
        let (steps, seen) = mpsc::unbounded_channel();
        let go_on = Arc::new(Notify::new());
        let write = Write { detaches, go_on: go_on.clone(), steps };
        (WithDetachedWrites::new(write, Shutdown::default()), go_on, seen)
    }

    #[tokio::test]
    async fn detached_write_completes_without_client() {
        let (filter, go_on, mut seen) = filter(true);
        let mut client = filter.handle(request("POST", "/api/v1/namespaces/a/services"));
        assert!(futures_util::poll!(&mut client).is_pending());
        assert_eq!(seen.recv().await, Some("begun"));
        drop(client);
        go_on.notify_one();
        assert_eq!((seen.recv().await, seen.recv().await), (Some("ended"), Some("dropped")));
    }

    #[tokio::test]
    async fn write_is_dropped_with_client_before_detach() {
        let (filter, _, mut seen) = filter(false);
        let mut client = filter.handle(request("POST", "/api/v1/namespaces/a/services"));
        assert!(futures_util::poll!(&mut client).is_pending());
        assert_eq!(seen.recv().await, Some("begun"));
        drop(client);
        assert_eq!(seen.recv().await, Some("dropped"));
    }

    #[tokio::test]
    async fn read_is_dropped_with_client() {
        let (filter, _, mut seen) = filter(false);
        let mut client = filter.handle(request("GET", "/api/v1/namespaces/a/services"));
        assert!(futures_util::poll!(&mut client).is_pending());
        drop(client);
        assert_eq!((seen.recv().await, seen.recv().await), (Some("begun"), Some("dropped")));
    }

    #[tokio::test]
    async fn shutdown_waits_for_detached_write() {
        let (filter, go_on, mut seen) = filter(true);
        let shutdown = filter.shutdown.clone();
        let mut client = filter.handle(request("DELETE", "/api/v1/namespaces/a/services/b"));
        assert!(futures_util::poll!(&mut client).is_pending());
        assert_eq!(seen.recv().await, Some("begun"));
        drop(client);
        shutdown.initiate();
        let draining = shutdown.clone();
        let minute = std::time::Duration::from_secs(60);
        let drained = tokio::spawn(async move { draining.drain_after(std::time::Duration::ZERO, minute).await });
        shutdown.reached(crate::shutdown::Phase::Refusing).await;
        assert!(!drained.is_finished());
        go_on.notify_one();
        drained.await.unwrap();
        assert_eq!(seen.recv().await, Some("ended"));
    }

    #[tokio::test]
    async fn detached_write_completes_after_timeout() {
        let (filter, go_on, mut seen) = filter(true);
        let filter = crate::filters::WithTimeout::new(filter, std::time::Duration::from_millis(20));
        assert_eq!(filter.handle(request("PUT", "/api/v1/namespaces/a/services/b")).await.status(), 504);
        assert_eq!(seen.recv().await, Some("begun"));
        go_on.notify_one();
        assert_eq!(seen.recv().await, Some("ended"));
    }

    #[tokio::test]
    async fn detached_write_stays_in_flight() {
        let (steps, mut seen) = mpsc::unbounded_channel();
        let go_on = Arc::new(Notify::new());
        let write = Write { detaches: true, go_on: go_on.clone(), steps };
        let flags = ["kube-apiserver", "--max-mutating-requests-inflight=1", "--enable-priority-and-fairness=false"];
        let options = options::Options::parse_from(flags).unwrap();
        let metrics = telemetry::metrics::Metrics::default();
        let limited = crate::filters::WithMaxInFlight::new(write, &options.requests, &metrics);
        let filter = WithDetachedWrites::new(limited, Shutdown::default());
        let post = || request("POST", "/api/v1/namespaces/a/services");
        let mut client = filter.handle(post());
        assert!(futures_util::poll!(&mut client).is_pending());
        assert_eq!(seen.recv().await, Some("begun"));
        drop(client);
        assert_eq!(filter.handle(post()).await.status(), 429);
        go_on.notify_one();
        assert_eq!((seen.recv().await, seen.recv().await), (Some("ended"), Some("dropped")));
        go_on.notify_one();
        while filter.handle(post()).await.status() == 429 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn panic_reaches_outer_filters() {
        let filter = WithDetachedWrites::new(request::handler::FromFn(|_| panic!("ouch")), Shutdown::default());
        let recovering = crate::filters::WithPanicRecovery(filter);
        assert_eq!(recovering.handle(request("POST", "/api/v1/namespaces")).await.status(), 500);
    }
}
