//! Records requests in the audit log (upstream: `WithAudit`, `WithFailedAuthenticationAudit`).

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use apimachinery::meta::v1::Status;
use audit::{AuditContext, Stage};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body::{Frame, SizeHint};
use machinery::status;
use request::{Body, BodyError, BoxFuture, Handler, Request, RequestExt, Response, respond};
use tokio::time::Instant;

use super::deadline::Deadline;

/// Records each request that the audit policy selects. Without a policy there is no audit context,
/// and the filter does nothing.
pub struct WithAudit<H>(pub H);

impl<H: Handler> Handler for WithAudit<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let trail = AuditContext::of(request.extensions());
        match trail.begin(&request) {
            true => Box::pin(self.handle_recorded(trail, request)),
            false => self.0.handle(request),
        }
    }
}

impl<H: Handler> WithAudit<H> {
    async fn handle_recorded(&self, trail: AuditContext, request: Request) -> Response {
        if !trail.pass(Stage::RequestReceived).await {
            trail.count_rejected();
            return respond::failure(&request, &status::Status::internal("failed to store audit event"));
        }
        let is_long_running = request.info().is_some_and(|info| info.is_long_running());
        let deadline = request.extensions().get::<Deadline>().copied();
        let open = Open { trail: trail.clone(), deadline, is_long_running, has_response: false };
        // A handler may panic before it returns a future.
        match AssertUnwindSafe(async { self.0.handle(request).await }).catch_unwind().await {
            Ok(response) => open.answer(response).await,
            Err(panic) => {
                open.discard();
                trail.status(failure(500, "InternalError", "APIServer panic'd"));
                trail.pass(Stage::Panic).await;
                resume_unwind(panic)
            }
        }
    }
}

/// Rejects a request before it is authenticated or parsed, and records one event, at stage
/// `ResponseStarted`.
pub(crate) async fn reject(request: Request, status: &status::Status) -> Response {
    let (answer, trail) = (respond::failure(&request, status), AuditContext::of(request.extensions()));
    let is_recorded = trail.begin(&request);
    drop(request);
    if is_recorded {
        trail.record_response(&answer);
        trail.pass(Stage::ResponseStarted).await;
    }
    answer
}

fn failure(code: i32, reason: &str, message: &str) -> Status {
    Status { status: "Failure".into(), reason: reason.into(), message: message.into(), code, ..Status::default() }
}

/// A request without its last event. When it is dropped early (disconnected client, timeout, end of
/// a stream), the event is still recorded.
struct Open {
    trail: AuditContext,
    deadline: Option<Deadline>,
    is_long_running: bool,
    has_response: bool,
}

impl Open {
    /// Records a response, or the start of one with a streamed body.
    async fn answer(mut self, response: Response) -> Response {
        self.trail.record_response(&response);
        self.has_response = true;
        if self.is_long_running {
            self.trail.pass(Stage::ResponseStarted).await;
        }
        if http_body::Body::size_hint(response.body()).exact().is_some() {
            self.trail.annotate_latencies();
            self.trail.pass(Stage::ResponseComplete).await;
            self.discard();
            return response;
        }
        response.map(|body| Body::layer(Recorded { body, open: Some(self) }))
    }

    /// Suppresses further events.
    fn discard(mut self) {
        self.trail = AuditContext::default();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.has_response {
            let is_late = self.deadline.is_some_and(|deadline| deadline.0 <= Instant::now());
            self.trail.status(match is_late {
                true => failure(504, "Timeout", "Timeout: request did not complete within the allotted timeout"),
                // Upstream's status for a connection that closed before the response started.
                false => Status {
                    status: "Success".into(),
                    message: "Connection closed early".into(),
                    code: 200,
                    ..Status::default()
                },
            });
            if self.is_long_running {
                self.trail.pass_in_background(Stage::ResponseStarted);
            }
        }
        self.trail.annotate_latencies();
        self.trail.pass_in_background(Stage::ResponseComplete);
    }
}

/// A body that records its end.
struct Recorded {
    body: Body,
    open: Option<Open>,
}

impl http_body::Body for Recorded {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(None) = frame {
            self.open = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
