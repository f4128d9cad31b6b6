//! Asking a webhook: the review that is sent and what is made of the answer.

use apimachinery::meta::v1::status_reason;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use generated::admissionregistration::v1::patch_type;
use machinery::budget;
use machinery::status::Status;
use serde_json::{Value as Json, json};
use tokio::time::Instant;
use webhook::Target;

use super::hook::{Hook, Matched};
use super::record::{Called, MUTATING_FAILED_OPEN, VALIDATING_FAILED_OPEN};
use crate::admission::metrics::Step;
use crate::admission::policies::Subject;

/// The longest answer that is read.
const MAX_ANSWER: usize = 3 << 20;
const HTTPS: i32 = 443;
/// Reasons that webhooks may give (`metav1.StatusReason`); others are left out.
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

/// What a webhook answered.
struct Answer {
    response: Json,
}

/// Why there is no answer, or none that can be used.
struct Failure {
    why: String,
    /// The code that the webhook answered with, or 503.
    code: u16,
}

impl Failure {
    fn unavailable(why: String) -> Self {
        Failure { why, code: 503 }
    }
}

/// Whether the object may pass.
pub async fn validating(called: &Called<'_>, matched: &Matched, subject: &Subject<'_>) -> Result<(), Status> {
    let begin = Instant::now();
    let review = Review::new(called.hook, matched)?;
    let failure = match exchange(called, review, subject).await {
        Ok(answer) => {
            let judged = answer.judge(called.hook, subject);
            called.answered(Step::Validate, begin.elapsed(), &judged);
            return judged;
        }
        Err(failure) => failure,
    };
    called.unanswered(Step::Validate, begin.elapsed(), failure.code);
    if !called.hook.ignores_failure {
        return Err(failed(called.hook, &failure.why));
    }
    called.failed_open(VALIDATING_FAILED_OPEN);
    Ok(())
}

/// What a webhook wants done to an object.
pub enum Wish {
    /// It was asked, and wants nothing.
    Nothing,
    /// It could not be asked, which does not matter.
    Unknown,
    /// A JSON patch.
    Patch(Vec<u8>),
}

/// What the webhook wants done.
pub async fn mutating(called: &Called<'_>, matched: &Matched, subject: &Subject<'_>) -> Result<Wish, Status> {
    let (hook, begin) = (called.hook, Instant::now());
    let patch = match exchange(called, Review::new(hook, matched)?, subject).await {
        Ok(answer) => {
            let judged = answer.judge(hook, subject);
            if judged.is_err() {
                called.answered(Step::Admit, begin.elapsed(), &judged);
            }
            judged?;
            answer.patch().map_err(Failure::unavailable)
        }
        Err(failure) => Err(failure),
    };
    match patch {
        Ok(patch) => Ok(patch.map_or(Wish::Nothing, Wish::Patch)),
        Err(failure) => {
            called.unanswered(Step::Admit, begin.elapsed(), failure.code);
            if !hook.ignores_failure {
                return Err(failed(hook, &failure.why));
            }
            called.failed_open(MUTATING_FAILED_OPEN);
            Ok(Wish::Unknown)
        }
    }
}

/// `ErrCallingWebhook`
fn failed(hook: &Hook<'_>, why: &str) -> Status {
    Status::internal(format!("failed calling webhook \"{}\": {why}", hook.name))
}

/// The review that a webhook is sent.
struct Review {
    api_version: String,
    uid: String,
    body: Bytes,
}

