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
        let client = config.client().map_err(Error::within(shown(server)))?;
        let address = match server {
            ReviewServer::Webhook(_) => config.server,
            ReviewServer::ApiServer(_) => config.at(path).map_err(Error::within(shown(server)))?,
        };
        Ok(Reviewer { client, server: address, timeout: TIMEOUT, pause: PAUSE })
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
    pub async fn review(&self, review: &Value) -> Result<Value, Error> {
        let body = Bytes::from(review.to_string());
        Backoff::starting_with(self.pause).retry(is_retryable, || self.once(body.clone())).await
    }

    /// Makes one attempt.
    async fn once(&self, body: Bytes) -> Result<Value, Error> {
        let reply = self.client.post_json(&self.server, body, self.timeout, MAX_RESPONSE).await?;
        match reply.status.as_u16() {
            200..=299 => Ok(serde_json::from_slice(&reply.body)?),
            code => Err(Error::Status { code }),
        }
    }
}

fn is_retryable(error: &Error) -> bool {
    match error {
        Error::Status { code } => *code >= 500 || *code == 429,
        Error::Json(_) => false,
        _ => true,
    }
}
