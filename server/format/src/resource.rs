//! Names and quantities of resources (upstream: `pkg/apis/core/helper`,
//! `pkg/apis/core/validation`).

use super::is_qualified_name;
use scalar::Quantity;
use status::field_error::{BadValue, FieldError};
use status::field_path::Path;

const HUGE_PAGES: &str = "hugepages-";
const STORAGE: &str = "storage";

/// Resources with integer quantities.
#[rustfmt::skip]
const COUNTED: [&str; 9] = [
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
];
/// The resources without a domain in their names, besides [`COUNTED`] ones.
#[rustfmt::skip]
const STANDARD: [&str; 11] = [
    "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu",
    "limits.memory", "limits.ephemeral-storage", STORAGE, "requests.storage",
];
const STANDARD_OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Whether a resource is huge pages of any size.
pub fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Whether a resource is native to Kubernetes (`IsNativeResource`).
pub fn is_native_resource(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether a resource is an extended resource, which quotas can also refer to
/// (`IsExtendedResourceName`).
pub fn is_extended_resource(name: &str) -> bool {
    !is_native_resource(name)
        && !name.starts_with("requests.")
        && is_qualified_name(&format!("requests.{name}")).is_empty()
}

/// Whether a quota can limit the resource by a name without a domain
/// (`IsStandardQuotaResourceName`).
pub fn is_resource_of_quotas(name: &str) -> bool {
    name != STORAGE && is_standard(name)
}

fn is_standard(name: &str) -> bool {
    let pages = name.strip_prefix("requests.").unwrap_or(name);
    STANDARD.contains(&name) || COUNTED.contains(&name) || is_huge_pages(pages)
}

fn refuse(path: &Path<'_>, name: &str, detail: &'static str) -> Vec<FieldError> {
    vec![FieldError::invalid(path, BadValue::json_string(name), detail)]
}

/// A name of a resource (`validateResourceName`).
pub fn resource_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let messages = is_qualified_name(name);
    if messages.is_empty() && !name.contains('/') && !is_standard(name) {
        return refuse(path, name, "must be a standard resource type or fully qualified");
    }
    messages.into_iter().map(|message| FieldError::invalid(path, BadValue::json_string(name), message)).collect()
}

/// A name of a resource that containers request (`validateContainerResourceName`).
pub fn container_resource_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let mut errors = resource_name(path, name);
    if !name.contains('/') && !STANDARD_OF_CONTAINERS.contains(&name) && !is_huge_pages(name) {
        errors.extend(refuse(path, name, "must be a standard resource for containers"));
    } else if !is_native_resource(name) && !is_extended_resource(name) {
        errors.extend(refuse(path, name, "doesn't follow extended resource name standard"));
    }
    errors
}

/// A name of a resource that quotas limit (`ValidateResourceQuotaResourceName`).
pub fn quota_resource_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let mut errors = resource_name(path, name);
    if !name.contains('/') && !is_resource_of_quotas(name) {
        errors.extend(refuse(path, name, "must be a standard resource for quota"));
    }
    errors
}

/// A name of a resource of claims: storage, or an extended resource
/// (`validatePersistentVolumeClaimResourceKey`).
pub fn claim_resource_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let messages = is_qualified_name(name);
    if messages.is_empty() && is_native_resource(name) && name != STORAGE {
        return vec![FieldError::not_supported(path, name, &[STORAGE])];
    }
    messages.into_iter().map(|message| FieldError::invalid(path, name, message)).collect()
}

/// The errors of a quantity of a resource: it must not be negative, and must be an integer if the
/// resource is counted (`ValidateResourceQuantityValue`).
pub fn amount_errors(path: &Path<'_>, name: &str, amount: &Quantity) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if amount.sign().is_lt() {
        errors.push(FieldError::invalid(path, amount.to_string(), "must be greater than or equal to 0"));
    }
    let whole = COUNTED.contains(&name) || is_extended_resource(name);
    if whole && amount.milli_value() % 1000 != 0 {
        errors.push(FieldError::invalid(path, BadValue::json_string(&amount.to_string()), "must be an integer"));
    }
    errors
}
