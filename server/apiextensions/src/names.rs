//! Acceptance of the names of a definition, and its establishment
//! (`status.NamingConditionController`, `establish.EstablishingController`,
//! `apiapproval.KubernetesAPIApprovalPolicyConformantConditionController`).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use apimachinery::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionNames,
};

use machinery::scalar::Time;

use crate::conditions::{self, API_APPROVED, ESTABLISHED, NAMES_ACCEPTED, condition};
use crate::structure;

/// Accepted names of definitions by group. Only definitions of the same group compete.
#[derive(Default)]
pub struct Granted(HashMap<String, Group>);

/// Accepted names in a group, by definition.
#[derive(Default)]
struct Group {
    grants: BTreeMap<String, Grant>,
    /// Definitions with names that are not accepted yet.
    waiting: BTreeSet<String>,
    resources: Counted,
    kinds: Counted,
}

#[derive(Default, PartialEq, Eq)]
struct Grant {
    resources: Vec<String>,
    kinds: [String; 2],
}

/// Names with the number of definitions that have them.
#[derive(Default)]
struct Counted(HashMap<String, usize>);

impl Counted {
    fn add<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        names.into_iter().for_each(|name| *self.0.entry(name.clone()).or_default() += 1);
    }

    fn remove<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        for name in names {
            match self.0.get_mut(name) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.0.remove(name)),
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Group {
    fn put(&mut self, name: &str, grant: Option<Grant>) -> Option<Grant> {
        if let Some(grant) = &grant {
            self.resources.add(&grant.resources);
            self.kinds.add(&grant.kinds);
        }
        let before = match grant {
            Some(grant) => self.grants.insert(name.to_owned(), grant),
            None => self.grants.remove(name),
        };
        if let Some(before) = &before {
            self.resources.remove(&before.resources);
            self.kinds.remove(&before.kinds);
        }
        before
    }
}

impl Granted {
    /// Records the accepted names of a definition. Returns whether they changed.
    pub fn record(&mut self, definition: &CustomResourceDefinition) -> bool {
        let names = &definition.status.accepted_names;
        let resources = [&names.plural, &names.singular].into_iter().chain(&names.short_names).cloned().collect();
        let grant = Grant { resources, kinds: [names.kind.clone(), names.list_kind.clone()] };
        let (group, name) = (&definition.spec.group, &definition.metadata.name);
        let group = self.0.entry(group.clone()).or_default();
        match definition.spec.names == *names {
            true => drop(group.waiting.remove(name)),
            false => drop(group.waiting.insert(name.clone())),
        }
        let is_same = group.grants.get(name) == Some(&grant);
        if !is_same {
            group.put(name, Some(grant));
        }
        !is_same
    }

    /// Removes a definition.
    pub fn remove(&mut self, group: &str, name: &str) {
        let Some(known) = self.0.get_mut(group) else { return };
        known.waiting.remove(name);
        known.put(name, None);
        if known.grants.is_empty() {
            self.0.remove(group);
        }
    }

    /// Returns the definitions of a group with names that are not accepted yet, except for one.
    pub fn waiting(&self, group: &str, but: &str) -> Vec<String> {
        let waiting = self.0.get(group).into_iter().flat_map(|group| &group.waiting);
        waiting.filter(|name| *name != but).cloned().collect()
    }

    /// Updates the conditions and accepted names of a definition.
    pub fn update_conditions(&self, definition: &mut CustomResourceDefinition, now: Time) {
        if definition.spec.names != definition.status.accepted_names {
            let (accepted, outcome) = self.accept(definition);
            definition.status.accepted_names = accepted;
            conditions::set(definition, outcome, now);
        }
        establish(definition, now);
        approve(definition, now);
        structure::update_condition(definition, now);
    }

