//! Sends the warnings recorded for a request (upstream: `WithWarningRecorder`).

use request::warnings::{self, Warnings};
use request::{BoxFuture, Handler, Request, Response};

/// Puts [`Warnings`] into the extensions and writes them to the response.
pub struct WithWarnings<H>(pub H);

impl<H: Handler> Handler for WithWarnings<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let warnings = Warnings::default();
        request.extensions_mut().insert(warnings.clone());
        Box::pin(async move {
            let mut response = self.0.handle(request).await;
            warnings::write_to(&warnings, response.headers_mut());
            response
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::handler::FromFn;
    use request::testing::request;
    use request::{Body, RequestExt};

    #[tokio::test]
    async fn warnings_are_written_to_response() {
        let handler = WithWarnings(FromFn(|request: Request| {
            request.warn("v1beta1 is old");
            Response::new(Body::empty())
        }));
        assert_eq!(handler.handle(request("GET", "/")).await.headers()["warning"], "299 - \"v1beta1 is old\"");
    }
}
