//! What is known of one request, collected from every part of the server (upstream: `audit.AuditContext`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use apimachinery::audit::v1::{AuthenticationMetadata, Event, ObjectReference};
use apimachinery::authentication::v1::{ExtraValue, UserInfo};
use apimachinery::meta::v1::{ObjectMeta, Status};
use bytes::Bytes;
use http::header::USER_AGENT;
use machinery::scalar::{self, MicroTime, RawExtension};

use super::level::{Level, Stage};
use super::policy::Config;
use super::{Audit, object};
use crate::filters::AuditId;
use crate::handler::{Request, RequestExt, Response};
use crate::request_info::shown_target;
use crate::source::source_addresses;
use crate::user::User;

/// A user agent is recorded up to this many bytes.
const MAX_USER_AGENT: usize = 1024;
/// Only of requests that took longer than this is recorded where the time went.
const SLOW: Duration = Duration::from_millis(500);
/// What the annotations about time begin with.
const LATENCY: &str = "apiserver.latency.k8s.io/";

/// The trail of a request, from its first filter on. Clones share it; without an audit log it is empty, and everything is passed over.
#[derive(Clone, Default)]
pub struct AuditContext(Option<Arc<Record>>);

struct Record {
    audit: Arc<Audit>,
    /// How much is recorded; known once somebody has looked at the policy.
    config: OnceLock<Config>,
    received: (SystemTime, Instant),
    event: Mutex<Event>,
    /// Where the time went.
    latencies: Mutex<BTreeMap<&'static str, Duration>>,
}

impl Record {
    fn event(&self) -> MutexGuard<'_, Event> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditContext {
    /// The trail of a request that has just come.
    pub(crate) fn new(audit: Arc<Audit>) -> Self {
        let received = (SystemTime::now(), Instant::now());
        let (config, event, latencies) = (OnceLock::new(), Mutex::default(), Mutex::default());
        AuditContext(Some(Arc::new(Record { audit, config, received, event, latencies })))
    }

    /// The record, unless nothing is recorded of the request.
    fn record(&self) -> Option<&Record> {
        let record = self.0.as_deref()?;
        // Before the policy has been asked, whatever may be recorded is kept.
        record.config.get().is_none_or(|config| config.level > Level::None).then_some(record)
    }

    /// Whether so much is recorded of the request.
    pub fn reaches(&self, level: Level) -> bool {
        self.0.as_ref().and_then(|record| record.config.get()).is_some_and(|config| config.level >= level)
    }

    /// Asks the policy about a request whose user is known by now, or cannot be known. Whether anything is recorded of it.
    pub(crate) fn begin(&self, request: &Request) -> bool {
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

    /// Makes the event of a stage, unless that is omitted. Nothing is added to the trail after the last one.
    fn at(&self, stage: Stage) -> Option<Event> {
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

    /// Hands the event of a stage on; whether the request may go on.
    pub(crate) async fn pass(&self, stage: Stage) -> bool {
        match (&self.0, self.at(stage)) {
            (Some(record), Some(event)) => record.audit.process(event).await,
            _ => true,
        }
    }

    /// Hands the event of a stage on, without anybody waiting for it.
    pub(crate) fn pass_late(&self, stage: Stage) {
        if let (Some(record), Some(event)) = (&self.0, self.at(stage)) {
            record.audit.process_late(event);
        }
    }

    /// Counts a request that is refused because its event was not taken.
    pub(crate) fn count_rejected(&self) {
        if let Some(record) = &self.0 {
            record.audit.metrics.rejected.inc();
        }
    }

    /// Adds an annotation. What has been said of a key stays.
    pub fn annotate(&self, key: impl Into<String>, value: impl Into<String>) {
        let Some(record) = self.record() else { return };
        let (key, value) = (key.into(), value.into());
        let mut event = record.event();
        match event.annotations.get(&key) {
            None => drop(event.annotations.insert(key, value)),
            Some(said) if *said == value => {}
            Some(_) => {
                tracing::warn!(key, id = event.audit_id, "an audit annotation was set twice, to different values")
            }
        }
    }

    /// Adds an annotation if so much is recorded of the request. The value is made only then.
    pub fn annotate_from(&self, level: Level, key: impl Into<String>, value: impl FnOnce() -> String) {
        if self.reaches(level) {
            self.annotate(key, value());
        }
    }

    /// Says as whom the user acts, and which verb of constrained impersonation allowed it, if one did.
    pub(crate) fn impersonate(&self, user: &User, constraint: &str) {
        let Some(record) = self.record() else { return };
        let mut event = record.event();
        event.impersonated_user = Some(Box::new(user_info(user)));
        if !constraint.is_empty() {
            let metadata = AuthenticationMetadata { impersonation_constraint: constraint.to_owned() };
            event.authentication_metadata = Some(Box::new(metadata));
        }
    }

    /// Says which object was sent, as far as the path did not.
    pub fn name(&self, sent: &ObjectMeta) {
        let Some(record) = self.record() else { return };
        let mut event = record.event();
        let of = event.object_ref.get_or_insert_default();
        for (known, said) in [
            (&mut of.namespace, &sent.namespace),
            (&mut of.name, &sent.name),
            (&mut of.uid, &sent.uid),
            (&mut of.resource_version, &sent.resource_version),
        ] {
            if known.is_empty() {
                known.clone_from(said);
            }
        }
    }

    /// Keeps the object that was sent, as JSON. For who has asked whether the level is reached.
    pub fn request_object(&self, json: impl Into<Bytes>) {
        let Some(record) = self.record() else { return };
        let object = self.object(json.into());
        record.event().request_object = Some(object);
    }

    /// Keeps the object that is answered, as JSON. For who has asked whether the level is reached.
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

    /// Looks at an answer: its code and, where it is a Status, what that says.
    pub(crate) fn answer(&self, response: &Response) {
        let Some(record) = self.record() else { return };
        let mut status = object::status(response).unwrap_or_default();
        status.code = response.status().as_u16().into();
        self.status(status);
        let wants_object = self.reaches(Level::RequestResponse) && record.event().response_object.is_none();
        if let Some(json) = wants_object.then(|| object::typed(response)).flatten() {
            self.response_object(json);
        }
    }

    /// Says what became of the request.
    pub(crate) fn status(&self, status: Status) {
        if let Some(record) = self.record() {
            record.event().response_status = Some(Box::new(status));
        }
    }

    /// Notes how long a part of the server took (upstream: `request.LatencyTrackers`); times of one part are added up.
    pub fn took(&self, part: &'static str, time: Duration) {
        if let Some(record) = self.record() {
            *record.latencies.lock().unwrap_or_else(PoisonError::into_inner).entry(part).or_default() += time;
        }
    }

    /// Runs a part of the server, and notes how long it took.
    pub async fn timed<F: Future>(&self, part: &'static str, work: F) -> F::Output {
        if self.0.is_none() {
            return work.await;
        }
        let begin = Instant::now();
        let done = work.await;
        self.took(part, begin.elapsed());
        done
    }

    /// Says where the time of a slow request went.
    pub(crate) fn tell_latencies(&self) {
        let Some(record) = self.record() else { return };
        let total = record.received.1.elapsed();
        if total <= SLOW {
            return;
        }
        let parts = std::mem::take(&mut *record.latencies.lock().unwrap_or_else(PoisonError::into_inner));
        for (part, time) in parts.into_iter().chain([("total", total)]) {
            self.annotate(format!("{LATENCY}{part}"), go_text(time));
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
