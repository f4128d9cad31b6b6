//! Which requests are meant: rules of operations, groups, versions and resources.

use std::collections::HashSet;

use apimachinery::meta::v1::LabelSelector;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use meta::validate_label_selector;

use super::MATCH_POLICIES;
use generated::admissionregistration::v1::{MatchResources, NamedRuleWithOperations, Rule, RuleWithOperations};

const ANY: &str = "*";
const OPERATIONS: [&str; 5] = [ANY, "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTATING_OPERATIONS: [&str; 4] = [ANY, "CONNECT", "CREATE", "UPDATE"];
const SCOPES: [&str; 3] = [ANY, "Cluster", "Namespaced"];

/// `validateMatchResources`
pub(super) fn validate_match_resources(v: &mut Validation<'_>, path: &Path<'_>, resources: &MatchResources) {
    match resources.match_policy.as_deref() {
        None => v.required(&path.child("matchPolicy"), ""),
        Some(policy) => v.one_of(&path.child("matchPolicy"), policy, &MATCH_POLICIES),
    }
    required_selector(v, &path.child("namespaceSelector"), resources.namespace_selector.as_deref());
    required_selector(v, &path.child("objectSelector"), resources.object_selector.as_deref());
    let rules =
        [("resourceRules", &resources.resource_rules), ("excludeResourceRules", &resources.exclude_resource_rules)];
    for (field, rules) in rules {
        for (index, rule) in rules.iter().enumerate() {
            validate_named_rule(v, &path.child(field).index(index), rule);
        }
    }
}

fn required_selector(v: &mut Validation<'_>, path: &Path<'_>, selector: Option<&LabelSelector>) {
    match selector {
        None => v.required(path, ""),
        Some(selector) => validate_label_selector(v, path, selector, None),
    }
}

/// What a mutating policy cannot change: what is deleted.
pub(super) fn refuse_deletes(v: &mut Validation<'_>, path: &Path<'_>, resources: &MatchResources) {
    let rules = path.child("resourceRules");
    let path = rules.child("operations");
    for rule in &resources.resource_rules {
        for operation in &rule.rule_with_operations.operations {
            v.one_of(&path, operation, &MUTATING_OPERATIONS);
        }
    }
}

/// `validateNamedRuleWithOperations`
fn validate_named_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &NamedRuleWithOperations) {
    let (names, mut seen) = (path.child("resourceNames"), HashSet::new());
    for (index, name) in rule.resource_names.iter().enumerate() {
        let path = names.index(index);
        v.malformed(&path, name, format::is_path_segment_name(name));
        if !seen.insert(name) {
            v.duplicate(&path, name);
        }
    }
    validate_rule(v, path, &rule.rule_with_operations);
}

/// `validateRuleWithOperations`
pub(super) fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &RuleWithOperations) {
    let at = path.child("operations");
    alone(v, &at, &rule.operations, "operations");
    for (index, operation) in rule.operations.iter().enumerate() {
        v.one_of(&at.index(index), operation, &OPERATIONS);
    }
    let Rule { api_groups, api_versions, resources, scope } = &rule.rule;
    alone(v, &path.child("apiGroups"), api_groups, "API groups");
    let at = path.child("apiVersions");
    alone(v, &at, api_versions, "API versions");
    for (index, version) in api_versions.iter().enumerate() {
        v.filled(&at.index(index), version);
    }
    validate_resources(v, &path.child("resources"), resources);
    if let Some(scope) = scope {
        v.one_of(&path.child("scope"), scope, &SCOPES);
    }
}

/// A list that has to say something, and in which `*` leaves nothing else to say.
fn alone(v: &mut Validation<'_>, path: &Path<'_>, values: &[String], what: &str) {
    if values.is_empty() {
        v.required(path, "");
    }
    if values.len() > 1 && values.iter().any(|value| value == ANY) {
        v.invalid(path, BadValue::strings(values), format!("if '*' is present, must not specify other {what}"));
    }
}

/// `validateResources`: resources and subresources, of which either part may be `*`.
fn validate_resources(v: &mut Validation<'_>, path: &Path<'_>, resources: &[String]) {
    if resources.is_empty() {
        v.required(path, "");
    }
    let (mut of_resource, mut of_subresource) = (HashSet::new(), HashSet::new());
    let mut without_subresource = false;
    for (index, resource) in resources.iter().enumerate() {
        let path = path.index(index);
        if resource.is_empty() {
            v.required(&path, "");
            continue;
        }
        let Some((name, subresource)) = resource.split_once('/') else {
            // As upstream, only the last of them counts.
            without_subresource = resource != ANY;
            continue;
        };
        if of_resource.contains(name) {
            v.invalid(&path, resource, format!("if '{name}/*' is present, must not specify {resource}"));
        }
        if of_subresource.contains(subresource) {
            v.invalid(&path, resource, format!("if '*/{subresource}' is present, must not specify {resource}"));
        }
        if subresource == ANY {
            of_resource.insert(name);
        }
        if name == ANY {
            of_subresource.insert(subresource);
        }
    }
    if resources.len() > 1 && resources.iter().any(|resource| resource == "*/*") {
        v.invalid(path, BadValue::strings(resources), "if '*/*' is present, must not specify other resources");
    }
    if without_subresource && resources.iter().any(|resource| resource == ANY) {
        let detail = "if '*' is present, must not specify other resources without subresources";
        v.invalid(path, BadValue::strings(resources), detail);
    }
}
