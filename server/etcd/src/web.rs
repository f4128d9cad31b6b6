//! The paths of HTTP beside gRPC: `/health`, `/livez`, `/readyz`, `/version`, `/metrics`.

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use storage::{KeyRange, Store, model::RangeQuery};
use tonic::body::Body;

use crate::{
    etcd::Etcd,
    proto::AlarmType,
    version::{CLUSTER_VERSION, VERSION},
};

/// How long a read of a check may take.
const TIMEOUT: Duration = Duration::from_secs(7);
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers a request.
pub(crate) async fn answer(etcd: &Arc<Etcd>, request: &Request<Incoming>) -> Response<Body> {
    let path = request.uri().path();
    let query = request.uri().query().unwrap_or_default();
    let is_known = matches!(path, "/health" | "/version" | "/metrics") || check_path(path).is_some();
    if is_known && request.method() != Method::GET {
        let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, TEXT, "Method Not Allowed\n");
        refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
        return refusal;
    }
    match path {
        "/health" => health(etcd, query).await,
        "/version" => {
            let version = serde_json::json!({
                "etcdserver": VERSION, "etcdcluster": CLUSTER_VERSION, "storage": CLUSTER_VERSION,
            });
            text(StatusCode::OK, JSON, version.to_string())
        }
        "/metrics" => text(StatusCode::OK, METRICS, etcd.metrics.text(&etcd.store, etcd.alarms.quota()).await),
        _ => match check_path(path) {
            Some((kind, name)) => checks(etcd, kind, name, query).await,
            None => not_found(),
        },
    }
}

pub(crate) fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, TEXT, "404 page not found\n")
}

/// The older health check: alarms, unless they are excluded, and a read.
async fn health(etcd: &Etcd, query: &str) -> Response<Body> {
    let is_excluded = |kind: AlarmType| has(query, "exclude", kind.as_str_name());
    let raised = etcd.alarms.raised();
    let alarm = raised.iter().find_map(|(_, kind)| AlarmType::try_from(*kind).ok().filter(|kind| !is_excluded(*kind)));
    let reason = match alarm {
        Some(kind) => Some(format!("ALARM {}", kind.as_str_name())),
        None => read(etcd).await.err().map(|error| format!("RANGE ERROR:{error}")),
    };
    etcd.metrics.health(reason.is_none());
    let (status, state) = match reason {
        None => (StatusCode::OK, "true"),
        Some(_) => (StatusCode::SERVICE_UNAVAILABLE, "false"),
    };
    let health = serde_json::json!({ "health": state, "reason": reason.unwrap_or_default() });
    text(status, JSON, health.to_string())
}

/// The name of a check below `/livez` or `/readyz`; none for all of them.
fn check_path(path: &str) -> Option<(&'static [&'static str], Option<&str>)> {
    let (kind, rest) = match (path.strip_prefix("/livez"), path.strip_prefix("/readyz")) {
        (Some(rest), _) => (LIVEZ, rest),
        (_, Some(rest)) => (READYZ, rest),
        _ => return None,
    };
    match rest.strip_prefix('/') {
        None if rest.is_empty() => Some((kind, None)),
        Some(name) if kind.contains(&name) => Some((kind, Some(name))),
        _ => None,
    }
}

const LIVEZ: &[&str] = &["serializable_read"];
const READYZ: &[&str] = &["data_corruption", "serializable_read", "linearizable_read", "non_learner"];

/// Runs checks that are not excluded.
async fn checks(etcd: &Etcd, kind: &[&str], name: Option<&str>, query: &str) -> Response<Body> {
    let (mut report, mut is_healthy) = (String::new(), true);
    let is_wanted = |check: &&&str| name.map_or_else(|| !has(query, "exclude", check), |name| name == **check);
    for check in kind.iter().filter(is_wanted) {
        let failure = match *check {
            "data_corruption" => etcd.alarms.check_intact().err().map(|_| "alarm activated: CORRUPT".to_owned()),
            "non_learner" => None,
            _ => read(etcd).await.err().map(|error| error.to_string()),
        };
        match failure {
            None => report.push_str(&format!("[+]{check} ok\n")),
            Some(reason) => {
                is_healthy = false;
                report.push_str(&format!("[-]{check} failed: {reason}\n"));
            }
        }
    }
    let is_verbose = query.split('&').any(|part| part == "verbose" || part.starts_with("verbose="));
    match (is_healthy, is_verbose) {
        (false, _) => text(StatusCode::SERVICE_UNAVAILABLE, TEXT, report),
        (true, true) => text(StatusCode::OK, TEXT, report + "ok\n"),
        (true, false) => text(StatusCode::OK, TEXT, "ok\n"),
    }
}

/// Reads a key, and checks that the disk does not hang.
async fn read(etcd: &Etcd) -> storage::Result<()> {
    match etcd.store.check_writable() {
        Err(storage::Error::NoSpace { .. }) | Ok(()) => {} // reads and removals go on
        Err(error) => return Err(error),
    }
    let query = RangeQuery { keys_only: true, limit: 1, ..RangeQuery::new(KeyRange::prefix("")) };
    match tokio::time::timeout(TIMEOUT, etcd.store.range(query)).await {
        Ok(read) => read.map(drop),
        Err(_) => Err(storage::Error::Slow { seconds: TIMEOUT.as_secs() }),
    }
}

/// Whether a query has a parameter with a value.
fn has(query: &str, name: &str, value: &str) -> bool {
    query.split('&').filter_map(|part| part.split_once('=')).any(|(key, given)| key == name && given == value)
}

fn text(status: StatusCode, kind: &'static str, body: impl Into<bytes::Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::new(Full::new(body.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_have_paths_of_their_own() {
        assert_eq!(check_path("/livez"), Some((LIVEZ, None)));
        assert_eq!(check_path("/readyz/data_corruption"), Some((READYZ, Some("data_corruption"))));
        assert_eq!(check_path("/livez/data_corruption"), None);
        assert_eq!(check_path("/livezz"), None);
        assert!(has("verbose&exclude=NOSPACE", "exclude", "NOSPACE") && !has("exclude=", "exclude", "NOSPACE"));
    }
}
