//! Requests to backends, made of requests of clients. Every request that is passed on is made here, so that no header by
//! which a client names itself or proves something reaches a backend.

use http::Uri;
use http_body_util::BodyExt;
use machinery::status::Status;
use serving::authentication::{IdentityHeaders, remove_impersonation};
use serving::work::memory::{self, Held};
use serving::{Body, Request, User};

use crate::forward::user_of;
use crate::{headers, identity};

/// How a backend learns which user makes a request.
#[derive(Clone, Copy, Debug)]
pub enum Caller<'a> {
    /// Not at all: kubelets, pods and services know this server only.
    Unnamed,
    /// By the headers of a front proxy: API servers, which trust this server's certificate.
    Named(&'a User),
}

/// Makes a request to `target` of a client's request. `upgrade` keeps the wish to change protocols.
///
/// Removed are headers of one connection, credentials, identities and impersonation of any origin; the caller's
/// identity is added afterwards.
///
/// # Errors
/// When headers cannot carry the caller's identity (503), or the user passes on too much at a time (429).
pub fn outgoing(
    request: Request,
    target: Uri,
    caller: Caller<'_>,
    upgrade: bool,
) -> Result<http::Request<webhook::Body>, Status> {
    let (mut parts, body) = request.into_parts();
    let sent = &mut parts.headers;
    headers::start_anew(sent, upgrade);
    // Authentication has removed the configured headers already; this holds for handlers that add their own as well.
    IdentityHeaders::default().remove(sent);
    remove_impersonation(sent);
    if let Caller::Named(user) = caller {
        identity::add(sent, user).map_err(|why| Status::service_unavailable(why.to_string()))?;
    }
    headers::add_peer(sent, &parts.extensions);
    let mut out = http::Request::new(passed_on(body, &parts.extensions)?);
    *out.method_mut() = parts.method;
    *out.uri_mut() = target;
    *out.headers_mut() = parts.headers;
    Ok(out)
}

/// A body that is passed on as it arrives. What is buffered of it counts for its user.
///
/// # Errors
/// When the user, or all users together, hold too much.
fn passed_on(body: Body, extensions: &http::Extensions) -> Result<webhook::Body, Status> {
    if http_body::Body::is_end_stream(&body) {
        return Ok(body.map_err(Into::into).boxed_unsync());
    }
    let mut held = Held::default();
    held.add(&user_of(extensions), memory::STREAM)?;
    Ok(body.hold(held).map_err(Into::into).boxed_unsync())
}

/// A GET of `target` that this server makes for itself, as `user`.
///
/// # Errors
/// When headers cannot carry the user's identity.
pub fn question(target: Uri, user: &User) -> Result<http::Request<webhook::Body>, Status> {
    let mut request = Request::default();
    *request.method_mut() = http::Method::GET;
    outgoing(request, target, Caller::Named(user), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_client_says_of_itself_is_passed_on() {
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
