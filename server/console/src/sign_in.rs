//! Sign-in: what a client presents, and how it is answered.

use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderValue, Method};
use machinery::status::Status;
use request::{BoxFuture, Request, Response, User, respond};
use serde_json::{Value, json};

use crate::sessions::Halves;

/// The largest body of a sign-in, in bytes.
pub const MAX_BODY: usize = 16 << 10;

/// Authenticates bearer tokens.
pub trait VerifyToken: Send + Sync {
    /// Returns the user of a valid token.
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<User>>;
}

/// What a client signs in with.
#[derive(Debug, PartialEq, Eq)]
pub enum Credential {
    Token(String),
    /// The code of the link that the server prints.
    Code(String),
}

impl Credential {
    /// Reads `{"token": ".."}` or `{"code": ".."}`.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let document: Value = serde_json::from_slice(body).ok()?;
        let fields = document.as_object()?;
        let (name, value) = fields.iter().next().filter(|_| fields.len() == 1)?;
        let value = value.as_str().filter(|value| !value.is_empty())?.to_owned();
        match name.as_str() {
            "token" => Some(Credential::Token(value)),
            "code" => Some(Credential::Code(value)),
            _ => None,
        }
    }
}

/// A request to `/ui/session`.
pub enum Action {
    SignIn,
    SignOut,
}

impl Action {
    /// The action of a method.
    pub fn of(request: &Request) -> Option<Self> {
        match *request.method() {
            Method::POST => Some(Action::SignIn),
            Method::DELETE => Some(Action::SignOut),
            _ => None,
        }
    }
}

/// The answer to a sign-in, with both halves of the session.
pub fn signed_in(cookie_name: &str, halves: &Halves, user: &User) -> Response {
    let body = json!({"key": halves.key, "user": user.name}).to_string();
    with_cookie(respond::bytes(200, respond::JSON, body), cookie_name, &halves.cookie, "")
}

/// The answer to a sign-out: the browser forgets its cookie.
pub fn signed_out(cookie_name: &str) -> Response {
    with_cookie(respond::bytes(200, respond::JSON, "{}"), cookie_name, "", "; Max-Age=0")
}

fn with_cookie(mut response: Response, name: &str, value: &str, more: &str) -> Response {
    let cookie = format!("{name}={value}; Path=/ui/; Secure; HttpOnly; SameSite=Strict{more}");
    let headers = response.headers_mut();
    headers.extend(HeaderValue::try_from(cookie).ok().map(|cookie| (SET_COOKIE, cookie)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A failure in JSON, whatever the client accepts: only the page reads it.
pub fn failure(status: &Status) -> Response {
    let mut response = respond::Style::default().failure(status);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_one_credential() {
        let parse = |body: &str| Credential::parse(body.as_bytes());
        assert_eq!(parse(r#"{"token":"t"}"#), Some(Credential::Token("t".into())));
        assert_eq!(parse(r#"{"code":"c"}"#), Some(Credential::Code("c".into())));
        for wrong in
            ["", "{}", "[]", r#"{"token":""}"#, r#"{"token":1}"#, r#"{"token":"t","code":"c"}"#, r#"{"x":"t"}"#]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
