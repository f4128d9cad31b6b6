//! The client of a review server, for token and access reviews (upstream:
//! `webhook.GenericWebhook`).

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use webhook::{Client, Route};

use crate::Error;
use crate::backoff::Backoff;
use crate::options::ReviewServer;

/// The default timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The first delay before a retry (upstream: `DefaultRetryBackoff`).
const PAUSE: Duration = Duration::from_millis(500);
/// The maximum size of a response, in bytes.
const MAX_RESPONSE: usize = 1 << 20;

fn shown(server: &ReviewServer) -> String {
    server.file().map_or_else(|| "the API server of the cluster".into(), |file| file.display().to_string())
}

/// The client of a review server.
pub struct Reviewer {
    client: Client,
    server: http::Uri,
    timeout: Duration,
    pause: Duration,
}

impl Reviewer {
    /// Creates the client of the server in the options, for this route. An API server handles these
    /// reviews at `path`.
    ///
    /// # Errors
    /// The kubeconfig is invalid.
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

    /// Sets the timeout of a call.
    #[must_use]
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Reviewer { timeout, ..self }
    }

    /// Sets the first delay before a retry.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Reviewer { pause, ..self }
    }

    /// Posts a review and returns that of the response, which has a `status`.
    ///
    /// # Errors
    /// All attempts failed; the value is the last error.
    pub async fn review(&self, review: &Value) -> Result<Value, String> {
        let body = Bytes::from(review.to_string());
        let answer = Backoff::starting_with(self.pause)
            .retry(|(_, is_retryable)| *is_retryable, || self.once(body.clone()))
            .await;
        answer.map_err(|(why, _)| why)
    }

    /// Makes one attempt; the error includes whether it is retryable.
    async fn once(&self, body: Bytes) -> Result<Value, (String, bool)> {
        let reply = self.client.post_json(&self.server, body, self.timeout, MAX_RESPONSE).await;
        let reply = reply.map_err(|why| (why.to_string(), true))?;
        match reply.status.as_u16() {
            200..=299 => serde_json::from_slice(&reply.body).map_err(|why| (why.to_string(), false)),
            code => Err((format!("the server answered with status {code}"), code >= 500 || code == 429)),
        }
    }
}

/// The strings of a list.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
