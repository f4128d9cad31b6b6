//! Passing a request on to a backend that knows nothing of the path by which clients reach it (upstream: `proxy.UpgradeAwareHandler` around
//! `proxy.Transport`).

use std::sync::Arc;

use http::header::{HOST, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use machinery::status::Status;
use serving::{Body, Request, RequestExt, Response, User};
use webhook::Client;

use crate::rewrite::Links;
use crate::upgrade::{self, UpgradeError};
use crate::{Caller, Location, headers};

const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");

/// What the place answers. Addresses in the answer lead back through this server.
///
/// # Errors
/// When the place does not answer, or not as it may.
pub async fn forward(client: &Client, mut location: Location, request: Request) -> Result<Response, Status> {
    location.query = request.uri().query().unwrap_or_default().to_owned();
    if upgrade::is_wanted(request.headers()) {
        return change_protocol(client, &location, request).await;
    }
    let asked = request.path().to_owned();
    if asked.ends_with('/') && !location.path.ends_with('/') {
        location.path.push('/');
    }
    if location.path.is_empty() && [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(to_folder(&asked, &location.query));
    }
    let user = user_of(request.extensions());
    let mut out = outgoing(request, &location, false)?;
    let links = Links {
        prefix: asked.strip_suffix(location.path.as_str()).unwrap_or(&asked).to_owned(),
        backend: location.authority(),
        asked: text(out.headers(), &HOST),
    };
    let forwarded = links.through(&location.escaped_path());
    headers::set(out.headers_mut(), FORWARDED_URI, &forwarded);
    let mut response = client.send(out).await.map_err(|why| unreachable(&why))?.map(Body::from);
    *response.version_mut() = http::Version::default();
    headers::clean_answer(response.headers_mut());
    links.rewrite(response, user)
}

/// Asks a backend to go on in another protocol, and joins the client's connection to it when it does.
///
/// # Errors
/// When the place does not answer, or not as it may.
pub async fn change_protocol(client: &Client, location: &Location, request: Request) -> Result<Response, Status> {
    let (request, client_side) = upgrade::split(request);
    let out = outgoing(request, location, true)?;
    upgrade::pass_on(client, out, client_side, location.bytes_per_second).await.map_err(refused)
}

/// Why a connection goes on in HTTP, as a client is told.
pub(crate) fn refused(why: UpgradeError) -> Status {
    match why {
        UpgradeError::Unreachable(why @ webhook::Error::NoAddress { .. }) => unreachable(&why),
        why => Status::new(500, "", why.to_string()),
    }
}

/// A place that cannot be dialled is the client's mistake; one that does not answer is not.
fn unreachable(why: &webhook::Error) -> Status {
    let cause = why.cause();
    match why {
        webhook::Error::NoAddress { .. } => Status::bad_request(cause.trim_start_matches("dial tcp: ")),
        _ => Status::service_unavailable(format!("error trying to reach service: {cause}")),
    }
}

/// Links of a page are relative to its folder, whose name ends with a slash.
fn to_folder(asked: &str, query: &str) -> Response {
    let mark = if query.is_empty() { "" } else { "?" };
    let mut response = Response::default();
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    headers::set(response.headers_mut(), LOCATION, &format!("{asked}/{mark}{query}"));
    response
}

/// The request as it is sent on. It names the host that the client named, and no user.
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

pub(crate) fn user_of(extensions: &http::Extensions) -> Arc<User> {
    extensions.user().cloned().unwrap_or_default()
}

fn text(headers: &HeaderMap<HeaderValue>, name: &HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
