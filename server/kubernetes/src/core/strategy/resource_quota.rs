//! Warnings about resource quotas.

use machinery::hooks::WriteContext;
use machinery::scalar::Quantity;

use generated::core::v1::{ResourceQuota, resource_name};

const RESOURCES: [&str; 4] =
    [resource_name::CPU, resource_name::MEMORY, resource_name::STORAGE, resource_name::EPHEMERAL_STORAGE];

/// Warns on create about requests that may exceed the limits of the same resource
/// (`resourcequotaStrategy.WarningsOnCreate`).
pub fn warn_resource_quota(_: &WriteContext, quota: &ResourceQuota, old: Option<&ResourceQuota>) -> Vec<String> {
    if old.is_some() {
        return Vec::new();
    }
    RESOURCES.iter().filter_map(|resource| warning_of(quota, resource)).collect()
}

fn warning_of(quota: &ResourceQuota, resource: &str) -> Option<String> {
    let hard = |name: &str| quota.spec.hard.get(name).map(|amount| (name.to_owned(), amount));
    let has_bare_name = matches!(resource, resource_name::CPU | resource_name::MEMORY);
    let (request, requested) =
        hard(&format!("requests.{resource}")).or_else(|| hard(resource).filter(|_| has_bare_name))?;
    let (limit, limited) = hard(&format!("limits.{resource}"))?;
    let is_more = |requested: &Quantity, limited: &Quantity| requested > limited;
    is_more(requested, limited)
        .then(|| format!("ResourceQuota {request} ({requested}) should be less than {limit} ({limited})"))
}
