//! What a request asks for, read from its method, path and query (upstream: `request.RequestInfo` and its factory).
//!
//! This runs before anything is known about resources, so it says what the path *looks like*; whether there is such a resource is for
//! the endpoints to know. Authorization relies on it, so nothing later may read the path differently.

use std::borrow::Cow;

use http::uri::PathAndQuery;
use http::{Method, Uri};
use machinery::selector::FieldSelector;
use percent_encoding::percent_decode_str;

/// First path segments below which resources are.
const API_PREFIXES: [&str; 2] = ["api", "apis"];
/// Of those, the ones without a group segment.
const GROUPLESS_PREFIXES: [&str; 1] = ["api"];
/// Verbs that stand in the path before the resource.
const PATH_VERBS: [&str; 2] = ["proxy", "watch"];
/// What may follow `namespaces/{name}` and is a subresource of the namespace, not a resource in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];
/// Subresources whose answers are streams.
const LONG_RUNNING_SUBRESOURCES: [&str; 5] = ["attach", "exec", "proxy", "log", "portforward"];

/// What a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    /// Whether the path names a resource; if not, only `path` and `verb` say anything.
    pub is_resource_request: bool,
    /// The path, percent-decoded.
    pub path: String,
    /// The Kubernetes verb (`get`, `list`, `watch`, `deletecollection` ...) or, outside of resources, the method in lower case.
    pub verb: Cow<'static, str>,
    /// `api` or `apis`.
    pub api_prefix: &'static str,
    pub api_group: String,
    pub api_version: String,
    pub namespace: String,
    pub resource: String,
    pub subresource: String,
    /// The object's name; for a list or watch of one object, what the field selector demands.
    pub name: String,
    /// How many segments the path has from the resource on.
    pub depth: usize,
    /// Those behind the subresource, joined again.
    pub rest: String,
    /// `fieldSelector` as sent; only for verbs on collections.
    pub field_selector: String,
    /// `labelSelector` as sent; only for verbs on collections.
    pub label_selector: String,
}

/// Why a path is no request at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// `/api/v1/watch` and nothing behind it.
    #[error("unable to determine kind and namespace from url, {0}")]
    NoKind(String),
    /// A percent sign that escapes nothing.
    #[error("invalid URL escape in the path")]
    Escape,
}

impl RequestInfo {
    /// Reads a request line (`RequestInfoFactory.NewRequestInfo`).
    pub fn new(method: &Method, uri: &http::Uri) -> Result<Self, PathError> {
        let path = decode_path(uri.path())?;
        let verb = method.as_str().to_ascii_lowercase().into();
        let mut info = RequestInfo { path, verb, ..RequestInfo::default() };
        let path = std::mem::take(&mut info.path);
        let outcome = info.read_path(&path, method);
        info.path = path;
        outcome?;
        if info.is_resource_request {
            info.read_query(uri.query().unwrap_or(""));
        }
        Ok(info)
    }

    fn read_path(&mut self, path: &str, method: &Method) -> Result<(), PathError> {
        let trimmed = path.trim_matches('/');
        let segments: Vec<&str> = if trimmed.is_empty() { Vec::new() } else { trimmed.split('/').collect() };
        let mut parts = segments.as_slice();
        let Some(prefix) = API_PREFIXES.into_iter().find(|prefix| parts.len() >= 3 && parts[0] == *prefix) else {
            return Ok(());
        };
        self.api_prefix = prefix;
        parts = &parts[1..];
        if !GROUPLESS_PREFIXES.contains(&prefix) {
            if parts.len() < 3 {
                return Ok(());
            }
            self.api_group = parts[0].to_owned();
            parts = &parts[1..];
        }
        self.is_resource_request = true;
        self.api_version = parts[0].to_owned();
        parts = &parts[1..];
        if PATH_VERBS.contains(&parts[0]) {
            if parts.len() < 2 {
                return Err(PathError::NoKind(path.to_owned()));
            }
            self.verb = parts[0].to_owned().into();
            parts = &parts[1..];
        } else {
            self.verb = verb_of(method).into();
        }
        self.read_resource(parts);
        Ok(())
    }

