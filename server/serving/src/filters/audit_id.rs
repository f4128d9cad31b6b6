//! Assigns an audit ID to each request and creates its audit context (upstream: `WithAuditInit`).
//!
//! The ID correlates client, server, and audit log.

use std::sync::Arc;

use audit::{Audit, AuditContext};
use http::{HeaderName, HeaderValue};
use request::{AuditId, BoxFuture, Handler, Request, Response};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Uses the client's audit ID, or generates one. Creates the audit context if audit logging is
/// enabled.
pub struct WithAuditId<H> {
    pub inner: H,
    pub audit: Option<Arc<Audit>>,
}

impl<H: Handler> Handler for WithAuditId<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let given = request.headers().get(AUDIT_ID).filter(|v| !v.is_empty());
        let mut id = given.cloned().unwrap_or_else(generate);
        // Each ID is sent once: exclude it from the HPACK table, where it would evict repeated
        // headers.
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

fn generate() -> HeaderValue {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    let text = uuid::Uuid::new_v4().hyphenated().encode_lower(&mut text);
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{ok, request};

    async fn id(given: Option<&str>) -> String {
        let mut request = request("GET", "/");
        if let Some(given) = given {
            request.headers_mut().insert(AUDIT_ID, given.parse().unwrap());
        }
        WithAuditId { inner: ok(), audit: None }.handle(request).await.headers()[AUDIT_ID].to_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn keeps_audit_id_of_client() {
        assert_eq!(id(Some("hello-world")).await, "hello-world");
        for given in [None, Some("")] {
            let (one, other) = (id(given).await, id(given).await);
            assert_eq!(one.len(), 36);
            assert_ne!(one, other);
        }
    }
}
