//! A sink that posts events as an `EventList` to a webhook (upstream: `plugin/audit/webhook`).

use std::sync::Arc;
use std::time::Duration;

use apimachinery::audit::v1::Event;
use bytes::Bytes;
use http::Uri;
use machinery::json;
use machinery::reflect::Ref;
use options::AuditWebhookOptions;
use request::BoxFuture;
use webhook::{Backoff, Client, Kubeconfig};

use crate::error::Error;
use crate::level::API_VERSION;
use crate::sink::{Metrics, Sink};

const PLUGIN: &str = "webhook";
/// The timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of a response body, in bytes. The body is ignored.
const MAX_RESPONSE: usize = 1 << 20;

/// The client of the webhook that the kubeconfig file names.
pub(super) struct WebhookBackend {
    client: Client,
    server: Uri,
    backoff: Backoff,
    metrics: Metrics,
}

impl WebhookBackend {
    /// Creates the client of the server of the current context.
    pub fn load(options: &AuditWebhookOptions, metrics: Metrics) -> Result<Self, options::Error> {
        let wrong = |why: String| options::Error::invalid(format!("initializing audit webhook: {why}"));
        let config = Kubeconfig::load(&options.config_file).map_err(|why| wrong(why.to_string()))?.by(&options.route);
        let client = config.client().map_err(|why| wrong(why.to_string()))?;
        Ok(WebhookBackend {
            client,
            server: config.server,
            backoff: Backoff::starting_with(options.initial_backoff),
            metrics,
        })
    }

    /// Posts events with retries. As upstream, every error is retried.
    async fn post(&self, events: &[Arc<Event>]) -> Result<(), Error> {
        let body = Bytes::from(list(events));
        self.backoff.retry(|_: &Error| true, || self.post_once(body.clone())).await
    }

    async fn post_once(&self, body: Bytes) -> Result<(), Error> {
        let reply = self.client.post_json(&self.server, body, TIMEOUT, MAX_RESPONSE).await?;
        match reply.status.is_success() {
            true => Ok(()),
            false => Err(Error::Status { code: reply.status.as_u16() }),
        }
    }
}

impl Sink for WebhookBackend {
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let posted = self.post(events).await;
            if let Err(why) = &posted {
                self.metrics.lost(PLUGIN, why, events);
            }
            posted.is_ok()
        })
    }
}

/// Encodes an `EventList`. Its items have neither kind nor version.
fn list(events: &[Arc<Event>]) -> Vec<u8> {
    let mut out = format!("{{\"kind\":\"EventList\",\"apiVersion\":\"{}\",\"metadata\":{{}},\"items\":[", API_VERSION)
        .into_bytes();
    for (i, event) in events.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        json::encode(Ref::of(&**event), &mut out);
    }
    out.extend_from_slice(b"]}");
    out
}
