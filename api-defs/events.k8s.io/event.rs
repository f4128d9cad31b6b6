use crate::core::{EventSource, ObjectReference};
use crate::meta::ObjectMeta;

/// Short-lived record of something that happened to an object, shown by `kubectl events`.
#[kind(
    plural = "events",
    short = "ev",
    scope = Namespaced,
    stored_as = core::v1::Event,
    create_on_update,
    gc = none,
    watch_cache = false,
    metadata = unchecked
)]
#[versions(v1(introduced = "1.19"), v1beta1(introduced = "1.8", deprecated = "1.22"))]
#[selectable(reason)]
#[selectable(regarding.apiVersion)]
#[selectable(regarding.fieldPath)]
#[selectable(regarding.kind)]
#[selectable(regarding.name)]
#[selectable(regarding.namespace)]
#[selectable(regarding.resourceVersion)]
#[selectable(regarding.uid)]
#[selectable(reportingController)]
#[selectable(type)]
pub struct Event {
    /// Name and namespace of the event, which lives beside the object it describes.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Microsecond timestamp of the initial occurrence; mandatory for events in the newer API.
    #[field(2, required)]
    pub event_time: MicroTime,

    /// Repeat counter for an ongoing burst of the same event; absent for one-off events.
    #[field(3)]
    pub series: Option<EventSeries>,

    /// Qualified name of the emitting component, like `kubernetes.io/kubelet`; fixed once written.
    #[field(4, renamed = reporting_component)]
    pub reporting_controller: String,

    /// Emitting controller replica, often a pod or host name, up to 128 characters.
    #[field(5)]
    pub reporting_instance: String,

    /// Machine-readable verb for what the controller did or attempted, up to 128 characters.
    #[field(6)]
    pub action: String,

    /// CamelCase cause suitable for filtering, such as `FailedScheduling`, no longer than 128 characters.
    #[field(7)]
    pub reason: String,

    /// The main object the event is about, for instance the pod that failed to start.
    #[field(8, renamed = involved_object)]
    pub regarding: ObjectReference,

    /// Secondary object involved in the action, when one exists.
    #[field(9)]
    pub related: Option<ObjectReference>,

    /// Free text shown to people; keep it below 1kB.
    #[field(10, renamed = message)]
    pub note: String,

    /// Severity class, either `Normal` or `Warning`.
    #[field(11)]
    pub r#type: String,

    /// Emitting component in the core/v1 layout, retained so older clients keep working.
    #[field(12, deprecated, renamed = source)]
    pub deprecated_source: EventSource,

    /// First occurrence as recorded by legacy core/v1 event writers.
    #[field(13, always, deprecated, renamed = first_timestamp)]
    pub deprecated_first_timestamp: Time,

    /// Latest occurrence as recorded by legacy core/v1 event writers.
    #[field(14, always, deprecated, renamed = last_timestamp)]
    pub deprecated_last_timestamp: Time,

    /// Repetition tally from the legacy core/v1 event layout.
    #[field(15, deprecated, renamed = count)]
    pub deprecated_count: i32,
}

/// Tracks how often, and how recently, a repeating event was observed.
pub struct EventSeries {
    /// Occurrences seen up to the last heartbeat of this series.
    #[field(1, required)]
    pub count: i32,

    /// When the reporter most recently noticed the event repeating, to the microsecond.
    #[field(2, required)]
    pub last_observed_time: MicroTime,
}
