//! Hand-written validation of limit ranges.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::scalar::Quantity;

use super::resources::is_overcommit_allowed;
use generated::core::v1::{LimitRangeItem, limit_type};

/// Largest value that is compared in thousandths; above it, ratios are compared in whole units
/// (`resource.MaxMilliValue`).
const MAX_MILLI_VALUE: i64 = i64::MAX / 1000;

/// `validateLimitRangeTypeName`. Hand-written, because messages show the name as JSON.
pub fn validate_limit_type(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, _: Option<&LimitRangeItem>) {
    let (path, name) = (&path.child(json_name!(LimitRangeItem.r#type)), item.r#type.as_str());
    let mut messages = is_qualified_name(name);
    if messages.is_empty() && !name.contains('/') {
        messages.push("must be a standard limit type or fully qualified".into());
    }
    messages.into_iter().for_each(|message| v.invalid(path, BadValue::json_string(name), message));
}

/// Validates limits. Hand-written, because the amounts of each resource in five maps are compared.
pub fn validate_limits(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, _: Option<&LimitRangeItem>) {
    let all = [&item.max, &item.min, &item.default, &item.default_request, &item.max_limit_request_ratio];
    let names: BTreeSet<&String> = all.into_iter().flat_map(BTreeMap::keys).collect();
    for name in names {
        validate_amounts(v, path, item, name);
        validate_ratio(v, &path.child(json_name!(LimitRangeItem.max_limit_request_ratio)).key(name), item, name);
        // A resource that cannot be overcommitted has equal requests and limits.
        let named = item.r#type != limit_type::POD && !is_overcommit_allowed(name);
        if let (true, Some(default), Some(request)) = (named, item.default.get(name), item.default_request.get(name))
            && default != request
        {
            let detail = format!("default value {default} must equal to defaultRequest value {request} in {name}");
            v.invalid(&path.child(json_name!(LimitRangeItem.default_request)).key(name), shown(request), detail);
        }
    }
}

fn shown(amount: &Quantity) -> BadValue {
    BadValue::json_string(&amount.to_string())
}

/// Checks that minimum, default request, default and maximum are in ascending order.
fn validate_amounts(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, name: &str) {
    let named = item.r#type != limit_type::POD;
    let min = (item.min.get(name), "min value");
    let max = (item.max.get(name), "max value");
    let request = (item.default_request.get(name).filter(|_| named), "default request value");
    let default = (item.default.get(name).filter(|_| named), "default value");
    let limit = (default.0, "default limit value");
    // The field, the lower and the greater value with their names, and which of the two upstream shows.
    for (field, (low, low_name), (high, high_name), shows_low) in [
        ("min", min, max, true),
        ("defaultRequest", min, request, false),
        ("defaultRequest", request, max, true),
        ("defaultRequest", request, limit, true),
        ("default", min, default, true),
        ("default", default, max, false),
    ] {
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            let detail = format!("{low_name} {low} is greater than {high_name} {high}");
            v.invalid(&path.child(field).key(name), shown(if shows_low { low } else { high }), detail);
        }
    }
}

/// Checks that a ratio of limit to request is at least 1 and within the bounds.
fn validate_ratio(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, name: &str) {
    let Some(ratio) = item.max_limit_request_ratio.get(name) else { return };
    if ratio.cmp_i64(1).is_lt() {
        v.invalid(path, shown(ratio), format!("ratio {ratio} is less than 1"));
    }
    let (Some(min), Some(max)) = (item.min.get(name), item.max.get(name)) else { return };
    let exact = [ratio, min, max].iter().all(|amount| amount.value() < MAX_MILLI_VALUE);
    let (requested, highest) = if exact {
        (ratio.milli_value() as f64 / 1000.0, max.milli_value() as f64 / min.milli_value() as f64)
    } else {
        (ratio.value() as f64, max.value() as f64 / min.value() as f64)
    };
    if requested > highest {
        v.invalid(path, shown(ratio), format!("ratio {ratio} is greater than max/min = {highest:.6}"));
    }
}
