//! The filters that create spans: of requests, of filters, and of operations on objects.

use std::sync::Arc;

use http::StatusCode;
use http::header::{ACCEPT, USER_AGENT};
use request::request_info::shown_target;
use request::user::{SYSTEM_MASTERS, SYSTEM_MONITORING};
use request::{AuditId, BoxFuture, Handler, Peer, Request, RequestExt, RequestInfo, Response};

use super::messages::{KeyValue, Link, Span, SpanCode, SpanKind, Status};
use super::parent::Parent;
use super::span::{Open, Trace, Tracer, now};

/// Creates the span of a request if its trace is sampled (upstream: `WithTracing`).
pub struct WithTracing<H> {
    inner: H,
    tracer: Option<Tracer>,
}

impl<H> WithTracing<H> {
    /// Without a tracer nothing is traced.
    pub fn new(inner: H, tracer: Option<Tracer>) -> Self {
        WithTracing { inner, tracer }
    }
}

impl<H: Handler> Handler for WithTracing<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let begun = self.tracer.as_ref().and_then(|tracer| tracer.begin(&request));
        let Some((trace, mut open)) = begun else { return self.inner.handle(request) };
        request.extensions_mut().insert(trace);
        Box::pin(async move {
            let response = self.inner.handle(request).await;
            open.answered(response.status());
            response.map(|body| body.hold(open))
        })
    }
}

impl Tracer {
    /// Starts the span of a request; returns `None` if it is not sampled.
    ///
    /// Only the traces of privileged clients are continued; those of others are linked.
    fn begin(&self, request: &Request) -> Option<(Trace, Open)> {
        let parent = Parent::of(request.headers());
        let is_trusted = request.user().is_some_and(|user| user.is_in(SYSTEM_MASTERS) || user.is_in(SYSTEM_MONITORING));
        let span = match parent {
            Some(parent) if is_trusted => continued(parent)?,
            other => {
                let id: [u8; 16] = rand::random();
                let links = other.iter().map(|of| Link { trace_id: of.trace.into(), span_id: of.span.into() });
                let span = Span { trace_id: id.into(), links: links.collect(), ..Span::default() };
                self.sampling.wants(id).then_some(span)?
            }
        };
        let id: [u8; 8] = rand::random();
        let trace = Trace { exporter: self.exporter.clone(), id: span.trace_id.as_slice().try_into().ok()?, span: id };
        let span = Span {
            span_id: id.into(),
            name: name(request),
            kind: SpanKind::Server.into(),
            start_time_unix_nano: now(),
            attributes: attributes(request),
            ..span
        };
        Some((trace, Open { exporter: self.exporter.clone(), span }))
    }
}

fn continued(parent: Parent) -> Option<Span> {
    let Parent { trace, span, is_sampled, state } = parent;
    let continued = Span { trace_id: trace.into(), parent_span_id: span.into(), trace_state: state, ..Span::default() };
    is_sampled.then_some(continued)
}

impl Open {
    fn answered(&mut self, code: StatusCode) {
        self.span.attributes.push(KeyValue::number("http.response.status_code", code.as_u16().into()));
        if code.is_server_error() {
            self.span.status = Some(Status { message: String::new(), code: SpanCode::Error.into() });
        }
    }
}

/// The name of a span, such as `GET /api/v1/namespaces/{:namespace}/pods/{:name}`. Placeholders
/// keep the number of names small.
fn name(request: &Request) -> String {
    let method = request.method().as_str();
    let Some(info) = request.info().filter(|info| info.is_resource_request) else { return method.into() };
    let mut name = format!("{method} /{}", info.api_prefix);
    let namespace = if info.namespace.is_empty() { "" } else { "namespaces/{:namespace}" };
    let object = if info.name.is_empty() { "" } else { "{:name}" };
    let (group, version) = (info.api_group.as_str(), info.api_version.as_str());
    for part in [group, version, namespace, info.resource.as_str(), object, info.subresource.as_str()] {
        if !part.is_empty() {
            name.push('/');
            name.push_str(part);
        }
    }
    name
}

