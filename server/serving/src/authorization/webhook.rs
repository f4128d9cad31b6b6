//! Rights that a server of the operator's knows (upstream: `plugin/pkg/authorizer/webhook`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use machinery::selector::{FieldRequirement, LabelRequirement, Operator};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::conditions::Conditions;
use super::{Attributes, Authorizer, Decision, Metrics, Rules, ready};
use crate::Error;
use crate::handler::BoxFuture;
use crate::options::AccessWebhookOptions;
use crate::reviewer::Reviewer;
use crate::user::User;

/// How many answers are remembered.
const REMEMBERED: usize = 8192;
/// A wish whose text is longer than this is not remembered (upstream: `maxControllerAttrCacheSize`).
const MAX_KEY: usize = 10_000;

/// Has wishes reviewed, and remembers the answers for a while.
pub struct AccessWebhook {
    /// Tells it apart in metrics.
    name: String,
    reviewer: Reviewer,
    /// `v1` or `v1beta1`.
    version: String,
    allowed: Duration,
    refused: Duration,
    /// Whether no answer is a refusal.
    denies_on_error: bool,
    conditions: Conditions,
    cache: Mutex<HashMap<String, (Instant, Decision)>>,
    metrics: Metrics,
}

impl AccessWebhook {
    /// The server of the options.
    pub fn load(options: &AccessWebhookOptions, metrics: &Metrics) -> Result<Self, Error> {
        let AccessWebhookOptions { name, server, version, allowed, refused, timeout, denies_on_error, route } =
            options.clone();
        let path = format!("/apis/authorization.k8s.io/{version}/subjectaccessreviews");
        let reviewer = Reviewer::load(&server, &route, &path)?.with_timeout(timeout);
        let (conditions, cache, metrics) = (Conditions::default(), Mutex::default(), metrics.clone());
        Ok(AccessWebhook { name, reviewer, version, allowed, refused, denies_on_error, conditions, cache, metrics })
    }

    /// Asks only about wishes that meet these.
    #[must_use]
    pub fn with_conditions(self, conditions: Conditions) -> Self {
        AccessWebhook { conditions, ..self }
    }

    fn on_error(&self) -> Decision {
        if self.denies_on_error { Decision::Deny("".into()) } else { Decision::NoOpinion("".into()) }
    }

    /// What is said without asking, when conditions are not met or go wrong.
    fn passed_over(&self, wish: &Attributes<'_>) -> Option<Decision> {
        if self.conditions.is_empty() {
            return None;
        }
        let (labels, begin) = (&["Webhook", self.name.as_str()], Instant::now());
        let hold = self.conditions.hold(&spec(wish, "v1"));
        self.metrics.condition_seconds.with_label_values(labels).observe(begin.elapsed().as_secs_f64());
        match hold {
            Ok(true) => None,
            Ok(false) => {
                self.metrics.exclusions.with_label_values(labels).inc();
                Some(Decision::NoOpinion("".into()))
            }
            Err(why) => {
                tracing::warn!(name = self.name, why, "match conditions of an authorization webhook");
                self.metrics.condition_errors.with_label_values(labels).inc();
                Some(self.on_error())
            }
        }
    }

    async fn decide(&self, wish: &Attributes<'_>) -> Decision {
        if let Some(decision) = self.passed_over(wish) {
            return decision;
        }
        let spec = spec(wish, &self.version);
        let key = spec.to_string();
        if let Some(known) = self.known(&key) {
            return known;
        }
        let api_version = format!("authorization.k8s.io/{}", self.version);
        let review = json!({"apiVersion": api_version, "kind": "SubjectAccessReview", "spec": spec});
        let begin = Instant::now();
        let answer = self.reviewer.review(&review).await;
        let result = if answer.is_ok() { "success" } else { "error" };
        self.metrics.called(&self.name, result, begin.elapsed());
        match answer {
            Ok(answer) => {
                let decision = read(&answer["status"]);
                self.remember(key, &decision);
                decision
            }
            Err(why) => {
                tracing::warn!(name = self.name, why, "the authorization webhook did not answer");
                if !self.denies_on_error {
                    self.metrics.failed_open(&self.name, result);
                }
                self.on_error()
            }
        }
    }

    fn known(&self, key: &str) -> Option<Decision> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(key).filter(|(until, _)| *until > Instant::now()).map(|(_, decision)| decision.clone())
    }

    fn remember(&self, key: String, decision: &Decision) {
        let time = if decision.is_allowed() { self.allowed } else { self.refused };
        if time.is_zero() || key.len() > MAX_KEY {
            return;
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if cache.len() >= REMEMBERED {
            cache.retain(|_, (until, _)| *until > now);
        }
        if cache.len() < REMEMBERED {
            cache.insert(key, (now + time, decision.clone()));
        }
    }
}

fn read(status: &Value) -> Decision {
    let reason = status["reason"].as_str().unwrap_or_default().into();
    match (status["allowed"] == true, status["denied"] == true) {
        (true, true) => {
            tracing::warn!("the authorization webhook allowed and denied the same wish");
            Decision::Deny("".into())
        }
        (true, false) => Decision::Allow(reason),
        (false, true) => Decision::Deny(reason),
        (false, false) => Decision::NoOpinion(reason),
    }
}

/// The specification of a SubjectAccessReview.
fn spec(wish: &Attributes<'_>, version: &str) -> Value {
    let user = wish.user;
    let mut spec = Map::new();
    match wish.is_resource_request {
        true => spec.insert("resourceAttributes".into(), resource(wish)),
        false => spec.insert("nonResourceAttributes".into(), texts([("path", wish.path), ("verb", &wish.verb)])),
    };
    spec.insert("user".into(), user.name.clone().into());
    if !user.groups.is_empty() {
        // The field changed its name after v1beta1.
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

fn resource(wish: &Attributes<'_>) -> Value {
    let mut out = texts([
        ("namespace", wish.namespace),
        ("verb", &wish.verb),
        ("group", wish.group),
        ("version", wish.version),
        ("resource", wish.resource),
        ("subresource", wish.subresource),
        ("name", wish.name),
    ]);
    let fields: Vec<Value> = wish.selectors.fields.iter().map(field).collect();
    if !fields.is_empty() {
        out["fieldSelector"] = json!({ "requirements": fields });
    }
    let labels: Vec<Value> = wish.selectors.labels.iter().filter_map(label).collect();
    if !labels.is_empty() {
        out["labelSelector"] = json!({ "requirements": labels });
    }
    out
}

fn texts<const N: usize>(pairs: [(&str, &str); N]) -> Value {
    let said = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    Value::Object(said.map(|(key, value)| (key.to_owned(), value.into())).collect())
}

fn field(term: &FieldRequirement) -> Value {
    json!({"key": term.field, "operator": if term.equal { "In" } else { "NotIn" }, "values": [term.value]})
}

/// A term as a review says it; the ordered comparisons have no form there.
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
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(self.decide(attributes))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, Rules> {
        let errors = vec!["webhook authorizer does not support user rule resolution".into()];
        ready(Rules { rules: Vec::new(), incomplete: true, errors })
    }
}
