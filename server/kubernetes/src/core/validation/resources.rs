//! Validation of resource names and amounts, and of requests and limits of containers and pods.

use std::collections::BTreeSet;

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::format::resource::{amount_errors, container_resource_name, resource_name};
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::scalar::Quantity;
use machinery::status::listed_errors;

use generated::core::v1::{PodSpec, ResourceClaim, ResourceRequirements, resource_name};

pub use machinery::format::resource::{is_huge_pages, is_native_resource};

type CheckName = fn(&Path<'_>, &str) -> Vec<FieldError>;

const HUGE_PAGES: &str = "hugepages-";

const SUPPORTED_OF_PODS: [&str; 3] = [resource_name::CPU, HUGE_PAGES, resource_name::MEMORY];

/// Whether the request of a resource may be lower than its limit.
pub(super) fn is_overcommit_allowed(name: &str) -> bool {
    is_native_resource(name) && !is_huge_pages(name)
}

/// `validateContainerResourceName`, for functions.
pub fn validate_container_resource_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    v.errors.extend(container_resource_name(path, name));
}

/// `validatePodResourceName`
fn pod_resource_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let errors = resource_name(path, name);
    if errors.is_empty() && !matches!(name, resource_name::CPU | resource_name::MEMORY) && !is_huge_pages(name) {
        return vec![FieldError::not_supported(path, BadValue::json_string(name), &SUPPORTED_OF_PODS)];
    }
    errors
}

/// `ValidateContainerResourceRequirements`. Hand-written, because rules for amounts depend on resource
/// names, and requests are compared with limits.
pub fn validate_container_resources(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    resources: &ResourceRequirements,
    _: Option<&ResourceRequirements>,
) {
    validate_requirements(v, path, resources, container_resource_name);
}

/// `validatePodResourceRequirements`. Hand-written for the same reasons.
pub fn validate_pod_resources(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    resources: &ResourceRequirements,
    _: Option<&ResourceRequirements>,
) {
    validate_requirements(v, path, resources, pod_resource_name);
}

/// Checks that amounts of huge pages are whole pages. Hand-written, because the page size is part of
/// the name.
pub fn validate_whole_huge_pages(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    resources: &ResourceRequirements,
    _: Option<&ResourceRequirements>,
) {
    for (name, amount) in resources.limits.iter().chain(&resources.requests) {
        validate_huge_pages(v, path, name, amount);
    }
}

/// `validateResourceRequirements`
fn validate_requirements(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    resources: &ResourceRequirements,
    check_name: CheckName,
) {
    let (limits, requests) =
        (path.child(json_name!(ResourceRequirements.limits)), path.child(json_name!(ResourceRequirements.requests)));
    for (name, amount) in &resources.limits {
        validate_amount(v, &limits.key(name), name, amount, check_name);
        validate_huge_pages(v, &limits.key(name), name, amount);
    }
    for (name, amount) in &resources.requests {
        validate_amount(v, &requests.key(name), name, amount, check_name);
        validate_request(v, path, name, amount, resources.limits.get(name));
        validate_huge_pages(v, &requests.key(name), name, amount);
    }
    let any =
        |wanted: fn(&str) -> bool| resources.limits.keys().chain(resources.requests.keys()).any(|name| wanted(name));
    if any(is_huge_pages) && !any(|name| matches!(name, resource_name::CPU | resource_name::MEMORY)) {
        v.forbidden(path, "HugePages require cpu or memory");
    }
    validate_claims(v, &path.child(json_name!(ResourceRequirements.claims)), &resources.claims);
}

fn validate_amount(v: &mut Validation<'_>, path: &Path<'_>, name: &str, amount: &Quantity, check_name: CheckName) {
    v.errors.extend(check_name(path, name));
    v.errors.extend(amount_errors(path, name, amount));
}

/// `validateResourceQuantityHugePageValue`
fn validate_huge_pages(v: &mut Validation<'_>, path: &Path<'_>, name: &str, amount: &Quantity) {
    if is_huge_pages(name) && !v.has_option(options::INDIVISIBLE_HUGE_PAGES) && !is_divisible(name, amount) {
        let detail = format!("{amount} is not positive integer multiple of {name}");
        v.invalid(path, amount.to_string(), detail);
    }
}

/// Whether an amount is a multiple of the page size in the name (`IsHugePageResourceValueDivisible`).
fn is_divisible(name: &str, amount: &Quantity) -> bool {
    let size = name.strip_prefix(HUGE_PAGES).and_then(|size| Quantity::parse(size).ok());
    size.is_some_and(|size| {
        size.sign().is_gt() && size.milli_value() % 1000 == 0 && amount.value().checked_rem(size.value()) == Some(0)
    })
}

/// Compares a request with its limit.
fn validate_request(v: &mut Validation<'_>, path: &Path<'_>, name: &str, amount: &Quantity, limit: Option<&Quantity>) {
    let requests = path.child(json_name!(ResourceRequirements.requests));
    match limit {
        Some(limit) if !is_overcommit_allowed(name) && amount != limit => {
            v.invalid(&requests, amount.to_string(), format!("must be equal to {name} limit of {limit}"));
        }
        Some(limit) if amount > limit => {
            v.invalid(&requests, amount.to_string(), format!("must be less than or equal to {name} limit of {limit}"));
        }
        None if !is_overcommit_allowed(name) => {
            v.required(
                &path.child(json_name!(ResourceRequirements.limits)),
                "Limit must be set for non overcommitable resources",
            );
        }
        _ => {}
    }
}

/// Validates the claims of a container: each pod claim is used once as a whole, or once per request
/// (`validateResourceClaimNames`).
fn validate_claims(v: &mut Validation<'_>, path: &Path<'_>, claims: &[ResourceClaim]) {
    let mut used: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let (path, name, request) = (path.index(index), claim.name.as_str(), claim.request.as_str());
        if name.is_empty() {
            v.required(&path, "");
            continue;
        }
        if used.contains(&(name, "")) {
            v.duplicate(&path, name);
        } else {
            if !request.is_empty() {
                v.name(&path.child(json_name!(ResourceClaim.request)), request, NameRule::Dns1123Label);
            }
            if used.contains(&(name, request)) {
                v.duplicate(&path, format!("{name}/{request}"));
            } else if request.is_empty() {
                let requests = used.range((name, "")..).take_while(|(used, _)| *used == name);
                requests.for_each(|_| v.duplicate(&path, name));
            }
            used.insert((name, request));
        }
        if !v.has_noted(options::POD_CLAIMS, name) {
            refuse_unknown_claim(v, &path, name);
        }
    }
}

/// Reports an unknown claim; the message contains all names, up to a maximum length.
fn refuse_unknown_claim(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    let known: Vec<&str> = v.noted(options::POD_CLAIMS).into_iter().collect();
    if v.errors.len() < listed_errors(known.iter().map(|known| known.len()).sum()) {
        let known = if known.is_empty() { " which is empty".to_owned() } else { format!(": {}", known.join(", ")) };
        let detail = format!("must be one of the names in pod.spec.resourceClaims{known}").into();
        v.errors.push(FieldError { detail, ..FieldError::not_found(path, name) });
    }
}

/// Validates the pod overhead (`validateOverhead`). Hand-written, because it is validated like the
/// limits of a container.
pub fn validate_overhead(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let resources = ResourceRequirements { limits: spec.overhead.clone(), ..ResourceRequirements::default() };
    validate_container_resources(v, &path.child(json_name!(PodSpec.overhead)), &resources, None);
}
