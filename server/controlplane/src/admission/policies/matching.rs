//! Whether a request is one that a policy or webhook is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::hatches::meta::{compiled_selector, selects};
use apimachinery::meta::v1::LabelSelector;
use endpoints::{Attributes, Environment, Operation};
use generated::admissionregistration::v1::{MatchResources, RuleWithOperations};
use generated::core::v1::Namespace;
use machinery::catalog::KindDef;
use machinery::reflect::Owned;
use registry::meta;

/// A request, with what selectors look at.
pub struct Subject<'r> {
    pub environment: &'r Environment,
    pub attributes: &'r Attributes,
    pub object: Option<&'r Owned>,
    pub old: Option<&'r Owned>,
    /// The namespace that the object is in.
    pub namespace: Option<Arc<Namespace>>,
}

pub fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "CREATE",
        Operation::Update => "UPDATE",
        Operation::Delete => "DELETE",
        Operation::Connect => "CONNECT",
    }
}

impl Subject<'_> {
    /// The version of the kind that a policy wants to see; `None` when the request is not its business (`Matcher.Matches`).
    pub fn matched(&self, resources: &MatchResources) -> Option<&'static KindDef> {
        let selected = self.selected(resources.namespace_selector.as_deref(), resources.object_selector.as_deref());
        let named = |names: &[String]| names.is_empty() || names.contains(&self.attributes.name);
        let policy = resources.match_policy.as_deref();
        let excluded = resources.exclude_resource_rules.iter().filter(|rule| named(&rule.resource_names));
        if !selected || excluded.filter_map(|rule| self.rule(&rule.rule_with_operations, policy)).next().is_some() {
            return None;
        }
        if resources.resource_rules.is_empty() {
            return Some(self.attributes.kind);
        }
        let rules = resources.resource_rules.iter().filter(|rule| named(&rule.resource_names));
        rules.filter_map(|rule| self.rule(&rule.rule_with_operations, policy)).next()
    }

    /// Whether the selectors take the request.
    pub fn selected(&self, namespaces: Option<&LabelSelector>, objects: Option<&LabelSelector>) -> bool {
        self.in_namespace(namespaces) && self.has_labels(objects)
    }

    fn in_namespace(&self, selector: Option<&LabelSelector>) -> bool {
        let Some(selector) = compiled_selector(selector) else { return true };
        let own = self.object.or(self.old).filter(|_| self.is_namespace()).and_then(|object| meta(object.as_ref()));
        match (own, &self.namespace) {
            (Some(own), _) => selects(&selector, &own.labels),
            (None, Some(namespace)) => selects(&selector, &namespace.metadata.labels),
            (None, None) => true,
        }
    }

    fn is_namespace(&self) -> bool {
        self.attributes.group.is_empty() && self.attributes.plural == "namespaces"
    }

    fn has_labels(&self, selector: Option<&LabelSelector>) -> bool {
        let empty = selector.is_none_or(|s| s.match_labels.is_empty() && s.match_expressions.is_empty());
        let Some(selector) = compiled_selector(selector).filter(|_| !empty) else { return true };
        let labels = |object: &Owned| meta(object.as_ref()).map(|meta| meta.labels.clone());
        let takes = |labels: BTreeMap<String, String>| selects(&selector, &labels);
        [self.object, self.old].into_iter().flatten().filter_map(labels).any(takes)
    }

    /// The version that a rule asks for.
    pub fn rule(&self, rule: &RuleWithOperations, match_policy: Option<&str>) -> Option<&'static KindDef> {
        let attributes = self.attributes;
        let has = |list: &[String], value: &str| list.iter().any(|item| item == "*" || item == value);
        let in_scope = match rule.rule.scope.as_deref() {
            Some("Namespaced") => !attributes.namespace.is_empty(),
            Some("Cluster") => attributes.namespace.is_empty() || self.is_namespace(),
            _ => true,
        };
        let about = in_scope
            && has(&rule.operations, operation_name(attributes.operation))
            && has(&rule.rule.api_groups, attributes.group)
            && rule.rule.resources.iter().any(|resource| is_resource(resource, attributes));
        if !about {
            return None;
        }
        if has(&rule.rule.api_versions, attributes.version) {
            return Some(attributes.kind);
        }
        if match_policy == Some("Exact") {
            return None;
        }
        // Another version of the resource is the same resource: its subresources are as well.
        let (catalog, group) = (self.environment.catalog, attributes.group);
        let mut equivalents =
            rule.rule.api_versions.iter().filter_map(|v| catalog.resource(group, v, attributes.plural));
        let equivalent = equivalents.next()?;
        let is_body = attributes.subresource.is_empty() || equivalent.kind == attributes.kind.kind;
        Some(if is_body { equivalent } else { attributes.kind })
    }
}

/// `pods`, `pods/status`, `pods/*`, `*/status`, `*`, `*/*`
fn is_resource(said: &str, attributes: &Attributes) -> bool {
    let (resource, subresource) = said.split_once('/').unwrap_or((said, ""));
    let fits = |said: &str, is: &str| said == "*" || said == is;
    fits(resource, attributes.plural) && (subresource == attributes.subresource || subresource == "*")
}
