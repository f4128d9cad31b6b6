//! Conversion by a webhook.

use std::sync::Arc;
use std::time::{Duration, Instant};

use apimachinery::apiextensions::v1::{CustomResourceDefinition, WebhookClientConfig};
use machinery::status::Status;
use serde_json::Value;
use webhook::WebhookTarget;

use super::Calls;
use super::metadata;
use super::metrics::{ConversionFailure, Measured};
use super::review::ReviewVersion;
use crate::error::Error;

/// Timeout of a webhook call.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of objects per call.
const BATCH: usize = 500;
/// Maximum length of a response in bytes.
const MAX_RESPONSE: usize = 256 << 20;
const HTTPS: i32 = 443;

/// A webhook that converts the objects of one definition.
pub struct WebhookConverter {
    definition: String,
    target: WebhookTarget,
    /// The URL for error messages.
    url: String,
    ca_bundle: Vec<u8>,
    version: Option<ReviewVersion>,
    /// Timeout of a call.
    pub(super) timeout: Duration,
    calls: Arc<Calls>,
}

impl WebhookConverter {
    /// Returns the webhook of a definition, if it has one.
    pub fn of(definition: &CustomResourceDefinition, calls: &Arc<Calls>) -> Option<Self> {
        let conversion = definition.spec.conversion.as_deref().filter(|conversion| conversion.strategy == "Webhook")?;
        let webhook = conversion.webhook.as_deref()?;
        let client = webhook.client_config.as_deref()?;
        let (target, url) = target(client);
        let is_blank = client.ca_bundle.iter().all(u8::is_ascii_whitespace);
        Some(WebhookConverter {
            definition: definition.metadata.name.clone(),
            target,
            url: format!("{url}?timeout={}s", TIMEOUT.as_secs()),
            ca_bundle: if is_blank { Vec::new() } else { client.ca_bundle.to_vec() },
            version: ReviewVersion::first_known(&webhook.conversion_review_versions),
            timeout: TIMEOUT,
            calls: calls.clone(),
        })
    }

    /// Converts objects to a version, in order. Upstream makes one call per stored object; here a
    /// call has up to `BATCH` objects.
    ///
    /// # Errors
    /// Returns an error if the call fails or if the response is not a valid conversion.
    pub async fn convert(&self, objects: Vec<Value>, to: &str) -> Result<Vec<Value>, Status> {
        let mut out = Vec::with_capacity(objects.len());
        for batch in objects.chunks(BATCH) {
            out.extend(self.convert_batch(batch, to).await?);
        }
        Ok(out)
    }

    /// Converts one object.
    ///
    /// # Errors
    /// Returns the errors of [`WebhookConverter::convert`].
    pub async fn convert_one(&self, object: Value, to: &str) -> Result<Value, Status> {
        let converted = self.convert_batch(&[object], to).await?;
        converted.into_iter().next().ok_or_else(|| Status::internal("a conversion without a result"))
    }

    async fn convert_batch(&self, batch: &[Value], to: &str) -> Result<Vec<Value>, Status> {
        let Some(first) = batch.first() else { return Ok(Vec::new()) };
        let from = first["apiVersion"].as_str().unwrap_or_default();
        let measured = Measured {
            definition: &self.definition,
            from: from.rsplit('/').next().unwrap_or_default(),
            to: to.rsplit('/').next().unwrap_or_default(),
            begun: Instant::now(),
        };
        let outcome = self.request_conversion(batch, to).await;
        self.calls.metrics.observe(&measured, outcome.as_ref().err().map(|(failure, _)| *failure));
        outcome.map_err(|(_, why)| {
            let kind = first["kind"].as_str().unwrap_or_default();
            Status::new(500, "", format!("conversion webhook for {from}, Kind={kind} {why}"))
        })
    }

