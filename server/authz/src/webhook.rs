//! Authorization by a webhook (upstream: `plugin/pkg/authorizer/webhook`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use machinery::selector::{FieldRequirement, LabelRequirement, Operator};
use options::AccessWebhookOptions;
use request::{BoxFuture, User};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use webhook::Reviewer;

use crate::Error;
use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules, ready};
use crate::conditions::MatchConditions;
use crate::metrics::Metrics;

/// The maximum number of cached decisions.
const MAX_CACHED: usize = 8192;
/// The maximum size of a cache key, in bytes; decisions with longer keys are not cached (upstream:
/// `maxControllerAttrCacheSize`).
const MAX_KEY: usize = 10_000;

/// Sends SubjectAccessReviews to a webhook and caches its decisions.
pub struct AccessWebhook {
    /// The name in metrics and logs.
    name: String,
    reviewer: Reviewer,
    /// `v1` or `v1beta1`.
    version: String,
    /// How long permissions are cached.
    allowed: Duration,
    /// How long other decisions are cached.
    refused: Duration,
    /// Whether a failed call is a denial.
    denies_on_error: bool,
    conditions: MatchConditions,
    cache: Mutex<HashMap<String, (Instant, Decision)>>,
    metrics: Metrics,
}

impl AccessWebhook {
    /// Creates the client of the configured webhook.
    ///
    /// # Errors
    /// When the kubeconfig, or a file that it names, is unusable.
    pub fn load(options: &AccessWebhookOptions, metrics: &Metrics) -> Result<Self, Error> {
        let AccessWebhookOptions { name, server, version, allowed, refused, timeout, denies_on_error, route } =
            options.clone();
        let path = format!("/apis/authorization.k8s.io/{version}/subjectaccessreviews");
        let reviewer = Reviewer::load(&server, &route, &path)?.with_timeout(timeout);
        let (conditions, cache, metrics) = (MatchConditions::default(), Mutex::default(), metrics.clone());
        Ok(AccessWebhook { name, reviewer, version, allowed, refused, denies_on_error, conditions, cache, metrics })
    }

    /// Restricts the webhook to requests that match these conditions.
    #[must_use]
    pub fn with_conditions(self, conditions: MatchConditions) -> Self {
        AccessWebhook { conditions, ..self }
    }

    fn on_error(&self) -> Decision {
        if self.denies_on_error { Decision::Deny("".into()) } else { Decision::NoOpinion("".into()) }
    }

    /// Returns the decision without a call, if the match conditions are false or fail to evaluate.
    fn decide_by_conditions(&self, attributes: &AuthorizationAttributes<'_>) -> Option<Decision> {
        if self.conditions.is_empty() {
            return None;
        }
        let (labels, begin) = (&["Webhook", self.name.as_str()], Instant::now());
        let matches = self.conditions.matches(&spec(attributes, "v1"));
        self.metrics.condition_seconds.with_label_values(labels).observe(begin.elapsed().as_secs_f64());
        match matches {
            Ok(true) => None,
            Ok(false) => {
                self.metrics.exclusions.with_label_values(labels).inc();
                Some(Decision::NoOpinion("".into()))
            }
            Err(why) => {
                tracing::warn!(
                    name = self.name,
                    %why,
                    "cannot evaluate the match conditions of the authorization webhook; the failure policy applies"
                );
                self.metrics.condition_errors.with_label_values(labels).inc();
                Some(self.on_error())
            }
        }
    }

    async fn decide(&self, attributes: &AuthorizationAttributes<'_>) -> Decision {
        if let Some(decision) = self.decide_by_conditions(attributes) {
            return decision;
        }
        let spec = spec(attributes, &self.version);
        let key = spec.to_string();
        if let Some(cached) = self.cached(&key) {
            return cached;
        }
        let api_version = format!("authorization.k8s.io/{}", self.version);
        let review = json!({"apiVersion": api_version, "kind": "SubjectAccessReview", "spec": spec});
        let begin = Instant::now();
        let response = self.reviewer.review(&review).await;
        let result = if response.is_ok() { "success" } else { "error" };
        self.metrics.called(&self.name, result, begin.elapsed());
        match response {
            Ok(review) => {
                let decision = read(&review["status"]);
                self.insert_cached(key, &decision);
                decision
            }
            Err(why) => {
                tracing::warn!(name = self.name, %why, "authorization webhook call failed; the failure policy applies");
                if !self.denies_on_error {
                    self.metrics.failed_open(&self.name, result);
                }
                self.on_error()
            }
        }
    }

