//! Taints of devices, rules that give them, and what puts up with them.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::{validate_conditions, validate_label_name};

use super::IMMUTABLE;
use super::names::{validate_driver, validate_pool};
use crate::core::internal::internal_value;
use generated::resource::v1::{DeviceTaint, DeviceToleration};
use generated::resource::v1alpha3::ResourcePoolStatusRequest;
use generated::resource::v1beta2::DeviceTaintRule;

const MAX_CONDITIONS: usize = 8;

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];
const OPERATORS: [&str; 2] = ["Equal", "Exists"];

/// `ValidateDeviceTaintRule`, `ValidateDeviceTaintRuleUpdate`, `ValidateDeviceTaintRuleStatusUpdate`
pub fn validate_device_taint_rule(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeviceTaintRule,
    old: Option<&DeviceTaintRule>,
) {
    if v.context.subresource == "status" {
        let (path, conditions) = (path.child("status"), &new.status.conditions);
        let path = path.child("conditions");
        validate_conditions(v, &path, conditions);
        if conditions.len() > MAX_CONDITIONS {
            v.too_many(&path, conditions.len(), MAX_CONDITIONS);
        }
        return;
    }
    let path = path.child("spec");
    if let Some(selector) = &new.spec.device_selector {
        let path = path.child("deviceSelector");
        if let Some(driver) = &selector.driver {
            validate_driver(v, &path.child("driver"), driver);
        }
        if let Some(pool) = &selector.pool {
            validate_pool(v, &path.child("pool"), pool);
        }
        if let Some(device) = &selector.device {
            v.name(&path.child("device"), device, NameRule::Dns1123Label);
        }
    }
    validate_taint(v, &path.child("taint"), &new.spec.taint, old.map(|old| &old.spec.taint));
}

/// `validateDeviceTaint`: an effect that was there stays.
pub fn validate_taint(v: &mut Validation<'_>, path: &Path<'_>, new: &DeviceTaint, old: Option<&DeviceTaint>) {
    validate_label_name(v, &path.child("key"), &new.key);
    v.malformed(&path.child("value"), &new.value, format::is_label_value(&new.value));
    if old.is_none_or(|old| old.effect != new.effect) {
        v.required_one_of(&path.child("effect"), &new.effect, &EFFECTS);
    }
}

/// `validateDeviceToleration`
pub fn validate_toleration(v: &mut Validation<'_>, path: &Path<'_>, toleration: &DeviceToleration) {
    if !toleration.key.is_empty() {
        validate_label_name(v, &path.child("key"), &toleration.key);
    }
    let value = path.child("value");
    match toleration.operator.as_str() {
        "Exists" if !toleration.value.is_empty() => {
            v.invalid(&value, &toleration.value, "must be empty for operator `Exists`");
        }
        "Exists" => {}
        "Equal" => v.malformed(&value, &toleration.value, format::is_label_value(&toleration.value)),
        other => v.required_one_of(&path.child("operator"), other, &OPERATORS),
    }
    if !toleration.effect.is_empty() {
        v.one_of(&path.child("effect"), &toleration.effect, &EFFECTS);
    }
}

/// `ValidateResourcePoolStatusRequestStatusUpdate`: an answer is given once; everything else is declared.
pub fn validate_resource_pool_status_request(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourcePoolStatusRequest,
    old: Option<&ResourcePoolStatusRequest>,
) {
    let Some(old) = old.filter(|_| v.context.subresource == "status") else { return };
    let path = path.child("status");
    match (&old.status, &new.status) {
        (Some(old), Some(new)) if Ref::of(&**old) == Ref::of(&**new) => {}
        (Some(_), new) => {
            let shown = new.as_deref().map_or(BadValue::None, internal_value);
            v.invalid(&path, shown, IMMUTABLE);
        }
        (None, Some(new)) => validate_conditions(v, &path.child("conditions"), &new.conditions),
        (None, None) => {}
    }
}
