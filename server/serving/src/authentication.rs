//! Who asks: from a request's credentials to a [`User`] (upstream: `apiserver/pkg/authentication`).
//!
//! The first credential that proves somebody wins. A credential that is wrong means 401 even where anonymous users are let in: a client
//! that shows a token wants to be somebody, and must learn that it is not.

mod bearer;
mod cache;
mod client_certificate;
mod configured;
mod credentials;
mod oidc;
mod request_header;
mod token_file;
mod tokens;
mod webhook;

use std::sync::Arc;

use http::request::Parts;
use subtle::ConstantTimeEq;

pub use client_certificate::{ClientCertificate, user_of_certificate};
pub use configured::Configured;
pub use credentials::{IdentityHeaders, remove_impersonation};
pub use oidc::Issuers;
pub use request_header::RequestHeaders;
pub use token_file::TokenFile;
pub use tokens::{AudienceAgnostic, TokenAuthenticator, Tokens, UserAuthenticator};
pub use webhook::TokenWebhook;

use crate::handler::RequestExt;
use crate::listener::Peer;
use crate::user::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, User};

/// The annotation of the audit log that names the authenticator (upstream records none, which was finding R44 of its audit by NCC).
const SOURCE: &str = "authentication.k8s.io/authenticator";
/// What is said of a token that nobody knows.
const INVALID_TOKEN: &str = "invalid bearer token";

/// Why a credential was refused. For the log; the client is told nothing but 401.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuthenticationError(pub String);

/// Somebody, and what else a credential says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authenticated {
    pub user: User,
    /// For which of the audiences that were asked for the credential is meant.
    pub audiences: Vec<String>,
    /// What the client is to be warned of.
    pub warnings: Vec<String>,
    /// What the audit log is told besides.
    pub annotations: Vec<(&'static str, String)>,
    /// Which authenticator believed the credential.
    pub source: &'static str,
}

/// What an authenticator says: somebody, nobody it knows, or that the credential is wrong.
pub type Verdict = Result<Option<Authenticated>, AuthenticationError>;

/// Who comes in without credentials (upstream: `anonymous.NewAuthenticator`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anonymous {
    Nobody,
    Everybody,
    /// Everybody, but only to these paths.
    To(Vec<String>),
}

impl Anonymous {
    fn lets_in(&self, path: &str) -> bool {
        match self {
            Anonymous::Nobody => false,
            Anonymous::Everybody => true,
            Anonymous::To(paths) => paths.iter().any(|p| p == path),
        }
    }
}

/// All authenticators together (upstream: the union that `authenticator.Config.New` builds).
#[derive(Clone)]
pub struct Authentication {
    request_headers: Option<Arc<RequestHeaders>>,
    identity_headers: Arc<IdentityHeaders>,
    tokens: Tokens,
    anonymous: Anonymous,
}

impl Authentication {
    /// Client certificates only, besides who comes in without credentials. `audiences` are those of this server.
    pub fn new(anonymous: Anonymous, audiences: Vec<String>) -> Self {
        Authentication {
            request_headers: None,
            identity_headers: Arc::default(),
            tokens: Tokens::new(audiences),
            anonymous,
        }
    }

    /// Believes a front proxy.
    pub fn with_request_headers(mut self, headers: RequestHeaders) -> Self {
        self.identity_headers = Arc::new(IdentityHeaders::with(&headers));
        self.request_headers = Some(Arc::new(headers));
        self
    }

    /// Asks this one too, after those added before.
    pub fn with_tokens(mut self, tokens: Arc<dyn TokenAuthenticator>) -> Self {
        self.tokens.add(tokens);
        self
    }

    /// The audiences of this server.
    pub fn audiences(&self) -> &[String] {
        self.tokens.audiences()
    }

    /// The user that makes the request; none where anonymous requests are refused.
    ///
    /// The headers of an authenticated request hold no credentials and no identity afterwards, whichever authenticator
    /// decided: handlers and backends see neither tokens nor names that the client has sent.
    ///
    /// # Errors
    /// When the request shows a credential and none is valid.
    pub async fn authenticate(&self, request: &mut Parts) -> Result<Option<Arc<User>>, AuthenticationError> {
        let user = self.identify(request).await?;
        if user.is_some() {
            self.identity_headers.remove(&mut request.headers);
        }
        Ok(user)
    }

