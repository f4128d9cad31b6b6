use crate::meta::ObjectMeta;

/// Short-lived record of something that happened to an object, kept one hour by default.
#[kind(plural = "events", short = "ev", scope = Namespaced, create_on_update, gc = none, watch_cache = false, metadata = unchecked)]
#[versions(v1(introduced = "1.0"))]
#[column("Last Seen", by_hand = event_last_seen, reads(series, lastTimestamp, firstTimestamp, eventTime), "How long ago it happened last.")]
#[column("Type", type)]
#[column("Reason", reason)]
#[column("Object", by_hand = event_object, reads(involvedObject), "Kind and name of the object that it is about.")]
#[column("Subobject", involvedObject.fieldPath, priority = 1)]
#[column("Source", by_hand = event_source, reads(source, reportingComponent, reportingInstance), priority = 1, "The component that reported it, and from which host.")]
#[column("Message", by_hand = event_message, reads(message), "What happened, for people.")]
#[column("First Seen", by_hand = event_first_seen, reads(firstTimestamp, eventTime), priority = 1, "How long ago it happened first.")]
#[column("Count", by_hand = event_count, reads(series, count), priority = 1, "How often it happened.")]
#[column("Name", metadata.name, format = "name", priority = 1)]
#[selectable(involvedObject.apiVersion)]
#[selectable(involvedObject.fieldPath)]
#[selectable(involvedObject.kind)]
#[selectable(involvedObject.name)]
#[selectable(involvedObject.namespace)]
#[selectable(involvedObject.resourceVersion)]
#[selectable(involvedObject.uid)]
#[selectable(reason)]
#[selectable(reportingComponent)]
#[selectable("source", by_hand = event_source_label, reads(source.component, reportingComponent))]
#[selectable(type)]
#[check(
    involvedObject.namespace,
    invalid = "does not match event.namespace",
    when(
        unset(eventTime),
        unset(involvedObject.namespace),
        not(metadata.namespace = ("", default))
    )
)]
#[check(
    involvedObject.namespace,
    invalid = "does not match event.namespace",
    when(
        unset(eventTime),
        set(involvedObject.namespace),
        not(same(metadata.namespace, involvedObject.namespace))
    )
)]
#[check(
    involvedObject.namespace,
    invalid = "does not match event.namespace",
    when(
        set(eventTime),
        unset(involvedObject.namespace),
        not(metadata.namespace = (default, "kube-system"))
    )
)]
#[check(
    reportingComponent,
    filled,
    format = qualified_name,
    when(set(eventTime), not(version("events.k8s.io/v1", "events.k8s.io/v1beta1")))
)]
#[check(
    reportingComponent,
    at(reportingController, filled, format = qualified_name),
    when(set(eventTime), version("events.k8s.io/v1", "events.k8s.io/v1beta1"))
)]
#[check(reportingInstance, filled, when(set(eventTime)))]
#[check(
    reportingInstance,
    invalid("", "can have at most 128 characters"),
    when(set(eventTime), not(holds(reportingInstance, max_bytes = 128)))
)]
#[check(action, filled, when(set(eventTime)))]
#[check(
    action,
    invalid("", "can have at most 128 characters"),
    when(set(eventTime), not(holds(action, max_bytes = 128)))
)]
#[check(reason, filled, when(set(eventTime)))]
#[check(
    reason,
    invalid("", "can have at most 128 characters"),
    when(set(eventTime), not(holds(reason, max_bytes = 128)))
)]
#[check(
    message,
    invalid("", "can have at most 1024 characters"),
    when(set(eventTime), not(holds(message, max_bytes = 1024)))
)]
#[check(metadata.namespace, at("/namespace", format = dns1123_subdomain))]
#[check(metadata, by_hand = validate_event_metadata, when(version("events.k8s.io/v1")))]
#[check(self, below = new, when(version("events.k8s.io/v1"), create))]
#[check(self, below = change, when(version("events.k8s.io/v1"), update))]
#[check(
    series.count,
    invalid("", "should be at least 2"),
    when(part(new, change), changed(series), not(holds(series.count, min = 2)))
)]
#[check(series.lastObservedTime, filled, when(part(new, change), changed(series)))]
#[check(eventTime, required, when(part(new)))]
#[check(self, by_hand = validate_event_type, when(part(new), not(type = (Normal, Warning))))]
#[check(
    firstTimestamp,
    invalid("", "needs to be unset"),
    when(part(new), set(firstTimestamp))
)]
#[check(lastTimestamp, invalid("", "needs to be unset"), when(part(new), set(lastTimestamp)))]
#[check(count, invalid("", "needs to be unset"), when(part(new), not(count = 0)))]
#[check(
    source,
    invalid("", "needs to be unset"),
    when(part(new), not(none(source.component, source.host)))
)]
#[check(involvedObject, immutable, when(part(change)))]
#[check(reason, immutable, when(part(change)))]
#[check(message, immutable, when(part(change)))]
#[check(source, immutable, when(part(change)))]
#[check(firstTimestamp, immutable, when(part(change)))]
#[check(lastTimestamp, immutable, when(part(change)))]
#[check(count, immutable, when(part(change)))]
#[check(reason, immutable, when(part(change)))]
#[check(type, immutable, when(part(change)))]
#[check(eventTime, immutable, when(part(change)))]
#[check(action, immutable, when(part(change)))]
#[check(related, immutable, when(part(change)))]
#[check(reportingComponent, at("reportingController", immutable), when(part(change)))]
#[check(reportingInstance, immutable, when(part(change)))]
pub struct Event {
    /// Event name and namespace; the namespace matches that of the affected object.
    #[field(1, required)]
    pub metadata: ObjectMeta,

