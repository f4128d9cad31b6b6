//! Requests to backends, built from requests of clients. Every proxied request is built here, so
//! that no identity or credential header of a client reaches a backend.

use std::sync::Arc;

use authn::{IdentityHeaders, remove_impersonation};
use http::Uri;
use http_body_util::BodyExt;
use machinery::status::Status;
use request::{Body, Request, RequestExt, User};
use serving::work::memory::{self, HeldMemory};

use crate::{headers, identity};

/// How a backend identifies the user of a request.
#[derive(Clone, Copy, Debug)]
pub enum Caller<'a> {
    /// Not at all: kubelets, pods and services know only this server.
    Unnamed,
    /// By front proxy headers: API servers, which trust this server's certificate.
    Named(&'a User),
}

/// Builds a request to `target` from a client's request. `upgrade` keeps the `Upgrade` header.
///
/// Hop-by-hop, credential, identity and impersonation headers are removed. The caller's identity is
/// added afterwards.
///
/// # Errors
/// Returns 503 if headers cannot represent the caller's identity, or 429 if the user has too many
/// proxied bytes in flight.
pub fn outgoing(
    request: Request,
    target: Uri,
    caller: Caller<'_>,
    upgrade: bool,
) -> Result<http::Request<webhook::Body>, Status> {
    let (mut parts, body) = request.into_parts();
    let sent = &mut parts.headers;
    headers::prepare_for_next_hop(sent, upgrade);
    // Authentication has already removed the configured headers. This also covers handlers that add
    // their own.
    IdentityHeaders::default().remove(sent);
    remove_impersonation(sent);
    if let Caller::Named(user) = caller {
        identity::add(sent, user).map_err(|why| Status::service_unavailable(why.to_string()))?;
    }
    headers::add_forwarded_for(sent, &parts.extensions);
    let mut out = http::Request::new(streamed_body(body, &parts.extensions)?);
    *out.method_mut() = parts.method;
    *out.uri_mut() = target;
    *out.headers_mut() = parts.headers;
    Ok(out)
}

/// Streams a body. Its buffers are charged to its user.
///
/// # Errors
/// Returns an error if the user, or all users together, exceed their memory limit.
fn streamed_body(body: Body, extensions: &http::Extensions) -> Result<webhook::Body, Status> {
    if http_body::Body::is_end_stream(&body) {
        return Ok(body.map_err(Into::into).boxed_unsync());
    }
    let mut held = HeldMemory::default();
    held.add(&user_of(extensions), memory::STREAM)?;
    Ok(body.hold(held).map_err(Into::into).boxed_unsync())
}

/// Builds a GET of `target` by this server itself, as `user`.
///
/// # Errors
/// Returns an error if headers cannot represent the user's identity.
pub fn get_request(target: Uri, user: &User) -> Result<http::Request<webhook::Body>, Status> {
    let mut request = Request::default();
    *request.method_mut() = http::Method::GET;
    outgoing(request, target, Caller::Named(user), false)
}

pub(crate) fn user_of(extensions: &http::Extensions) -> Arc<User> {
    extensions.user().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_client_identity_headers() {
        let client = || {
            http::Request::get("https://front/apis/shop/v1/things")
                .header("X-Remote-User", "root")
                .header("X-Remote-Uid", "0")
                .header("X-Remote-Group", "system:masters")
                .header("X-Remote-Extra-Scope", "all")
                .header("Authorization", "Bearer secret")
                .header("Proxy-Authorization", "Basic secret")
                .header("Impersonate-User", "root")
                .header("Upgrade", "websocket")
                .header("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io")
                .header("Accept", "*/*")
                .body(Body::empty())
                .unwrap()
        };
        let jane = User::new("jane", ["dev"]);
        let check = |caller: Caller<'_>, expect: &[&str]| {
            let out = outgoing(client(), "https://back/".parse().unwrap(), caller, true).unwrap();
            let text = |(name, value): (_, &http::HeaderValue)| format!("{name}: {}", value.to_str().unwrap());
            let mut sent: Vec<String> = out.headers().iter().map(text).collect();
            sent.sort();
            let mut expect: Vec<&str> = expect.iter().copied().chain(COMMON).collect();
            expect.sort_unstable();
            assert_eq!(sent, expect);
        };
        const COMMON: [&str; 4] =
            ["accept: */*", "connection: Upgrade", "sec-websocket-protocol: v5.channel.k8s.io", "upgrade: websocket"];
        check(Caller::Unnamed, &[]);
        check(Caller::Named(&jane), &["x-remote-user: jane", "x-remote-group: dev"]);
    }
}