    async fn request_conversion(&self, batch: &[Value], to: &str) -> Result<Vec<Value>, (ConversionFailure, String)> {
        let version = self
            .version
            .ok_or((ConversionFailure::Call, "failed: no supported conversion review versions".to_owned()))?;
        let uid = uuid::Uuid::new_v4().to_string();
        let answer = self.call(version.request(&uid, batch, to)).await;
        let answer = answer.map_err(|why| (ConversionFailure::Call, format!("failed: {why}")))?;
        let objects =
            version.objects(&uid, &answer).map_err(|why| (ConversionFailure::Malformed, format!("failed: {why}")))?;
        if objects.len() != batch.len() {
            let why = format!("returned {} objects, expected {}", objects.len(), batch.len());
            return Err((ConversionFailure::Partial, why));
        }
        let one = batch.len() == 1;
        let check_converted = |(index, (original, converted)): (usize, (&Value, Value))| {
            check_converted(original, converted, to)
                .map_err(|why| (ConversionFailure::InvalidObject, why.text(one, index)))
        };
        batch.iter().zip(objects).enumerate().map(check_converted).collect()
    }

    async fn call(&self, body: bytes::Bytes) -> Result<bytes::Bytes, Error> {
        let failed = |source| Error::Call { url: self.url.clone(), source };
        let (client, uri) = self.calls.services.reach(&self.target, &self.ca_bundle).map_err(failed)?;
        let uri = format!("{uri}?timeout={}s", TIMEOUT.as_secs()).parse().map_err(Error::Url)?;
        let reply = client.post_json(&uri, body, self.timeout, MAX_RESPONSE).await.map_err(failed)?;
        let code = reply.status.as_u16();
        match reply.refusal() {
            Some(why) => Err(Error::Refused { code, why }),
            None if reply.body.is_empty() => Err(Error::Empty { code, content_type: reply.content_type().to_owned() }),
            None => Ok(reply.body),
        }
    }
}

/// Why a converted object is invalid.
enum Fault {
    Object(Error),
    Metadata(Error),
}

impl Fault {
    /// Upstream's text, which differs between a single object and one of several.
    fn text(&self, is_only: bool, index: usize) -> String {
        match (self, is_only) {
            (Fault::Object(why), true) => format!("returned invalid object: {why}"),
            (Fault::Object(why), false) => format!("returned invalid converted object at index {index}: {why}"),
            (Fault::Metadata(why), true) => format!("returned invalid metadata: {why}"),
            (Fault::Metadata(why), false) => format!("returned invalid metadata in object at index {index}: {why}"),
        }
    }
}

/// Checks a converted object and restores its metadata.
fn check_converted(original: &Value, mut converted: Value, to: &str) -> Result<Value, Fault> {
    let text = |object: &Value, key: &str| object[key].as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&converted, "apiVersion"), text(&converted, "kind"));
    if version != to {
        let expected = to.to_owned();
        return Err(Fault::Object(Error::ConvertedType { what: "groupVersion", expected, received: version }));
    }
    let expected = text(original, "kind");
    if kind != expected {
        return Err(Fault::Object(Error::ConvertedType { what: "kind", expected, received: kind }));
    }
    metadata::check_identity(original, &converted).map_err(Fault::Object)?;
    metadata::restore(original, &mut converted).map_err(Fault::Metadata)?;
    Ok(converted)
}

/// Returns the target of a call and its URL for messages.
fn target(client: &WebhookClientConfig) -> (WebhookTarget, String) {
    match (&client.url, &client.service) {
        (None, Some(service)) => {
            let port = service.port.unwrap_or(HTTPS);
            let path = service.path.clone().unwrap_or_default();
            let (name, namespace) = (&service.name, &service.namespace);
            let shown = format!("https://{name}.{namespace}.svc:{port}/{}", path.trim_start_matches('/'));
            (WebhookTarget::Service { namespace: namespace.clone(), name: name.clone(), port, path }, shown)
        }
        (url, _) => {
            let url = url.clone().unwrap_or_default();
            (WebhookTarget::Url(url.clone()), url)
        }
    }
}
