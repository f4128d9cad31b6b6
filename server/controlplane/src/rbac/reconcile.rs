//! Reconciliation of stored roles and bindings, so that they grant at least the expected
//! permissions

use std::collections::BTreeMap;

use apimachinery::meta::v1::{LabelSelector, ObjectMeta};
use authz::rbac::missing;
use generated::rbac::v1::{AggregationRule, ClusterRole, PolicyRule, Role};
use machinery::reflect::Struct;

use super::convert::{self, AnyBinding};
use super::policy::AUTO_UPDATE;

/// The common part of Role and ClusterRole.
pub trait AnyRole: Struct + Clone + PartialEq {
    fn metadata(&self) -> &ObjectMeta;
    fn metadata_mut(&mut self) -> &mut ObjectMeta;
    fn rules(&self) -> &[PolicyRule];
    fn rules_mut(&mut self) -> &mut Vec<PolicyRule>;

    fn aggregation(&self) -> Option<&AggregationRule> {
        None
    }

    fn set_aggregation(&mut self, _: Option<AggregationRule>) {}
}

impl AnyRole for Role {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }

    fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    fn rules_mut(&mut self) -> &mut Vec<PolicyRule> {
        &mut self.rules
    }
}

impl AnyRole for ClusterRole {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }

    fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    fn rules_mut(&mut self) -> &mut Vec<PolicyRule> {
        &mut self.rules
    }

    fn aggregation(&self) -> Option<&AggregationRule> {
        self.aggregation_rule.as_deref()
    }

    fn set_aggregation(&mut self, rule: Option<AggregationRule>) {
        self.aggregation_rule = rule.map(Box::new);
    }
}

/// Adds missing rules to a stored role. Returns `None` if nothing is missing or reconciliation is
/// disabled.
pub fn role<R: AnyRole>(stored: &R, expected: &R) -> Option<R> {
    let mut role = stored.clone();
    merge(role.metadata_mut(), expected.metadata());
    // A stored role that cannot be compared gets all expected rules.
    let wanted = convert::rules(expected.rules());
    let lacking = missing(&convert::rules(stored.rules()), &wanted).unwrap_or(wanted);
    role.rules_mut().extend(lacking.into_iter().map(convert::stored_rule));
    match (stored.aggregation(), expected.aggregation()) {
        (Some(_), None) => role.set_aggregation(None),
        (stored, Some(expected)) => {
            let mut selectors: Vec<LabelSelector> = stored.map_or_else(Vec::new, |r| r.cluster_role_selectors.clone());
            let lacking = expected.cluster_role_selectors.iter().filter(|wanted| !selectors.contains(wanted));
            let lacking: Vec<LabelSelector> = lacking.cloned().collect();
            selectors.extend(lacking);
            role.set_aggregation(Some(AggregationRule { cluster_role_selectors: selectors }));
        }
        (None, None) => {}
    }
    (!is_protected(stored.metadata()) && role != *stored).then_some(role)
}

/// The action for a stored binding.
pub enum BindingAction<B> {
    Keep,
    Update(B),
    /// The role reference is immutable, so the binding is deleted and created again.
    Recreate,
}

/// Compares a stored binding with the expected one.
pub fn binding<B: AnyBinding>(stored: &B, expected: &B) -> BindingAction<B> {
    if is_protected(stored.metadata()) {
        return BindingAction::Keep;
    }
    let role = |binding: &B| (binding.role().kind.clone(), binding.role().name.clone());
    if role(stored) != role(expected) {
        return BindingAction::Recreate;
    }
    let mut binding = stored.clone();
    merge(binding.metadata_mut(), expected.metadata());
    for subject in expected.subjects() {
        if !binding.subjects().contains(subject) {
            binding.subjects_mut().push(subject.clone());
        }
    }
    if binding == *stored { BindingAction::Keep } else { BindingAction::Update(binding) }
}

fn is_protected(meta: &ObjectMeta) -> bool {
    meta.annotations.get(AUTO_UPDATE).is_some_and(|value| value == "false")
}

/// Adds expected labels and annotations; stored values win.
fn merge(stored: &mut ObjectMeta, expected: &ObjectMeta) {
    let add = |to: &mut BTreeMap<String, String>, from: &BTreeMap<String, String>| {
        for (key, value) in from {
            to.entry(key.clone()).or_insert_with(|| value.clone());
        }
    };
    add(&mut stored.labels, &expected.labels);
    add(&mut stored.annotations, &expected.annotations);
}

#[cfg(test)]
mod tests {
    use super::*;
    use generated::rbac::v1::{ClusterRoleBinding, Subject};

    fn cluster_role(verbs: &[&str], note: &str) -> ClusterRole {
        let rule = PolicyRule {
            verbs: verbs.iter().map(|v| (*v).to_owned()).collect(),
            api_groups: vec![String::new()],
            resources: vec!["pods".into()],
            ..PolicyRule::default()
        };
        let mut role = ClusterRole { rules: vec![rule], ..ClusterRole::default() };
        if !note.is_empty() {
            role.metadata.annotations.insert(AUTO_UPDATE.into(), note.into());
        }
        role
    }

    #[test]
    fn adds_missing_rules_and_removes_none() {
        let expected = cluster_role(&["get", "list"], "true");
        let verbs = |stored: &ClusterRole| {
            let role = role(stored, &expected)?;
            Some(role.rules.iter().map(|rule| rule.verbs.join(",")).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(verbs(&cluster_role(&["get", "list", "watch"], "true")), None);
        assert_eq!(verbs(&cluster_role(&["get", "watch"], "true")).unwrap(), "get,watch list");
        assert_eq!(verbs(&cluster_role(&["*"], "")).unwrap(), "*");
        assert_eq!(verbs(&cluster_role(&["get"], "false")), None);
    }

    #[test]
    fn subjects_are_added() {
        let subject = |name: &str| Subject { kind: "Group".into(), name: name.into(), ..Subject::default() };
        let mut expected = ClusterRoleBinding { subjects: vec![subject("a")], ..ClusterRoleBinding::default() };
        let mut stored = expected.clone();
        assert!(matches!(binding(&stored, &expected), BindingAction::Keep));
        stored.subjects = vec![subject("b")];
        assert!(matches!(binding(&stored, &expected), BindingAction::Update(b) if b.subjects.len() == 2));
        expected.role_ref.name = "other".into();
        assert!(matches!(binding(&stored, &expected), BindingAction::Recreate));
    }
}
