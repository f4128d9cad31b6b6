//! `ImagePolicyWebhook`: a webhook of the operator decides which images are allowed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use endpoints::AdmissionAttributes;
use generated::core::v1::Pod;
use machinery::reflect::Owned;
use machinery::status::Status;
use serde_json::{Map, Value as Json, json};
use webhook::{ReviewServer, Reviewer, Route};

use super::configuration::{Configurations, failed};
use super::{body, forbidden};
use crate::{Error, PluginError};

const PLUGIN: &str = "ImagePolicyWebhook";
/// Prefix of the audit annotations.
const AUDIT_PREFIX: &str = "imagepolicywebhook.image-policy.k8s.io/";
/// Substring of the pod annotations that are sent to the webhook.
const ANNOTATION_INFIX: &str = ".image-policy.k8s.io/";
/// Maximum number of cached responses.
const MAX_CACHED_RESPONSES: usize = 1024;

/// The webhook and its cached responses.
pub struct ImagePolicy {
    reviewer: Reviewer,
    allowed: Duration,
    denied: Duration,
    /// Whether to admit pods when the webhook call fails.
    passes_on_failure: bool,
    responses: Mutex<HashMap<String, (Instant, Json)>>,
}

impl ImagePolicy {
    /// Loads the plugin from its configuration, which is required.
    ///
    /// # Errors
    /// When the configuration is missing or invalid.
    pub fn load(configurations: &Configurations) -> Result<Self, Error> {
        let document = configurations.read_unversioned(PLUGIN)?.ok_or_else(|| failed(PLUGIN, PluginError::Missing))?;
        let config = &document["imagePolicy"];
        let time = |name: &str, scale: Duration, least: Duration, most: Duration, default: Duration| {
            duration(&config[name], scale, least, most, default).map_err(|why| failed(PLUGIN, why))
        };
        let (second, minutes) = (Duration::from_secs(1), |minutes: u64| Duration::from_secs(60 * minutes));
        let millisecond = Duration::from_millis(1);
        let pause = time("retryBackoff", millisecond, Duration::from_nanos(1), minutes(5), millisecond * 500)?;
        let allowed = time("allowTTL", second, second, minutes(30), minutes(5))?;
        let denied = time("denyTTL", second, second, minutes(30), second * 30)?;
        let file = config["kubeConfigFile"].as_str().unwrap_or_default();
        let server = ReviewServer::Webhook(file.into());
        let reviewer =
            Reviewer::load(&server, &Route::DIRECT, "").map_err(|why| failed(PLUGIN, why.into()))?.with_pause(pause);
        let passes_on_failure = config["defaultAllow"] == true;
        Ok(ImagePolicy { reviewer, allowed, denied, passes_on_failure, responses: Mutex::default() })
    }

    /// Rejects pods with images that the webhook denies.
    pub async fn validate(&self, attributes: &AdmissionAttributes, object: &Owned) -> Result<(), Status> {
        let pod = body::<Pod>(object)?;
        let spec = spec(attributes, pod);
        let key = spec.to_string();
        let status = match self.cached(&key) {
            Some(status) => status,
            None => {
                let review = json!({"kind": "ImageReview", "apiVersion": "imagepolicy.k8s.io/v1alpha1",
                    "metadata": {}, "spec": spec, "status": {"allowed": false}});
                match self.reviewer.review(&review).await {
                    Ok(answer) => self.cache(key, &answer["status"]),
                    Err(_) if self.passes_on_failure => {
                        attributes.trail.annotate(format!("{AUDIT_PREFIX}failed-open"), "true");
                        return Ok(());
                    }
                    Err(why) => return Err(forbidden(attributes, why)),
                }
            }
        };
        for (key, value) in status["auditAnnotations"].as_object().into_iter().flatten() {
            attributes.trail.annotate(format!("{AUDIT_PREFIX}{key}"), value.as_str().unwrap_or_default());
        }
        match (status["allowed"] == true, status["reason"].as_str().unwrap_or_default()) {
            (true, _) => Ok(()),
            (false, "") => Err(forbidden(attributes, "one or more images rejected by webhook backend")),
            (false, why) => {
                Err(forbidden(attributes, format!("image policy webhook backend denied one or more images: {why}")))
            }
        }
    }

    fn cached(&self, key: &str) -> Option<Json> {
        let responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        responses.get(key).filter(|(until, _)| *until > Instant::now()).map(|(_, status)| status.clone())
    }

    fn cache(&self, key: String, status: &Json) -> Json {
        let now = Instant::now();
        let time = if status["allowed"] == true { self.allowed } else { self.denied };
        let mut responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        if responses.len() >= MAX_CACHED_RESPONSES {
            responses.retain(|_, (until, _)| *until > now);
        }
        if responses.len() < MAX_CACHED_RESPONSES && !time.is_zero() {
            responses.insert(key, (now + time, status.clone()));
        }
        status.clone()
    }
}

/// Builds the `spec` of the `ImageReview` that is sent to the webhook.
fn spec(attributes: &AdmissionAttributes, pod: &Pod) -> Json {
    let images: Vec<&String> = match attributes.subresource.as_str() {
        "" => pod.spec.containers.iter().chain(&pod.spec.init_containers).map(|c| &c.image).collect(),
        _ => pod.spec.ephemeral_containers.iter().map(|c| &c.ephemeral_container_common.image).collect(),
    };
    let containers: Vec<Json> = images.into_iter().map(|image| json!({"image": image})).collect();
    let annotations = pod.metadata.annotations.iter().filter(|(key, _)| key.contains(ANNOTATION_INFIX));
    let annotations: Map<String, Json> = annotations.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    let mut spec = json!({"containers": containers});
    if !annotations.is_empty() {
        spec["annotations"] = annotations.into();
    }
    spec["namespace"] = attributes.namespace.as_str().into();
    spec
}

/// Parses a duration of the configuration: -1 is zero, 0 the default (`normalizeConfigDuration`).
fn duration(
    value: &Json,
    scale: Duration,
    least: Duration,
    most: Duration,
    default: Duration,
) -> Result<Duration, PluginError> {
    let number = match value {
        Json::Null => 0,
        value => value.as_i64().ok_or_else(|| PluginError::NotANumber { value: value.clone() })?,
    };
    match number {
        -1 => Ok(Duration::ZERO),
        0 => Ok(default),
        number => {
            let time = u32::try_from(number).ok().and_then(|number| scale.checked_mul(number));
            let time = time.filter(|time| (least..=most).contains(time));
            time.ok_or(PluginError::Duration { least, most, number })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_of_the_configuration() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let check = |value: Json, expect: Result<u64, &str>| {
            let time = duration(&value, second, second, minute, second * 30).map(|time| time.as_secs());
            let time = time.map_err(|error| error.to_string());
            assert_eq!(time, expect.map_err(str::to_owned), "{value}");
        };
        check(Json::Null, Ok(30));
        check(json!(0), Ok(30));
        check(json!(-1), Ok(0));
        check(json!(45), Ok(45));
        check(json!(61), Err("valid value is between 1s and 1m0s, got 61"));
    }
}
