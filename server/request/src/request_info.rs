//! The parsed request: path, query, and selectors (upstream: `request.RequestInfo` and its
//! factory).
//!
//! A request is parsed once. Filters, authorization, audit, admission, and handlers use only this
//! value: a second parser with different rules could bypass authorization. The parser does not
//! depend on resources; the route table of the endpoints decides whether a path exists.

mod query;
mod selectors;

use std::borrow::Cow;

use http::uri::PathAndQuery;
use http::{Method, Uri};
use percent_encoding::percent_decode_str;

pub use query::Query;
pub use selectors::RequestSelectors;

/// First path segments with resources below them.
const API_PREFIXES: [&str; 2] = ["api", "apis"];
/// The API prefixes without a group segment.
const GROUPLESS_PREFIXES: [&str; 1] = ["api"];
/// Verbs that precede the resource in the path.
const PATH_VERBS: [&str; 2] = ["proxy", "watch"];
/// The path verb that has no subresources.
const VERB_WITHOUT_SUBRESOURCES: &str = "proxy";
/// The path segment that precedes the name of a namespace; also the resource of namespaces.
pub const NAMESPACES: &str = "namespaces";
/// Segments after `namespaces/{name}` that are subresources of the namespace, not resources in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];
/// Subresources with streamed responses.
const LONG_RUNNING_SUBRESOURCES: [&str; 5] = ["attach", "exec", "proxy", "log", "portforward"];

/// The initial capacity for path segments.
const USUAL_SEGMENTS: usize = 8;

/// A parsed request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestInfo {
    /// Whether the path names a resource; if not, only `path`, `verb` and `query` are set.
    pub is_resource_request: bool,
    /// The path, percent-decoded (Go: `URL.Path`).
    pub path: String,
    /// The Kubernetes verb (`get`, `list`, `watch`, `deletecollection` ...) or, for non-resource
    /// requests, the method in lower case.
    pub verb: Cow<'static, str>,
    /// Whether the verb is in the path, as in `/api/v1/watch/pods`.
    pub verb_in_path: bool,
    /// `api` or `apis`.
    pub api_prefix: &'static str,
    pub api_group: String,
    pub api_version: String,
    /// The namespace; also that of a path that names a namespace object.
    pub namespace: String,
    /// Whether `namespaces/{namespace}/` precedes the resource in the path.
    pub in_namespace: bool,
    pub resource: String,
    pub subresource: String,
    /// The object's name. For a list or watch it may come from the field selector.
    pub name: String,
    /// Number of path segments from the resource on: 1 for a collection, 2 for an object, 3 for a
    /// subresource.
    pub depth: usize,
    /// The segments after the subresource, joined by slashes.
    pub rest: String,
    pub query: Query,
    /// The selectors of a list, watch or deletecollection; for other verbs they select everything.
    pub selectors: RequestSelectors,
}

/// The error of an unparsable request line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// `/api/v1/watch` without a resource.
    #[error("unable to determine kind and namespace from url, {0}")]
    NoKind(String),
    /// A percent sign that is not part of a valid escape.
    #[error("invalid URL escape in the path")]
    Escape,
}

impl RequestInfo {
    /// Parses a request line (`RequestInfoFactory.NewRequestInfo`).
    pub fn new(method: &Method, uri: &http::Uri) -> Result<Self, PathError> {
        let path = decode_path(uri.path())?;
        let query = Query::parse(uri.query().unwrap_or(""));
        let mut info = RequestInfo { verb: lower_case(method), query, ..RequestInfo::default() };
        info.read_path(&path, method)?;
        info.path = path;
        if info.is_resource_request {
            info.read_query();
        }
        Ok(info)
    }

