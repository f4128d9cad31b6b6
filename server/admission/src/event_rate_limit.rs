//! `EventRateLimit`: limits the rate of events for the server and per namespace, user, and source.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use apimachinery::meta::v1::status_reason;
use endpoints::AdmissionAttributes;
use generated::core::v1::Event;
use generated::eventratelimit::v1alpha1::{Configuration, Limit};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::json_name;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::configuration::{Configurations, failed, refused};
use super::joined;
use crate::{Error, PluginError};

const PLUGIN: &str = "EventRateLimit";
const GROUP: &str = "eventratelimit.admission.k8s.io";
const TYPES: [&str; 4] = ["Namespace", "Server", "SourceAndObject", "User"];
/// Default number of token buckets per limit.
const BUCKETS: usize = 4096;

/// The configured limits.
pub struct EventRateLimit(Vec<Enforcer>);

/// One limit and its token buckets by key.
struct Enforcer {
    of: &'static str,
    qps: f64,
    burst: f64,
    max_buckets: usize,
    buckets: Mutex<HashMap<String, Bucket>>,
}

/// A token bucket: the remaining tokens and the time of their computation.
struct Bucket {
    left: f64,
    at: Instant,
}

impl EventRateLimit {
    /// Loads the limits from the plugin's configuration, which is required.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn load(configurations: &Configurations) -> Result<Self, Error> {
        let config: Option<Configuration> = configurations.read(PLUGIN, GROUP, &["v1alpha1"], "Configuration")?;
        let limits = config.unwrap_or_default().limits;
        refused(PLUGIN, validate_limits(&limits))?;
        let unknown = |limit: &Limit| failed(PLUGIN, PluginError::LimitType(limit.r#type.clone()));
        let enforcers = limits.iter().map(|limit| Enforcer::new(limit).ok_or_else(|| unknown(limit)));
        enforcers.collect::<Result<_, _>>().map(EventRateLimit)
    }

    /// Rejects an event if any token bucket is empty. It takes a token from every bucket that has
    /// one.
    pub fn validate(&self, attributes: &AdmissionAttributes, object: &Owned) -> Result<(), Status> {
        if attributes.dry_run {
            return Ok(());
        }
        let now = Instant::now();
        let refusals: Vec<String> = self
            .0
            .iter()
            .filter_map(|enforcer| {
                let key = enforcer.key(attributes, object);
                let full = !enforcer.try_take(&key, now);
                full.then(|| format!("limit reached on type {} for key {key}", enforcer.of))
            })
            .collect();
        match refusals.is_empty() {
            true => Ok(()),
            false => Err(Status::new(429, status_reason::TOO_MANY_REQUESTS, joined(&refusals))),
        }
    }
}

/// `ValidateConfiguration`
fn validate_limits(limits: &[Limit]) -> Vec<FieldError> {
    let path = Path::new(json_name!(Configuration.limits));
    if limits.is_empty() {
        return vec![FieldError::invalid(&path, BadValue::None, "must not be empty")];
    }
    let mut errors = Vec::new();
    for (i, limit) in limits.iter().enumerate() {
        let path = path.index(i);
        if !TYPES.contains(&limit.r#type.as_str()) {
            errors.push(FieldError::not_supported(
                &path.child(json_name!(Limit.r#type)),
                BadValue::json_string(&limit.r#type),
                &TYPES,
            ));
        }
        for (name, value) in [("burst", limit.burst), ("qps", limit.qps)] {
            if value <= 0 {
                errors.push(FieldError::invalid(&path.child(name), BadValue::Int(value.into()), "must be positive"));
            }
        }
        if limit.r#type != "Server" && limit.cache_size < 0 {
            let value = BadValue::Int(limit.cache_size.into());
            errors.push(FieldError::invalid(&path.child(json_name!(Limit.cache_size)), value, "must not be negative"));
        }
    }
    errors
}

impl Enforcer {
    fn new(limit: &Limit) -> Option<Self> {
        let max_buckets = usize::try_from(limit.cache_size).ok().filter(|size| *size > 0).unwrap_or(BUCKETS);
        Some(Enforcer {
            of: TYPES.into_iter().find(|of| *of == limit.r#type)?,
            qps: f64::from(limit.qps),
            burst: f64::from(limit.burst),
            max_buckets,
            buckets: Mutex::default(),
        })
    }

    /// Returns the key of the token bucket for an event.
    fn key(&self, attributes: &AdmissionAttributes, object: &Owned) -> String {
        match (self.of, object.downcast_ref::<Event>()) {
            ("Namespace", _) => attributes.namespace.clone(),
            ("User", _) => attributes.user.name.clone(),
            ("SourceAndObject", Some(event)) => {
                let (source, of) = (&event.source, &event.involved_object);
                [&source.component, &source.host, &of.kind, &of.namespace, &of.name, &of.uid, &of.api_version]
                    .map(String::as_str)
                    .concat()
            }
            _ => String::new(),
        }
    }

    fn try_take(&self, key: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if !buckets.contains_key(key) && buckets.len() >= self.max_buckets {
            let oldest = buckets.iter().min_by_key(|(_, bucket)| bucket.at).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| buckets.remove(&oldest));
        }
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket { left: self.burst, at: now });
        bucket.left = (bucket.left + now.duration_since(bucket.at).as_secs_f64() * self.qps).min(self.burst);
        bucket.at = now;
        let try_take = bucket.left >= 1.0;
        if try_take {
            bucket.left -= 1.0;
        }
        try_take
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn limit(of: &str, qps: i32, burst: i32, cache_size: i32) -> Limit {
        Limit { r#type: of.into(), qps, burst, cache_size }
    }

    #[test]
    fn refills_token_buckets() {
        let begin = Instant::now();
        let enforcer = Enforcer::new(&limit("Namespace", 2, 3, 2)).unwrap();
        let try_take = |key: &str, after: u64| enforcer.try_take(key, begin + Duration::from_millis(after));
        assert_eq!([0, 0, 0, 0, 400, 500].map(|after| try_take("a", after)), [true, true, true, false, false, true]);
        assert_eq!([0, 0, 0, 0].map(|_| try_take("b", 600)), [true, true, true, false], "another one's bucket");
        assert!(try_take("c", 700), "in the place of the bucket that was not used for longest");
        assert_eq!([0, 0, 0, 0].map(|_| try_take("a", 700)), [true, true, true, false], "which begins full");
    }

    #[test]
    fn rejects_invalid_limits() {
        let check = |limits: &[Limit], expect: &[&str]| {
            let messages: Vec<String> = validate_limits(limits).iter().map(ToString::to_string).collect();
            assert_eq!(messages, expect);
        };
        check(&[limit("User", 1, 1, 0)], &[]);
        check(&[], &["limits: Invalid value: null: must not be empty"]);
        check(
            &[limit("Odd", 1, 0, 0), limit("User", -1, 1, -2)],
            &[
                "limits[0].type: Unsupported value: \"Odd\": supported values: \"Namespace\", \"Server\", \"SourceAndObject\", \"User\"",
                "limits[0].burst: Invalid value: 0: must be positive",
                "limits[1].qps: Invalid value: -1: must be positive",
                "limits[1].cacheSize: Invalid value: -2: must not be negative",
            ],
        );
    }
}
