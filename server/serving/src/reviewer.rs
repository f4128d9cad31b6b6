//! A server that answers reviews: who a token belongs to, who may do what (upstream: `webhook.GenericWebhook`).

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use webhook::{Client, Kubeconfig};

use crate::Error;
use crate::backoff::Backoff;

/// How long one answer may take, unless said otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long the first pause is before a server is asked again that cannot answer now (upstream: `DefaultRetryBackoff`).
const PAUSE: Duration = Duration::from_millis(500);
/// How many bytes an answer may have.
const MAX_ANSWER: usize = 1 << 20;

/// Asks a server of a kubeconfig file.
pub(crate) struct Reviewer {
    client: Client,
    server: http::Uri,
    timeout: Duration,
}

impl Reviewer {
    /// The server of the file's current context.
    pub(crate) fn load(path: &std::path::Path) -> Result<Self, Error> {
        let config = Kubeconfig::load(path).map_err(|why| Error::Options(why.to_string()))?;
        let client = config.client().map_err(|why| Error::Options(format!("{}: {why}", path.display())))?;
        Ok(Reviewer { client, server: config.server, timeout: TIMEOUT })
    }

    /// Waits so long for an answer.
    #[must_use]
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Reviewer { timeout, ..self }
    }

    /// Posts a review and returns the server's, whose `status` says something.
    pub(crate) async fn review(&self, review: &Value) -> Result<Value, String> {
        let body = Bytes::from(review.to_string());
        let answer = Backoff::starting_with(PAUSE).retry(|(_, again)| *again, || self.once(body.clone())).await;
        answer.map_err(|(why, _)| why)
    }

    /// One attempt; the error says whether another one may help.
    async fn once(&self, body: Bytes) -> Result<Value, (String, bool)> {
        let reply = self.client.post_json(&self.server, body, self.timeout, MAX_ANSWER).await;
        let reply = reply.map_err(|why| (why.to_string(), true))?;
        match reply.status.as_u16() {
            200..=299 => serde_json::from_slice(&reply.body).map_err(|why| (why.to_string(), false)),
            code => Err((format!("the server answered with status {code}"), code >= 500 || code == 429)),
        }
    }
}

/// The texts of a list.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