    async fn identify(&self, request: &Parts) -> Result<Option<Arc<User>>, AuthenticationError> {
        let mut errors = Vec::new();
        let is_by_proxy = self.request_headers.as_ref().is_some_and(|headers| headers.name_a_user(&request.headers));
        if is_by_proxy && let Some(user) = accepted(self.by_proxy(request), &mut errors) {
            request.extensions.trail().annotate(SOURCE, "requestheader");
            return Ok(Some(user));
        }
        if let Some(user) = accepted(by_certificate(request), &mut errors) {
            request.extensions.trail().annotate(SOURCE, "x509");
            return Ok(Some(user));
        }
        if !self.tokens.is_empty()
            && let Some(user) = self.by_token(request, &mut errors).await
        {
            return Ok(Some(user));
        }
        // A certificate that is not one of a front proxy is a reason to refuse, too.
        if !is_by_proxy && let Err(error) = self.by_proxy(request) {
            errors.insert(0, error.0);
        }
        match errors.is_empty() {
            true => Ok(self.anonymous.lets_in(request.extensions.path()).then(|| Arc::new(User::anonymous()))),
            false => Err(AuthenticationError(errors.join(", "))),
        }
    }

    fn by_proxy(&self, request: &Parts) -> Identified {
        let (Some(headers), Some(peer)) = (&self.request_headers, request.extensions.get::<Arc<Peer>>()) else {
            return Ok(None);
        };
        let user = headers.authenticate(&peer.proxy(), &request.headers)?;
        Ok(user.map(|user| Arc::new(with_authenticated_group(user))))
    }

    /// The user whom a token of the request proves. Why a token proves none is kept.
    async fn by_token(&self, request: &Parts, errors: &mut Vec<String>) -> Option<Arc<User>> {
        if bearer::has_extra_space(&request.headers) {
            request
                .extensions
                .warn("the provided Authorization header contains extra space before the bearer token, and is ignored");
        }
        for token in bearer::tokens(&request.headers) {
            let found = match token {
                Ok(token) => self.tokens.authenticate(&token, self.audiences()).await,
                Err(why) => Err(AuthenticationError(why.into())),
            };
            match found {
                Ok(Some(found)) => {
                    found.warnings.iter().for_each(|text| request.extensions.warn(text));
                    let trail = request.extensions.trail();
                    let annotations = found.annotations.into_iter().chain([(SOURCE, found.source.to_owned())]);
                    annotations.for_each(|(key, value)| trail.annotate(key, value));
                    return Some(Arc::new(with_authenticated_group(found.user)));
                }
                Ok(None) => errors.push(INVALID_TOKEN.into()),
                Err(error) => errors.push(error.0),
            }
        }
        None
    }

    /// Whose token this is, with the group that everybody gets, for a TokenReview. Without audiences, those of this server count.
    pub async fn review(&self, token: &str, audiences: &[String]) -> Verdict {
        let wanted = if audiences.is_empty() { self.audiences() } else { audiences };
        let found = match self.tokens.authenticate(token, wanted).await {
            Ok(None) => return Err(AuthenticationError(INVALID_TOKEN.into())),
            // Upstream asks the authenticator of its loopback tokens first, which does not know this one either.
            Err(why) => return Err(AuthenticationError(format!("[{INVALID_TOKEN}, {why}]"))),
            Ok(Some(found)) => found,
        };
        Ok(Some(Authenticated { user: with_authenticated_group(found.user), ..found }))
    }
}

/// What one of several authenticators finds.
type Identified = Result<Option<Arc<User>>, AuthenticationError>;

/// The user that an authenticator finds. A reason to refuse is kept: the next one may find a user.
fn accepted(found: Identified, errors: &mut Vec<String>) -> Option<Arc<User>> {
    found.unwrap_or_else(|error| {
        errors.push(error.0);
        None
    })
}

fn by_certificate(request: &Parts) -> Identified {
    let Some(peer) = request.extensions.get::<Arc<Peer>>() else { return Ok(None) };
    match peer.client() {
        ClientCertificate::Valid(user) => Ok(Some(user)),
        ClientCertificate::Invalid(why) => Err(AuthenticationError(why)),
        ClientCertificate::None => Ok(None),
    }
}

/// Compares a secret with what somebody says it is, in a time that tells nothing of where they differ.
pub fn is_same_secret(secret: &[u8], said: &[u8]) -> bool {
    secret.ct_eq(said).into()
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
