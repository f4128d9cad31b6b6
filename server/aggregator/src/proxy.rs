//! Proxies requests to other API servers (upstream: `proxyHandler`, `proxy.UpgradeAwareHandler`).

use std::sync::Arc;
use std::time::Duration;

use endpoints::AggregatedServer;
use http::Uri;
use http::header::{HOST, HeaderName, HeaderValue, LOCATION};
use machinery::status::Status;
use proxy::{Caller, headers, upgrade};
use request::{Body, Request, RequestExt, Response, User, respond};
use webhook::Client;

use crate::aggregated_servers::{AggregatedServers, target};

const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Timeout of discovery requests, because clients send them to all aggregated servers.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Proxies requests to aggregated servers.
pub(crate) struct ProxyHandler {
    pub backends: Arc<AggregatedServers>,
    pub reject_redirects: bool,
}

impl ProxyHandler {
    /// Returns the response of the server, or an error response.
    pub(crate) async fn proxy_request(&self, backend: &AggregatedServer, request: Request) -> Response {
        if !backend.available {
            return unavailable("service unavailable");
        }
        let client = match self.backends.client(backend) {
            Ok(client) => client,
            Err(why) => return error(500, &why.to_string()),
        };
        let Some(user) = request.user().cloned() else { return error(500, "missing user") };
        let Some(info) = request.info() else { return error(500, "missing RequestInfo") };
        let Ok(target) = self.backends.resolve(backend).and_then(|host| target(&host, info)) else {
            return unavailable("service unavailable");
        };
        let discovers = info.path.trim_matches('/').split('/').count() == 3;
        let response = exchange(&client, &target, &user, request);
        let answer = match discovers {
            true => tokio::time::timeout(DISCOVERY_TIMEOUT, response).await,
            false => Ok(response.await),
        };
        match answer {
            Ok(response) if self.reject_redirects && redirects(&response) => refused_redirect(),
            Ok(response) => response,
            Err(_) => unreachable("context deadline exceeded"),
        }
    }
}

fn redirects(response: &Response) -> bool {
    response.status().is_redirection() && response.headers().contains_key(LOCATION)
}

/// Sends a user's request to another server. Returns its response, or an error response.
pub(crate) async fn exchange(client: &Client, target: &Uri, user: &User, request: Request) -> Response {
    if upgrade::is_wanted(request.headers()) {
        let (request, client_side) = upgrade::split(request);
        let request = match outgoing(request, target, user, true) {
            Ok(request) => request,
            Err(status) => return upgrade::closing(not_proxied(&status)),
        };
        let answer = upgrade::proxy_upgrade(client, request, client_side, None).await;
        return answer.unwrap_or_else(|why| upgrade::closing(unavailable(&why.to_string())));
    }
    let request = match outgoing(request, target, user, false) {
        Ok(request) => request,
        Err(status) => return not_proxied(&status),
    };
    match client.send(request).await {
        Ok(response) => {
            let mut response = response.map(Body::from);
            *response.version_mut() = http::Version::default();
            headers::clean_response(response.headers_mut());
            response
        }
        Err(why) => unreachable(&why.cause()),
    }
}

fn refused_redirect() -> Response {
    let mut response =
        Response::new(Body::from("the backend attempted to redirect this request, which is not permitted"));
    *response.status_mut() = http::StatusCode::BAD_GATEWAY;
    response
}

/// Builds the proxied request, on behalf of the user.
fn outgoing(
    request: Request,
    target: &Uri,
    user: &User,
    upgrade: bool,
) -> Result<http::Request<webhook::Body>, Status> {
    let audit_id = request.extensions().get::<request::AuditId>().map(|id| id.0.clone());
    let mut out = proxy::outgoing(request, target.clone(), Caller::Named(user), upgrade)?;
    let sent = out.headers_mut();
    sent.remove(HOST);
    headers::set(sent, FORWARDED_URI, target.path());
    headers::set(sent, FORWARDED_HOST, target.authority().map_or("", |a| a.as_str()));
    headers::set(sent, FORWARDED_PROTO, "https");
    if let Some(id) = audit_id {
        sent.insert(HeaderName::from_static("audit-id"), id);
    }
    Ok(out)
}

/// Returns the error for a request that is not proxied. 429 means that the user has too many
/// proxied bytes in flight.
fn not_proxied(status: &Status) -> Response {
    let mut response = error(status.code, &status.message);
    if status.code == 429 {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn unreachable(why: &str) -> Response {
    unavailable(&format!("error trying to reach service: {why}"))
}

/// Returns 503 with the plain text of upstream's proxy.
pub(crate) fn unavailable(why: &str) -> Response {
    error(503, why)
}

fn error(code: u16, why: &str) -> Response {
    let mut response = respond::bytes(code, respond::TEXT, format!("{why}\n"));
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(http::header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}
