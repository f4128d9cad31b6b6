//! The few answers that the front itself gives: failures as a `Status`, plain text, and the 404 of paths that nobody serves.

use http::{HeaderMap, HeaderValue, StatusCode, header};
use machinery::status::Status;

use crate::body::Body;
use crate::handler::{Request, Response};
use crate::request_info::parameter;

/// `text/plain` as Go's net/http writes it.
pub const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// `application/json`
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How the client wants failures written. Taken from a request before the request is handed on.
///
/// The front writes JSON only: it is what every client reads when it reads failures at all, whatever else it accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pretty: bool,
}

impl Style {
    /// The client's wish.
    pub fn of(request: &Request) -> Self {
        Style { pretty: wants_pretty(request.uri().query().unwrap_or(""), request.headers()) }
    }

    /// A failure.
    pub fn failure(self, status: &Status) -> Response {
        let body = match self.pretty {
            true => format!("{:#}", status.to_value()).into_bytes(),
            false => status.to_json(),
        };
        let mut response = bytes(status.code, JSON, body);
        let retry = status.details.as_ref().map_or(0, |d| d.retry_after_seconds);
        if retry > 0 {
            response.headers_mut().insert(header::RETRY_AFTER, retry.into());
        }
        response
    }
}

/// A failure, in the form that the request asks for (upstream: `responsewriters.ErrorNegotiated`).
pub fn failure(request: &Request, status: &Status) -> Response {
    Style::of(request).failure(status)
}

/// Whether a person seems to be reading (upstream: `negotiation.isPrettyPrint`).
fn wants_pretty(query: &str, headers: &HeaderMap) -> bool {
    if let Some(pretty) = query.contains("pretty").then(|| parameter(query, "pretty")).flatten() {
        return matches!(&*pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let agent = headers.get(header::USER_AGENT).map_or(&b""[..], HeaderValue::as_bytes);
    [&b"curl"[..], b"Wget", b"Mozilla/5.0"].iter().any(|prefix| agent.starts_with(prefix))
}

/// An answer of these bytes.
pub fn bytes(code: u16, content_type: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// A failure as Go's `http.Error` writes one: text, and a line feed behind it.
pub fn text_error(code: u16, text: &str) -> Response {
    let mut response = bytes(code, TEXT, format!("{text}\n"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The answer of a path that nobody serves.
pub fn not_found() -> Response {
    text_error(404, "404 page not found")
}
