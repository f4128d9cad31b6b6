//! `/flagz` and `/statusz`: the flags and the status of the server (upstream: `server/flagz`,
//! `server/statusz`).
//!
//! Both are text by default, or a kind of `config.k8s.io` if the Accept header requests one.

use std::collections::BTreeSet;
use std::time::SystemTime;

use http::{HeaderValue, header};
use machinery::scalar::Time;
use machinery::status::Status;
use machinery::yaml;
use options::version::{GIT_VERSION, MAJOR, MINOR};
use request::negotiation::{self, Clause};
use request::respond::{self, Style};
use request::{Request, RequestExt, Response};
use serde_json::{Map, Value, json};

const GROUP: &str = "config.k8s.io";
/// The versions of both kinds; all but the last are deprecated.
const VERSIONS: [&str; 2] = ["v1alpha1", "v1beta1"];
const MEDIA_TYPES: [&str; 3] = ["application/json", "application/yaml", "text/plain"];
/// The component name in both documents.
const COMPONENT: &str = "apiserver";
/// First path segments that are not pages for operators.
const NO_PAGES: [&str; 5] = ["apis", "api", "openid", "openapi", ".well-known"];

/// The format of a response.
#[derive(Debug, PartialEq)]
enum Form {
    Text,
    /// A kind in this version.
    Json(&'static str),
    Yaml(&'static str),
}

/// Handles `/flagz` with these flags.
pub(crate) fn flagz(request: &Request, flags: &[(String, String)]) -> Response {
    let text = || flags.iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>();
    let fields = || {
        let flags: Map<String, Value> = flags.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({ "flags": flags })
    };
    answer(request, "Flagz", text, fields)
}

/// Handles `/statusz` of a server with this start time and these paths.
pub(crate) fn statusz(request: &Request, begin: SystemTime, paths: impl Iterator<Item = String>) -> Response {
    let seconds = begin.elapsed().unwrap_or_default().as_secs();
    let since = begin.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let begin = Time::from_unix(i64::try_from(since).unwrap_or_default()).to_string();
    let (version, emulated) = (GIT_VERSION.trim_start_matches('v'), format!("{MAJOR}.{MINOR}"));
    let pages = pages(paths);
    let text = || {
        format!(
            "\nStarted: {begin}\nUp: {} hr {:02} min {:02} sec\nGo version: \nBinary version: {version}\n\
             Emulation version: {emulated}\nPaths: {}\n",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            Vec::from_iter(pages.iter().map(String::as_str)).join(" ")
        )
    };
    let fields = || {
        json!({
            "startTime": begin, "uptimeSeconds": seconds, "goVersion": "", "binaryVersion": version,
            "emulationVersion": emulated, "paths": pages,
        })
    };
    answer(request, "Statusz", text, fields)
}

/// The first segments of the paths for operators (upstream: `aggregatePaths`).
fn pages(paths: impl Iterator<Item = String>) -> BTreeSet<String> {
    let first = |path: String| path.strip_prefix('/')?.split('/').next().map(str::to_owned);
    let parts = paths.filter_map(first).filter(|part| !part.is_empty() && !NO_PAGES.contains(&part.as_str()));
    parts.map(|part| format!("/{part}")).collect()
}

/// The document in the requested format: `text` below the heading, or `fields` of a kind.
fn answer(request: &Request, kind: &str, text: impl FnOnce() -> String, fields: impl FnOnce() -> Value) -> Response {
    let Some(form) = negotiate(request, kind) else {
        return Style::of_text(request).failure(&Status::not_acceptable(&MEDIA_TYPES));
    };
    let (version, media_type) = match form {
        Form::Text => {
            let heading = format!(
                "\n{COMPONENT} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting \
                 compatibility guarantees and is for debugging purposes only.\n",
                kind.to_lowercase()
            );
            return respond::bytes(200, respond::TEXT, heading + &text());
        }
        Form::Json(version) => (version, "application/json"),
        Form::Yaml(version) => (version, "application/yaml"),
    };
    let mut document =
        json!({"kind": kind, "apiVersion": format!("{GROUP}/{version}"), "metadata": {"name": COMPONENT}});
    for (name, value) in fields().as_object_mut().into_iter().flatten() {
        document[name] = value.take();
    }
    let body = match form {
        Form::Yaml(_) => written_as_yaml(&document),
        _ if respond::wants_pretty(request.query(), request.headers()) => format!("{document:#}").into_bytes(),
        _ => format!("{document}\n").into_bytes(),
    };
    let content_type = format!("{media_type};g={GROUP};v={version};as={kind}");
    let mut response = respond::bytes(200, HeaderValue::from_str(&content_type).unwrap_or(respond::JSON), body);
    if version != VERSIONS[1] {
        let warning = format!(
            "299 - \"This version of the {} endpoint is deprecated. Please use a newer version.\"",
            kind.to_lowercase()
        );
        if let Ok(warning) = HeaderValue::from_str(&warning) {
            response.headers_mut().append(header::WARNING, warning);
        }
    }
    response
}

fn written_as_yaml(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    // The JSON was just encoded, so it can be parsed.
    let _ = yaml::from_json(document.to_string().as_bytes(), &mut out);
    out
}

/// The first requested format that is supported; text without an Accept header.
fn negotiate(request: &Request, kind: &str) -> Option<Form> {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.trim().is_empty() {
        return Some(Form::Text);
    }
    let clauses = negotiation::parse_accept(accept);
    clauses.iter().find_map(|clause| of_clause(clause, kind))
}

fn of_clause(clause: &Clause<'_>, kind: &str) -> Option<Form> {
    let parameter = |name: &str| clause.parameter(name).unwrap_or_default();
    if !parameter("stream").is_empty() || !parameter("sv").is_empty() {
        return None;
    }
    let version = VERSIONS.into_iter().find(|version| *version == parameter("v"));
    let version = version.filter(|_| parameter("as") == kind && parameter("g") == GROUP);
    let form = |media_type: &&str| match *media_type {
        "text/plain" => (!clause.is_transformed()).then_some(Form::Text),
        "application/yaml" => version.map(Form::Yaml),
        _ => version.map(Form::Json),
    };
    MEDIA_TYPES.iter().filter(|media_type| clause.matches(media_type)).find_map(form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{request, seen};

    fn request_with_accept(accept: &str) -> Request {
        let mut request = request("GET", "/flagz");
        request.headers_mut().insert(header::ACCEPT, HeaderValue::from_str(accept).unwrap());
        request
    }

    #[test]
    fn negotiates_first_supported_format() {
        for (accept, expect) in [
            ("", Some(Form::Text)),
            ("*/*", Some(Form::Text)),
            ("text/*", Some(Form::Text)),
            ("application/json", None),
            ("application/json,text/plain", Some(Form::Text)),
            ("application/json;as=Flagz;v=v1beta1;g=config.k8s.io", Some(Form::Json("v1beta1"))),
            ("application/yaml;as=Flagz;v=v1alpha1;g=config.k8s.io", Some(Form::Yaml("v1alpha1"))),
            ("application/json;as=Statusz;v=v1beta1;g=config.k8s.io", None),
            ("text/plain;as=Flagz;v=v1beta1;g=config.k8s.io", None),
            ("text/html", None),
        ] {
            assert_eq!(negotiate(&request_with_accept(accept), "Flagz"), expect, "{accept}");
        }
    }

    #[tokio::test]
    async fn deprecated_version_has_warning() {
        let flags = [("secure-port".to_owned(), "6443".to_owned())];
        let response = flagz(&request_with_accept("application/json;as=Flagz;v=v1alpha1;g=config.k8s.io"), &flags);
        assert!(response.headers()[header::WARNING].to_str().unwrap().contains("the flagz endpoint is deprecated"));
        let want = json!({"kind": "Flagz", "apiVersion": "config.k8s.io/v1alpha1", "metadata": {"name": "apiserver"},
            "flags": {"secure-port": "6443"}});
        assert_eq!(seen(response).await, (200, format!("{want}\n")));
        for (accept, expect) in [("application/yaml", "application/yaml"), ("application/*", "application/json")] {
            let refused = flagz(&request_with_accept(accept), &flags);
            assert_eq!(refused.status(), 406);
            assert_eq!(refused.headers()[header::CONTENT_TYPE], expect, "{accept}");
        }
        let refused = flagz(&request_with_accept("application/vnd.kubernetes.protobuf"), &flags);
        assert_eq!(refused.headers()[header::CONTENT_TYPE], "application/json");
    }

    #[tokio::test]
    async fn statusz_lists_pages_without_apis() {
        let paths = ["/", "/apis/apps", "/livez/ping", "/livez/log", "/version"].map(String::from);
        let (_, text) = seen(statusz(&request_with_accept("text/plain"), SystemTime::now(), paths.into_iter())).await;
        assert!(text.contains("\nUp: 0 hr 00 min 0") && text.ends_with("\nPaths: /livez /version\n"), "{text}");
    }
}
