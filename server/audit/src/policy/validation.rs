//! Validation of the audit policy (upstream: `apis/audit/validation`).

use apimachinery::audit::v1::{GroupResources, Policy, PolicyRule};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::NameRule;

use crate::error::Error;
use crate::level::{Level, Stage};

/// Validates a policy.
///
/// # Errors
/// When a field is invalid; the error has all invalid fields.
pub(super) fn check(policy: &Policy) -> Result<(), Error> {
    let mut errors = Vec::new();
    check_stages(&policy.omit_stages, &Path::new("omitStages"), &mut errors);
    let rules = Path::new("rules");
    for (i, rule) in policy.rules.iter().enumerate() {
        check_rule(rule, &rules.index(i), &mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(Error::Invalid(errors)) }
}

fn check_rule(rule: &PolicyRule, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match rule.level.as_str() {
        "" => errors.push(FieldError::required(&path.child("level"), "")),
        level if Level::of(level).is_some() => {}
        level => {
            errors.push(FieldError::not_supported(&path.child("level"), BadValue::json_string(level), &Level::NAMES));
        }
    }
    let urls = path.child("nonResourceURLs");
    for (i, url) in rule.non_resource_urls.iter().enumerate() {
        check_url(url, &urls.index(i), errors);
    }
    for resources in &rule.resources {
        check_resources(resources, &path.child("resources"), errors);
    }
    check_stages(&rule.omit_stages, &path.child("omitStages"), errors);
    let is_about_resources = !rule.resources.is_empty() || !rule.namespaces.is_empty();
    if is_about_resources && !rule.non_resource_urls.is_empty() {
        let why = "rules cannot apply to both regular resources and non-resource URLs";
        errors.push(FieldError::invalid(&urls, BadValue::strings(&rule.non_resource_urls), why));
    }
}

fn check_url(url: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if url == "*" {
        return;
    }
    if !url.starts_with('/') {
        errors.push(FieldError::invalid(path, url, "non-resource URL rules must begin with a '/' character"));
    }
    if url.strip_suffix('*').unwrap_or(url).contains('*') {
        let why = "non-resource URL wildcards '*' must be the final character of the rule";
        errors.push(FieldError::invalid(path, url, why));
    }
}

fn check_resources(resources: &GroupResources, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !matches!(resources.group.as_str(), "" | "*") {
        let messages = NameRule::Dns1123Subdomain.check(&resources.group, false);
        if !messages.is_empty() {
            let why = messages.join(",");
            errors.push(FieldError::invalid(&path.child("group"), resources.group.as_str(), why));
        }
    }
    if !resources.resource_names.is_empty() && resources.resources.is_empty() {
        let names = BadValue::strings(&resources.resource_names);
        let why = "using resourceNames requires at least one resource";
        errors.push(FieldError::invalid(&path.child("resourceNames"), names, why));
    }
}

fn check_stages(stages: &[String], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for (i, stage) in stages.iter().enumerate() {
        if !Stage::NAMES.contains(&stage.as_str()) {
            let why = format!("allowed stages are {}", Stage::NAMES.join(","));
            errors.push(FieldError::invalid(&path.index(i), stage.as_str(), why));
        }
    }
}
