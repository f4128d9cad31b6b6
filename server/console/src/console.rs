//! The console: which requests belong to it, and their sessions.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::{AUTHORIZATION, COOKIE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use machinery::status::Status;
use request::{Peer, Request, RequestExt, Response, User};
use tokio::sync::Semaphore;

use crate::failures::{Failures, WINDOW};
use crate::files;
use crate::link::Links;
use crate::origin::{self, KEY};
use crate::sessions::Sessions;
use crate::sign_in::{self, Action, Credential, MAX_BODY, VerifyToken};

/// Requests of the console to the API have this prefix.
const SERVER: &str = "/ui/server";
/// The path of sign-in and sign-out.
const SESSION: &str = "/ui/session";
/// Sign-ins at a time. A webhook may verify their tokens, which takes time.
const MAX_SIGN_INS: usize = 16;

/// The console of a server.
pub struct Console {
    /// Names the port, because the cookies of a host are those of all its ports.
    cookie_name: String,
    state: Mutex<State>,
    sign_ins: Semaphore,
}

#[derive(Default)]
struct State {
    links: Links,
    sessions: Sessions,
    failures: Failures,
}

impl Console {
    /// The console of the server on this port.
    pub fn new(port: u16) -> Self {
        Console {
            cookie_name: format!("__Secure-console-{port}"),
            state: Mutex::default(),
            sign_ins: Semaphore::new(MAX_SIGN_INS),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a code that signs this user in once within 15 minutes. An older code ends.
    pub fn issue_code(&self, user: User) -> String {
        self.state().links.issue(user)
    }

    /// The user of a token that a code was exchanged for.
    pub fn user_of(&self, token: &str) -> Option<User> {
        self.state().links.user(token)
    }

    /// Whether a request to this path is one of the console to the API.
    pub fn is_request_to_server(path: &str) -> bool {
        path.strip_prefix(SERVER).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether [`Console::answer`] answers requests to this decoded path.
    pub fn serves(path: &str) -> bool {
        let below = |root| path.strip_prefix(root).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('/'));
        below("/ui") || below("/swagger-ui")
    }

    /// Changes a request of the console to one of its user to the API: the path loses its prefix,
    /// and the session becomes its bearer token.
    ///
    /// # Errors
    /// The response for a request of another origin, or without a session.
    pub fn enter(&self, request: &mut Request) -> Result<(), Box<Response>> {
        if !origin::is_own(request) {
            return Err(Box::new(files::secure(sign_in::failure(&of_other_origin()))));
        }
        let (cookie, key) = (self.cookie(request), origin::text(request.headers(), &KEY));
        let token = cookie.and_then(|cookie| self.state().sessions.token(cookie, key));
        let authorization = token.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok());
        let (Some(mut authorization), Some(uri)) = (authorization, without_prefix(request.uri())) else {
            let status = Status::unauthorized("the session has ended; sign in again");
            return Err(Box::new(files::secure(sign_in::failure(&status))));
        };
        authorization.set_sensitive(true);
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.remove(COOKIE);
        headers.remove(KEY);
        headers.insert(AUTHORIZATION, authorization);
        Ok(())
    }

    /// Answers a request to a file, or to sign in or out.
    pub async fn answer(&self, request: Request, verify: &dyn VerifyToken) -> Response {
        let response = match request.path().to_owned() {
            path if path == SESSION => self.session(request, verify).await,
            path => files::answer(&request, &path),
        };
        files::secure(response)
    }

    async fn session(&self, request: Request, verify: &dyn VerifyToken) -> Response {
        let Some(action) = Action::of(&request) else { return sign_in::failure(&Status::method_not_allowed()) };
        if !origin::is_own(&request) {
            return sign_in::failure(&of_other_origin());
        }
        match action {
            Action::SignOut => self.sign_out(&request),
            Action::SignIn => self.sign_in(request, verify).await.unwrap_or_else(|status| sign_in::failure(&status)),
        }
    }

    fn sign_out(&self, request: &Request) -> Response {
        let key = origin::text(request.headers(), &KEY);
        if let Some(cookie) = self.cookie(request) {
            let state = &mut *self.state();
            if let Some(token) = state.sessions.end(cookie, key) {
                state.links.revoke(&token);
            }
        }
        sign_in::signed_out(&self.cookie_name)
    }

    async fn sign_in(&self, request: Request, verify: &dyn VerifyToken) -> Result<Response, Status> {
        let address = address(&request);
        let wait = i32::try_from(WINDOW.as_secs()).unwrap_or(i32::MAX);
        if self.state().failures.is_limited(address) {
            return Err(Status::too_many_requests("too many failed sign-ins; try again in a minute", wait));
        }
        let body = request.into_body().read(MAX_BODY).await;
        let body = body.map_err(|why| Status::bad_request(why.to_string()))?;
        let credential = Credential::parse(&body);
        let credential = credential.ok_or_else(|| Status::bad_request("the body must have a token or a code"))?;
        // Not while the body arrives: slow clients would keep others out.
        let busy = |_| Status::too_many_requests("too many sign-ins at a time; try again", 1);
        let _permit = self.sign_ins.try_acquire().map_err(busy)?;
        match self.authenticate(credential, verify).await {
            Ok((token, user)) => {
                let state = &mut *self.state();
                let (halves, ended) = state.sessions.begin(token, &user.name);
                ended.iter().for_each(|token| state.links.revoke(token));
                tracing::info!(user = user.name, "signed in to the console");
                Ok(sign_in::signed_in(&self.cookie_name, &halves, &user))
            }
            Err(status) => {
                self.state().failures.count(address);
                Err(status)
            }
        }
    }

    async fn authenticate(&self, credential: Credential, verify: &dyn VerifyToken) -> Result<(String, User), Status> {
        match credential {
            Credential::Code(code) => {
                let exchanged = self.state().links.exchange(&code);
                exchanged
                    .ok_or_else(|| Status::unauthorized("the link is wrong, used or too old; sign in with a token"))
            }
            Credential::Token(token) => match verify.verify(&token).await {
                Some(user) => Ok((token, user)),
                None => Err(Status::unauthorized("the server does not accept this token")),
            },
        }
    }

    /// The value of this console's cookie.
    fn cookie<'a>(&self, request: &'a Request) -> Option<&'a str> {
        let headers = request.headers().get_all(COOKIE).into_iter();
        let pairs = headers.filter_map(|header| header.to_str().ok()).flat_map(|header| header.split(';'));
        pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(name, _)| *name == self.cookie_name).map(|(_, v)| v)
    }
}

fn of_other_origin() -> Status {
    Status::new(403, "Forbidden", "the request does not come from a page of this server")
}

/// The address of the client.
fn address(request: &Request) -> IpAddr {
    request.extensions().get::<Arc<Peer>>().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.address.ip())
}

/// The URI without the prefix of requests to the API.
fn without_prefix(uri: &Uri) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    let rest = parts.path_and_query.as_ref()?.as_str().strip_prefix(SERVER)?;
    parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests;
