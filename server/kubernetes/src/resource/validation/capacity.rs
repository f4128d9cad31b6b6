//! How much a device has, and in what pieces it is given.

use std::cmp::Ordering;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::Quantity;

use super::items::validate_set;
use generated::resource::v1::{CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity};

const MAX_OPTIONS: usize = 10;

/// What can be shared says how; what cannot says nothing.
pub fn validate_capacity(v: &mut Validation<'_>, path: &Path<'_>, capacity: &DeviceCapacity, shared: bool) {
    let Some(policy) = &capacity.request_policy else { return };
    let path = path.child("requestPolicy");
    if shared {
        validate_policy(v, &path, policy, &capacity.value);
    } else {
        v.forbidden(&path, "allowMultipleAllocations must be true");
    }
}

/// `validateRequestPolicy`
fn validate_policy(v: &mut Validation<'_>, path: &Path<'_>, policy: &CapacityRequestPolicy, all: &Quantity) {
    let default = path.child("default");
    match (policy.valid_values.as_slice(), &policy.valid_range, &policy.default) {
        ([_, ..], Some(_), _) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the \
                          same time";
            v.forbidden(path, detail);
        }
        ([_, ..], None, None) => v.required(&default, "required when validValues is defined"),
        (values, None, Some(default)) if !values.is_empty() => {
            validate_values(v, &path.child("validValues"), values, default, all);
        }
        ([], Some(_), None) => v.required(&default, "required when validRange is defined"),
        ([], Some(range), Some(default)) => validate_range(v, &path.child("validRange"), range, default, all),
        _ => {}
    }
}

fn compare(a: &Quantity, b: &Quantity) -> Ordering {
    let mut difference = a.clone();
    difference.sub(b);
    difference.sign()
}

/// `validateRequestPolicyValidValues`
fn validate_values(v: &mut Validation<'_>, path: &Path<'_>, values: &[Quantity], default: &Quantity, all: &Quantity) {
    for (index, pair) in values.windows(2).enumerate() {
        if compare(&pair[0], &pair[1]).is_gt() {
            v.invalid(&path.index(index + 1), pair[1].to_string(), "values must be sorted in ascending order");
        }
    }
    let key = |value: &Quantity| BadValue::from(value.value().to_string());
    validate_set(v, path, values, MAX_OPTIONS, key, |v, path, value| {
        if compare(value, all).is_gt() {
            v.invalid(path, value.to_string(), format!("option is larger than capacity value: {all}"));
        }
    });
    if !values.iter().take(MAX_OPTIONS).any(|value| compare(value, default).is_eq()) {
        v.invalid(path, default.to_string(), "default value is not valid according to the requestPolicy");
    }
}

/// `validateRequestPolicyRange`
fn validate_range(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    range: &CapacityRequestPolicyRange,
    default: &Quantity,
    all: &Quantity,
) {
    let (min_path, max_path, step_path) = (path.child("min"), path.child("max"), path.child("step"));
    let Some(min) = &range.min else { return v.required(&min_path, "required when validRange is defined") };
    let mut refuse = |path: &Path<'_>, wrong: bool, value: &Quantity, detail: String| {
        if wrong {
            v.invalid(path, value.to_string(), detail);
        }
    };
    refuse(&min_path, compare(min, all).is_gt(), min, format!("min is larger than capacity value: {all}"));
    refuse(&min_path, compare(default, min).is_lt(), default, format!("default is less than min: {min}"));
    if let Some(max) = &range.max {
        refuse(&max_path, compare(min, max).is_gt(), min, format!("min is larger than max: {max}"));
        refuse(&max_path, compare(max, all).is_gt(), max, format!("max is larger than capacity value: {all}"));
        refuse(&max_path, compare(default, max).is_gt(), default, format!("default is more than max: {max}"));
    }
    let Some(step) = &range.step else { return };
    let mut one = min.clone();
    one.add(step);
    let detail = format!("one step {one} is larger than capacity value: {all}");
    refuse(&step_path, compare(&one, all).is_gt(), step, detail);
    for value in [Some(default), range.max.as_ref()].into_iter().flatten() {
        let rest = (value.value() - min.value()).checked_rem(step.value());
        let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
        refuse(&step_path, rest != Some(0), value, detail);
    }
}
