//! The union of all authenticators.

use std::sync::Arc;

use audit::AuditContext;
use http::request::Parts;
use options::RequestHeaders;
use request::{ClientCertificate, Peer, RequestExt, User};

use crate::anonymous::Anonymous;
use crate::bearer;
use crate::credentials::IdentityHeaders;
use crate::request_header::RequestHeaderAuthenticator;
use crate::token_authenticator::{TokenAuthenticator, Tokens};
use crate::verdict::{Authenticated, AuthenticationError, Verdict};

/// The audit annotation that names the authenticator.
///
/// Upstream records no such annotation, which was finding R44 of its audit by NCC.
const SOURCE: &str = "authentication.k8s.io/authenticator";
/// The error for a token that no authenticator recognizes.
const INVALID_TOKEN: &str = "invalid bearer token";

/// The union of all authenticators (upstream: the union that `authenticator.Config.New` builds).
#[derive(Clone)]
pub struct Authentication {
    request_headers: Option<Arc<RequestHeaderAuthenticator>>,
    identity_headers: Arc<IdentityHeaders>,
    tokens: Tokens,
    anonymous: Anonymous,
}

impl Authentication {
    /// Authenticates client certificates and anonymous requests. `audiences` are those of this server.
    pub fn new(anonymous: Anonymous, audiences: Vec<String>) -> Self {
        Authentication {
            request_headers: None,
            identity_headers: Arc::default(),
            tokens: Tokens::new(audiences),
            anonymous,
        }
    }

    /// Adds authentication by the headers of a front proxy.
    pub fn with_request_headers(mut self, headers: RequestHeaders) -> Self {
        self.identity_headers = Arc::new(IdentityHeaders::with(&headers));
        self.request_headers = Some(Arc::new(RequestHeaderAuthenticator(headers)));
        self
    }

    /// Adds a token authenticator; authenticators are called in the order in which they were added.
    pub fn with_tokens(mut self, tokens: Arc<dyn TokenAuthenticator>) -> Self {
        self.tokens.add(tokens);
        self
    }

    /// The audiences of this server.
    pub fn audiences(&self) -> &[String] {
        self.tokens.audiences()
    }

    /// Returns the user of the request; `None` where anonymous requests are rejected.
    ///
    /// Removes credentials and identity headers from an authenticated request, whichever authenticator decided:
    /// handlers and backends see neither tokens nor user names that the client sent.
    ///
    /// # Errors
    /// When the request has credentials and none is valid.
    pub async fn authenticate(&self, request: &mut Parts) -> Result<Option<Arc<User>>, AuthenticationError> {
        let user = self.identify(request).await?;
        if user.is_some() {
            self.identity_headers.remove(&mut request.headers);
        }
        Ok(user)
    }

    async fn identify(&self, request: &Parts) -> Result<Option<Arc<User>>, AuthenticationError> {
        let mut errors = Vec::new();
        let is_by_proxy = self.request_headers.as_ref().is_some_and(|headers| headers.has_user_name(&request.headers));
        if is_by_proxy && let Some(user) = accepted(self.by_proxy(request), &mut errors) {
            AuditContext::of(&request.extensions).annotate(SOURCE, "requestheader");
            return Ok(Some(user));
        }
        if let Some(user) = accepted(by_certificate(request), &mut errors) {
            AuditContext::of(&request.extensions).annotate(SOURCE, "x509");
            return Ok(Some(user));
        }
        if !self.tokens.is_empty()
            && let Some(user) = self.by_token(request, &mut errors).await
        {
            return Ok(Some(user));
        }
        // An invalid front proxy certificate rejects the request, too.
        if !is_by_proxy && let Err(error) = self.by_proxy(request) {
            errors.insert(0, error.0);
        }
        match errors.is_empty() {
            true => Ok(self.anonymous.allows(request.extensions.path()).then(|| Arc::new(User::anonymous()))),
            false => Err(AuthenticationError(errors.join(", "))),
        }
    }

    fn by_proxy(&self, request: &Parts) -> Identified {
        let (Some(headers), Some(peer)) = (&self.request_headers, request.extensions.get::<Arc<Peer>>()) else {
            return Ok(None);
        };
        let user = headers.authenticate(&peer.proxy(), &request.headers)?;
        Ok(user.map(|user| Arc::new(user.with_authenticated_group())))
    }

    /// Authenticates the bearer tokens of the request. Appends the reason for each rejected token to `errors`.
    async fn by_token(&self, request: &Parts, errors: &mut Vec<String>) -> Option<Arc<User>> {
        if bearer::has_extra_space(&request.headers) {
            request
                .extensions
                .warn("the provided Authorization header contains extra space before the bearer token, and is ignored");
        }
        for token in bearer::tokens(&request.headers) {
            let found = match token {
                Ok(token) => self.tokens.authenticate(&token, self.audiences()).await,
                Err(why) => Err(why.into()),
            };
            match found {
                Ok(Some(found)) => {
                    found.warnings.iter().for_each(|text| request.extensions.warn(text));
                    let trail = AuditContext::of(&request.extensions);
                    let annotations = found.annotations.into_iter().chain([(SOURCE, found.source.to_owned())]);
                    annotations.for_each(|(key, value)| trail.annotate(key, value));
                    return Some(Arc::new(found.user.with_authenticated_group()));
                }
                Ok(None) => errors.push(INVALID_TOKEN.into()),
                Err(error) => errors.push(error.0),
            }
        }
        None
    }

    /// Authenticates a token for a TokenReview and adds `system:authenticated` to the groups of its user.
    ///
    /// If `audiences` is empty, the audiences of this server apply.
    pub async fn review(&self, token: &str, audiences: &[String]) -> Verdict {
        let wanted = if audiences.is_empty() { self.audiences() } else { audiences };
        let found = match self.tokens.authenticate(token, wanted).await {
            Ok(None) => return Err(AuthenticationError(INVALID_TOKEN.into())),
            // Upstream calls its loopback token authenticator first, which rejects this token too.
            Err(why) => return Err(AuthenticationError(format!("[{INVALID_TOKEN}, {why}]"))),
            Ok(Some(found)) => found,
        };
        Ok(Some(Authenticated { user: found.user.with_authenticated_group(), ..found }))
    }
}

/// The result of one authenticator of the union.
type Identified = Result<Option<Arc<User>>, AuthenticationError>;

/// Returns the authenticated user. Appends an error to `errors`: the next authenticator may accept the request.
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

#[cfg(test)]
mod tests;
