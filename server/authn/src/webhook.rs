//! Authentication of tokens by a webhook (upstream: `plugin/pkg/authenticator/token/webhook`).

use options::TokenWebhookOptions;
use request::{BoxFuture, User};
use serde_json::{Value, json};
use webhook::Reviewer;

use crate::Error;
use crate::cache::TokenCache;
use crate::texts::texts;
use crate::token_authenticator::TokenAuthenticator;
use crate::verdict::{Authenticated, AuthenticationError, Verdict};

/// Sends TokenReviews to a webhook and caches its successes.
pub struct TokenWebhook {
    reviewer: Reviewer,
    /// `v1` or `v1beta1`.
    version: String,
    /// The audiences of this server, for responses without audiences.
    audiences: Vec<String>,
    cache: TokenCache,
}

impl TokenWebhook {
    /// Creates the client of the configured webhook.
    ///
    /// # Errors
    /// When the kubeconfig, or a file that it names, is unusable.
    pub fn load(options: &TokenWebhookOptions, audiences: Vec<String>) -> Result<Self, Error> {
        let path = format!("/apis/authentication.k8s.io/{}/tokenreviews", options.version);
        let reviewer = Reviewer::load(&options.server, &options.route, &path)?;
        Ok(TokenWebhook {
            reviewer,
            version: options.version.clone(),
            audiences,
            cache: TokenCache::with_ttl(options.cache_ttl),
        })
    }

    async fn review(&self, token: &str, audiences: &[String]) -> Verdict {
        let api_version = format!("authentication.k8s.io/{}", self.version);
        let mut review = json!({"apiVersion": api_version, "kind": "TokenReview", "spec": {"token": token}});
        if !audiences.is_empty() {
            review["spec"]["audiences"] = audiences.into();
        }
        let response = self.reviewer.review(&review).await;
        let response = response.map_err(|why| AuthenticationError(why.to_string()))?;
        self.read(&response["status"], audiences)
    }

    fn read(&self, status: &Value, wanted: &[String]) -> Verdict {
        if status["authenticated"] != true {
            let why = status["error"].as_str().unwrap_or_default();
            return if why.is_empty() { Ok(None) } else { Err(AuthenticationError(why.to_owned())) };
        }
        let mut meant = texts(&status["audiences"]);
        if meant.is_empty() {
            // A response without audiences stands for the audiences of this server.
            meant.clone_from(&self.audiences);
        }
        let audiences: Vec<String> = wanted.iter().filter(|a| meant.contains(a)).cloned().collect();
        if audiences.is_empty() && !wanted.is_empty() {
            return Ok(None);
        }
        let user = &status["user"];
        let text = |key: &str| user[key].as_str().unwrap_or_default().to_owned();
        let extra = user["extra"].as_object().into_iter().flatten().map(|(key, values)| (key.clone(), texts(values)));
        let user =
            User { name: text("username"), uid: text("uid"), groups: texts(&user["groups"]), extra: extra.collect() };
        Ok(Some(Authenticated { user, audiences, ..Authenticated::default() }))
    }
}

impl TokenAuthenticator for TokenWebhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict> {
        Box::pin(self.cache.get_or_authenticate(token, audiences, || self.review(token, audiences)))
    }
}
