//! The client of a review server, for token and access reviews (upstream:
//! `webhook.GenericWebhook`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::backoff::Backoff;
use crate::client::Client;
use crate::error::Error;
use crate::kubeconfig::Kubeconfig;
use crate::route::Route;

/// The default timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The first delay before a retry (upstream: `DefaultRetryBackoff`).
const PAUSE: Duration = Duration::from_millis(500);
/// The maximum size of a response, in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// The server that handles reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewServer {
    /// A webhook, at the address of a kubeconfig.
    Webhook(PathBuf),
    /// An API server: that of a kubeconfig, or of the cluster that this program runs in.
    ApiServer(Option<PathBuf>),
}

impl ReviewServer {
    /// The kubeconfig file; `None` means the API server of the cluster that this program runs in.
    pub fn file(&self) -> Option<&Path> {
        match self {
            ReviewServer::Webhook(file) => Some(file),
            ReviewServer::ApiServer(file) => file.as_deref(),
        }
    }

    /// The address and credentials of the server.
    ///
    /// # Errors
    /// The file is invalid, or the program does not run in a cluster.
    pub fn kubeconfig(&self) -> Result<Kubeconfig, Error> {
        match self.file() {
            Some(file) => Kubeconfig::load(file),
            None => Kubeconfig::in_cluster(),
        }
    }
}

impl From<PathBuf> for ReviewServer {
    fn from(file: PathBuf) -> Self {
        ReviewServer::Webhook(file)
    }
}

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
        let wrong = |why: Error| Error::Configuration(format!("{}: {why}", shown(server)));
        let client = config.client().map_err(wrong)?;
        let server = match server {
            ReviewServer::Webhook(_) => config.server,
            ReviewServer::ApiServer(_) => config.at(path).map_err(wrong)?,
        };
        Ok(Reviewer { client, server, timeout: TIMEOUT, pause: PAUSE })
    }

    /// Sets the timeout of a call.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
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
