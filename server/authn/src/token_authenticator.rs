//! The union of token authenticators, with a cache of their successes (upstream: `token/union`, `token/cache`).

use std::sync::Arc;

use request::{BoxFuture, User};

use crate::cache::TokenCache;
use crate::verdict::{Authenticated, AuthenticationError, Verdict};

/// An authenticator of bearer tokens: token file, service accounts, webhook (upstream: `authenticator.Token`).
pub trait TokenAuthenticator: Send + Sync {
    /// The name of the authenticator in the audit log.
    fn name(&self) -> &'static str;

    /// Returns the user of a token and those of `audiences` that it is valid for. A token for none of them is invalid.
    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict>;
}

/// An authenticator of tokens without audiences.
pub trait UserAuthenticator: Send + Sync {
    /// The name of the authenticator in the audit log.
    fn name(&self) -> &'static str;

    /// Returns the user of a token.
    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>>;
}

/// Adds the audiences of this server to tokens without audiences (upstream: `WrapAudienceAgnosticToken`).
pub struct AudienceAgnostic<A> {
    pub inner: A,
    /// The audiences of this server.
    pub audiences: Vec<String>,
}

impl<A: UserAuthenticator> TokenAuthenticator for AudienceAgnostic<A> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let common: Vec<String> = audiences.iter().filter(|a| self.audiences.contains(a)).cloned().collect();
            if common.is_empty() {
                return Ok(None);
            }
            let user = self.inner.user(token).await?;
            Ok(user.map(|user| Authenticated { user, audiences: common, ..Authenticated::default() }))
        })
    }
}

/// The union of all token authenticators.
#[derive(Clone)]
pub struct Tokens {
    authenticators: Vec<Arc<dyn TokenAuthenticator>>,
    /// The audiences of this server.
    audiences: Arc<[String]>,
    cache: Arc<TokenCache>,
}

impl Tokens {
    pub(crate) fn new(audiences: Vec<String>) -> Self {
        Tokens { authenticators: Vec::new(), audiences: audiences.into(), cache: Arc::default() }
    }

    pub(crate) fn add(&mut self, authenticator: Arc<dyn TokenAuthenticator>) {
        self.authenticators.push(authenticator);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.authenticators.is_empty()
    }

    pub(crate) fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Authenticates a token. The first authenticator that accepts it decides.
    ///
    /// # Errors
    /// The errors of all authenticators, if none accepts the token.
    pub async fn authenticate(&self, token: &str, audiences: &[String]) -> Verdict {
        self.cache.get_or_authenticate(token, audiences, || self.authenticate_uncached(token, audiences)).await
    }

    async fn authenticate_uncached(&self, token: &str, audiences: &[String]) -> Verdict {
        let mut errors = Vec::new();
        for authenticator in &self.authenticators {
            match authenticator.authenticate_token(token, audiences).await {
                Ok(Some(found)) => return Ok(Some(Authenticated { source: authenticator.name(), ..found })),
                Ok(None) => {}
                Err(error) => errors.push(error.0),
            }
        }
        if errors.is_empty() { Ok(None) } else { Err(AuthenticationError(errors.join(", "))) }
    }
}
