//! Webhook calls: the review that is sent and the handling of the response.

use apimachinery::meta::v1::status_reason;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use generated::admissionregistration::v1::patch_type;
use machinery::budget;
use machinery::status::Status;
use serde_json::{Value as Json, json};
use tokio::time::Instant;
use webhook::WebhookTarget;

use super::hook::{Hook, Matched};
use super::record::{MUTATING_FAILED_OPEN, VALIDATING_FAILED_OPEN, WebhookCall};
use crate::policies::PolicyRequest;
use crate::step::AdmissionStep;

/// Maximum size of a response in bytes.
const MAX_RESPONSE: usize = 3 << 20;
const HTTPS: i32 = 443;
/// Reasons that webhooks may return (`metav1.StatusReason`); other reasons are dropped.
const REASONS: [&str; 14] = [
    status_reason::ALREADY_EXISTS,
    status_reason::BAD_REQUEST,
    status_reason::CONFLICT,
    status_reason::EXPIRED,
    status_reason::FORBIDDEN,
    status_reason::GONE,
    status_reason::INTERNAL_ERROR,
    status_reason::INVALID,
    status_reason::METHOD_NOT_ALLOWED,
    status_reason::NOT_FOUND,
    status_reason::REQUEST_ENTITY_TOO_LARGE,
    status_reason::SERVICE_UNAVAILABLE,
    status_reason::TOO_MANY_REQUESTS,
    status_reason::UNAUTHORIZED,
];

/// A response of a webhook.
struct WebhookResponse {
    response: Json,
}

/// A failed call or an invalid response.
struct Failure {
    why: String,
    /// The status code of the response, or 503.
    code: u16,
}

impl Failure {
    fn unavailable(why: String) -> Self {
        Failure { why, code: 503 }
    }
}

