//! The audit data of one request, collected from every part of the server (upstream: `audit.AuditContext`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use apimachinery::audit::v1::{AuthenticationMetadata, Event, ObjectReference};
use apimachinery::authentication::v1::{ExtraValue, UserInfo};
use apimachinery::meta::v1::{ObjectMeta, Status};
use bytes::Bytes;
use http::header::USER_AGENT;
use machinery::scalar::{self, MicroTime, RawExtension};
use request::request_info::shown_target;
use request::{AuditId, Request, RequestExt, Response, User};

use crate::audit::Audit;
use crate::level::{Level, Stage};
use crate::object;
use crate::policy::RequestAuditConfig;
use crate::source::source_addresses;

/// The maximum recorded length of a user agent, in bytes.
const MAX_USER_AGENT: usize = 1024;
/// The duration above which the latencies of a request are recorded.
const LATENCY_THRESHOLD: Duration = Duration::from_millis(500);
/// The prefix of latency annotations.
const LATENCY_PREFIX: &str = "apiserver.latency.k8s.io/";

/// The audit context of a request. Clones share it.
///
/// If auditing is disabled, the context is empty and every method is a no-op.
#[derive(Clone, Default)]
pub struct AuditContext(Option<Arc<Record>>);

struct Record {
    audit: Arc<Audit>,
    /// The audit configuration; set when the policy is evaluated.
    config: OnceLock<RequestAuditConfig>,
    received: (SystemTime, Instant),
    event: Mutex<Event>,
    /// The latencies of parts of the server.
    latencies: Mutex<BTreeMap<&'static str, Duration>>,
}

impl Record {
    fn event(&self) -> MutexGuard<'_, Event> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditContext {
    /// Creates the context of a request that was just received.
    pub fn new(audit: Arc<Audit>) -> Self {
        let received = (SystemTime::now(), Instant::now());
        let (config, event, latencies) = (OnceLock::new(), Mutex::default(), Mutex::default());
        AuditContext(Some(Arc::new(Record { audit, config, received, event, latencies })))
    }

    /// The audit context of a request, from its extensions; empty when audit logging is disabled.
    pub fn of(extensions: &http::Extensions) -> Self {
        extensions.get::<AuditContext>().cloned().unwrap_or_default()
    }

    /// Returns the record, unless nothing is recorded of the request.
    fn record(&self) -> Option<&Record> {
        let record = self.0.as_deref()?;
        // Until the policy is evaluated, all data is collected.
        record.config.get().is_none_or(|config| config.level > Level::None).then_some(record)
    }

    /// Whether the audit level of the request is at least `level`.
    pub fn reaches(&self, level: Level) -> bool {
        self.0.as_ref().and_then(|record| record.config.get()).is_some_and(|config| config.level >= level)
    }

    /// Evaluates the policy after authentication, successful or not. Returns whether the request is recorded.
    pub fn begin(&self, request: &Request) -> bool {
        let (Some(record), Some(info)) = (&self.0, request.info()) else { return false };
        let user = request.user();
        let config = *record.config.get_or_init(|| record.audit.policy.config(user.map(Arc::as_ref), info));
        record.audit.metrics.levels.with_label_values(&[config.level.name()]).inc();
        if config.level == Level::None {
            return false;
        }
        let mut event = record.event();
        event.level = config.level.name().to_owned();
        event.audit_id = request.extensions().get::<AuditId>().map_or(String::new(), |id| text(id.0.as_bytes()));
        event.request_received_timestamp = MicroTime::from(record.received.0);
        event.verb = info.verb.to_string();
        event.request_uri = shown_target(request.uri()).into_owned();
        event.user_agent = user_agent(request);
        event.source_ips = source_addresses(request).iter().map(ToString::to_string).collect();
        event.user = user.map(|user| user_info(user)).unwrap_or_default();
        event.object_ref = info.is_resource_request.then(|| {
            Box::new(ObjectReference {
                resource: info.resource.clone(),
                namespace: info.namespace.clone(),
                name: info.name.clone(),
                api_group: info.api_group.clone(),
                api_version: info.api_version.clone(),
                subresource: info.subresource.clone(),
                ..ObjectReference::default()
            })
        });
        true
    }

    /// Creates the event of a stage, unless the stage is omitted. No data is added after the last stage.
    fn event_at(&self, stage: Stage) -> Option<Event> {
        let record = self.record()?;
        if record.config.get()?.omitted.contains(stage) {
            return None;
        }
        let mut event = record.event();
        event.stage = stage.name().to_owned();
        event.stage_timestamp = match stage {
            Stage::RequestReceived => event.request_received_timestamp,
            _ => MicroTime::from(SystemTime::now()),
        };
        Some(event.clone())
    }

    /// Sends the event of a stage. Returns whether the request may proceed.
    pub async fn pass(&self, stage: Stage) -> bool {
        match (&self.0, self.event_at(stage)) {
            (Some(record), Some(event)) => record.audit.process(event).await,
            _ => true,
        }
    }

    /// Sends the event of a stage in a background task.
    pub fn pass_in_background(&self, stage: Stage) {
        if let (Some(record), Some(event)) = (&self.0, self.event_at(stage)) {
            record.audit.process_in_background(event);
        }
    }

    /// Counts a request that is rejected because a sink did not accept its event.
    pub fn count_rejected(&self) {
        if let Some(record) = &self.0 {
            record.audit.metrics.rejected.inc();
        }
    }

