//! In what pieces the capacity of a device is given. By hand: amounts are compared with each other, and messages show
//! them.

use std::cmp::Ordering;
use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::Quantity;

use generated::resource::v1::{CapacityRequestPolicyRange, DeviceCapacity};

const MAX_OPTIONS: usize = 10;

/// `validateRequestPolicy`; what has to be there is declared.
pub fn validate_shared_capacity(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeviceCapacity,
    _: Option<&DeviceCapacity>,
) {
    let Some(policy) = &new.request_policy else { return };
    let (path, Some(default)) = (path.child("requestPolicy"), &policy.default) else { return };
    match (policy.valid_values.as_slice(), &policy.valid_range) {
        ([], Some(range)) => validate_range(v, &path.child("validRange"), range, default, &new.value),
        ([], None) | (_, Some(_)) => {}
        (values, None) => validate_values(v, &path.child("validValues"), values, default, &new.value),
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
    if values.len() > MAX_OPTIONS {
        v.too_many(path, values.len(), MAX_OPTIONS);
        // No value was looked at, so none is the default.
        return v.invalid(path, default.to_string(), NOT_A_VALUE);
    }
    for (index, value) in values.iter().enumerate().filter(|(_, value)| compare(value, all).is_gt()) {
        let detail = format!("option is larger than capacity value: {all}");
        v.invalid(&path.index(index), value.to_string(), detail);
    }
    let mut seen = HashSet::new();
    for (index, value) in values.iter().map(Quantity::value).enumerate().filter(|(_, value)| !seen.insert(*value)) {
        v.duplicate(&path.index(index), value.to_string());
    }
    if !values.iter().any(|value| compare(value, default).is_eq()) {
        v.invalid(path, default.to_string(), NOT_A_VALUE);
    }
}

const NOT_A_VALUE: &str = "default value is not valid according to the requestPolicy";

/// `validateRequestPolicyRange`
fn validate_range(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    range: &CapacityRequestPolicyRange,
    default: &Quantity,
    all: &Quantity,
) {
    let Some(min) = &range.min else { return };
    let (min_path, max_path, step_path) = (path.child("min"), path.child("max"), path.child("step"));
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
