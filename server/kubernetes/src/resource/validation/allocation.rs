//! The devices that a claim has got.

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::validate_label_name;

use super::configuration::validate_configuration;
use super::items::validate_list;
use super::names::{validate_driver, validate_pool, validate_uid};
use super::request::{MAX_CONFIGURATIONS, MAX_REQUESTS, RequestNames};
use crate::core::validation::node_selector::validate_node_selector;
use generated::resource::v1::{AllocationResult, DeviceRequestAllocationResult};

const MAX_BINDING_CONDITIONS: usize = 4;
const SOURCES: [&str; 2] = ["FromClaim", "FromClass"];

/// `validateAllocationResult`, of new results only: it is stricter than it was.
pub fn validate_allocation(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    allocation: &AllocationResult,
    names: &RequestNames<'_>,
) {
    let (devices, results) = (path.child("devices"), &allocation.devices.results);
    validate_list(v, &devices.child("results"), results, MAX_REQUESTS, |v, path, result| {
        validate_result(v, path, result, names);
    });
    let config = &allocation.devices.config;
    // Of the class, and of the claim.
    validate_list(v, &devices.child("config"), config, 2 * MAX_CONFIGURATIONS, |v, path, config| {
        v.required_one_of(&path.child("source"), &config.source, &SOURCES);
        names.validate_all(v, &path.child("requests"), &config.requests);
        validate_configuration(v, path, &config.device_configuration, false);
    });
    if let Some(selector) = &allocation.node_selector {
        validate_node_selector(v, &path.child("nodeSelector"), selector, false);
    }
}

fn validate_result(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    result: &DeviceRequestAllocationResult,
    names: &RequestNames<'_>,
) {
    names.validate(v, &path.child("request"), &result.request);
    validate_driver(v, &path.child("driver"), &result.driver);
    validate_pool(v, &path.child("pool"), &result.pool);
    v.name(&path.child("device"), &result.device, NameRule::Dns1123Label);
    validate_binding(v, path, &result.binding_conditions, &result.binding_failure_conditions);
    if let Some(share) = &result.share_id {
        validate_uid(v, &path.child("shareID"), share);
    }
}

/// `validateDeviceBindingParameters`
pub fn validate_binding(v: &mut Validation<'_>, path: &Path<'_>, conditions: &[String], failures: &[String]) {
    let (good, bad) = (path.child("bindingConditions"), path.child("bindingFailureConditions"));
    for (path, names) in [(&good, conditions), (&bad, failures)] {
        validate_list(v, path, names, MAX_BINDING_CONDITIONS, |v, path, name| validate_label_name(v, path, name));
    }
    let mut seen = HashSet::new();
    for (index, name) in conditions.iter().enumerate().filter(|(_, name)| !seen.insert(*name)) {
        v.duplicate(&good.index(index), name);
    }
    let mut seen = HashSet::new();
    for (index, name) in failures.iter().enumerate() {
        let path = bad.index(index);
        if !seen.insert(name) {
            v.duplicate(&path, name);
        }
        if conditions.contains(name) {
            v.invalid(&path, name, "bindingFailureConditions must not overlap with bindingConditions");
        }
    }
    if conditions.is_empty() && !failures.is_empty() {
        v.invalid(&good, BadValue::None, "bindingConditions are required to use bindingFailureConditions");
    }
    if failures.is_empty() && !conditions.is_empty() {
        v.invalid(&bad, BadValue::None, "bindingFailureConditions are required to use bindingConditions");
    }
}
