//! Privilege escalation check: whether a user's rules cover the rules of a role that the user writes or binds
//! (upstream: `ConfirmNoEscalation`, `component-helpers/auth/rbac/validation`).
//!
//! Upstream breaks a rule down into parts of one verb, group, resource and name each, and looks for a rule that
//! covers each part. Here, values of one field that the same rules cover form a class, and only classes are
//! combined. Steps and memory of the comparison are bounded.

mod cover;
mod dimension;
mod incomparable;

use std::collections::{BTreeSet, HashMap, HashSet};

use machinery::scalar::go_text::quote;

use crate::policy_rule::PolicyRule;
pub use incomparable::Incomparable;

/// Returns the parts of `wanted` that the owner's rules do not cover (upstream: `Covers`).
///
/// Each part is a rule of one verb, group, resource and name. The list is empty if and only if everything is covered.
/// A long list is truncated.
///
/// # Errors
///
/// When the comparison would take too many steps or too much memory, which only maliciously built rules require.
pub fn missing(owner: &[PolicyRule], wanted: &[PolicyRule]) -> Result<Vec<PolicyRule>, Incomparable> {
    // Bindings often grant the same role several times.
    let mut known = HashSet::with_capacity(owner.len());
    let owner: Vec<&PolicyRule> = owner.iter().filter(|rule| known.insert(*rule)).collect();
    let mut search = cover::Search::new(&owner);
    for rule in wanted {
        search.rule(rule)?;
    }
    Ok(search.into_missing())
}

/// Formats missing rules for the error message: one line each, sorted.
///
/// Rules that differ only in their verbs are merged.
pub fn describe_missing(missing: &[PolicyRule]) -> String {
    let mut lines = BTreeSet::new();
    let mut by_object: HashMap<PolicyRule, Vec<String>> = HashMap::new();
    for rule in missing {
        if rule.non_resource_urls.is_empty() {
            let object = PolicyRule { verbs: Vec::new(), ..rule.clone() };
            by_object.entry(object).or_default().extend_from_slice(&rule.verbs);
        } else {
            lines.insert(rule.compact());
        }
    }
    lines.extend(by_object.into_iter().map(|(object, verbs)| PolicyRule { verbs, ..object }.compact()));
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

impl PolicyRule {
    /// Formats the rule in one line (`CompactString`).
    fn compact(&self) -> String {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let texts: Vec<String> = parts
            .into_iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(name, values)| format!("{name}:[{}]", values.iter().map(|v| quote(v)).collect::<Vec<_>>().join(" ")))
            .collect();
        format!("{{{}}}", texts.join(", "))
    }
}

#[cfg(test)]
mod tests;
