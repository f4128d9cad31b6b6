//! Configuration of `ResourceQuota`: resources that require a covering quota.

use std::collections::BTreeSet;

use endpoints::AdmissionAttributes;
use generated::core::v1::{ResourceQuota, ScopedResourceSelectorRequirement};
use generated::resourcequota::v1beta1::{Configuration, LimitedResource};
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json_name;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::{Resources, scopes};
use crate::Error;
use crate::configuration::{self, Configurations, refused};
use crate::forbidden;

const PLUGIN: &str = "ResourceQuota";
const GROUP: &str = "resourcequota.admission.k8s.io";
const VERSIONS: [&str; 2] = ["v1beta1", "v1alpha1"];

/// The limited resources; empty without a configuration.
#[derive(Default)]
pub struct Limited(Vec<LimitedResource>);

impl Limited {
    /// Loads the configuration, which has two kinds (upstream: `resourcequota.LoadConfiguration`).
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn load(configurations: &Configurations) -> Result<Self, Error> {
        let named: Result<Option<Configuration>, _> =
            configurations.read(PLUGIN, configuration::GROUP, &["v1"], "ResourceQuotaConfiguration");
        let found = match named {
            Err(_) if configurations.is_of_group(PLUGIN, GROUP) => {
                configurations.read(PLUGIN, GROUP, &VERSIONS, "Configuration")?
            }
            named => named?,
        };
        let limited = found.unwrap_or_default().limited_resources;
        let path = Path::new(json_name!(Configuration.limited_resources));
        let unnamed = limited.iter().enumerate().filter(|(_, limited)| limited.resource.is_empty());
        let errors: Vec<FieldError> = unnamed
            .map(|(at, _)| FieldError::required(&path.index(at).child(json_name!(LimitedResource.resource)), ""))
            .collect();
        refused(PLUGIN, errors)?;
        Ok(Limited(limited))
    }

    /// Whether no resource is limited.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that quotas cover the limited resources that an object uses.
    ///
    /// `quotas` are all quotas of the namespace, `covered` the resources of the quotas that count
    /// the object, `usage` the usage of the object.
    ///
    /// # Errors
    /// 403 when a resource has no quota; as upstream, 500 when a scope has none.
    pub fn check<'q>(
        &self,
        attributes: &AdmissionAttributes,
        object: &Owned,
        quotas: impl Iterator<Item = &'q ResourceQuota>,
        covered: &BTreeSet<String>,
        usage: &Resources,
    ) -> Result<(), Status> {
        let uncovered: Vec<&str> = self.names(attributes, usage).difference(&borrowed(covered)).copied().collect();
        if !uncovered.is_empty() {
            return Err(forbidden(attributes, format!("insufficient quota to consume: {}", uncovered.join(","))));
        }
        let limited = self.0.iter().flat_map(|limited| &limited.match_scopes);
        let limited: Vec<_> = limited.filter(|scope| scopes::matches_scope(scope, object)).collect();
        if limited.is_empty() {
            return Ok(());
        }
        let matched: BTreeSet<String> = quotas
            .flat_map(scopes::requirements)
            .filter(|scope| scopes::matches_scope(scope, object))
            .map(|scope| scope.scope_name)
            .collect();
        let uncovered = limited.into_iter().filter(|scope| !matched.contains(&scope.scope_name));
        let uncovered: Vec<String> = uncovered.map(shown).collect();
        match uncovered.is_empty() {
            true => Ok(()),
            false => {
                let why = format!("insufficient quota to match these scopes: [{}]", uncovered.join(" "));
                Err(Status::new(500, "", why))
            }
        }
    }

    /// Returns the resources that the object uses and that require a quota.
    fn names<'u>(&self, attributes: &AdmissionAttributes, usage: &'u Resources) -> BTreeSet<&'u str> {
        let of_kind = |limited: &&LimitedResource| {
            (limited.api_group.as_str(), limited.resource.as_str()) == (attributes.group, attributes.plural)
        };
        let parts = || self.0.iter().filter(of_kind).flat_map(|limited| &limited.match_contains);
        let used = usage.iter().filter(|(_, quantity)| quantity.sign().is_gt()).map(|(name, _)| name.as_str());
        used.filter(|name| parts().any(|part| name.contains(part.as_str()))).collect()
    }
}

fn borrowed(names: &BTreeSet<String>) -> BTreeSet<&str> {
    names.iter().map(String::as_str).collect()
}

/// Formats a scope as Go's `%v`.
fn shown(scope: &ScopedResourceSelectorRequirement) -> String {
    format!("{{{} {} [{}]}}", scope.scope_name, scope.operator, scope.values.join(" "))
}

#[cfg(test)]
mod tests;