    /// Object this event is about.
    #[field(2, required)]
    pub involved_object: ObjectReference,

    /// Brief CamelCase cause, such as `FailedScheduling` or `Pulled`.
    #[field(3)]
    pub reason: String,

    /// Readable explanation of what occurred.
    #[field(4)]
    pub message: String,

    /// Component and host that produced the event; older counterpart of `reportingComponent`.
    #[field(5)]
    pub source: EventSource,

    /// When this event was initially seen.
    #[field(6, always)]
    pub first_timestamp: Time,

    /// When the most recent repetition was seen.
    #[field(7, always)]
    pub last_timestamp: Time,

    /// How many repetitions have been folded into this record.
    #[field(8)]
    pub count: i32,

    /// Severity class, `Normal` or `Warning`.
    #[field(9)]
    pub r#type: String,

    /// Microsecond-precision time of first observation, used by the newer events API.
    #[field(10, always)]
    pub event_time: MicroTime,

    /// Repetition data when the event recurs; absent for one-off events.
    #[field(11)]
    pub series: Option<EventSeries>,

    /// Action that the reporter took or attempted, e.g. `Binding`.
    #[field(12)]
    pub action: String,

    /// Second object that plays a part in the event, if any.
    #[field(13)]
    pub related: Option<ObjectReference>,

    /// Controller that emitted the event, for example `kubernetes.io/kubelet`.
    #[field(14, always)]
    pub reporting_component: String,

    /// Specific replica of the controller, such as `kubelet-node1`.
    #[field(15, always)]
    pub reporting_instance: String,
}

/// Component and host that emitted an event.
pub struct EventSource {
    /// Program that emitted the event, e.g. `kubelet` or `default-scheduler`.
    #[field(1)]
    pub component: String,

    /// Node from which the event was emitted, if relevant.
    #[field(2)]
    pub host: String,
}

/// Running tally of a recurring event.
pub struct EventSeries {
    /// Occurrences recorded in the series up to its latest update.
    #[field(1)]
    pub count: i32,

    /// Time of the latest occurrence, with microsecond precision.
    #[field(2, always)]
    pub last_observed_time: MicroTime,
}
