//! Requests, responses, and the handler trait.

use std::pin::Pin;
use std::sync::Arc;

use crate::body::Body;
use crate::request_info::{Query, RequestInfo};
use crate::user::User;
use crate::warnings::Warnings;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request as handlers see it.
///
/// The listener puts a [`crate::Peer`] into its extensions. Filters add
/// [`Arc<RequestInfo>`], [`Arc<User>`], and [`Warnings`]; [`RequestExt`] reads them.
pub type Request = http::Request<Body>;

/// A response.
pub type Response = http::Response<Body>;

/// Handles requests: a filter, the director, an endpoint (upstream: `http.Handler`).
pub trait Handler: Send + Sync {
    /// Handles a request. Failures are responses too.
    fn handle(&self, request: Request) -> BoxFuture<'_, Response>;
}

impl<H: Handler + ?Sized> Handler for Arc<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        (**self).handle(request)
    }
}

impl<H: Handler + ?Sized> Handler for Box<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        (**self).handle(request)
    }
}

/// A handler from a synchronous function.
pub struct FromFn<F>(pub F);

impl<F: Fn(Request) -> Response + Send + Sync> Handler for FromFn<F> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let response = (self.0)(request);
        Box::pin(std::future::ready(response))
    }
}

/// Accessors of the request extensions that filters set.
pub trait RequestExt {
    /// The parsed request; set by the first filters.
    fn info(&self) -> Option<&Arc<RequestInfo>>;
    /// The decoded path; empty before the first filters have run.
    fn path(&self) -> &str {
        self.info().map_or("", |info| &info.path)
    }
    /// The query; empty before the first filters have run.
    fn query(&self) -> &Query {
        static EMPTY: Query = Query::empty();
        self.info().map_or(&EMPTY, |info| &info.query)
    }
    /// The user, after impersonation; set by authentication.
    fn user(&self) -> Option<&Arc<User>>;
    /// Adds a `Warning` header to the response (upstream: `warning.AddWarning`).
    fn warn(&self, text: &str);
}

impl RequestExt for http::Extensions {
    fn info(&self) -> Option<&Arc<RequestInfo>> {
        self.get()
    }

    fn user(&self) -> Option<&Arc<User>> {
        self.get()
    }

    fn warn(&self, text: &str) {
        if let Some(warnings) = self.get::<Warnings>() {
            warnings.add(text);
        }
    }
}

impl RequestExt for Request {
    fn info(&self) -> Option<&Arc<RequestInfo>> {
        self.extensions().info()
    }

    fn user(&self) -> Option<&Arc<User>> {
        self.extensions().user()
    }

    fn warn(&self, text: &str) {
        self.extensions().warn(text);
    }
}
