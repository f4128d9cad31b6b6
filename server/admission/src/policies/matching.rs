//! Matching of requests against policies and webhooks.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::meta::v1::LabelSelector;
use endpoints::{AdmissionAttributes, OpenKind, Operation, Origin, internal};
use generated::admissionregistration::v1::{
    MatchResources, NamedRuleWithOperations, RuleWithOperations, match_policy_type, operation_type, scope_type,
};
use generated::core::v1::Namespace;
use machinery::catalog::KindDef;
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use meta::{compiled_selector, selects};
use registry::meta;
use serde_json::Value as Json;

use super::context::PolicyContext;
use super::document::document;

/// A request with the data for selectors.
pub struct PolicyRequest<'r> {
    pub context: &'r PolicyContext,
    pub attributes: &'r AdmissionAttributes,
    pub object: Option<&'r Owned>,
    pub old: Option<&'r Owned>,
    /// The namespace of the object.
    pub namespace: Option<Arc<Namespace>>,
}

/// The version of the requested resource that a policy or webhook matches.
#[derive(Clone, Copy)]
pub struct SeenVersion {
    /// The kind of the body. For a subresource it often differs from the resource's kind.
    pub kind: &'static KindDef,
    /// Group and version of the resource.
    pub group: &'static str,
    pub version: &'static str,
}

pub fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => operation_type::CREATE,
        Operation::Update => operation_type::UPDATE,
        Operation::Delete => operation_type::DELETE,
        Operation::Connect => operation_type::CONNECT,
    }
}