    /// Adds an annotation. An existing value of the key is kept.
    pub fn annotate(&self, key: impl Into<String>, value: impl Into<String>) {
        let Some(record) = self.record() else { return };
        let (key, value) = (key.into(), value.into());
        let mut event = record.event();
        match event.annotations.get(&key) {
            None => drop(event.annotations.insert(key, value)),
            Some(existing) if *existing == value => {}
            Some(_) => {
                tracing::warn!(
                    key,
                    id = event.audit_id,
                    "audit annotation already has a different value; keeping the existing value"
                )
            }
        }
    }

    /// Adds an annotation if the audit level is at least `level`. Only then is `value` called.
    pub fn annotate_from(&self, level: Level, key: impl Into<String>, value: impl FnOnce() -> String) {
        if self.reaches(level) {
            self.annotate(key, value());
        }
    }

    /// Records the impersonated user, and the verb of constrained impersonation that allowed it, if any.
    pub fn impersonate(&self, user: &User, constraint: &str) {
        let Some(record) = self.record() else { return };
        let mut event = record.event();
        event.impersonated_user = Some(Box::new(user_info(user)));
        if !constraint.is_empty() {
            let metadata = AuthenticationMetadata { impersonation_constraint: constraint.to_owned() };
            event.authentication_metadata = Some(Box::new(metadata));
        }
    }

    /// Completes the object reference with the metadata of the request object. Values of the path are kept.
    pub fn name(&self, sent: &ObjectMeta) {
        let Some(record) = self.record() else { return };
        let mut event = record.event();
        let of = event.object_ref.get_or_insert_default();
        for (field, value) in [
            (&mut of.namespace, &sent.namespace),
            (&mut of.name, &sent.name),
            (&mut of.uid, &sent.uid),
            (&mut of.resource_version, &sent.resource_version),
        ] {
            if field.is_empty() {
                field.clone_from(value);
            }
        }
    }

    /// Records the request object, as JSON. The caller checks the level with [`Self::reaches`].
    pub fn request_object(&self, json: impl Into<Bytes>) {
        let Some(record) = self.record() else { return };
        let object = self.object(json.into());
        record.event().request_object = Some(object);
    }

    /// Records the response object, as JSON. The caller checks the level with [`Self::reaches`].
    pub fn response_object(&self, json: impl Into<Bytes>) {
        let Some(record) = self.record() else { return };
        let object = self.object(json.into());
        record.event().response_object = Some(object);
    }

    fn object(&self, json: Bytes) -> RawExtension {
        let config = self.0.as_ref().and_then(|record| record.config.get());
        RawExtension::from_json(match config.is_some_and(|config| config.omits_managed_fields) {
            true => object::without_managed_fields(json),
            false => json,
        })
    }

    /// Records the status code of a response and, if its body is a Status, the Status.
    pub fn record_response(&self, response: &Response) {
        let Some(record) = self.record() else { return };
        let mut status = object::status(response).unwrap_or_default();
        status.code = response.status().as_u16().into();
        self.status(status);
        let wants_object = self.reaches(Level::RequestResponse) && record.event().response_object.is_none();
        if let Some(json) = wants_object.then(|| object::typed(response)).flatten() {
            self.response_object(json);
        }
    }

    /// Records the outcome of the request.
    pub fn status(&self, status: Status) {
        if let Some(record) = self.record() {
            record.event().response_status = Some(Box::new(status));
        }
    }

    /// Adds to the latency of a part of the server (upstream: `request.LatencyTrackers`).
    pub fn took(&self, part: &'static str, time: Duration) {
        if let Some(record) = self.record() {
            *record.latencies.lock().unwrap_or_else(PoisonError::into_inner).entry(part).or_default() += time;
        }
    }

    /// Runs a future and adds its duration to the latency of a part of the server.
    pub async fn timed<F: Future>(&self, part: &'static str, work: F) -> F::Output {
        if self.0.is_none() {
            return work.await;
        }
        let begin = Instant::now();
        let output = work.await;
        self.took(part, begin.elapsed());
        output
    }

    /// Adds the latencies of a slow request as annotations.
    pub fn annotate_latencies(&self) {
        let Some(record) = self.record() else { return };
        let total = record.received.1.elapsed();
        if total <= LATENCY_THRESHOLD {
            return;
        }
        let parts = std::mem::take(&mut *record.latencies.lock().unwrap_or_else(PoisonError::into_inner));
        for (part, time) in parts.into_iter().chain([("total", total)]) {
            self.annotate(format!("{LATENCY_PREFIX}{part}"), go_text(time));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn go_text(time: Duration) -> String {
    scalar::Duration::from_nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)).to_string()
}

fn user_agent(request: &Request) -> String {
    let agent = request.headers().get(USER_AGENT).map_or(&b""[..], |value| value.as_bytes());
    match agent.get(..MAX_USER_AGENT).filter(|_| agent.len() > MAX_USER_AGENT) {
        Some(beginning) => text(beginning) + "...TRUNCATED",
        None => text(agent),
    }
}

fn user_info(user: &User) -> UserInfo {
    let extra = user.extra.iter().map(|(key, values)| (key.clone(), ExtraValue { items: values.clone() }));
    UserInfo { username: user.name.clone(), uid: user.uid.clone(), groups: user.groups.clone(), extra: extra.collect() }
}
