//! A request for a resource, with its parts.

use std::sync::Arc;
use std::time::Duration;

use audit::{AuditContext, Level};
use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use machinery::catalog::KindDef;
use machinery::offload;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{ReadRevision, WriteContext, ensure_namespace, meta_mut};
use request::warnings::Warnings;
use request::{Body, RequestInfo, User, respond};
use serving::filters::Detach;
use serving::work::HeldSeat;
use serving::work::memory::HeldMemory;
use telemetry::metrics::PendingWatchMetrics;

use super::cost;
use super::cost::{Executor, RequestCost};
use super::deprecation::{MINOR, deprecation, removal};
use crate::admission::{AdmissionAttributes, Conversions, Operation, Reservations};
use crate::body;
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Forms, SupportedEncodings};

/// A request for a resource, with its parts.
pub struct ResourceRequest {
    pub info: Arc<RequestInfo>,
    pub user: Arc<User>,
    pub headers: HeaderMap,
    pub body: Body,
    pub warnings: Warnings,
    /// The encodings of bodies and responses.
    pub supported: SupportedEncodings,
    pub trail: AuditContext,
    /// Metrics of a watch.
    pub watched: Option<PendingWatchMetrics>,
    /// Memory that is counted for its body.
    pub held: HeldMemory,
    /// Detaches a write from its connection.
    pub detach: Option<Detach>,
    /// Its seats in priority and fairness.
    pub seat: Option<HeldSeat>,
}

impl ResourceRequest {
    /// Reads the whole body, and moves expensive work to the work pool. The request is a write;
    /// from then on it completes even if the client disconnects.
    ///
    /// While a request waits for its body, it releases its seats. It acquires them again to work on
    /// the connection's thread. For a large body it releases them immediately, because its work
    /// moves to the work pool.
    pub async fn read_body(&mut self, endpoint: &Endpoint, cost: RequestCost) -> Result<Bytes, Status> {
        let body = std::mem::take(&mut self.body);
        let is_small = http_body::Body::size_hint(&body).upper().is_some_and(cost::is_small_body);
        let grace = if is_small { BODY_GRACE } else { Duration::ZERO };
        let read = body::read(body, &self.user, &mut self.held);
        let bytes = match &self.seat {
            Some(seat) => seat.while_waiting(grace, read).await?,
            None => read.await?,
        };
        match (cost.place(endpoint, &self.info, bytes.len()), &self.seat) {
            (Executor::WorkPool { memory }, _) => offload::to_work_pool_with(memory).await?,
            (Executor::Connection, Some(seat)) => seat.take_again().await?,
            (Executor::Connection, None) => {}
        }
        if let Some(detach) = &self.detach {
            detach.detach();
        }
        Ok(bytes)
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &http::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    /// Returns the `Content-Type` of the body.
    pub fn content_type(&self) -> Option<&str> {
        self.header(&CONTENT_TYPE)
    }

    pub fn user_agent(&self) -> &str {
        self.header(&USER_AGENT).unwrap_or("")
    }

    /// Negotiates the response for an object.
    pub fn accept(&self, forms: Forms) -> Result<Accepted, Status> {
        let pretty = respond::wants_pretty(&self.info.query, &self.headers);
        self.supported.accept_object(self.header(&ACCEPT), pretty, forms)
    }

    /// Builds the store context of the request.
    pub fn context(&self, endpoint: &Endpoint, dry_run: bool) -> WriteContext {
        let attributes = self.attributes(endpoint, Operation::Connect, "", dry_run);
        WriteContext { warnings: self.warnings.clone(), ..endpoint.context(&attributes) }
    }

    /// Builds the admission attributes of the request.
    pub fn attributes(
        &self,
        endpoint: &Endpoint,
        operation: Operation,
        name: &str,
        dry_run: bool,
    ) -> AdmissionAttributes {
        AdmissionAttributes {
            operation,
            kind: endpoint.kind,
            group: endpoint.group_version.0,
            version: endpoint.group_version.1,
            plural: endpoint.resource.plural,
            subresource: self.info.subresource.clone(),
            namespace: self.info.namespace.clone(),
            name: name.to_string(),
            generate_name: String::new(),
            user: self.user.clone(),
            dry_run,
            warnings: self.warnings.clone(),
            trail: self.trail.clone(),
            as_of: ReadRevision::default(),
            reservations: Reservations::default(),
            definition: endpoint.definition.clone(),
            conversions: Conversions::default(),
        }
    }

    /// Checks that an object is the one that the path names. Its namespace may be absent
    /// (`checkName`).
    pub fn check_identity(&self, endpoint: &Endpoint, object: &mut Owned) -> Result<(), Status> {
        check_identity(endpoint, &self.info.namespace, &self.info.name, object)
    }

    /// Adds `Warning` headers.
    pub fn warn(&self, texts: &[String]) {
        texts.iter().for_each(|text| self.warnings.add(text));
    }

    /// Warns of a deprecated version (`deprecation.WarningMessage`).
    pub fn warn_deprecated(&self, kind: &KindDef) {
        let Some(deprecated) = deprecation(kind).filter(|minor| *minor <= MINOR) else { return };
        self.trail.annotate_from(Level::Metadata, "k8s.io/deprecated", || "true".into());
        let mut text = format!("{} {} is deprecated in v1.{deprecated}+", kind.api_version(), kind.kind);
        if let Some(removed) = removal(kind, deprecated) {
            self.trail.annotate_from(Level::Metadata, "k8s.io/removed-release", || format!("1.{removed}"));
            text.push_str(&format!(", unavailable in v1.{removed}+"));
        }
        let lifecycle = &kind.lifecycle;
        if !lifecycle.replacement.is_empty() {
            text.push_str(&format!("; use {}", lifecycle.replacement));
        }
        self.warn(&[text]);
    }
}

/// Checks that an object has this name and namespace. Its namespace may be absent (`checkName`).
pub(super) fn check_identity(
    endpoint: &Endpoint,
    namespace: &str,
    name: &str,
    object: &mut Owned,
) -> Result<(), Status> {
    let Some(meta) = meta_mut(object) else { return Ok(()) };
    ensure_namespace(meta, if endpoint.resource.namespaced { namespace } else { "" })?;
    let why = match meta.name.as_str() {
        "" => format!("the name of the object ({name} based on URL) was undeterminable: name must be provided"),
        own if own != name => format!("the name of the object ({own}) does not match the name on the URL ({name})"),
        _ => return Ok(()),
    };
    Err(Status::bad_request(why))
}

/// How long a request keeps its seats while it waits for a small body.
pub(super) const BODY_GRACE: Duration = Duration::from_millis(10);