    fn cached(&self, key: &str) -> Option<Decision> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(key).filter(|(until, _)| *until > Instant::now()).map(|(_, decision)| decision.clone())
    }

    fn insert_cached(&self, key: String, decision: &Decision) {
        let time = if decision.is_allowed() { self.allowed } else { self.refused };
        if time.is_zero() || key.len() > MAX_KEY {
            return;
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if cache.len() >= MAX_CACHED {
            cache.retain(|_, (until, _)| *until > now);
        }
        if cache.len() < MAX_CACHED {
            cache.insert(key, (now + time, decision.clone()));
        }
    }
}

fn read(status: &Value) -> Decision {
    let reason = status["reason"].as_str().unwrap_or_default().into();
    match (status["allowed"] == true, status["denied"] == true) {
        (true, true) => {
            tracing::warn!("authorization webhook both allowed and denied the same request; denied");
            Decision::Deny("".into())
        }
        (true, false) => Decision::Allow(reason),
        (false, true) => Decision::Deny(reason),
        (false, false) => Decision::NoOpinion(reason),
    }
}

/// The spec of a SubjectAccessReview.
fn spec(attributes: &AuthorizationAttributes<'_>, version: &str) -> Value {
    let user = attributes.user;
    let mut spec = Map::new();
    match attributes.is_resource_request {
        true => spec.insert("resourceAttributes".into(), resource(attributes)),
        false => {
            spec.insert("nonResourceAttributes".into(), texts([("path", attributes.path), ("verb", &attributes.verb)]))
        }
    };
    spec.insert("user".into(), user.name.clone().into());
    if !user.groups.is_empty() {
        // The field is named `group` in v1beta1 and `groups` in v1.
        spec.insert(if version == "v1beta1" { "group" } else { "groups" }.into(), user.groups.clone().into());
    }
    if !user.extra.is_empty() {
        spec.insert("extra".into(), json!(user.extra));
    }
    if !user.uid.is_empty() {
        spec.insert("uid".into(), user.uid.clone().into());
    }
    Value::Object(spec)
}

fn resource(attributes: &AuthorizationAttributes<'_>) -> Value {
    let mut out = texts([
        ("namespace", attributes.namespace),
        ("verb", &attributes.verb),
        ("group", attributes.group),
        ("version", attributes.version),
        ("resource", attributes.resource),
        ("subresource", attributes.subresource),
        ("name", attributes.name),
    ]);
    let fields: Vec<Value> = attributes.selectors.fields.iter().map(field).collect();
    if !fields.is_empty() {
        out["fieldSelector"] = json!({ "requirements": fields });
    }
    let labels: Vec<Value> = attributes.selectors.labels.iter().filter_map(label).collect();
    if !labels.is_empty() {
        out["labelSelector"] = json!({ "requirements": labels });
    }
    out
}

fn texts<const N: usize>(pairs: [(&str, &str); N]) -> Value {
    let present = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    Value::Object(present.map(|(key, value)| (key.to_owned(), value.into())).collect())
}

fn field(term: &FieldRequirement) -> Value {
    json!({"key": term.field, "operator": if term.equal { "In" } else { "NotIn" }, "values": [term.value]})
}

/// Converts a term to a requirement of the review. `None` for ordered comparisons, which the API does not have.
fn label(term: &LabelRequirement) -> Option<Value> {
    let values = term.values();
    Some(match term.operator() {
        Operator::In | Operator::Equals | Operator::DoubleEquals => {
            json!({"key": term.key(), "operator": "In", "values": values})
        }
        Operator::NotIn | Operator::NotEquals => json!({"key": term.key(), "operator": "NotIn", "values": values}),
        Operator::Exists => json!({"key": term.key(), "operator": "Exists"}),
        Operator::DoesNotExist => json!({"key": term.key(), "operator": "DoesNotExist"}),
        _ => return None,
    })
}

impl Authorizer for AccessWebhook {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(self.decide(attributes))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        let errors = vec!["webhook authorizer does not support user rule resolution".into()];
        ready(UserRules { rules: Vec::new(), incomplete: true, errors })
    }
}
