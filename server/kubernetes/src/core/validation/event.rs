//! Events: loosely in the core group, strictly in `events.k8s.io/v1` (`pkg/apis/core/validation/events.go`).
//! By hand: which rules hold depends on the group and version of the request.

use machinery::field_path::Path;
use machinery::format::{NameRule, is_dns1123_subdomain, is_qualified_name};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use generated::core::v1::Event;
use meta::{validate_object_meta, validate_object_meta_update, validate_qualified_finalizers};

const MAX_WORD: usize = 128;
const MAX_NOTE: usize = 1024;

/// `ValidateEventCreate`, `ValidateEventUpdate`
pub fn validate_event(v: &mut Validation<'_>, _: &Path<'_>, new: &Event, old: Option<&Event>) {
    validate_loosely(v, new);
    if v.context.group.is_empty() || v.context.version != "v1" {
        return;
    }
    let metadata = Path::new("metadata");
    match old {
        None => validate_object_meta(v, &metadata, &new.metadata, true, NameRule::Dns1123Subdomain),
        Some(old) => validate_object_meta_update(v, &metadata, &new.metadata, &old.metadata),
    }
    validate_qualified_finalizers(v, &metadata.child("finalizers"), &new.metadata.finalizers);
    match old {
        None => validate_new(v, new),
        Some(old) => validate_change(v, new, old),
    }
}

/// `legacyValidateEvent`
fn validate_loosely(v: &mut Validation<'_>, event: &Event) {
    let (own, involved) = (event.metadata.namespace.as_str(), event.involved_object.namespace.as_str());
    let timed = !event.event_time.is_zero();
    let agrees = match (timed, involved) {
        (false, "") => matches!(own, "" | "default"),
        (false, involved) => own == involved,
        (true, "") => matches!(own, "default" | "kube-system"),
        (true, _) => true,
    };
    if !agrees {
        let path = Path::new("involvedObject");
        v.invalid(&path.child("namespace"), involved, "does not match event.namespace");
    }
    if timed {
        validate_reporter(v, event);
    }
    v.malformed(&Path::new("namespace"), own, is_dns1123_subdomain(own));
}

fn validate_reporter(v: &mut Validation<'_>, event: &Event) {
    let controller = if v.context.group.is_empty() { "reportingComponent" } else { "reportingController" };
    let (path, name) = (Path::new(controller), &event.reporting_component);
    v.filled(&path, name);
    v.malformed(&path, name, is_qualified_name(name));
    for (field, text) in
        [("reportingInstance", &event.reporting_instance), ("action", &event.action), ("reason", &event.reason)]
    {
        let path = Path::new(field);
        v.filled(&path, text);
        validate_length(v, &path, text, MAX_WORD);
    }
    validate_length(v, &Path::new("message"), &event.message, MAX_NOTE);
}

fn validate_length(v: &mut Validation<'_>, path: &Path<'_>, text: &str, max: usize) {
    if text.len() > max {
        v.invalid(path, "", format!("can have at most {max} characters"));
    }
}

fn validate_new(v: &mut Validation<'_>, event: &Event) {
    validate_series(v, event);
    v.checks_of("new", &Path::NONE, Ref::of(event), None);
    if !matches!(event.r#type.as_str(), "Normal" | "Warning") {
        v.invalid(&Path::new("type"), "", format!("has invalid value: {}", event.r#type));
    }
    v.checks_of("new_times", &Path::NONE, Ref::of(event), None);
}

fn validate_series(v: &mut Validation<'_>, event: &Event) {
    let Some(series) = event.series.as_deref() else { return };
    if series.count < 2 {
        v.invalid(&Path::new("series.count"), "", "should be at least 2");
    }
    if series.last_observed_time.is_zero() {
        v.required(&Path::new("series.lastObservedTime"), "");
    }
}

/// Only the series of an event goes on.
fn validate_change(v: &mut Validation<'_>, new: &Event, old: &Event) {
    if new.series.as_deref().map(Ref::of) != old.series.as_deref().map(Ref::of) {
        validate_series(v, new);
    }
    v.checks_of("change", &Path::NONE, Ref::of(new), Some(Ref::of(old)));
}