    /// Reads `[namespaces/{namespace}/]resource[/name[/subresource[/...]]]`.
    fn read_resource(&mut self, mut parts: &[&str]) {
        if let ["namespaces", namespace, rest @ ..] = parts {
            self.namespace = (*namespace).to_owned();
            if rest.first().is_some_and(|next| !NAMESPACE_SUBRESOURCES.contains(next)) {
                parts = rest;
            }
        }
        self.depth = parts.len();
        self.rest = parts.get(3..).unwrap_or_default().join("/");
        let part = |i: usize| parts.get(i).copied().unwrap_or("").to_owned();
        (self.resource, self.name) = (part(0), part(1));
        if !PATH_VERBS.contains(&&*self.verb) {
            self.subresource = part(2);
        }
    }

    fn read_query(&mut self, query: &str) {
        if self.name.is_empty() && self.verb == "get" {
            self.verb = if is_watch(query) { "watch" } else { "list" }.into();
            if let Some(name) = demanded_name(query) {
                self.name = name;
            }
        }
        if self.name.is_empty() && self.verb == "delete" {
            self.verb = "deletecollection".into();
        }
        if matches!(&*self.verb, "list" | "watch" | "deletecollection") {
            self.field_selector = parameter(query, "fieldSelector").unwrap_or_default().into_owned();
            self.label_selector = parameter(query, "labelSelector").unwrap_or_default().into_owned();
        }
    }

    /// Whether the answer may take as long as it likes (`genericfilters.BasicLongRunningRequestCheck`): no deadline, not counted as in flight.
    pub fn is_long_running(&self) -> bool {
        match self.is_resource_request {
            true => PATH_VERBS.contains(&&*self.verb) || LONG_RUNNING_SUBRESOURCES.contains(&self.subresource.as_str()),
            false => self.path.starts_with("/debug/pprof/"),
        }
    }

    /// Whether nothing is changed by the request; those have an in-flight limit of their own.
    pub fn is_read_only(&self) -> bool {
        matches!(&*self.verb, "get" | "list" | "watch" | "head" | "options")
    }
}

fn verb_of(method: &Method) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD => "get",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "",
    }
}

/// The first value of a query parameter.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// What clients may call a token in a query (RFC 6750, 2.3). No server of Kubernetes looks for one there, and it is a secret all the same.
const TOKEN_PARAMETER: &str = "access_token=";

/// The path and query of a request, as logs and traces may show them.
pub(crate) fn shown_target(uri: &Uri) -> Cow<'_, str> {
    let target = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let Some((path, query)) = target.split_once('?').filter(|(_, query)| query.contains(TOKEN_PARAMETER)) else {
        return target.into();
    };
    let shown = |part| if str::starts_with(part, TOKEN_PARAMETER) { "access_token=REDACTED" } else { part };
    format!("{path}?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&")).into()
}

/// Whether `watch` is asked for: any value but `0` and `false` says yes, even none at all.
fn is_watch(query: &str) -> bool {
    query.contains("watch")
        && parameter(query, "watch").is_some_and(|v| !matches!(v.to_ascii_lowercase().as_str(), "0" | "false"))
}

/// The one name that a list or watch can return, if it may stand in a path.
fn demanded_name(query: &str) -> Option<String> {
    let selector = query.contains("fieldSelector").then(|| parameter(query, "fieldSelector"))??;
    let selector = FieldSelector::parse(&selector).ok()?;
    let name = selector.requires_exact_match("metadata.name")?;
    let refused = matches!(name, "." | "..") || name.contains(['/', '%']);
    (!refused).then(|| name.to_owned())
}

