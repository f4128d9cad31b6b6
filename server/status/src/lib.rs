//! Errors for clients (`metav1.Status`): the only crate that creates client-visible errors.
//!
//! Each constructor mirrors one of `k8s.io/apimachinery/pkg/api/errors`; texts are part of the
//! protocol. `machinery` re-exports this crate.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod answered;
pub mod field_error;
pub mod field_path;

use serde_json::{Map, Value};

use crate::field_error::FieldError;
use scalar::go_text::quote;
use scalar::json_text::append_compact;

/// Limits on the field errors that a Status lists: their number, and the bytes of their texts. The
/// first one is always listed.
const MAX_ERRORS: usize = 1000;
const MAX_ERROR_BYTES: usize = 1 << 20;

/// The field errors that a Status lists.
fn listed(errors: &[FieldError]) -> &[FieldError] {
    let mut bytes = 0;
    let fits = |error: &&FieldError| {
        bytes += error.text_len();
        bytes <= MAX_ERROR_BYTES
    };
    let fitting = errors.iter().take(MAX_ERRORS).take_while(fits).count();
    &errors[..fitting.max(1).min(errors.len())]
}

/// The number of errors of this size that a Status lists; more need not be created.
pub fn listed_errors(bytes: usize) -> usize {
    (MAX_ERROR_BYTES / bytes.max(1)).clamp(1, MAX_ERRORS)
}

/// An error as a client sees it (`metav1.Status`).
///
/// ```
/// use status::{GroupResource, Status};
///
/// let deployments = GroupResource { group: "apps", resource: "deployments" };
/// let status = Status::not_found(deployments, "web");
/// assert_eq!((status.code, status.reason), (404, "NotFound"));
/// assert_eq!(status.message, r#"deployments.apps "web" not found"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// Machine-readable reason, such as `NotFound`; may be empty.
    pub reason: &'static str,
    /// The message for users, in upstream's words.
    pub message: String,
    /// The object or kind that the error refers to, and its causes.
    pub details: Option<Box<Details>>,
    /// Token to continue a list inconsistently after an expired one (`metadata.continue`); may be
    /// empty.
    pub continue_token: String,
}

/// Details of an error (`metav1.StatusDetails`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The name of the object; may be empty.
    pub name: String,
    /// The API group; empty for core.
    pub group: String,
    /// A kind or a resource, as in upstream's error with the same reason.
    pub kind: String,
    /// The UID of the object; may be empty.
    pub uid: String,
    /// The causes, such as one for each field error.
    pub causes: Vec<Cause>,
    /// Seconds after which the client may retry; 0 if not specified.
    pub retry_after_seconds: i32,
}

/// One of several causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// Machine-readable reason, such as `FieldValueInvalid`; may be empty.
    pub reason: String,
    /// The message of the cause for users.
    pub message: String,
    /// Path of the field; empty if the cause is not a field.
    pub field: String,
}

/// A resource or kind with its group, in the format of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupResource<'a> {
    /// The API group; empty for core.
    pub group: &'a str,
    /// The plural of a resource, or the name of a kind.
    pub resource: &'a str,
}

impl std::fmt::Display for GroupResource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group {
            "" => f.write_str(self.resource),
            group => write!(f, "{}.{group}", self.resource),
        }
    }
}

