//! Audit events of the server's own requests. Their user is the one that upstream's controller has;
//! they have no source address, because there is no connection.

use std::sync::Arc;

use ::audit::{Audit, AuditContext, Stage};
use apimachinery::meta::v1;
use http::header::USER_AGENT;
use http::{HeaderValue, Method, Uri};
use machinery::hooks::WriteContext;
use machinery::reflect::Owned;
use machinery::status::Status;
use request::request_info::NAMESPACES;
use request::{AuditId, Body, Handler, Request, RequestInfo, User};
use serving::filters::{WithAudit, WithAuditId};

use crate::audit::record_response_object;
use crate::endpoint::Endpoint;

/// What a request of the server itself refers to.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub endpoint: &'a Endpoint,
    /// Empty for a cluster-scoped object.
    pub namespace: &'a str,
    /// Empty for a new object.
    pub name: &'a str,
    /// Empty for the object itself.
    pub subresource: &'a str,
}

impl Target<'_> {
    /// The path of the same request over HTTP.
    fn path(&self) -> String {
        let (group, version) = self.endpoint.group_version;
        let mut path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let namespace = [NAMESPACES, self.namespace].into_iter().filter(|_| !self.namespace.is_empty());
        let of_object = [self.endpoint.resource.plural, self.name, self.subresource];
        for segment in namespace.chain(of_object).filter(|segment| !segment.is_empty()) {
            path.push('/');
            path.push_str(segment);
        }
        path
    }
}

/// Begins the audit record of a request of a user by a program of this name. Without an audit log, the
/// record is empty.
///
/// # Errors
/// An audit sink that must not fail did not accept the event.
pub(super) async fn begin(
    audit: Option<&Arc<Audit>>,
    (user, agent): (&Arc<User>, &'static str),
    method: Method,
    target: Target<'_>,
) -> Result<AuditContext, Status> {
    let Some(audit) = audit else { return Ok(AuditContext::default()) };
    let uri: Uri = target.path().parse().map_err(Status::internal)?;
    let info = RequestInfo::new(&method, &uri).map_err(Status::internal)?;
    let mut request = Request::new(Body::empty());
    (*request.method_mut(), *request.uri_mut()) = (method, uri);
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(agent));
    request.extensions_mut().insert(Arc::new(info));
    request.extensions_mut().insert(user.clone());
    let id = HeaderValue::try_from(WriteContext::new_uid()).map_err(Status::internal)?;
    request.extensions_mut().insert(AuditId(id));
    let trail = AuditContext::new(audit.clone());
    trail.begin(&request);
    match trail.pass(Stage::RequestReceived).await {
        true => Ok(trail),
        false => {
            trail.count_rejected();
            Err(Status::internal("failed to store audit event"))
        }
    }
}

/// Records the outcome of a request: the status code and the object of a success, or the failure.
pub(super) async fn end(trail: &AuditContext, endpoint: &Endpoint, outcome: Result<(i32, Option<&Owned>), &Status>) {
    match outcome {
        Ok((code, object)) => {
            trail.status(v1::Status { code, ..v1::Status::default() });
            if let Some(object) = object {
                record_response_object(trail, endpoint.kind, object);
            }
        }
        Err(status) => trail.status(v1::Status {
            status: "Failure".into(),
            reason: status.reason.to_owned(),
            message: status.message.clone(),
            code: status.code.into(),
            ..v1::Status::default()
        }),
    }
    trail.annotate_latencies();
    trail.pass(Stage::ResponseComplete).await;
}

/// Wraps the handler of requests without filters, so that it records them.
pub(super) fn around(audit: Option<&Arc<Audit>>, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
    match audit {
        Some(audit) => Arc::new(WithAuditId { inner: WithAudit(handler), audit: Some(audit.clone()) }),
        None => handler,
    }
}