/// Why the response of a webhook is invalid.
#[derive(Debug, thiserror::Error)]
enum InvalidReview {
    #[error("couldn't get version/kind; json parse error: {0}")]
    Json(#[from] serde_json::Error),
    #[error("expected webhook response of {expected}, Kind=AdmissionReview, got {api_version}, Kind={kind}")]
    Kind { expected: String, api_version: String, kind: String },
    #[error("webhook response was absent")]
    NoResponse,
    #[error("expected response.uid={expected:?}, got {received:?}")]
    Uid { expected: String, received: String },
    #[error("webhook returned response.patch but not response.patchType")]
    NoPatchType,
    #[error("webhook returned invalid response.patchType of {found:?}")]
    PatchType { found: String },
    /// The patch is not base64.
    #[error(transparent)]
    Patch(#[from] base64::DecodeError),
}

/// Calls a validating webhook; fails if it denies the request.
pub async fn validating(
    webhook_call: &WebhookCall<'_>,
    matched: &Matched,
    subject: &PolicyRequest<'_>,
) -> Result<(), Status> {
    let begin = Instant::now();
    let review = Review::new(webhook_call.hook, matched)?;
    let failure = match exchange(webhook_call, review).await {
        Ok(webhook_response) => {
            let outcome = webhook_response.check_allowed(webhook_call.hook, subject);
            webhook_call.observe_response(AdmissionStep::Validate, begin.elapsed(), &outcome);
            return outcome;
        }
        Err(failure) => failure,
    };
    webhook_call.observe_failure(AdmissionStep::Validate, begin.elapsed(), failure.code);
    if !webhook_call.hook.ignores_failure {
        return Err(failed(webhook_call.hook, &failure.why));
    }
    webhook_call.failed_open(VALIDATING_FAILED_OPEN);
    Ok(())
}

/// The result of a mutating webhook call.
pub enum MutationOutcome {
    /// The webhook returned no patch.
    Unchanged,
    /// The call failed and the failure policy ignores it.
    FailedOpen,
    /// A JSON patch.
    Patch(Vec<u8>),
}

/// Calls a mutating webhook.
pub async fn mutating(
    webhook_call: &WebhookCall<'_>,
    matched: &Matched,
    subject: &PolicyRequest<'_>,
) -> Result<MutationOutcome, Status> {
    let (hook, begin) = (webhook_call.hook, Instant::now());
    let patch = match exchange(webhook_call, Review::new(hook, matched)?).await {
        Ok(webhook_response) => {
            let outcome = webhook_response.check_allowed(hook, subject);
            if outcome.is_err() {
                webhook_call.observe_response(AdmissionStep::Admit, begin.elapsed(), &outcome);
            }
            outcome?;
            webhook_response.patch().map_err(|error| Failure::unavailable(error.to_string()))
        }
        Err(failure) => Err(failure),
    };
    match patch {
        Ok(patch) => Ok(patch.map_or(MutationOutcome::Unchanged, MutationOutcome::Patch)),
        Err(failure) => {
            webhook_call.observe_failure(AdmissionStep::Admit, begin.elapsed(), failure.code);
            if !hook.ignores_failure {
                return Err(failed(hook, &failure.why));
            }
            webhook_call.failed_open(MUTATING_FAILED_OPEN);
            Ok(MutationOutcome::FailedOpen)
        }
    }
}

/// `ErrCallingWebhook`
fn failed(hook: &Hook<'_>, why: &str) -> Status {
    Status::internal(format!("failed calling webhook \"{}\": {why}", hook.name))
}

/// The AdmissionReview that is sent to a webhook.
struct Review {
    api_version: String,
    uid: String,
    body: Bytes,
}

impl Review {
    /// # Errors
    /// 413 or 429 when this copy of the request exceeds the request's memory budget. The failure
    /// policy does not ignore this error, because the webhook did not fail.
    fn new(hook: &Hook<'_>, matched: &Matched) -> Result<Review, Status> {
        let uid = uuid::Uuid::new_v4().to_string();
        let api_version = format!("admission.k8s.io/{}", hook.review_version());
        let review =
            json!({"kind": "AdmissionReview", "apiVersion": api_version, "request": matched.input.review(&uid)});
        let body = Bytes::from(review.to_string());
        budget::charge(body.len() as u64)?;
        Ok(Review { api_version, uid, body })
    }
}

async fn exchange(webhook_call: &WebhookCall<'_>, review: Review) -> Result<WebhookResponse, Failure> {
    let hook = webhook_call.hook;
    let (target, shown) = target(hook);
    let url = format!("{shown}?timeout={}s", hook.timeout.as_secs());
    let call_failure = |why: String| Failure::unavailable(format!("failed to call webhook: {why}"));
    let post_failure = |why: &webhook::Error| call_failure(format!("Post \"{url}\": {}", why.cause()));
    let reached = webhook_call.services.reach_as(&target, &hook.client.ca_bundle, webhook_call.users);
    let (client, uri) = reached.map_err(|why| post_failure(&why))?;
    let uri =
        format!("{uri}?timeout={}s", hook.timeout.as_secs()).parse().map_err(|why| call_failure(format!("{why}")))?;
    let Review { api_version, uid, body } = review;
    let reply = client.post_json(&uri, body, hook.timeout, MAX_RESPONSE).await.map_err(|why| post_failure(&why))?;
    if let Some(why) = reply.refusal() {
        return Err(Failure { code: reply.status.as_u16(), ..call_failure(why) });
    }
    read(&reply.body, &api_version, &uid).map_err(|error| Failure::unavailable(error.to_string()))
}

/// Returns the target of a call and its URL for messages.
fn target(hook: &Hook<'_>) -> (WebhookTarget, String) {
    match (&hook.client.url, &hook.client.service) {
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

/// `VerifyAdmissionResponse`
fn read(body: &[u8], api_version: &str, uid: &str) -> Result<WebhookResponse, InvalidReview> {
    let mut review: Json = serde_json::from_slice(body)?;
    let text = |of: &Json, name: &str| of.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (version, kind) = (text(&review, "apiVersion"), text(&review, "kind"));
    if version != api_version || kind != "AdmissionReview" {
        return Err(InvalidReview::Kind { expected: api_version.to_owned(), api_version: version, kind });
    }
    let response = review.get_mut("response").map(Json::take).filter(Json::is_object);
    let response = response.ok_or(InvalidReview::NoResponse)?;
    let response_uid = text(&response, "uid");
    if api_version.ends_with("/v1") && response_uid != uid {
        return Err(InvalidReview::Uid { expected: uid.to_owned(), received: response_uid });
    }
    Ok(WebhookResponse { response })
}

impl WebhookResponse {
    /// Adds annotations and warnings to the request; fails if the webhook denied it.
    fn check_allowed(&self, hook: &Hook<'_>, subject: &PolicyRequest<'_>) -> Result<(), Status> {
        let annotations = self.response.get("auditAnnotations").and_then(Json::as_object);
        for (key, value) in annotations.into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            subject.attributes.trail.annotate(format!("{}/{key}", hook.name), value);
        }
        let warnings = self.response.get("warnings").and_then(Json::as_array);
        warnings.into_iter().flatten().filter_map(Json::as_str).for_each(|text| subject.attributes.warnings.add(text));
        if self.response.get("allowed").and_then(Json::as_bool) == Some(true) {
            return Ok(());
        }
        Err(self.refusal(hook))
    }

    /// `ToStatusErr`
    fn refusal(&self, hook: &Hook<'_>) -> Status {
        let status_field = |name: &str| self.response.get("status").and_then(|status| status.get(name));
        let text = |name: &str| status_field(name).and_then(Json::as_str).unwrap_or_default();
        let by = format!("admission webhook \"{}\" denied the request", hook.name);
        let message = match (text("message"), text("reason")) {
            ("", "") => format!("{by} without explanation"),
            ("", reason) => format!("{by}: {reason}"),
            (message, _) => format!("{by}: {message}"),
        };
        let code = status_field("code").and_then(Json::as_u64).and_then(|code| u16::try_from(code).ok()).unwrap_or(0);
        let mut status = Status::new(code.max(400), "", message);
        status.reason = REASONS.into_iter().find(|reason| *reason == text("reason")).unwrap_or_default();
        status
    }

    /// Returns the JSON patch, if there is one.
    fn patch(&self) -> Result<Option<Vec<u8>>, InvalidReview> {
        let text = |name: &str| self.response.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
        let Some(patch) = text("patch") else { return Ok(None) };
        match text("patchType") {
            Some(patch_type::JSON_PATCH) => {}
            None => return Err(InvalidReview::NoPatchType),
            Some(other) => return Err(InvalidReview::PatchType { found: other.to_owned() }),
        }
        Ok(Some(BASE64_STANDARD.decode(patch)?))
    }
}
