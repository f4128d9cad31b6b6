//! Printed columns and selectable fields of `core` that are computed: the functions of `by_hand = ..`
//! in its definitions.

mod node;
mod pod;
mod service;
mod volume;

use machinery::print::{Cell, PrintContext};

use generated::core::v1::{ComponentCondition, ComponentStatus, ConfigMap, Event, ResourceQuota, condition_status};

pub use node::*;
pub use pod::*;
pub use service::*;
pub use volume::*;

pub fn component_status_error(status: &ComponentStatus, _: &PrintContext) -> Cell {
    healthy(status).map_or("", |c| c.error.as_str()).into()
}

pub fn component_status_message(status: &ComponentStatus, _: &PrintContext) -> Cell {
    healthy(status).map_or("", |c| c.message.as_str()).into()
}

pub fn component_status_status(status: &ComponentStatus, _: &PrintContext) -> Cell {
    match healthy(status) {
        Some(condition) if condition.status == condition_status::TRUE => "Healthy",
        Some(_) => "Unhealthy",
        None => "Unknown",
    }
    .into()
}

fn healthy(status: &ComponentStatus) -> Option<&ComponentCondition> {
    status.conditions.iter().find(|c| c.r#type == "Healthy")
}

pub fn config_map_data(map: &ConfigMap, _: &PrintContext) -> Cell {
    (map.data.len() + map.binary_data.len()).into()
}

pub fn event_count(event: &Event, _: &PrintContext) -> Cell {
    match &event.series {
        Some(series) => series.count.into(),
        None => event.count.max(1).into(),
    }
}

pub fn event_first_seen(event: &Event, context: &PrintContext) -> Cell {
    first_seen(event, context).into()
}

fn first_seen(event: &Event, context: &PrintContext) -> String {
    if event.first_timestamp.is_zero() { context.age(event.event_time) } else { context.age(event.first_timestamp) }
}

pub fn event_last_seen(event: &Event, context: &PrintContext) -> Cell {
    match &event.series {
        Some(series) => context.age(series.last_observed_time),
        None if event.last_timestamp.is_zero() => first_seen(event, context),
        None => context.age(event.last_timestamp),
    }
    .into()
}

pub fn event_message(event: &Event, _: &PrintContext) -> Cell {
    event.message.trim().into()
}

pub fn event_object(event: &Event, _: &PrintContext) -> Cell {
    let object = &event.involved_object;
    let kind = object.kind.to_lowercase();
    if object.name.is_empty() { kind.into() } else { format!("{kind}/{}", object.name).into() }
}

pub fn event_source(event: &Event, _: &PrintContext) -> Cell {
    let component = first_of(&event.source.component, &event.reporting_component);
    let instance = first_of(&event.source.host, &event.reporting_instance);
    if instance.is_empty() { component.into() } else { format!("{component}, {instance}").into() }
}

pub fn event_source_label(event: &Event) -> String {
    first_of(&event.source.component, &event.reporting_component).to_string()
}

fn first_of<'a>(text: &'a str, instead: &'a str) -> &'a str {
    if text.is_empty() { instead } else { text }
}

pub fn resource_quota_limit(quota: &ResourceQuota, _: &PrintContext) -> Cell {
    quota_usage(quota, |resource| resource.starts_with("limits."))
}

pub fn resource_quota_request(quota: &ResourceQuota, _: &PrintContext) -> Cell {
    quota_usage(quota, |resource| !resource.starts_with("limits."))
}

fn quota_usage(quota: &ResourceQuota, is_shown: fn(&str) -> bool) -> Cell {
    let usage = |resource: &String, hard: &dyn std::fmt::Display| {
        let used = quota.status.used.get(resource).map_or("0".into(), ToString::to_string);
        format!("{resource}: {used}/{hard}")
    };
    let shown = quota.status.hard.iter().filter(|(resource, _)| is_shown(resource));
    shown.map(|(resource, hard)| usage(resource, hard)).collect::<Vec<_>>().join(", ").into()
}