    fn accept(
        &self,
        definition: &CustomResourceDefinition,
    ) -> (CustomResourceDefinitionNames, CustomResourceDefinitionCondition) {
        let none = Group::default();
        let Group { resources, kinds, .. } = self.0.get(&definition.spec.group).unwrap_or(&none);
        let (wanted, has) = (&definition.spec.names, &definition.status.accepted_names);
        let mut accepted = has.clone();
        let mut conflict: Option<(&str, String)> = None;
        let mut grant = |wanted: &String, has: &String, used: &Counted, reason| {
            let fault = taken(wanted, has, used);
            match fault {
                Some(why) => conflict = Some((reason, why)),
                None => return wanted.clone(),
            }
            has.clone()
        };
        accepted.plural = grant(&wanted.plural, &has.plural, resources, "PluralConflict");
        accepted.singular = grant(&wanted.singular, &has.singular, resources, "SingularConflict");
        let known: HashSet<&String> = has.short_names.iter().collect();
        let new_short = wanted.short_names.iter().filter(|name| !known.contains(name));
        let faults: Vec<String> = new_short.filter_map(|name| taken(name, "", resources)).collect();
        let short = match faults.len() {
            0 => {
                accepted.short_names.clone_from(&wanted.short_names);
                None
            }
            1 => faults.into_iter().next(),
            _ => Some(format!("[{}]", faults.join(", "))),
        };
        let kind = taken(&wanted.kind, &has.kind, kinds);
        let list_kind = taken(&wanted.list_kind, &has.list_kind, kinds);
        if kind.is_none() {
            accepted.kind.clone_from(&wanted.kind);
        }
        if list_kind.is_none() {
            accepted.list_kind.clone_from(&wanted.list_kind);
        }
        accepted.categories.clone_from(&wanted.categories);
        // The condition reports the last conflict.
        for (why, reason) in [(short, "ShortNamesConflict"), (kind, "KindConflict"), (list_kind, "ListKindConflict")] {
            conflict = why.map(|why| (reason, why)).or(conflict);
        }
        let outcome = match conflict {
            Some((reason, why)) => condition(NAMES_ACCEPTED, false, reason, why),
            None => condition(NAMES_ACCEPTED, true, "NoConflicts", "no conflicts found"),
        };
        (accepted, outcome)
    }
}

/// Returns the reason why a name is not available.
fn taken(wanted: &str, has: &str, used: &Counted) -> Option<String> {
    (wanted != has && used.has(wanted)).then(|| format!("{wanted:?} is already in use"))
}

/// Establishes a definition with accepted names. An established definition stays established.
fn establish(definition: &mut CustomResourceDefinition, now: Time) {
    if conditions::is_true(definition, ESTABLISHED) {
        return;
    }
    let established = match conditions::is_true(definition, NAMES_ACCEPTED) {
        true => condition(ESTABLISHED, true, "InitialNamesAccepted", "the initial names have been accepted"),
        false => condition(ESTABLISHED, false, "NotAccepted", "not all names are accepted"),
    };
    conditions::set(definition, established, now);
}

/// Whether a group belongs to the Kubernetes community (`IsProtectedCommunityGroup`).
pub fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

/// The annotation that protected definitions require.
pub const APPROVAL: &str = "api-approved.kubernetes.io";
/// The reference to upstream's policy.
const POLICY: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// Returns the approval state of a definition of a protected group: its name, whether it conforms,
/// and the reason (`GetAPIApprovalState`).
pub fn approval(annotation: &str) -> (&'static str, bool, String) {
    let is_url = annotation.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/') && !annotation.contains(' ')
    });
    match annotation {
        "" => (
            "MissingAnnotation",
            false,
            format!("protected groups must have approval annotation {APPROVAL:?}, {POLICY}"),
        ),
        text if text.starts_with("unapproved") => ("UnapprovedAnnotation", false, format!("not approved: {text:?}")),
        text if is_url => ("ApprovedAnnotation", true, format!("approved in {text}")),
        _ => (
            "InvalidAnnotation",
            false,
            format!(
                "protected groups must have approval annotation {APPROVAL:?} with either a URL or a reason starting with \"unapproved\", {POLICY}"
            ),
        ),
    }
}

fn approve(definition: &mut CustomResourceDefinition, now: Time) {
    if !is_protected(&definition.spec.group) {
        return;
    }
    let annotation = definition.metadata.annotations.get(APPROVAL).map_or("", String::as_str);
    let (reason, conforms, message) = approval(annotation);
    conditions::set(definition, condition(API_APPROVED, conforms, reason, message), now);
}
