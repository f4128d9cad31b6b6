//! The labels of request metrics (upstream: `metrics.MonitorRequest`, `CleanVerb`, `CleanScope`).

use http::{HeaderMap, Method, StatusCode, header};
use request::RequestInfo;

const APPLY: &[u8] = b"application/apply-patch+yaml";
/// Subresources with the verb `CONNECT`, independent of the method.
const CONNECTED: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
const SERVER: &str = "apiserver";

/// Marks the response of a request that matched a resource route. Only these are counted, because
/// the number of unknown names is unbounded.
#[derive(Clone, Default)]
pub struct Routed {
    /// The release that removes the version, if the version is deprecated; empty when no release is
    /// declared.
    pub removed_release: Option<String>,
}

/// The labels of a request.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(super) struct Labels<'r> {
    pub verb: &'static str,
    pub group: &'r str,
    pub version: &'r str,
    pub resource: &'r str,
    pub subresource: &'r str,
    pub scope: &'static str,
    pub component: &'static str,
    pub dry_run: &'static str,
}

impl<'r> Labels<'r> {
    /// The labels in the order of the metrics, without `dry_run`.
    pub fn common(&self) -> [&'r str; 7] {
        [self.verb, self.group, self.version, self.resource, self.subresource, self.scope, self.component]
    }
}

/// The parts of the request's head that the labels depend on.
#[derive(Clone)]
pub(super) struct RequestHead {
    method: Method,
    is_apply: bool,
}

impl RequestHead {
    pub fn new(method: &Method, headers: &HeaderMap) -> Self {
        let is_apply = headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes() == APPLY);
        RequestHead { method: method.clone(), is_apply }
    }

    fn verb(&self, info: &RequestInfo, scope: &str) -> &'static str {
        if info.is_resource_request && CONNECTED.contains(&info.subresource.as_str()) {
            return "CONNECT";
        }
        match self.method.as_str() {
            "GET" | "HEAD" if info.verb == "watch" && (info.verb_in_path || self.method == Method::GET) => "WATCH",
            "GET" | "HEAD" if matches!(scope, "" | "resource") => "GET",
            "GET" | "HEAD" => "LIST",
            "PATCH" if self.is_apply => "APPLY",
            "POST" => "POST",
            "PUT" => "PUT",
            "PATCH" => "PATCH",
            "DELETE" => "DELETE",
            _ => "other",
        }
    }

    /// The labels of a response; `None` if such responses are not counted.
    pub fn labels<'r>(&self, info: &'r RequestInfo, routed: bool, code: StatusCode) -> Option<Labels<'r>> {
        // A rejected request was not routed, but is counted.
        if info.is_resource_request && (routed || code == StatusCode::TOO_MANY_REQUESTS) {
            let scope = scope(info, &self.method);
            return Some(Labels {
                verb: self.verb(info, scope),
                group: &info.api_group,
                version: &info.api_version,
                resource: &info.resource,
                subresource: &info.subresource,
                scope,
                component: SERVER,
                dry_run: dry_run(info),
            });
        }
        let (resource, subresource, component) = document(info)?;
        Some(Labels {
            verb: self.verb(info, ""),
            group: "",
            version: "",
            resource,
            subresource,
            scope: "",
            component,
            dry_run: dry_run(info),
        })
    }
}

/// The labels `resource`, `subresource`, and `component` of the non-resource paths that upstream
/// counts.
fn document(info: &RequestInfo) -> Option<(&'static str, &'static str, &'static str)> {
    if info.is_resource_request {
        return None;
    }
    Some(match info.path.as_str() {
        "/healthz" => ("", "/healthz", ""),
        "/livez" => ("", "/livez", ""),
        "/readyz" => ("", "/readyz", ""),
        "/api" => ("", "/api", SERVER),
        "/apis" => ("", "apis", SERVER),
        "/openapi/v3" => ("", "openapi/v3", ""),
        path if path.starts_with("/openapi/v3/") => ("", "openapi/v3/", ""),
        "/statusz" => ("statusz", "", SERVER),
        "/flagz" => ("flagz", "", SERVER),
        _ => return None,
    })
}

/// The scope of the route: object, namespace, or cluster.
fn scope(info: &RequestInfo, method: &Method) -> &'static str {
    match () {
        () if info.depth > 1 || method == Method::POST => "resource",
        () if info.namespace.is_empty() => "cluster",
        () => "namespace",
    }
}

fn dry_run(info: &RequestInfo) -> &'static str {
    let values = || info.query.all("dryRun");
    match values().next() {
        None => "",
        Some(_) if values().all(|value| value == "All") => "All",
        Some(_) => "invalid",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(method: Method, uri: &str, content_type: &str) -> String {
        let info = RequestInfo::new(&method, &uri.parse().unwrap()).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        let head = RequestHead::new(&method, &headers);
        let Some(labels) = head.labels(&info, true, StatusCode::NOT_FOUND) else { return "none".into() };
        [&labels.common()[..6], &[labels.dry_run]].concat().join(",")
    }

    #[test]
    fn labels_match_upstream() {
        let apply = "application/apply-patch+yaml";
        for (method, uri, content_type, expect) in [
            (Method::GET, "/api/v1/pods", "", "LIST,,v1,pods,,cluster,"),
            (Method::GET, "/api/v1/namespaces/a/pods?limit=1", "", "LIST,,v1,pods,,namespace,"),
            (Method::HEAD, "/api/v1/namespaces/a/pods/b", "", "GET,,v1,pods,,resource,"),
            (Method::GET, "/api/v1/namespaces/a", "", "GET,,v1,namespaces,,resource,"),
            (Method::GET, "/apis/apps/v1/deployments?watch=1", "", "WATCH,apps,v1,deployments,,cluster,"),
            (Method::GET, "/api/v1/watch/pods", "", "WATCH,,v1,pods,,cluster,"),
            (Method::POST, "/api/v1/namespaces/a/pods?dryRun=All", "", "POST,,v1,pods,,resource,All"),
            (Method::PATCH, "/api/v1/namespaces/a/pods/b", apply, "APPLY,,v1,pods,,resource,"),
            (Method::PATCH, "/api/v1/namespaces/a/pods/b/status", "a/b", "PATCH,,v1,pods,status,resource,"),
            (Method::DELETE, "/api/v1/namespaces/a/pods?dryRun=Some", "", "DELETE,,v1,pods,,namespace,invalid"),
            (Method::POST, "/api/v1/namespaces/a/pods/b/exec", "", "CONNECT,,v1,pods,exec,resource,"),
            (Method::OPTIONS, "/api/v1/pods", "", "other,,v1,pods,,cluster,"),
            (Method::GET, "/livez", "", "GET,,,,/livez,,"),
            (Method::GET, "/livez/ping", "", "none"),
            (Method::GET, "/openapi/v3/api/v1", "", "GET,,,,openapi/v3/,,"),
            (Method::GET, "/made-up", "", "none"),
        ] {
            assert_eq!(labels(method, uri, content_type), expect, "{uri}");
        }
    }
}