/// The decoded path. Bytes that are no UTF-8 become replacement characters: no object has such a name.
fn decode_path(path: &str) -> Result<String, PathError> {
    if !path.contains('%') {
        return Ok(path.to_owned());
    }
    let escaped = |i: usize| path.as_bytes().get(i + 1..i + 3).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit));
    if path.bytes().enumerate().any(|(i, b)| b == b'%' && !escaped(i)) {
        return Err(PathError::Escape);
    }
    Ok(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(method: &str, uri: &str) -> RequestInfo {
        RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap()).unwrap()
    }

    /// `verb group version namespace resource subresource name`, dashes for nothing.
    fn check(method: &str, uri: &str, expect: &str) {
        let i = info(method, uri);
        let dash = |s: &str| if s.is_empty() { "-".to_owned() } else { s.to_owned() };
        assert!(i.is_resource_request, "{uri}");
        let fields = [&*i.verb, &i.api_group, &i.api_version, &i.namespace, &i.resource, &i.subresource, &i.name];
        assert_eq!(fields.map(dash).join(" "), expect, "{method} {uri}");
    }

    #[test]
    fn resources() {
        check("GET", "/api/v1/pods", "list - v1 - pods - -");
        check("GET", "/api/v1/namespaces/ns/pods", "list - v1 ns pods - -");
        check("GET", "/api/v1/namespaces/ns/pods/", "list - v1 ns pods - -");
        check("HEAD", "/api/v1/namespaces/ns/pods/p", "get - v1 ns pods - p");
        check("GET", "/api/v1/namespaces/ns", "get - v1 ns namespaces - ns");
        check("PUT", "/api/v1/namespaces/ns/finalize", "update - v1 ns namespaces finalize ns");
        check("GET", "/api/v1/namespaces", "list - v1 - namespaces - -");
        check("GET", "/api/v1/namespaces//configmaps", "list - v1 - configmaps - -");
        check("POST", "/apis/apps/v1/namespaces/ns/deployments", "create apps v1 ns deployments - -");
        check("PATCH", "/apis/apps/v1/namespaces/ns/deployments/d/scale", "patch apps v1 ns deployments scale d");
        check("DELETE", "/api/v1/nodes/n", "delete - v1 - nodes - n");
        check("DELETE", "/api/v1/nodes", "deletecollection - v1 - nodes - -");
        check("OPTIONS", "/api/v1/pods", "- - v1 - pods - -");
        check("GET", "/api/v1/namespaces/ns/configmaps%2Fa", "get - v1 ns configmaps - a");
    }

    #[test]
    fn watches() {
        check("GET", "/api/v1/watch/namespaces/ns/pods/p", "watch - v1 ns pods - p");
        check("GET", "/api/v1/pods?watch=true", "watch - v1 - pods - -");
        check("GET", "/api/v1/pods?watch=", "watch - v1 - pods - -");
        check("GET", "/api/v1/pods?watch=0", "list - v1 - pods - -");
        check("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp,spec.nodeName%3Dx", "list - v1 - pods - p");
        check("GET", "/api/v1/pods?fieldSelector=metadata.name!%3Dp", "list - v1 - pods - -");
        check("GET", "/api/v1/pods?fieldSelector=metadata.name%3D..", "list - v1 - pods - -");
    }

    #[test]
    fn selectors_are_kept_for_collections() {
        let list = info("GET", "/api/v1/pods?labelSelector=a%3Db&fieldSelector=spec.x%3D1");
        assert_eq!((list.label_selector.as_str(), list.field_selector.as_str()), ("a=b", "spec.x=1"));
        assert_eq!(info("GET", "/api/v1/pods/p?labelSelector=a").label_selector, "");
    }

    #[test]
    fn everything_else() {
        for (method, uri, verb, path) in [
            ("GET", "/", "get", "/"),
            ("GET", "/api/v1", "get", "/api/v1"),
            ("GET", "/apis/apps/v1/", "get", "/apis/apps/v1/"),
            ("POST", "/healthz%20x?verbose", "post", "/healthz x"),
        ] {
            let i = info(method, uri);
            assert_eq!((i.is_resource_request, &*i.verb, i.path.as_str()), (false, verb, path));
        }
        let error = |uri: &str| RequestInfo::new(&Method::GET, &uri.parse().unwrap()).unwrap_err();
        assert_eq!(
            error("/api/v1/watch").to_string(),
            "unable to determine kind and namespace from url, /api/v1/watch"
        );
        assert_eq!(error("/a%2"), PathError::Escape);
    }

    #[test]
    fn long_running() {
        for (uri, expect) in [
            ("/api/v1/pods?watch=1", true),
            ("/api/v1/namespaces/n/pods/p/log", true),
            ("/api/v1/namespaces/n/pods/p/status", false),
            ("/debug/pprof/profile", true),
            ("/log", false),
        ] {
            assert_eq!(info("GET", uri).is_long_running(), expect, "{uri}");
        }
    }

    #[test]
    fn tokens_are_not_shown() {
        let check = |uri: &str, expect: &str| assert_eq!(shown_target(&uri.parse().unwrap()), expect);
        check("/", "/");
        check("https://host/api?limit=1", "/api?limit=1");
        check(
            "/api?access_token=a.b&limit=1&access_token=",
            "/api?access_token=REDACTED&limit=1&access_token=REDACTED",
        );
    }
}