    fn read_path(&mut self, path: &str, method: &Method) -> Result<(), PathError> {
        let mut segments = Vec::with_capacity(USUAL_SEGMENTS);
        segments.extend(path.trim_matches('/').split('/'));
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
            self.verb_in_path = true;
            parts = &parts[1..];
        } else {
            self.verb = verb_of(method).into();
        }
        self.read_resource(parts);
        Ok(())
    }

    /// Parses `[namespaces/{namespace}/]resource[/name[/subresource[/...]]]`.
    fn read_resource(&mut self, mut parts: &[&str]) {
        if let [NAMESPACES, namespace, rest @ ..] = parts {
            self.namespace = (*namespace).to_owned();
            if rest.first().is_some_and(|next| !NAMESPACE_SUBRESOURCES.contains(next)) {
                self.in_namespace = true;
                parts = rest;
            }
        }
        self.depth = parts.len();
        self.rest = parts.get(3..).unwrap_or_default().join("/");
        let part = |i: usize| parts.get(i).copied().unwrap_or("").to_owned();
        (self.resource, self.name) = (part(0), part(1));
        if self.verb != VERB_WITHOUT_SUBRESOURCES {
            self.subresource = part(2);
        }
    }

    /// Parses the query of a collection request.
    fn read_query(&mut self) {
        let reads_collection = self.name.is_empty() && self.verb == "get";
        if reads_collection {
            self.verb = if self.query.flag("watch") { "watch" } else { "list" }.into();
        }
        if self.name.is_empty() && self.verb == "delete" {
            self.verb = "deletecollection".into();
        }
        if !self.query.is_empty() && matches!(&*self.verb, "list" | "watch" | "deletecollection") {
            self.selectors = RequestSelectors::parse(&self.query);
        }
        if reads_collection && let Some(name) = self.selected_name() {
            self.name = name.to_owned();
        }
    }

    /// The name that the field selector requires. As upstream, `None` when a list option is invalid
    /// or the name is not a valid path segment.
    fn selected_name(&self) -> Option<&str> {
        let name = self.selectors.required_name()?;
        let is_segment = !matches!(name, "." | "..") && !name.contains(['/', '%']);
        let is_readable = |option| self.query.number(option).is_ok();
        (is_segment && is_readable("limit") && is_readable("timeoutSeconds")).then_some(name)
    }

    /// Whether the request has no deadline and is not counted as in flight
    /// (`genericfilters.BasicLongRunningRequestCheck`).
    pub fn is_long_running(&self) -> bool {
        match self.is_resource_request {
            true => PATH_VERBS.contains(&&*self.verb) || LONG_RUNNING_SUBRESOURCES.contains(&self.subresource.as_str()),
            false => self.path.starts_with("/debug/pprof/"),
        }
    }

    /// Parses a request outside of the handler chain; an unparsable path is left empty.
    pub fn of_parts(method: &Method, uri: &Uri) -> Self {
        Self::new(method, uri).unwrap_or_default()
    }

    /// Whether the request is read-only; such requests have a separate in-flight limit.
    pub fn is_read_only(&self) -> bool {
        matches!(&*self.verb, "get" | "list" | "watch" | "head" | "options")
    }
}

/// The verb of a non-resource request.
fn lower_case(method: &Method) -> Cow<'static, str> {
    match *method {
        Method::GET => "get".into(),
        Method::POST => "post".into(),
        Method::PUT => "put".into(),
        Method::PATCH => "patch".into(),
        Method::DELETE => "delete".into(),
        _ => method.as_str().to_ascii_lowercase().into(),
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

/// The query parameter of bearer tokens (RFC 6750, 2.3). No Kubernetes server reads it, but its
/// value is secret.
const TOKEN_PARAMETER: &str = "access_token=";

/// The path and query of a request for logs and traces, with tokens redacted.
pub fn shown_target(uri: &Uri) -> Cow<'_, str> {
    let target = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let Some((path, query)) = target.split_once('?').filter(|(_, query)| query.contains(TOKEN_PARAMETER)) else {
        return target.into();
    };
    let shown = |part| if str::starts_with(part, TOKEN_PARAMETER) { "access_token=REDACTED" } else { part };
    format!("{path}?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&")).into()
}

/// Decodes the path. Invalid UTF-8 becomes replacement characters; no object has such a name.
fn decode_path(path: &str) -> Result<String, PathError> {
    if !path.contains('%') {
        return Ok(path.to_owned());
    }
    if !query::has_only_whole_escapes(path) {
        return Err(PathError::Escape);
    }
    Ok(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests;
