//! Confines panics to the request in which they occur (upstream: `WithPanicRecovery`).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use request::{BoxFuture, Handler, Request, Response, respond};

/// Replies 500 when a handler panics.
pub struct WithPanicRecovery<H>(pub H);

impl<H: Handler> Handler for WithPanicRecovery<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        Box::pin(async move {
            // Unwind safety: handlers share state only through locks and channels.
            let handled = AssertUnwindSafe(async { self.0.handle(request).await }).catch_unwind().await;
            handled.unwrap_or_else(|_| {
                tracing::error!(%method, path, "apiserver panic'd");
                respond::text_error(500, "This request caused apiserver to panic. Look in the logs for details.")
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::handler::FromFn;
    use request::testing::{request, seen};

    #[tokio::test]
    async fn replies_500_to_panic() {
        let handler = WithPanicRecovery(FromFn(|_| panic!("ouch")));
        let (code, text) = seen(handler.handle(request("GET", "/")).await).await;
        assert_eq!(
            (code, text.as_str()),
            (500, "This request caused apiserver to panic. Look in the logs for details.\n")
        );
    }
}
