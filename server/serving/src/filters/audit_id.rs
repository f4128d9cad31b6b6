//! A name for each request, so that client, server and audit log can speak of the same one, and the trail that is recorded of it
//! (upstream: `WithAuditInit`).

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use crate::audit::{Audit, AuditContext};
use crate::handler::{BoxFuture, Handler, Request, Response};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The name of a request; in its extensions and in the `Audit-Id` header of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditId(pub HeaderValue);

/// Takes the client's name for a request, or makes one. Begins its trail where there is an audit log.
pub struct WithAuditId<H> {
    pub inner: H,
    pub audit: Option<Arc<Audit>>,
}

impl<H: Handler> Handler for WithAuditId<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let given = request.headers().get(AUDIT_ID).filter(|v| !v.is_empty());
        let mut id = given.cloned().unwrap_or_else(fresh);
        // It is said once: in the table of headers that a connection remembers (HPACK) it would take the place of one that comes again.
        id.set_sensitive(true);
        request.extensions_mut().insert(AuditId(id.clone()));
        if let Some(audit) = &self.audit {
            request.extensions_mut().insert(AuditContext::new(audit.clone()));
        }
        Box::pin(async move {
            let mut response = self.inner.handle(request).await;
            response.headers_mut().insert(AUDIT_ID, id);
            response
        })
    }
}

fn fresh() -> HeaderValue {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    let text = uuid::Uuid::new_v4().hyphenated().encode_lower(&mut text);
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::testing::{ok, request};

    async fn id(given: Option<&str>) -> String {
        let mut request = request("GET", "/");
        if let Some(given) = given {
            request.headers_mut().insert(AUDIT_ID, given.parse().unwrap());
        }
        WithAuditId { inner: ok(), audit: None }.handle(request).await.headers()[AUDIT_ID].to_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn the_clients_name_is_kept() {
        assert_eq!(id(Some("hello-world")).await, "hello-world");
        for given in [None, Some("")] {
            let (one, other) = (id(given).await, id(given).await);
            assert_eq!(one.len(), 36);
            assert_ne!(one, other);
        }
    }
}