fn attributes(request: &Request) -> Vec<KeyValue> {
    let uri = request.uri();
    vec![
        KeyValue::text("http.request.method", request.method().as_str()),
        KeyValue::text("url.scheme", "https"),
        KeyValue::text("url.path", request.path()),
        KeyValue::text("network.protocol.version", protocol(request).trim_start_matches("HTTP/")),
        KeyValue::text("client.address", client(request)),
        KeyValue::text("user_agent.original", header(request, &USER_AGENT)),
        KeyValue::text("http.target", shown_target(uri)),
        KeyValue::text("audit-id", audit_id(request)),
    ]
}

fn header(request: &Request, name: &http::HeaderName) -> String {
    request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn audit_id(request: &Request) -> String {
    let id = request.extensions().get::<AuditId>().and_then(|id| id.0.to_str().ok());
    id.unwrap_or_default().to_owned()
}

fn client(request: &Request) -> String {
    request.extensions().get::<Arc<Peer>>().map(|peer| peer.address.ip().to_string()).unwrap_or_default()
}

fn protocol(request: &Request) -> &'static str {
    if request.version() == http::Version::HTTP_2 { "HTTP/2.0" } else { "HTTP/1.1" }
}

/// Creates a span for a filter and everything within it (upstream: `filterlatency.TrackStarted`).
pub struct FilterSpan<H> {
    pub name: &'static str,
    pub inner: H,
}

impl<H: Handler> Handler for FilterSpan<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        within(&self.inner, request, |_| (self.name.to_owned(), Vec::new()))
    }
}

/// Creates a span for the operation on objects: `Get`, `List`, `Create` (upstream: `traceFields`).
pub struct WithResourceSpan<H>(pub H);

impl<H: Handler> Handler for WithResourceSpan<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let verb = request.info().filter(|info| info.is_resource_request).and_then(|info| verb(info));
        match verb {
            Some(verb) => within(&self.0, request, |request| (verb.to_owned(), fields(request))),
            None => self.0.handle(request),
        }
    }
}

/// Handles a request in a child span if it is traced.
fn within<'h>(
    inner: &'h impl Handler,
    mut request: Request,
    describe: impl FnOnce(&Request) -> (String, Vec<KeyValue>),
) -> BoxFuture<'h, Response> {
    let Some(trace) = request.extensions().get::<Trace>() else { return inner.handle(request) };
    let (name, attributes) = describe(&request);
    let (trace, open) = trace.child(name, attributes);
    request.extensions_mut().insert(trace);
    Box::pin(async move {
        let _open = open;
        inner.handle(request).await
    })
}

fn verb(info: &RequestInfo) -> Option<&'static str> {
    Some(match &*info.verb {
        "get" => "Get",
        "list" | "watch" => "List",
        "create" => "Create",
        "update" => "Update",
        "patch" => "Patch",
        "delete" | "deletecollection" => "Delete",
        _ => return None,
    })
}

fn fields(request: &Request) -> Vec<KeyValue> {
    let Some(info) = request.info() else { return Vec::new() };
    let scope = match (info.name.as_str(), info.namespace.as_str()) {
        ("", "") => "cluster",
        ("", _) => "namespace",
        _ => "resource",
    };
    vec![
        KeyValue::text("accept", header(request, &ACCEPT)),
        KeyValue::text("audit-id", audit_id(request)),
        KeyValue::text("client", client(request)),
        KeyValue::text("api-group", info.api_group.as_str()),
        KeyValue::text("api-version", info.api_version.as_str()),
        KeyValue::text("name", info.name.as_str()),
        KeyValue::text("subresource", info.subresource.as_str()),
        KeyValue::text("namespace", info.namespace.as_str()),
        KeyValue::text("protocol", protocol(request)),
        KeyValue::text("resource", info.resource.as_str()),
        KeyValue::text("scope", scope),
        KeyValue::text("url", request.path()),
        KeyValue::text("user-agent", header(request, &USER_AGENT)),
        KeyValue::text("verb", request.method().as_str()),
    ]
}