impl Review {
    /// # Errors
    /// 413 or 429 when the copy for this webhook takes more memory than the request may. That is no failure of the webhook, which its
    /// failure policy could ignore.
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

async fn exchange(asked: &Called<'_>, review: Review, subject: &Subject<'_>) -> Result<Answer, Failure> {
    let hook = asked.hook;
    let (target, shown) = target(hook);
    let url = format!("{shown}?timeout={}s", hook.timeout.as_secs());
    let told = |why: String| Failure::unavailable(format!("failed to call webhook: {why}"));
    let called = |why: &webhook::Error| told(format!("Post \"{url}\": {}", why.cause()));
    let services = &subject.environment.services;
    let reached = services.reach_as(&target, &hook.client.ca_bundle, asked.users);
    let (client, uri) = reached.map_err(|why| called(&why))?;
    let uri = format!("{uri}?timeout={}s", hook.timeout.as_secs()).parse().map_err(|why| told(format!("{why}")))?;
    let Review { api_version, uid, body } = review;
    let reply = client.post_json(&uri, body, hook.timeout, MAX_ANSWER).await.map_err(|why| called(&why))?;
    if let Some(why) = reply.refusal() {
        return Err(Failure { code: reply.status.as_u16(), ..told(why) });
    }
    read(&reply.body, &api_version, &uid).map_err(Failure::unavailable)
}

/// Whom to call, and how that is shown.
fn target(hook: &Hook<'_>) -> (Target, String) {
    match (&hook.client.url, &hook.client.service) {
        (None, Some(service)) => {
            let port = service.port.unwrap_or(HTTPS);
            let path = service.path.clone().unwrap_or_default();
            let (name, namespace) = (&service.name, &service.namespace);
            let shown = format!("https://{name}.{namespace}.svc:{port}/{}", path.trim_start_matches('/'));
            (Target::Service { namespace: namespace.clone(), name: name.clone(), port, path }, shown)
        }
        (url, _) => {
            let url = url.clone().unwrap_or_default();
            (Target::Url(url.clone()), url)
        }
    }
}

/// `VerifyAdmissionResponse`
fn read(body: &[u8], api_version: &str, uid: &str) -> Result<Answer, String> {
    let mut review: Json =
        serde_json::from_slice(body).map_err(|why| format!("couldn't get version/kind; json parse error: {why}"))?;
    let text = |of: &Json, name: &str| of.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let got = (text(&review, "apiVersion"), text(&review, "kind"));
    if got.0 != api_version || got.1 != "AdmissionReview" {
        let (version, kind) = got;
        return Err(format!(
            "expected webhook response of {api_version}, Kind=AdmissionReview, got {version}, Kind={kind}"
        ));
    }
    let response = review.get_mut("response").map(Json::take).filter(Json::is_object);
    let response = response.ok_or("webhook response was absent")?;
    let said = text(&response, "uid");
    if api_version.ends_with("/v1") && said != uid {
        return Err(format!("expected response.uid={uid:?}, got {said:?}"));
    }
    Ok(Answer { response })
}

impl Answer {
    /// Passes annotations and warnings on, and a refusal.
    fn judge(&self, hook: &Hook<'_>, subject: &Subject<'_>) -> Result<(), Status> {
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
        let said = |name: &str| self.response.get("status").and_then(|status| status.get(name));
        let text = |name: &str| said(name).and_then(Json::as_str).unwrap_or_default();
        let by = format!("admission webhook \"{}\" denied the request", hook.name);
        let message = match (text("message"), text("reason")) {
            ("", "") => format!("{by} without explanation"),
            ("", reason) => format!("{by}: {reason}"),
            (message, _) => format!("{by}: {message}"),
        };
        let code = said("code").and_then(Json::as_u64).and_then(|code| u16::try_from(code).ok()).unwrap_or(0);
        let mut status = Status::new(code.max(400), "", message);
        status.reason = REASONS.into_iter().find(|reason| *reason == text("reason")).unwrap_or_default();
        status
    }

    /// The JSON patch, when there is one.
    fn patch(&self) -> Result<Option<Vec<u8>>, String> {
        let text = |name: &str| self.response.get(name).and_then(Json::as_str).filter(|said| !said.is_empty());
        let Some(patch) = text("patch") else { return Ok(None) };
        match text("patchType") {
            Some(patch_type::JSON_PATCH) => {}
            None => return Err("webhook returned response.patch but not response.patchType".into()),
            Some(other) => {
                return Err(format!("webhook returned invalid response.patchType of {other:?}"));
            }
        }
        BASE64_STANDARD.decode(patch).map(Some).map_err(|why| why.to_string())
    }
}
