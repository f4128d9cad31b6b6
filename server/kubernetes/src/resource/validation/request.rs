//! What a claim asks for.

use std::collections::{BTreeMap, BTreeSet};

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;

use super::configuration::validate_configuration;
use super::items::{validate_list, validate_set, validate_texts};
use super::names::validate_fully_qualified;
use super::selector::validate_selectors;
use super::taint::validate_toleration;
use generated::resource::v1::{DeviceClaim, DeviceConstraint, DeviceRequest, DeviceSelector, DeviceToleration};

pub const MAX_REQUESTS: usize = 32;
pub const MAX_CONFIGURATIONS: usize = 32;
const MAX_CONSTRAINTS: usize = 32;
const MAX_ALTERNATIVES: usize = 8;

const EXACT_COUNT: &str = "ExactCount";
const ALL: &str = "All";
const NOT_A_REQUEST: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/// The names of a claim's requests, and those of their alternatives.
pub struct RequestNames<'c>(BTreeMap<&'c str, BTreeSet<&'c str>>);

impl<'c> RequestNames<'c> {
    /// `gatherRequestNames`
    pub fn of(claim: &'c DeviceClaim) -> Self {
        let alternatives = |request: &'c DeviceRequest| request.first_available.iter().map(|one| one.name.as_str());
        RequestNames(claim.requests.iter().map(|one| (one.name.as_str(), alternatives(one).collect())).collect())
    }

    fn has(&self, name: &str) -> bool {
        match name.split_once('/') {
            None => self.0.contains_key(name),
            Some((request, alternative)) => self.0.get(request).is_some_and(|names| names.contains(alternative)),
        }
    }

    /// `validateRequestNameRef`
    pub fn validate(&self, v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
        let parts: Vec<&str> = name.split('/').collect();
        if parts.len() > 2 {
            return v.invalid(path, name, NOT_A_REQUEST);
        }
        parts.iter().for_each(|part| v.name(path, part, NameRule::Dns1123Label));
        if !self.has(name) {
            v.invalid(path, name, NOT_A_REQUEST);
        }
    }

    /// Several, each once.
    pub fn validate_all(&self, v: &mut Validation<'_>, path: &Path<'_>, names: &[String]) {
        validate_texts(v, path, names, MAX_REQUESTS, |v, path, name| self.validate(v, path, name));
    }
}

/// `validateDeviceClaim`
pub fn validate_device_claim(v: &mut Validation<'_>, path: &Path<'_>, claim: &DeviceClaim) {
    let names = RequestNames::of(claim);
    let key = |request: &DeviceRequest| BadValue::from(&request.name);
    validate_set(v, &path.child("requests"), &claim.requests, MAX_REQUESTS, key, validate_request);
    validate_list(v, &path.child("constraints"), &claim.constraints, MAX_CONSTRAINTS, |v, path, constraint| {
        validate_constraint(v, path, constraint, &names);
    });
    validate_list(v, &path.child("config"), &claim.config, MAX_CONFIGURATIONS, |v, path, config| {
        names.validate_all(v, &path.child("requests"), &config.requests);
        validate_configuration(v, path, &config.device_configuration, false);
    });
}

/// `validateDeviceRequest`: one thing, or the first of several that there is.
fn validate_request(v: &mut Validation<'_>, path: &Path<'_>, request: &DeviceRequest) {
    let one = "exactly one of `exactly` or `firstAvailable` is required";
    v.name(&path.child("name"), &request.name, NameRule::Dns1123Label);
    match (&request.exactly, request.first_available.is_empty()) {
        (None, true) => v.required(path, one),
        (Some(_), false) => v.invalid(path, BadValue::None, format!("{one}, but multiple fields are set")),
        (Some(exactly), true) => {
            let asked = Asked {
                class: &exactly.device_class_name,
                selectors: &exactly.selectors,
                mode: &exactly.allocation_mode,
                count: exactly.count,
                tolerations: &exactly.tolerations,
            };
            asked.validate(v, &path.child("exactly"));
        }
        (None, false) => {
            let path = path.child("firstAvailable");
            let key = |one: &generated::resource::v1::DeviceSubRequest| BadValue::from(&one.name);
            validate_set(v, &path, &request.first_available, MAX_ALTERNATIVES, key, |v, path, one| {
                v.name(&path.child("name"), &one.name, NameRule::Dns1123Label);
                let asked = Asked {
                    class: &one.device_class_name,
                    selectors: &one.selectors,
                    mode: &one.allocation_mode,
                    count: one.count,
                    tolerations: &one.tolerations,
                };
                asked.validate(v, path);
            });
        }
    }
}

/// What requests and their alternatives have in common.
struct Asked<'r> {
    class: &'r str,
    selectors: &'r [DeviceSelector],
    mode: &'r str,
    count: i64,
    tolerations: &'r [DeviceToleration],
}

impl Asked<'_> {
    fn validate(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let class = path.child("deviceClassName");
        if self.class.is_empty() {
            v.required(&class, "");
        } else {
            v.malformed(&class, self.class, format::is_dns1123_subdomain(self.class));
        }
        validate_selectors(v, &path.child("selectors"), self.selectors);
        let count = path.child("count");
        match self.mode {
            ALL if self.count != 0 => {
                v.invalid(&count, self.count, format!("must not be specified when allocationMode is '{ALL}'"));
            }
            ALL => {}
            EXACT_COUNT => v.positive(&count, self.count),
            unknown => v.one_of(&path.child("allocationMode"), unknown, &[ALL, EXACT_COUNT]),
        }
        let path = path.child("tolerations");
        for (index, toleration) in self.tolerations.iter().enumerate() {
            validate_toleration(v, &path.index(index), toleration);
        }
    }
}

/// `validateDeviceConstraint`; the text on one missing attribute is upstream's.
fn validate_constraint(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraint: &DeviceConstraint,
    names: &RequestNames<'_>,
) {
    names.validate_all(v, &path.child("requests"), &constraint.requests);
    match (&constraint.match_attribute, &constraint.distinct_attribute) {
        (Some(name), _) => validate_fully_qualified(v, &path.child("matchAttribute"), name),
        (None, Some(name)) => validate_fully_qualified(v, &path.child("distinctAttribute"), name),
        (None, None) if v.context.enabled(features::DRAConsumableCapacity) => {
            let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields \
                          are set";
            v.required(path, detail);
        }
        (None, None) => v.required(&path.child("matchAttribute"), ""),
    }
}
