//! The audit policy of `--audit-policy-file` (upstream: `audit/policy`).

mod validation;

use std::path::Path;

use apimachinery::audit::v1::{GroupResources, Policy as Document, PolicyRule};
use options::configuration::{self, Unknown};
use request::{RequestInfo, User};

use crate::error::Error;
use crate::level::{Level, Stages};

/// Selects what is recorded of a request. The first matching rule applies; without one, nothing is recorded.
#[derive(Debug)]
pub struct Policy {
    rules: Vec<Rule>,
}

/// A rule of the policy and its precomputed configuration.
struct Rule {
    rule: PolicyRule,
    config: RequestAuditConfig,
}

/// The audit configuration of a request (`audit.RequestAuditConfig`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestAuditConfig {
    pub level: Level,
    pub omitted: Stages,
    /// Whether objects are recorded without `metadata.managedFields`.
    pub omits_managed_fields: bool,
}

impl Policy {
    /// Reads a policy file. As upstream, unknown fields are logged and ignored.
    ///
    /// # Errors
    /// When the file cannot be read, or its policy is malformed or invalid.
    pub fn load(path: &Path) -> Result<Self, options::Error> {
        let wrong = |why: String| options::Error::invalid(format!("loading audit policy file: {why}"));
        let from_file = |why: Error| wrong(format!("{why}: from file {}", path.display()));
        let text = std::fs::read(path)
            .map_err(|why| wrong(format!("failed to read file path {:?}: {why}", path.display().to_string())))?;
        Self::parse(&text).map_err(from_file)
    }

    /// Parses a policy in YAML or JSON.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Error> {
        let document: Document = configuration::parse(text, "audit.k8s.io", &["v1"], "Policy", Unknown::Warned)?;
        validation::check(&document)?;
        if document.rules.is_empty() {
            return Err(Error::NoRules);
        }
        let everywhere = Stages::of(&document.omit_stages);
        let rules = document.rules.into_iter().map(|rule| Rule {
            config: RequestAuditConfig {
                level: Level::of(&rule.level).unwrap_or_default(),
                omitted: everywhere.union(Stages::of(&rule.omit_stages)),
                omits_managed_fields: rule.omit_managed_fields.unwrap_or(document.omit_managed_fields),
            },
            rule,
        });
        Ok(Policy { rules: rules.collect() })
    }

    /// Returns the configuration for a request. `user` is `None` if authentication failed.
    pub fn config(&self, user: Option<&User>, info: &RequestInfo) -> RequestAuditConfig {
        let rule = self.rules.iter().find(|rule| matches(&rule.rule, user, info));
        rule.map(|rule| rule.config).unwrap_or_default()
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.config.fmt(f)
    }
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == text)
}

/// Whether a rule matches a request (upstream: `ruleMatches`).
fn matches(rule: &PolicyRule, user: Option<&User>, info: &RequestInfo) -> bool {
    let by_user = rule.users.is_empty() || user.is_some_and(|user| has(&rule.users, &user.name));
    let by_group =
        || rule.user_groups.is_empty() || user.is_some_and(|u| u.groups.iter().any(|g| has(&rule.user_groups, g)));
    let by_verb = || rule.verbs.is_empty() || has(&rule.verbs, &info.verb);
    let by_target = || {
        if !rule.namespaces.is_empty() || !rule.resources.is_empty() {
            return info.is_resource_request && matches_resource(rule, info);
        }
        rule.non_resource_urls.is_empty()
            || (!info.is_resource_request && rule.non_resource_urls.iter().any(|url| matches_path(url, &info.path)))
    };
    by_user && by_group() && by_verb() && by_target()
}

/// Whether a non-resource URL of a rule matches a path (upstream: `pathMatches`).
fn matches_path(url: &str, path: &str) -> bool {
    url == "*" || url == path || (url.ends_with('*') && path.starts_with(url.trim_end_matches('*')))
}

/// Whether a rule matches a resource request (upstream: `ruleMatchesResource`).
fn matches_resource(rule: &PolicyRule, info: &RequestInfo) -> bool {
    let in_namespace = rule.namespaces.is_empty() || has(&rule.namespaces, &info.namespace);
    in_namespace && (rule.resources.is_empty() || rule.resources.iter().any(|of| matches_group(of, info)))
}

fn matches_group(of: &GroupResources, info: &RequestInfo) -> bool {
    if of.group != info.api_group && of.group != "*" {
        return false;
    }
    let named = of.resource_names.is_empty() || has(&of.resource_names, &info.name);
    of.resources.is_empty() || (named && of.resources.iter().any(|resource| is_named(resource, info)))
}

/// Whether a resource of a rule (`pods`, `pods/log`, `*/log`, `pods/*`, `*`) matches that of a request.
fn is_named(rule: &str, info: &RequestInfo) -> bool {
    let exact = match rule.split_once('/') {
        None => info.subresource.is_empty() && rule == info.resource,
        Some((resource, subresource)) => {
            !info.subresource.is_empty() && (resource, subresource) == (&*info.resource, &*info.subresource)
        }
    };
    let of_any = || !info.subresource.is_empty() && rule.strip_prefix("*/") == Some(&info.subresource);
    exact || rule == "*" || of_any() || rule.strip_suffix("/*") == Some(&info.resource)
}

#[cfg(test)]
mod tests;
