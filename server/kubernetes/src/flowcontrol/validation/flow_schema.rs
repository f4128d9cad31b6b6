//! Which requests belong to which priority level.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::{mandatory, validate_condition_types};
use crate::core::internal::internal_value;
use generated::flowcontrol::v1::{FlowSchema, FlowSchemaSpec, NonResourcePolicyRule, ResourcePolicyRule};

const ALL: &str = "*";
const MAX_PRECEDENCE: i32 = 10_000;

const DISTINGUISHERS: [&str; 2] = ["ByNamespace", "ByUser"];
const VERBS: [&str; 9] = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/// `ValidateFlowSchema`, `ValidateFlowSchemaStatusUpdate`
pub fn validate_flow_schema(v: &mut Validation<'_>, path: &Path<'_>, new: &FlowSchema, _: Option<&FlowSchema>) {
    let (spec, name) = (path.child("spec"), new.metadata.name.as_str());
    if v.context.subresource != "status" {
        validate_spec(v, &spec, name, &new.spec);
        if mandatory::flow_schema(name).is_some_and(|wanted| Ref::of(&wanted) != Ref::of(&new.spec)) {
            v.invalid(&spec, internal_value(&new.spec), format!("spec of '{name}' must equal the fixed value"));
        }
    }
    validate_condition_types(v, &path.child("status"), new.status.conditions.iter().map(|c| &c.r#type));
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, name: &str, spec: &FlowSchemaSpec) {
    validate_precedence(v, &path.child("matchingPrecedence"), name, spec.matching_precedence);
    if let Some(method) = &spec.distinguisher_method
        && !DISTINGUISHERS.contains(&method.r#type.as_str())
    {
        let shown = internal_value(&**method);
        v.not_supported(&path.child("distinguisherMethod.type"), shown, &DISTINGUISHERS);
    }
    let (level, level_path) = (&spec.priority_level_configuration.name, path.child("priorityLevelConfiguration.name"));
    if level.is_empty() {
        v.required(&level_path, "must reference a priority level");
    } else {
        v.name(&level_path, level, NameRule::Dns1123Subdomain);
    }
    let path = path.child("rules");
    for (index, rule) in spec.rules.iter().enumerate() {
        v.checks(&path.index(index), Ref::of(rule), None);
    }
}

fn validate_precedence(v: &mut Validation<'_>, path: &Path<'_>, name: &str, precedence: i32) {
    if precedence <= 0 {
        v.invalid(path, precedence, "must be a positive value");
    }
    if precedence > MAX_PRECEDENCE {
        v.invalid(path, precedence, format!("must not be greater than {MAX_PRECEDENCE}"));
    }
    if precedence == 1 && name != mandatory::EXEMPT {
        v.invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
}

fn has_all(names: &[String]) -> bool {
    names.iter().any(|name| name == ALL)
}

/// Everything stands alone; tells whether it is there.
fn validate_all(v: &mut Validation<'_>, path: &Path<'_>, names: &[String], what: &str) -> bool {
    let all = has_all(names);
    if all && names.len() > 1 {
        v.invalid(path, BadValue::strings(names), format!("if '*' is present, must not specify other {what}"));
    }
    all
}

fn validate_verbs(v: &mut Validation<'_>, path: &Path<'_>, verbs: &[String]) {
    let path = path.child("verbs");
    if verbs.is_empty() {
        v.required(&path, "verbs must contain at least one value");
    } else if !validate_all(v, &path, verbs, "verbs") && verbs.iter().any(|verb| !VERBS.contains(&verb.as_str())) {
        v.not_supported(&path, BadValue::strings(verbs), &VERBS);
    }
}

/// `ValidateFlowSchemaResourcePolicyRule`
pub fn validate_resource_rule(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    rule: &ResourcePolicyRule,
    _: Option<&ResourcePolicyRule>,
) {
    validate_verbs(v, path, &rule.verbs);
    let lists = [
        ("apiGroups", &rule.api_groups, "resource rules must supply at least one api group", "api groups"),
        ("resources", &rule.resources, "resource rules must supply at least one resource", "resources"),
    ];
    for (field, names, missing, what) in lists {
        let path = path.child(field);
        if names.is_empty() {
            v.required(&path, missing);
        }
        validate_all(v, &path, names, what);
    }
    let path = path.child("namespaces");
    if rule.namespaces.is_empty() && !rule.cluster_scope {
        v.required(&path, "resource rules that are not cluster scoped must supply at least one namespace");
    } else if !validate_all(v, &path, &rule.namespaces, "namespaces") {
        for (index, namespace) in rule.namespaces.iter().enumerate() {
            for message in format::is_dns1123_label(namespace) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {message}");
                v.invalid(&path.index(index), namespace, detail);
            }
        }
    }
}

/// `ValidateFlowSchemaNonResourcePolicyRule`
pub fn validate_non_resource_rule(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    rule: &NonResourcePolicyRule,
    _: Option<&NonResourcePolicyRule>,
) {
    validate_verbs(v, path, &rule.verbs);
    let (path, urls) = (path.child("nonResourceURLs"), &rule.non_resource_urls);
    if urls.is_empty() {
        v.required(&path, "nonResourceURLs must contain at least one value");
    } else if !validate_all(v, &path, urls, "non-resource URLs") {
        for (index, url) in urls.iter().enumerate() {
            if let Some(why) = refusal_of_url(url) {
                v.invalid(&path.index(index), url, why);
            }
        }
    }
}

/// `ValidateNonResourceURLPath`
fn refusal_of_url(url: &str) -> Option<&'static str> {
    let wildcards = url.matches('*').count();
    match url {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !url.starts_with('/') => Some("must start with slash"),
        _ if url.contains(' ') => Some("must not contain white-space"),
        _ if url.contains("//") => Some("must not contain double slash"),
        _ if wildcards > 1 || wildcards == 1 && !url.ends_with("/*") => Some("wildcard can only do suffix matching"),
        _ => None,
    }
}
