//! Responses of the server itself: Status failures, plain text, and the 404 of unknown paths.

mod protobuf;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use machinery::status::{Details, Status};

use crate::body::Body;
use crate::handler::{Request, RequestExt, Response};
use crate::negotiation;
use crate::request_info::Query;

/// `text/plain` as Go's net/http writes it.
pub const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// `application/json`
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The format of failures that the client accepts. Taken from a request before it is passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    encoding: Encoding,
    pretty: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Encoding {
    #[default]
    Json,
    Yaml,
    Protobuf,
}

impl Style {
    /// The format for a request. JSON is the fallback when the client accepts none of the formats.
    pub fn of(request: &Request) -> Self {
        let accept = request.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
        let pretty = wants_pretty(request.query(), request.headers());
        Style { encoding: preferred(accept, &ENCODINGS), pretty }
    }

    /// The format for a path that never responds with protobuf.
    pub fn of_text(request: &Request) -> Self {
        let style = Self::of(request);
        let accept = request.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
        Style { encoding: preferred(accept, &ENCODINGS[..2]), ..style }
    }

    /// A failure response.
    pub fn failure(self, status: &Status) -> Response {
        let mut response = match self.encoding {
            Encoding::Yaml => bytes(status.code, HeaderValue::from_static("application/yaml"), yaml(status)),
            Encoding::Protobuf => {
                bytes(status.code, HeaderValue::from_static(protobuf::MEDIA_TYPE), protobuf::encode(status))
            }
            Encoding::Json if self.pretty => bytes(status.code, JSON, status.to_pretty_json()),
            Encoding::Json => bytes(status.code, JSON, status.to_json()),
        };
        let retry = status.details.as_ref().map_or(0, |d| d.retry_after_seconds);
        if retry > 0 {
            response.headers_mut().insert(header::RETRY_AFTER, retry.into());
        }
        response
    }
}

fn yaml(status: &Status) -> Vec<u8> {
    let (json, mut out) = (status.to_json(), Vec::new());
    // The JSON was just encoded, so it can be parsed.
    let _ = machinery::yaml::from_json(&json, &mut out);
    out
}

/// The formats of failures.
const ENCODINGS: [(&str, Encoding); 3] = [
    ("application/json", Encoding::Json),
    ("application/yaml", Encoding::Yaml),
    (protobuf::MEDIA_TYPE, Encoding::Protobuf),
];

/// The encoding of the first clause that matches a format. Clauses that request another type of
/// object are ignored.
fn preferred(accept: &str, encodings: &[(&str, Encoding)]) -> Encoding {
    let clauses = negotiation::parse_accept(accept);
    let plain = clauses.iter().filter(|clause| !clause.is_transformed());
    let found = plain.flat_map(|clause| {
        let streams = clause.parameter("stream").is_some_and(|stream| !stream.is_empty());
        let matching = encodings.iter().filter(|(media_type, _)| clause.matches(media_type));
        matching.filter(move |(_, encoding)| !streams || *encoding != Encoding::Yaml)
    });
    found.map(|(_, encoding)| *encoding).next().unwrap_or_default()
}

/// A failure in the format that the request accepts (upstream: `responsewriters.ErrorNegotiated`).
pub fn failure(request: &Request, status: &Status) -> Response {
    Style::of(request).failure(status)
}

/// The 406 response of go-restful, for a path with only one format.
pub fn not_acceptable(request: &Request, media_type: &str) -> Response {
    let why = format!("406: Not Acceptable\n\nAvailable representations: {media_type}");
    let details = Some(Box::<Details>::default());
    failure(request, &Status { details, ..Status::new(406, "NotAcceptable", why) })
}

/// A denied authorization or impersonation, with `nosniff` for browsers
/// (`responsewriters.RespondWithError`).
pub fn refusal(request: &Request, status: &Status) -> Response {
    let mut response = failure(request, status);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether to indent JSON: the client requests it, or is a browser, curl or wget (upstream:
/// `negotiation.isPrettyPrint`).
pub fn wants_pretty(query: &Query, headers: &HeaderMap) -> bool {
    if let Some(pretty) = query.get("pretty").filter(|value| !value.is_empty()) {
        return matches!(pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let agent = headers.get(header::USER_AGENT).map_or(&b""[..], HeaderValue::as_bytes);
    [&b"curl"[..], b"Wget", b"Mozilla/5.0"].iter().any(|prefix| agent.starts_with(prefix))
}

/// A response with this body.
pub fn bytes(code: u16, content_type: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// A failure in the form of Go's `http.Error`: text and a line feed.
pub fn text_error(code: u16, text: &str) -> Response {
    let mut response = bytes(code, TEXT, format!("{text}\n"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The response for an unknown path.
pub fn not_found() -> Response {
    text_error(404, "404 page not found")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::request;
    use machinery::status::GroupResource;

    async fn written(accept: &'static str, uri: &str) -> (String, String) {
        let mut request = request("GET", uri);
        request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static(accept));
        let response = failure(&request, &Status::forbidden(GroupResource { group: "", resource: "pods" }, "", "no"));
        let media_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
        let body = response.into_body().read(1 << 20).await.unwrap();
        (media_type, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn failures_have_the_accepted_format() {
        for accept in [
            "",
            "*/*",
            "text/html",
            "image/png",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/yaml;q=0.1, */*",
        ] {
            let (media_type, text) = written(accept, "/api/v1/pods").await;
            assert!(media_type == "application/json" && text.starts_with("{\"kind\":\"Status\""), "{accept}");
        }
        let yaml = "apiVersion: v1\ncode: 403\ndetails:\n  kind: pods\nkind: Status\nmessage: 'pods is forbidden: no'\nmetadata: {}\nreason: Forbidden\nstatus: Failure\n";
        assert_eq!(written("application/yaml", "/api/v1/pods").await, ("application/yaml".into(), yaml.into()));
        assert_eq!(
            written("application/vnd.kubernetes.protobuf,application/json", "/").await.0,
            "application/vnd.kubernetes.protobuf"
        );
        assert!(written("", "/?pretty=true").await.1.starts_with("{\n  \"kind\": \"Status\",\n"));
        for uri in ["/", "/?pretty=true"] {
            let response = failure(&request("GET", uri), &Status::bad_request("<a> & b"));
            let body = response.into_body().read(1 << 20).await.unwrap();
            assert!(String::from_utf8_lossy(&body).contains(r"\u003ca\u003e \u0026 b"), "{body:?}");
        }
    }
}
