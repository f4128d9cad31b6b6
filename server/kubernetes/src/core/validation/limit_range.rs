//! Limit ranges.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::Validation;
use machinery::scalar::Quantity;

use super::resources::{is_overcommit_allowed, validate_container_resource_name, validate_resource_name};
use generated::core::v1::{LimitRangeItem, limit_type};

/// Above this, ratios are compared in whole units (`resource.MaxMilliValue`).
const MAX_MILLI_VALUE: i64 = i64::MAX / 1000;

/// By hand: amounts of one resource in five maps are compared.
pub fn validate_limits(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, _: Option<&LimitRangeItem>) {
    validate_names(v, path, item);
    for name in names(item) {
        validate_amounts(v, path, item, name);
        validate_ratio(v, &path.child("maxLimitRequestRatio").key(name), item, name);
        validate_overcommit(v, &path.child("defaultRequest").key(name), item, name);
    }
}

/// `validateLimitRangeTypeName`. By hand: a name without a domain is one of three.
pub fn validate_limit_type(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, _: Option<&LimitRangeItem>) {
    let (path, name) = (&path.child("type"), item.r#type.as_str());
    let messages = is_qualified_name(name);
    let standard = [limit_type::POD, limit_type::CONTAINER, limit_type::PERSISTENT_VOLUME_CLAIM].contains(&name);
    if messages.is_empty() && !name.contains('/') && !standard {
        v.invalid(path, BadValue::json_string(name), "must be a standard limit type or fully qualified");
    }
    messages.into_iter().for_each(|message| v.invalid(path, BadValue::json_string(name), message));
}

/// Which resources are limited, and that a pod as a whole has no defaults.
fn validate_names(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem) {
    let is_pod = item.r#type == limit_type::POD;
    let check = match item.r#type.as_str() {
        limit_type::POD | limit_type::CONTAINER => validate_container_resource_name,
        _ => validate_resource_name,
    };
    let each = |v: &mut Validation<'_>, field: &str, amounts: &BTreeMap<String, Quantity>| {
        let path = path.child(field);
        amounts.keys().for_each(|name| check(v, &path.key(name), name));
    };
    each(v, "max", &item.max);
    each(v, "min", &item.min);
    for (field, amounts) in [("default", &item.default), ("defaultRequest", &item.default_request)] {
        if !is_pod {
            each(v, field, amounts);
        } else if !amounts.is_empty() {
            v.forbidden(&path.child(field), "may not be specified when `type` is 'Pod'");
        }
    }
    let bounded = item.min.contains_key("storage") || item.max.contains_key("storage");
    if item.r#type == limit_type::PERSISTENT_VOLUME_CLAIM && !bounded {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        v.required(&path.child("limits"), detail);
    }
    each(v, "maxLimitRequestRatio", &item.max_limit_request_ratio);
}

/// Every resource that is limited in some way.
fn names(item: &LimitRangeItem) -> BTreeSet<&str> {
    let all = [&item.max, &item.min, &item.default, &item.default_request, &item.max_limit_request_ratio];
    all.into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect()
}

/// Minimum, request, default and maximum follow each other.
fn validate_amounts(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, name: &str) {
    let named = item.r#type != limit_type::POD;
    let min = (item.min.get(name), "min value");
    let max = (item.max.get(name), "max value");
    let request = (item.default_request.get(name).filter(|_| named), "default request value");
    let default = (item.default.get(name).filter(|_| named), "default value");
    let limit = (default.0, "default limit value");
    // The field, what must not be greater than what, and which of the two upstream shows.
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

fn shown(amount: &Quantity) -> BadValue {
    BadValue::json_string(&amount.to_string())
}

/// A ratio of limit to request is at least 1, and no more than the bounds allow.
fn validate_ratio(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, name: &str) {
    let Some(ratio) = item.max_limit_request_ratio.get(name) else { return };
    if ratio.cmp_i64(1).is_lt() {
        v.invalid(path, shown(ratio), format!("ratio {ratio} is less than 1"));
    }
    let (Some(min), Some(max)) = (item.min.get(name), item.max.get(name)) else { return };
    let exact = [ratio, min, max].iter().all(|amount| amount.value() < MAX_MILLI_VALUE);
    let (asked, highest) = if exact {
        (ratio.milli_value() as f64 / 1000.0, max.milli_value() as f64 / min.milli_value() as f64)
    } else {
        (ratio.value() as f64, max.value() as f64 / min.value() as f64)
    };
    if asked > highest {
        v.invalid(path, shown(ratio), format!("ratio {ratio} is greater than max/min = {highest:.6}"));
    }
}

/// What cannot be overcommitted is requested as it is limited.
fn validate_overcommit(v: &mut Validation<'_>, path: &Path<'_>, item: &LimitRangeItem, name: &str) {
    let named = item.r#type != limit_type::POD && !is_overcommit_allowed(name);
    if let (true, Some(default), Some(request)) = (named, item.default.get(name), item.default_request.get(name))
        && default != request
    {
        let detail = format!("default value {default} must equal to defaultRequest value {request} in {name}");
        v.invalid(path, shown(request), detail);
    }
}
