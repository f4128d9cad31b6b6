//! Who asks: from a request's credentials to a [`User`] (upstream: `apiserver/pkg/authentication`).
//!
//! The first credential that proves somebody wins. A credential that is wrong means 401 even where anonymous users are let in: a client
//! that shows a token wants to be somebody, and must learn that it is not.

mod bearer;
mod client_certificate;
mod token_file;

use std::sync::Arc;

use http::request::Parts;

pub use client_certificate::{ClientCertificate, user_of_certificate};
pub use token_file::TokenFile;

use crate::handler::{BoxFuture, RequestExt};
use crate::listener::Peer;
use crate::user::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, User};

/// Why a credential was refused. For the log; the client is told nothing but 401.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuthenticationError(pub String);

/// What an authenticator says: somebody, nobody it knows, or that the credential is wrong.
pub type Verdict = Result<Option<User>, AuthenticationError>;

/// Who knows tokens: a file, the service accounts, a webhook (upstream: `authenticator.Token`).
pub trait TokenAuthenticator: Send + Sync {
    /// Whose token this is.
    fn authenticate_token<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Verdict>;
}

/// All authenticators together (upstream: the union that `authenticator.Config.New` builds).
#[derive(Clone, Default)]
pub struct Authentication {
    tokens: Vec<Arc<dyn TokenAuthenticator>>,
    anonymous: bool,
}

impl Authentication {
    /// Client certificates only; `anonymous` lets requests without credentials in.
    pub fn new(anonymous: bool) -> Self {
        Authentication { tokens: Vec::new(), anonymous }
    }

    /// Asks this one too, after those added before.
    pub fn with_tokens(mut self, tokens: Arc<dyn TokenAuthenticator>) -> Self {
        self.tokens.push(tokens);
        self
    }

    /// Who makes the request. A used token is removed from the headers, so that nothing behind can pass it on.
    pub async fn authenticate(&self, request: &mut Parts) -> Verdict {
        let mut errors = Vec::new();
        let certificate =
            request.extensions.get::<Arc<Peer>>().map_or(&ClientCertificate::None, |peer| &peer.certificate);
        match certificate {
            ClientCertificate::Valid(user) => {
                let user = with_authenticated_group(user.clone());
                request.headers.remove(http::header::AUTHORIZATION);
                return Ok(Some(user));
            }
            ClientCertificate::Invalid(why) => errors.push(why.clone()),
            ClientCertificate::None => {}
        }
        if let Some(token) = self.token(request) {
            match self.authenticate_token(&token).await {
                Ok(Some(user)) => {
                    bearer::remove(&mut request.headers);
                    return Ok(Some(user));
                }
                Ok(None) => errors.push("invalid bearer token".into()),
                Err(error) => errors.push(error.0),
            }
        }
        match errors.is_empty() {
            true => Ok(self.anonymous.then(User::anonymous)),
            false => Err(AuthenticationError(errors.join(", "))),
        }
    }

    /// The token to check. Without anybody who knows tokens, there are none.
    fn token(&self, request: &Parts) -> Option<String> {
        if self.tokens.is_empty() {
            return None;
        }
        if bearer::has_extra_space(&request.headers) {
            request
                .extensions
                .warn("the provided Authorization header contains extra space before the bearer token, and is ignored");
        }
        bearer::token(&request.headers)
    }

    /// Whose token this is, with the group that everybody gets; also what a TokenReview asks.
    pub async fn authenticate_token(&self, token: &str) -> Verdict {
        let mut errors = Vec::new();
        for tokens in &self.tokens {
            match tokens.authenticate_token(token).await {
                Ok(Some(user)) => return Ok(Some(with_authenticated_group(user))),
                Ok(None) => {}
                Err(error) => errors.push(error.0),
            }
        }
        if errors.is_empty() { Ok(None) } else { Err(AuthenticationError(errors.join(", "))) }
    }
}

/// Adds `system:authenticated` (upstream: `group.AuthenticatedGroupAdder`).
fn with_authenticated_group(mut user: User) -> User {
    if !user.is_in(ALL_AUTHENTICATED) && !user.is_in(ALL_UNAUTHENTICATED) {
        user.groups.push(ALL_AUTHENTICATED.into());
    }
    user
}

#[cfg(test)]
mod tests;
