//! Policy rules and the requests that they cover (upstream: `rbac.RuleAllows`, `rbac/v1/evaluation_helpers.go`).

use crate::attributes::AuthorizationAttributes;

/// A rule of a role: verbs on resources or on non-resource URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PolicyRule {
    pub verbs: Vec<String>,
    pub api_groups: Vec<String>,
    pub resources: Vec<String>,
    /// The names of the objects that the rule covers; empty for all.
    pub resource_names: Vec<String>,
    pub non_resource_urls: Vec<String>,
}

impl PolicyRule {
    /// A rule for all objects of resources. `*` stands for all verbs, groups or resources.
    pub fn resources(verbs: &[&str], api_groups: &[&str], resources: &[&str]) -> Self {
        let (verbs, api_groups, resources) = (owned(verbs), owned(api_groups), owned(resources));
        PolicyRule { verbs, api_groups, resources, ..PolicyRule::default() }
    }

    /// A rule for non-resource URLs. A URL may end in `*`.
    pub fn paths(verbs: &[&str], urls: &[&str]) -> Self {
        PolicyRule { verbs: owned(verbs), non_resource_urls: owned(urls), ..PolicyRule::default() }
    }

    /// Restricts the rule to objects with these names.
    pub fn named(self, names: &[&str]) -> Self {
        PolicyRule { resource_names: owned(names), ..self }
    }

    /// Whether the rule covers a request.
    pub fn allows(&self, attributes: &AuthorizationAttributes<'_>) -> bool {
        if !self.verbs.iter().any(|verb| verb == "*" || *verb == attributes.verb) {
            return false;
        }
        match attributes.is_resource_request {
            true => self.covers_resource(attributes),
            false => self.non_resource_urls.iter().any(|url| covers_path(url, attributes.path)),
        }
    }

    fn covers_resource(&self, attributes: &AuthorizationAttributes<'_>) -> bool {
        let named = || self.resource_names.is_empty() || self.resource_names.iter().any(|name| name == attributes.name);
        self.api_groups.iter().any(|group| group == "*" || group == attributes.group)
            && self.resources.iter().any(|rule| covers(rule, attributes))
            && named()
    }
}

/// Whether `pods`, `pods/log`, `*/log` or `*` covers a resource with its subresource.
fn covers(rule: &str, attributes: &AuthorizationAttributes<'_>) -> bool {
    if rule == "*" {
        return true;
    }
    match (rule.split_once('/'), attributes.subresource) {
        (None, "") => rule == attributes.resource,
        (Some((resource, rule)), subresource) if !subresource.is_empty() => {
            rule == subresource && (resource == "*" || resource == attributes.resource)
        }
        _ => false,
    }
}

fn covers_path(rule: &str, path: &str) -> bool {
    rule == path || rule.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix.trim_end_matches('*')))
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