impl PolicyRequest<'_> {
    /// Returns the version that a policy matches, or `None` if the policy does not match
    /// (`Matcher.Matches`).
    pub fn matched(&self, resources: &MatchResources) -> Option<SeenVersion> {
        let attributes = self.attributes;
        if !self.selected(resources.namespace_selector.as_deref(), resources.object_selector.as_deref()) {
            return None;
        }
        let policy = resources.match_policy.as_deref();
        let is_named = |rule: &&NamedRuleWithOperations| {
            rule.resource_names.is_empty() || rule.resource_names.contains(&attributes.name)
        };
        let by = |rules: &[NamedRuleWithOperations]| {
            self.named_by(rules.iter().filter(is_named).map(|rule| &rule.rule_with_operations), policy)
        };
        if by(&resources.exclude_resource_rules).is_some() {
            return None;
        }
        if resources.resource_rules.is_empty() {
            let AdmissionAttributes { kind, group, version, .. } = *attributes;
            return Some(SeenVersion { kind, group, version });
        }
        by(&resources.resource_rules)
    }

    /// Whether the selectors match the request.
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

    /// Returns the version of the request that `rules` match (`matchesResourceRules`): the
    /// requested version if a rule matches it, else the first equivalent one.
    pub fn named_by<'a>(
        &self,
        rules: impl Iterator<Item = &'a RuleWithOperations> + Clone,
        match_policy: Option<&str>,
    ) -> Option<SeenVersion> {
        let attributes = self.attributes;
        let own = SeenVersion { kind: attributes.kind, group: attributes.group, version: attributes.version };
        let rules = rules.filter(|rule| self.matches_rule(rule));
        if rules.clone().any(|rule| own.is_named_by(rule)) {
            return Some(own);
        }
        if match_policy == Some(match_policy_type::EXACT) || rules.clone().next().is_none() {
            return None;
        }
        let equivalents = self.equivalents();
        rules.into_iter().find_map(|rule| equivalents.iter().find(|seen| seen.is_named_by(rule)).copied())
    }

    /// Whether a rule matches operation, scope, and resource of the request, regardless of group
    /// and version.
    fn matches_rule(&self, rule: &RuleWithOperations) -> bool {
        let attributes = self.attributes;
        let in_scope = match rule.rule.scope.as_deref() {
            Some(scope_type::NAMESPACED) => !attributes.namespace.is_empty(),
            Some(scope_type::CLUSTER) => attributes.namespace.is_empty() || self.is_namespace(),
            _ => true,
        };
        in_scope
            && has(&rule.operations, operation_name(attributes.operation))
            && rule.rule.resources.iter().any(|resource| is_resource(resource, attributes))
    }

    /// Returns the other versions of the requested resource or subresource, including other groups
    /// (`EquivalentResourceRegistry`).
    fn equivalents(&self) -> Vec<SeenVersion> {
        let AdmissionAttributes { group, version, plural, .. } = *self.attributes;
        let kinds = match &self.attributes.definition {
            Some(definition) => definition.served(),
            None => {
                let catalog = self.context.catalog;
                let requested = catalog.resource(group, version, plural).and_then(|kind| kind.resource);
                // Resources with the same storage key are equivalent: `events` of both groups.
                let is_same = |kind: &KindDef| {
                    kind.resource.zip(requested).is_some_and(|(other, own)| {
                        let has_key = !own.key_prefix.is_empty() && other.key_prefix == own.key_prefix;
                        has_key || (kind.group == group && other.plural == plural)
                    })
                };
                catalog.kinds.iter().filter(|kind| is_same(kind)).collect()
            }
        };
        let others = kinds.into_iter().filter(|kind| (kind.group, kind.version) != (group, version));
        others.filter_map(|kind| self.seen_in(kind)).collect()
    }

    /// Returns the request in another version of its resource, or `None` when that version lacks
    /// the subresource.
    fn seen_in(&self, kind: &'static KindDef) -> Option<SeenVersion> {
        let attributes = self.attributes;
        let body = match attributes.subresource.as_str() {
            "" => kind,
            name => {
                let declared = kind.resource?.subresources.iter().find(|subresource| subresource.name == name)?.kind;
                let (group, version, name) = declared;
                let is_resource = declared == (kind.group, kind.version, kind.kind);
                let body = (!is_resource).then(|| self.context.catalog.kind(group, version, name));
                body.unwrap_or(Some(kind)).unwrap_or(attributes.kind)
            }
        };
        // Only versions with the same hub type convert into each other.
        let converts = std::ptr::eq(body.hub, attributes.kind.hub);
        let body = if converts { body } else { attributes.kind };
        Some(SeenVersion { kind: body, group: kind.group, version: kind.version })
    }

    /// Converts an object of the request to a document of the matched version.
    ///
    /// # Errors
    /// When the conversion of a custom resource fails.
    pub fn document(&self, kind: &'static KindDef, object: Option<&Owned>) -> Result<Json, Status> {
        let requested = self.attributes.kind;
        match (self.converter(kind), object) {
            (Some(definition), Some(_)) => {
                let (source, api_version) = (document(requested, object), kind.api_version());
                let convert = |source: &Json| definition.convert(source, &api_version);
                self.attributes.conversions.convert(source, &api_version, convert)
            }
            _ => Ok(document(kind, object)),
        }
    }

    /// Decodes a document of the matched version into the hub form.
    ///
    /// # Errors
    /// When the document does not have the kind, or the conversion of a custom resource fails.
    pub fn object_of(&self, kind: &'static KindDef, document: &Json) -> Result<Owned, Status> {
        let requested = self.attributes.kind;
        let converted = self.converter(kind).map(|definition| definition.convert(document, &requested.api_version()));
        let converted = converted.transpose()?;
        let (kind, document) = converted.as_ref().map_or((kind, document), |converted| (requested, converted));
        let mut value = Owned::new(kind.def);
        json::from_value_version(document, kind.version, value.as_mut(), &mut json::Issues::ignore())
            .map_err(Status::internal)?;
        // As when decoding a request body: unknown fields are pruned and defaults are set.
        if let Some(definition) = &self.attributes.definition {
            definition
                .complete(&mut value, Origin::RequestDocument, &mut json::Issues::ignore())
                .map_err(Status::internal)?;
        }
        Ok(internal(kind, value))
    }

    /// Returns the definition that converts a custom resource between the requested version and
    /// that of `kind`.
    fn converter(&self, kind: &'static KindDef) -> Option<&dyn OpenKind> {
        self.attributes.definition.as_deref().filter(|_| kind.version != self.attributes.kind.version)
    }
}

impl SeenVersion {
    fn is_named_by(&self, rule: &RuleWithOperations) -> bool {
        has(&rule.rule.api_groups, self.group) && has(&rule.rule.api_versions, self.version)
    }
}

fn has(list: &[String], value: &str) -> bool {
    list.iter().any(|item| item == "*" || item == value)
}

/// Whether a resource of a rule matches: `pods`, `pods/status`, `pods/*`, `*/status`, `*`, or
/// `*/*`.
fn is_resource(rule: &str, attributes: &AdmissionAttributes) -> bool {
    let (resource, subresource) = rule.split_once('/').unwrap_or((rule, ""));
    let fits = |pattern: &str, is: &str| pattern == "*" || pattern == is;
    fits(resource, attributes.plural) && (subresource == attributes.subresource || subresource == "*")
}