impl Status {
    /// Creates an error from code, reason and message.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Status { code, reason, message: message.into(), details: None, continue_token: String::new() }
    }

    fn about(mut self, of: GroupResource<'_>, name: &str) -> Self {
        let details =
            Details { name: name.into(), group: of.group.into(), kind: of.resource.into(), ..Details::default() };
        self.details = Some(Box::new(details));
        self
    }

    fn retry_after(mut self, seconds: i32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = seconds;
        self
    }

    /// Mirrors `NewNotFound`.
    pub fn not_found(of: GroupResource<'_>, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{of} {} not found", quote(name))).about(of, name)
    }

    /// An unknown path below a served group version (`NewGenericServerResponse` with 404).
    pub fn path_not_found() -> Self {
        let mut status = Self::new(404, "NotFound", "the server could not find the requested resource");
        status.details = Some(Box::default());
        status
    }

    /// Mirrors `NewAlreadyExists`.
    pub fn already_exists(of: GroupResource<'_>, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{of} {} already exists", quote(name))).about(of, name)
    }

    /// Mirrors `NewGenerateNameConflict`.
    pub fn generate_name_conflict(of: GroupResource<'_>, name: &str) -> Self {
        let name_text = quote(name);
        let message = format!(
            "{of} {name_text} already exists, the server was not able to generate a unique name for the object"
        );
        Self::new(409, "AlreadyExists", message).about(of, name).retry_after(1)
    }

    /// Mirrors `NewConflict`.
    pub fn conflict(of: GroupResource<'_>, name: &str, why: impl std::fmt::Display) -> Self {
        let message = format!("Operation cannot be fulfilled on {of} {}: {why}", quote(name));
        Self::new(409, "Conflict", message).about(of, name)
    }

    /// Mirrors `NewUnauthorized`.
    pub fn unauthorized(message: &str) -> Self {
        Self::new(401, "Unauthorized", if message.is_empty() { "not authorized" } else { message })
    }

    /// Mirrors `NewForbidden`.
    pub fn forbidden(of: GroupResource<'_>, name: &str, why: impl std::fmt::Display) -> Self {
        let message = match (of.resource, name) {
            ("", _) => format!("forbidden: {why}"),
            (_, "") => format!("{of} is forbidden: {why}"),
            _ => format!("{of} {} is forbidden: {why}", quote(name)),
        };
        Self::new(403, "Forbidden", message).about(of, name)
    }

    /// Mirrors `NewBadRequest`.
    pub fn bad_request(why: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", why)
    }

    /// Mirrors `NewInvalid`; `of` is group and kind. Upstream lists all errors; here errors beyond
    /// 1000, or beyond 1 MiB of their texts, are omitted.
    pub fn invalid(of: GroupResource<'_>, name: &str, errors: &[FieldError]) -> Self {
        let errors = listed(errors);
        let causes: Vec<Cause> = errors
            .iter()
            .map(|e| Cause { reason: e.error_type.reason().into(), message: e.body(), field: e.field.to_string() })
            .collect();
        let list = crate::field_error::aggregate(errors);
        let message = match causes.len() {
            0 => format!("{of} {} is invalid", quote(name)),
            _ => format!("{of} {} is invalid: {list}", quote(name)),
        };
        let details = Details {
            name: name.into(),
            group: of.group.into(),
            kind: of.resource.into(),
            causes,
            ..Details::default()
        };
        Status { details: Some(Box::new(details)), ..Status::new(422, "Invalid", message) }
    }

    /// Mirrors `NewMethodNotSupported`.
    pub fn method_not_supported(of: GroupResource<'_>, action: &str) -> Self {
        let message = format!("{action} is not supported on resources of kind \"{of}\"");
        Self::new(405, "MethodNotAllowed", message).about(of, "")
    }

    /// A verb that the path does not support (`NewGenericServerResponse` with 405).
    pub fn method_not_allowed() -> Self {
        let mut status =
            Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
        status.details = Some(Box::default());
        status
    }

    /// No media type of the Accept header is supported (`negotiation.NewNotAcceptableError`).
    pub fn not_acceptable(accepted: &[&str]) -> Self {
        Self::new(406, "NotAcceptable", format!("only the following media types are accepted: {}", accepted.join(", ")))
    }

    /// The media type of the body is not supported (`negotiation.NewUnsupportedMediaTypeError`).
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// No route accepts the media type of the body. The message is that of go-restful, which runs
    /// before upstream's handlers.
    pub fn media_type_without_route() -> Self {
        let status = Self::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
        Status { details: Some(Box::default()), ..status }
    }

    /// Mirrors `NewRequestEntityTooLargeError`.
    pub fn too_large(limit_bytes: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit_bytes}"))
    }

    /// Mirrors `NewResourceExpired`.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// Mirrors `NewGone`.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(410, "Gone", message)
    }

    /// Mirrors `NewTooManyRequests`.
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: i32) -> Self {
        Self::new(429, "TooManyRequests", message).retry_after(retry_after_seconds)
    }

    /// Mirrors `NewTimeoutError`.
    pub fn timeout(message: impl std::fmt::Display, retry_after_seconds: i32) -> Self {
        Self::new(504, "Timeout", format!("Timeout: {message}")).retry_after(retry_after_seconds)
    }

    /// Mirrors `NewServerTimeout`.
    pub fn server_timeout(of: GroupResource<'_>, operation: &str, retry_after_seconds: i32) -> Self {
        let message =
            format!("The {operation} operation against {of} could not be completed at this time, please try again.");
        Self::new(500, "ServerTimeout", message).about(of, operation).retry_after(retry_after_seconds)
    }

    /// Mirrors `NewInternalError`. The message is for clients that may see it; the source goes to
    /// the logs.
    pub fn internal(why: impl std::fmt::Display) -> Self {
        let cause = Cause { reason: String::new(), message: why.to_string(), field: String::new() };
        let details = Some(Box::new(Details { causes: vec![cause], ..Details::default() }));
        Status { details, ..Status::new(500, "InternalError", format!("Internal error occurred: {why}")) }
    }

    /// Mirrors `NewServiceUnavailable`.
    pub fn service_unavailable(why: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", why)
    }

    /// A feature that this server does not implement yet; `docs/status.md` lists them.
    pub fn not_implemented(what: &str) -> Self {
        Self::new(501, "NotImplemented", format!("{what} is not implemented by this server yet"))
    }

    /// The error as a JSON object with upstream's field order.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("kind".into(), "Status".into());
        out.insert("apiVersion".into(), "v1".into());
        let mut metadata = Map::new();
        insert_text(&mut metadata, "continue", &self.continue_token);
        out.insert("metadata".into(), metadata.into());
        out.insert("status".into(), "Failure".into());
        insert_text(&mut out, "message", &self.message);
        insert_text(&mut out, "reason", self.reason);
        if let Some(details) = &self.details {
            out.insert("details".into(), details.to_value());
        }
        out.insert("code".into(), self.code.into());
        Value::Object(out)
    }

    /// The error as JSON text with a trailing line feed, as in upstream. HTML is escaped, because
    /// messages show client input.
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = self.compact();
        text.push(b'\n');
        text
    }

    /// The error as indented JSON text.
    pub fn to_pretty_json(&self) -> Vec<u8> {
        let mut text = Vec::new();
        scalar::pretty(&self.compact(), &mut text);
        text
    }

    fn compact(&self) -> Vec<u8> {
        let (plain, mut text) = (self.to_value().to_string(), Vec::new());
        append_compact(&mut text, plain.as_bytes());
        text
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut out = Map::new();
        insert_text(&mut out, "name", &self.name);
        insert_text(&mut out, "group", &self.group);
        insert_text(&mut out, "kind", &self.kind);
        insert_text(&mut out, "uid", &self.uid);
        if !self.causes.is_empty() {
            out.insert("causes".into(), self.causes.iter().map(Cause::to_value).collect());
        }
        if self.retry_after_seconds != 0 {
            out.insert("retryAfterSeconds".into(), self.retry_after_seconds.into());
        }
        Value::Object(out)
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut out = Map::new();
        insert_text(&mut out, "reason", &self.reason);
        insert_text(&mut out, "message", &self.message);
        insert_text(&mut out, "field", &self.field);
        Value::Object(out)
    }
}

fn insert_text(out: &mut Map<String, Value>, key: &str, text: &str) {
    if !text.is_empty() {
        out.insert(key.into(), text.into());
    }
}
