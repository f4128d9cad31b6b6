//! Everybody who knows tokens, asked in turn, and what they said remembered for a moment (upstream: `token/union`, `token/cache`).

use std::sync::Arc;

use super::cache::Cache;
use super::{Authenticated, AuthenticationError, Verdict};
use crate::handler::BoxFuture;
use crate::user::User;

/// Who knows tokens: a file, the service accounts, a webhook (upstream: `authenticator.Token`).
pub trait TokenAuthenticator: Send + Sync {
    /// What the authenticator is called in the audit log.
    fn name(&self) -> &'static str;

    /// Whose token this is, and for which of these audiences it is meant. One that is meant for none of them is wrong.
    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict>;
}

/// Who knows tokens that say nothing of audiences.
pub trait UserAuthenticator: Send + Sync {
    /// What the authenticator is called in the audit log.
    fn name(&self) -> &'static str;

    /// Whose token this is.
    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>>;
}

/// Takes tokens that say nothing of audiences for ones that are meant for this server (upstream: `WrapAudienceAgnosticToken`).
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

/// All who know tokens.
#[derive(Clone)]
pub struct Tokens {
    authenticators: Vec<Arc<dyn TokenAuthenticator>>,
    /// The audiences of this server.
    audiences: Arc<[String]>,
    cache: Arc<Cache>,
}

impl Tokens {
    pub(super) fn new(audiences: Vec<String>) -> Self {
        Tokens { authenticators: Vec::new(), audiences: audiences.into(), cache: Arc::default() }
    }

    pub(super) fn add(&mut self, authenticator: Arc<dyn TokenAuthenticator>) {
        self.authenticators.push(authenticator);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.authenticators.is_empty()
    }

    pub(super) fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Whose token this is. The first who knows it is believed; what the others found wrong with it counts only when nobody does.
    pub async fn authenticate(&self, token: &str, audiences: &[String]) -> Verdict {
        self.cache.get_or_ask(token, audiences, || self.ask(token, audiences)).await
    }

    async fn ask(&self, token: &str, audiences: &[String]) -> Verdict {
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
