//! Passing a request on to an aggregated server, and its answer back (upstream: `proxyHandler`, `proxy.UpgradeAwareHandler`).

use std::sync::Arc;
use std::time::Duration;

use endpoints::Backend;
use http::header::{CONNECTION, HOST, HeaderName, HeaderValue, LOCATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, Uri};
use http_body_util::BodyExt;
use serving::{Body, Request, RequestExt, Response, User, respond};

use crate::backends::{Backends, uri};
use crate::{identity, upgrade};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Headers of one connection, which mean nothing on the next.
const HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    http::header::PROXY_AUTHENTICATE,
    http::header::PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
];

/// Headers by which an aggregated server would decide for this one which pages of other origins may call it.
const CORS: [HeaderName; 4] = [
    http::header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    http::header::ACCESS_CONTROL_ALLOW_HEADERS,
    http::header::ACCESS_CONTROL_ALLOW_METHODS,
    http::header::ACCESS_CONTROL_ALLOW_ORIGIN,
];

/// How long an aggregated server may take to say what it serves: clients ask all of them for that.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Passes requests on.
pub(crate) struct Proxy {
    pub backends: Arc<Backends>,
    pub reject_redirects: bool,
}

impl Proxy {
    /// What the server answers, or that it cannot.
    pub(crate) async fn pass_on(&self, backend: &Backend, request: Request) -> Response {
        if !backend.available {
            return unavailable("service unavailable");
        }
        let client = match self.backends.client(backend) {
            Ok(client) => client,
            Err(why) => return error(500, &why.to_string()),
        };
        let Some(user) = request.user().cloned() else { return error(500, "missing user") };
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let Ok(target) = self.backends.resolve(backend).and_then(|host| uri(&host, path)) else {
            return unavailable("service unavailable");
        };
        let discovers = request.uri().path().trim_matches('/').split('/').count() == 3;
        if upgrade::is_wanted(request.headers()) {
            let (request, client_side) = upgrade::split(request);
            return upgrade::pass_on(&client, outgoing(request, &target, &user, true), client_side).await;
        }
        let sent = client.send(outgoing(request, &target, &user, false));
        let answer = match discovers {
            true => tokio::time::timeout(DISCOVERY_TIMEOUT, sent).await,
            false => Ok(sent.await),
        };
        match answer {
            Ok(Ok(response)) => self.answer(response.map(Body::from)),
            Ok(Err(why)) => unavailable(&why.cause()),
            Err(_) => unavailable("context deadline exceeded"),
        }
    }

    fn answer(&self, mut response: Response) -> Response {
        if self.reject_redirects && response.status().is_redirection() && response.headers().contains_key(LOCATION) {
            return refused_redirect();
        }
        *response.version_mut() = http::Version::default();
        remove_hop_by_hop(response.headers_mut());
        for name in CORS {
            response.headers_mut().remove(name);
        }
        response
    }
}

fn refused_redirect() -> Response {
    let mut response =
        Response::new(Body::from("the backend attempted to redirect this request, which is not permitted"));
    *response.status_mut() = http::StatusCode::BAD_GATEWAY;
    response
}

/// The request as it is sent on.
fn outgoing(request: Request, target: &Uri, user: &User, upgrade: bool) -> http::Request<webhook::Body> {
    let peer = request.extensions().get::<Arc<serving::listener::Peer>>().map(|peer| peer.address.ip().to_string());
    let audit_id = request.extensions().get::<serving::filters::AuditId>().map(|id| id.0.clone());
    let (mut parts, body) = request.into_parts();
    let headers = &mut parts.headers;
    let protocol = headers.get(UPGRADE).cloned();
    remove_hop_by_hop(headers);
    if let (true, Some(protocol)) = (upgrade, protocol) {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, protocol);
    }
    headers.remove(HOST);
    identity::set(headers, user);
    set(headers, FORWARDED_URI, target.path());
    set(headers, FORWARDED_HOST, target.authority().map_or("", |a| a.as_str()));
    set(headers, FORWARDED_PROTO, "https");
    if let Some(peer) = peer {
        let before = headers.get(FORWARDED_FOR).and_then(|v| v.to_str().ok()).map(|v| format!("{v}, "));
        set(headers, FORWARDED_FOR, &format!("{}{peer}", before.unwrap_or_default()));
    }
    if let Some(id) = audit_id {
        headers.insert(HeaderName::from_static("audit-id"), id);
    }
    let mut out = http::Request::new(body.map_err(Into::into).boxed_unsync());
    *out.method_mut() = parts.method;
    *out.uri_mut() = target.clone();
    *out.headers_mut() = parts.headers;
    out
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP).chain([&UPGRADE]) {
        headers.remove(name);
    }
}

/// 503, in the plain words of upstream's proxy.
pub(crate) fn unavailable(why: &str) -> Response {
    error(503, why)
}

fn error(code: u16, why: &str) -> Response {
    let mut response = respond::bytes(code, respond::TEXT, format!("{why}\n"));
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(http::header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}
