//! Handlers of verbs: one file per verb, each a function of (endpoint, call).

pub mod computed;
pub mod connect;
pub mod cost;
pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod patch;
pub mod scale;
pub mod update;
pub mod watch;

use std::sync::Arc;
use std::time::Duration;

use audit::{AuditContext, Level};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, StatusCode};
use machinery::catalog::KindDef;
use machinery::offload;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Change, Context, ReadRevision, UpdateOptions, Updated, ensure_namespace, meta_mut};
use request::warnings::Warnings;
use request::{Body, RequestInfo, User, respond};
use serving::filters::Detach;
use serving::work::HeldSeat;
use serving::work::memory::Held;
use telemetry::metrics::Watched;

use crate::admission::{Attributes, Conversions, Operation, Reservations};
use crate::body;
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Forms, SupportedEncodings};
pub use cost::Cost;
use cost::Place;
use scale::{AsScale, Scale};

/// A request for a resource, with its parts.
pub struct Call {
    pub info: Arc<RequestInfo>,
    pub user: Arc<User>,
    pub headers: HeaderMap,
    pub body: Body,
    pub warnings: Warnings,
    /// The encodings of bodies and responses.
    pub supported: SupportedEncodings,
    pub trail: AuditContext,
    /// Metrics of a watch.
    pub watched: Option<Watched>,
    /// Memory that is counted for its body.
    pub held: Held,
    /// Detaches a write from its connection.
    pub detach: Option<Detach>,
    /// Its seats in priority and fairness.
    pub seat: Option<HeldSeat>,
}

/// How long a request keeps its seats while it waits for a small body.
const BODY_GRACE: Duration = Duration::from_millis(10);

impl Call {
    /// Reads the whole body, and moves expensive work to the work pool. The request is a write;
    /// from then on it completes even if the client disconnects.
    ///
    /// While a request waits for its body, it releases its seats. It acquires them again to work on
    /// the connection's thread. For a large body it releases them immediately, because its work
    /// moves to the work pool.
    pub async fn read_body(&mut self, endpoint: &Endpoint, cost: Cost) -> Result<Bytes, Status> {
        let body = std::mem::take(&mut self.body);
        let is_small = http_body::Body::size_hint(&body).upper().is_some_and(cost::is_small_body);
        let grace = if is_small { BODY_GRACE } else { Duration::ZERO };
        let read = body::read(body, &self.user, &mut self.held);
        let bytes = match &self.seat {
            Some(seat) => seat.while_waiting(grace, read).await?,
            None => read.await?,
        };
        match (cost.place(endpoint, &self.info, bytes.len()), &self.seat) {
            (Place::WorkPool { memory }, _) => offload::to_work_pool_with(memory).await?,
            (Place::Connection, Some(seat)) => seat.take_again().await?,
            (Place::Connection, None) => {}
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
    pub fn context(&self, endpoint: &Endpoint, dry_run: bool) -> Context {
        let attributes = self.attributes(endpoint, Operation::Connect, "", dry_run);
        Context { warnings: self.warnings.clone(), ..endpoint.context(&attributes) }
    }

    /// Builds the admission attributes of the request.
    pub fn attributes(&self, endpoint: &Endpoint, operation: Operation, name: &str, dry_run: bool) -> Attributes {
        Attributes {
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

/// Applies a change to the object itself or to its Scale.
async fn write(
    endpoint: &Endpoint,
    context: &Context,
    name: &str,
    options: &UpdateOptions,
    scale: Option<&Scale<'_>>,
    mut change: impl Change,
) -> Result<Updated, Status> {
    let store = endpoint.store()?;
    match scale {
        Some(scale) => store.update(context, name, options, &mut AsScale { scale, change }).await,
        None => store.update(context, name, options, &mut change).await,
    }
}

/// The status code of a write.
fn code(updated: &Updated) -> StatusCode {
    if updated.created { StatusCode::CREATED } else { StatusCode::OK }
}

/// Checks that an object has this name and namespace. Its namespace may be absent (`checkName`).
fn check_identity(endpoint: &Endpoint, namespace: &str, name: &str, object: &mut Owned) -> Result<(), Status> {
    let Some(meta) = meta_mut(object) else { return Ok(()) };
    ensure_namespace(meta, if endpoint.resource.namespaced { namespace } else { "" })?;
    let why = match meta.name.as_str() {
        "" => format!("the name of the object ({name} based on URL) was undeterminable: name must be provided"),
        own if own != name => format!("the name of the object ({own}) does not match the name on the URL ({name})"),
        _ => return Ok(()),
    };
    Err(Status::bad_request(why))
}

/// The minor version of the served Kubernetes release.
const MINOR: u32 = 36;

/// Number of releases until a preview is deprecated, and from then until it is removed.
const STAGE: u32 = 3;

/// Parses the minor version of a release; nothing if it is not declared.
fn minor(release: &str) -> Option<u32> {
    release.rsplit('.').next().and_then(|minor| minor.parse().ok())
}

fn is_preview(kind: &KindDef) -> bool {
    kind.version.contains("alpha") || kind.version.contains("beta")
}

/// Returns the release that removes a deprecated version; empty if none is declared. Returns
/// nothing if the version is not deprecated.
pub(crate) fn removed_release(kind: &KindDef) -> Option<String> {
    let deprecated = deprecation(kind).filter(|minor| *minor <= MINOR)?;
    Some(removal(kind, deprecated).map(|removed| format!("1.{removed}")).unwrap_or_default())
}

/// The release that deprecates a version: the declared one, or for a preview `STAGE` releases after
/// its introduction.
fn deprecation(kind: &KindDef) -> Option<u32> {
    let later = || minor(kind.lifecycle.introduced).filter(|_| is_preview(kind)).map(|minor| minor + STAGE);
    minor(kind.lifecycle.deprecated).or_else(later)
}

/// The release that removes a deprecated version: the declared one, or for a preview `STAGE`
/// releases after its deprecation. A stable version is not removed.
fn removal(kind: &KindDef, deprecated: u32) -> Option<u32> {
    minor(kind.lifecycle.removed).or_else(|| is_preview(kind).then_some(deprecated + STAGE))
}
