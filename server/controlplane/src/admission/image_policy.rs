//! `ImagePolicyWebhook`: a server of the operator's says which images may run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use endpoints::Attributes;
use generated::core::v1::Pod;
use machinery::reflect::Owned;
use machinery::status::Status;
use serde_json::{Map, Value as Json, json};
use serving::options::ReviewServer;
use serving::reviewer::Reviewer;
use webhook::Route;

use super::configuration::{Configurations, failed};
use super::{body, forbidden};

const PLUGIN: &str = "ImagePolicyWebhook";
/// What the annotations of the audit log begin with.
const AUDIT_PREFIX: &str = "imagepolicywebhook.image-policy.k8s.io/";
/// What the annotations of pods that are shown to the server have in them.
const HINT: &str = ".image-policy.k8s.io/";
/// How many answers are remembered.
const REMEMBERED: usize = 1024;

/// The server, and what it said.
pub struct ImagePolicy {
    reviewer: Reviewer,
    allowed: Duration,
    denied: Duration,
    /// Whether pods pass when it cannot be asked.
    passes_on_failure: bool,
    answers: Mutex<HashMap<String, (Instant, Json)>>,
}

impl ImagePolicy {
    /// By its configuration, without which it cannot run.
    pub fn load(configurations: &Configurations) -> Result<Self, String> {
        let document = configurations.read_unversioned(PLUGIN)?.ok_or_else(|| failed(PLUGIN, "no config specified"))?;
        let said = &document["imagePolicy"];
        let time = |name: &str, scale: Duration, least: Duration, most: Duration, default: Duration| {
            duration(&said[name], scale, least, most, default).map_err(|why| failed(PLUGIN, why))
        };
        let (second, minutes) = (Duration::from_secs(1), |minutes: u64| Duration::from_secs(60 * minutes));
        let millisecond = Duration::from_millis(1);
        let pause = time("retryBackoff", millisecond, Duration::from_nanos(1), minutes(5), millisecond * 500)?;
        let allowed = time("allowTTL", second, second, minutes(30), minutes(5))?;
        let denied = time("denyTTL", second, second, minutes(30), second * 30)?;
        let file = said["kubeConfigFile"].as_str().unwrap_or_default();
        let server = ReviewServer::Webhook(file.into());
        let reviewer =
            Reviewer::load(&server, &Route::DIRECT, "").map_err(|why| failed(PLUGIN, why))?.with_pause(pause);
        let passes_on_failure = said["defaultAllow"] == true;
        Ok(ImagePolicy { reviewer, allowed, denied, passes_on_failure, answers: Mutex::default() })
    }

    /// Refuses pods with images that the server does not want.
    pub async fn validate(&self, attributes: &Attributes, object: &Owned) -> Result<(), Status> {
        let pod = body::<Pod>(object)?;
        let spec = spec(attributes, pod);
        let key = spec.to_string();
        let status = match self.known(&key) {
            Some(status) => status,
            None => {
                let review = json!({"kind": "ImageReview", "apiVersion": "imagepolicy.k8s.io/v1alpha1",
                    "metadata": {}, "spec": spec, "status": {"allowed": false}});
                match self.reviewer.review(&review).await {
                    Ok(answer) => self.remember(key, &answer["status"]),
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

    fn known(&self, key: &str) -> Option<Json> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(key).filter(|(until, _)| *until > Instant::now()).map(|(_, status)| status.clone())
    }

    fn remember(&self, key: String, status: &Json) -> Json {
        let now = Instant::now();
        let time = if status["allowed"] == true { self.allowed } else { self.denied };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= REMEMBERED {
            answers.retain(|_, (until, _)| *until > now);
        }
        if answers.len() < REMEMBERED && !time.is_zero() {
            answers.insert(key, (now + time, status.clone()));
        }
        status.clone()
    }
}

/// What the server is shown.
fn spec(attributes: &Attributes, pod: &Pod) -> Json {
    let images: Vec<&String> = match attributes.subresource.as_str() {
        "" => pod.spec.containers.iter().chain(&pod.spec.init_containers).map(|c| &c.image).collect(),
        _ => pod.spec.ephemeral_containers.iter().map(|c| &c.ephemeral_container_common.image).collect(),
    };
    let containers: Vec<Json> = images.into_iter().map(|image| json!({"image": image})).collect();
    let hints = pod.metadata.annotations.iter().filter(|(key, _)| key.contains(HINT));
    let hints: Map<String, Json> = hints.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    let mut spec = json!({"containers": containers});
    if !hints.is_empty() {
        spec["annotations"] = hints.into();
    }
    spec["namespace"] = attributes.namespace.as_str().into();
    spec
}

/// A time of the configuration: -1 is none, 0 the default (`normalizeConfigDuration`).
fn duration(
    said: &Json,
    scale: Duration,
    least: Duration,
    most: Duration,
    default: Duration,
) -> Result<Duration, String> {
    let number = match said {
        Json::Null => 0,
        said => said.as_i64().ok_or_else(|| format!("{said} is no number"))?,
    };
    match number {
        -1 => Ok(Duration::ZERO),
        0 => Ok(default),
        number => {
            let shown = |time: Duration| machinery::scalar::Duration::from_nanos(time.as_nanos() as i64).to_string();
            let time = u32::try_from(number).ok().and_then(|number| scale.checked_mul(number));
            let time = time.filter(|time| (least..=most).contains(time));
            time.ok_or_else(|| format!("valid value is between {} and {}, got {number}", shown(least), shown(most)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_configuration() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let check = |said: Json, expect: Result<u64, &str>| {
            let time = duration(&said, second, second, minute, second * 30).map(|time| time.as_secs());
            assert_eq!(time, expect.map_err(str::to_owned), "{said}");
        };
        check(Json::Null, Ok(30));
        check(json!(0), Ok(30));
        check(json!(-1), Ok(0));
        check(json!(45), Ok(45));
        check(json!(61), Err("valid value is between 1s and 1m0s, got 61"));
    }
}
