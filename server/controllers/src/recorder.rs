//! Events about objects (upstream: `record.EventRecorder`).

use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{Event, ObjectReference};
use machinery::format::is_dns1123_subdomain;
use machinery::hooks::WriteContext;
use registry::Clock;

const EVENTS: GroupVersionResource = ("", "v1", "events");
/// The namespace of events about objects without one.
const NAMESPACE: &str = "default";

/// Refers to an object of the core group, for an event about it.
pub fn reference(kind: &str, metadata: &ObjectMeta) -> ObjectReference {
    ObjectReference {
        api_version: "v1".into(),
        kind: kind.into(),
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
        ..ObjectReference::default()
    }
}

/// Creates events. An event that cannot be created is lost.
pub struct Recorder {
    loopback: Loopback,
    clock: Arc<dyn Clock>,
    component: &'static str,
}

impl Recorder {
    /// Creates a recorder of a controller with this name.
    pub fn new(loopback: Loopback, clock: Arc<dyn Clock>, component: &'static str) -> Self {
        Recorder { loopback, clock, component }
    }

    /// Creates a warning.
    pub async fn warn(&self, involved: ObjectReference, reason: &str, message: String) {
        self.record(involved, "Warning", reason, message).await;
    }

    /// Creates an event about a normal change.
    pub async fn inform(&self, involved: ObjectReference, reason: &str, message: String) {
        self.record(involved, "Normal", reason, message).await;
    }

    async fn record(&self, involved: ObjectReference, r#type: &str, reason: &str, message: String) {
        let now = self.clock.now();
        let nanos = self.clock.micro_now().unix_micros().saturating_mul(1000);
        let mut event = Event::default();
        event.metadata.name = event_name(&involved.name, nanos);
        event.metadata.namespace =
            if involved.namespace.is_empty() { NAMESPACE.into() } else { involved.namespace.clone() };
        event.involved_object = involved;
        (event.reason, event.message, event.r#type) = (reason.into(), message, r#type.into());
        (event.first_timestamp, event.last_timestamp, event.count) = (now, now, 1);
        event.source.component = self.component.into();
        event.reporting_component = self.component.into();
        if let Err(status) = self.loopback.create(EVENTS, event).await {
            tracing::debug!(reason, why = status.message, "an event of a controller was not stored");
        }
    }
}

/// The name of an event about an object at a time in nanoseconds (upstream: `GenerateEventName`).
///
/// Names of some kinds are no DNS subdomains, and a long name leaves no room for the time. The event
/// is then called by a UUID.
fn event_name(involved: &str, nanos: i64) -> String {
    let name = format!("{involved}.{nanos:x}");
    if is_dns1123_subdomain(&name).is_empty() { name } else { WriteContext::new_uid() }
}

#[cfg(test)]
mod tests {
    use super::event_name;

    #[test]
    fn event_of_an_object_whose_name_is_no_subdomain_has_a_uuid_as_its_name() {
        assert_eq!(event_name("web", 0x1f), "web.1f");
        assert_eq!(event_name("system:reader", 0x1f).len(), 36);
        assert_eq!(event_name(&"a".repeat(250), 0x1fff).len(), 36);
    }
}
