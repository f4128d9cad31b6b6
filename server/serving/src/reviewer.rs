//! A server that answers reviews: who a token belongs to, who may do what (upstream: `webhook.GenericWebhook`).

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use webhook::{Client, Route};

use crate::Error;
use crate::backoff::Backoff;
use crate::options::ReviewServer;

/// How long one answer may take, unless said otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long the first pause is before a server is asked again that cannot answer now (upstream: `DefaultRetryBackoff`).
const PAUSE: Duration = Duration::from_millis(500);
/// How many bytes an answer may have.
const MAX_ANSWER: usize = 1 << 20;

fn shown(server: &ReviewServer) -> String {
    server.file().map_or_else(|| "the API server of the cluster".into(), |file| file.display().to_string())
}

/// Asks a server that answers reviews.
pub struct Reviewer {
    client: Client,
    server: http::Uri,
    timeout: Duration,
    pause: Duration,
}

impl Reviewer {
    /// The server of the options, reached in this way; an API server takes these reviews at `path`.
    ///
    /// # Errors
    /// When its kubeconfig cannot be used.
    pub fn load(server: &ReviewServer, route: &Route, path: &str) -> Result<Self, Error> {
        let config = server.kubeconfig()?.by(route);
        let wrong = |why: webhook::Error| Error::Options(format!("{}: {why}", shown(server)));
        let client = config.client().map_err(wrong)?;
        let server = match server {
            ReviewServer::Webhook(_) => config.server,
            ReviewServer::ApiServer(_) => config.at(path).map_err(wrong)?,
        };
        Ok(Reviewer { client, server, timeout: TIMEOUT, pause: PAUSE })
    }

    /// Waits so long for an answer.
    #[must_use]
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Reviewer { timeout, ..self }
    }

    /// Waits so long before it asks a server again that could not answer.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Reviewer { pause, ..self }
    }

    /// Posts a review and returns the server's, whose `status` says something.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn review(&self, review: &Value) -> Result<Value, String> {
        let body = Bytes::from(review.to_string());
        let answer = Backoff::starting_with(self.pause).retry(|(_, again)| *again, || self.once(body.clone())).await;
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
