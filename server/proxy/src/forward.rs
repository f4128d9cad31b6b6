//! Proxies requests to backends that do not know the path prefix of their clients (upstream:
//! `proxy.UpgradeAwareHandler` around `proxy.Transport`).

use http::header::{HOST, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use machinery::status::Status;
use request::{Body, Request, RequestExt, Response};
use webhook::Client;

use crate::error::Error;
use crate::outgoing::user_of;
use crate::rewrite::Links;
use crate::upgrade;
use crate::{Caller, Location, headers};

const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");

/// Proxies a request to a location. Links in the response are rewritten to lead through this
/// server.
///
/// # Errors
/// Returns an error if the backend is unreachable or its response is invalid.
pub async fn forward(client: &Client, mut location: Location, request: Request) -> Result<Response, Status> {
    location.query = request.uri().query().unwrap_or_default().to_owned();
    if upgrade::is_wanted(request.headers()) {
        return change_protocol(client, &location, request).await;
    }
    let requested_path = request.path().to_owned();
    if requested_path.ends_with('/') && !location.path.ends_with('/') {
        location.path.push('/');
    }
    if location.path.is_empty() && [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(redirect_to_folder(&requested_path, &location.query));
    }
    let user = user_of(request.extensions());
    let mut out = outgoing(request, &location, false)?;
    let links = Links {
        prefix: requested_path.strip_suffix(location.path.as_str()).unwrap_or(&requested_path).to_owned(),
        backend: location.authority(),
        client_host: text(out.headers(), &HOST),
    };
    let forwarded = links.external_path(&location.escaped_path());
    headers::set(out.headers_mut(), FORWARDED_URI, &forwarded);
    let mut response = client.send(out).await.map_err(|why| unreachable(&why))?.map(Body::from);
    *response.version_mut() = http::Version::default();
    headers::clean_response(response.headers_mut());
    links.rewrite(response, user)
}

/// Requests a protocol upgrade from a backend, and joins the connections if it accepts.
///
/// # Errors
/// Returns an error if the backend is unreachable or its response is invalid.
pub async fn change_protocol(client: &Client, location: &Location, request: Request) -> Result<Response, Status> {
    let (request, client_side) = upgrade::split(request);
    let out = outgoing(request, location, true)?;
    upgrade::proxy_upgrade(client, out, client_side, location.bytes_per_second).await.map_err(refused)
}

/// Converts the failure of an upgrade to a Status.
pub(crate) fn refused(why: Error) -> Status {
    match why {
        Error::Unreachable(why @ webhook::Error::NoAddress { .. }) => unreachable(&why),
        why => Status::new(500, "", why.to_string()),
    }
}

/// 400 for a location without a usable address, 503 for an unreachable one.
fn unreachable(why: &webhook::Error) -> Status {
    let cause = why.cause();
    match why {
        webhook::Error::NoAddress { .. } => Status::bad_request(cause.trim_start_matches("dial tcp: ")),
        _ => Status::service_unavailable(format!("error trying to reach service: {cause}")),
    }
}

/// Redirects to the path with a trailing slash, because links of a page are relative to its folder.
fn redirect_to_folder(path: &str, query: &str) -> Response {
    let mark = if query.is_empty() { "" } else { "?" };
    let mut response = Response::default();
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    headers::set(response.headers_mut(), LOCATION, &format!("{path}/{mark}{query}"));
    response
}

/// Builds the proxied request. It has the `Host` of the client and no user.
pub(crate) fn outgoing(
    request: Request,
    location: &Location,
    upgrade: bool,
) -> Result<http::Request<webhook::Body>, Status> {
    let authority = request.uri().authority().map(|authority| authority.as_str().to_owned());
    let mut out = crate::outgoing(request, location.uri()?, Caller::Unnamed, upgrade)?;
    if let (false, Some(authority)) = (out.headers().contains_key(HOST), authority) {
        headers::set(out.headers_mut(), HOST, &authority);
    }
    Ok(out)
}

fn text(headers: &HeaderMap<HeaderValue>, name: &HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
