//! The conditions of a namespace that is being deleted (upstream: `namespaceConditionUpdater`).

use std::collections::BTreeMap;

use generated::core::v1::NamespaceCondition;
use machinery::scalar::Time;

use super::content::Deleted;

/// A condition: its type, and its reason and message if it is false and if it is true.
struct Kind {
    name: &'static str,
    fine: (&'static str, &'static str),
    reason: &'static str,
}

const DISCOVERY: Kind = Kind {
    name: "NamespaceDeletionDiscoveryFailure",
    fine: ("ResourcesDiscovered", "All resources successfully discovered"),
    reason: "DiscoveryFailed",
};
const PARSING: Kind = Kind {
    name: "NamespaceDeletionGroupVersionParsingFailure",
    fine: ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    reason: "GroupVersionParsingFailed",
};
const CONTENT: Kind = Kind {
    name: "NamespaceDeletionContentFailure",
    fine: ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    reason: "ContentDeletionFailed",
};
const REMAINING: Kind = Kind {
    name: "NamespaceContentRemaining",
    fine: ("ContentRemoved", "All content successfully removed"),
    reason: "SomeResourcesRemain",
};
const FINALIZERS: Kind = Kind {
    name: "NamespaceFinalizersRemaining",
    fine: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    reason: "SomeFinalizersRemain",
};

/// Sets the conditions after a round of deletion; returns whether one changed.
pub fn update(conditions: &mut Vec<NamespaceCondition>, deleted: &Deleted, now: Time) -> bool {
    let mut changed = false;
    let discovery = (!deleted.discovery.is_empty())
        .then(|| format!("Discovery failed for some groups, 1 failing: {}", deleted.discovery));
    let content = (!deleted.errors.is_empty()).then(|| {
        let errors = deleted.errors.join(", ");
        let errors = if deleted.errors.len() == 1 { errors } else { format!("[{errors}]") };
        format!("Failed to delete all resource types, {} remaining: {errors}", deleted.errors.len())
    });
    let objects = counted(&deleted.objects, |(name, number)| format!("{name} has {number} resource instances"));
    let objects = objects.map(|text| format!("Some resources are remaining: {text}"));
    let finalizers = counted(&deleted.finalizers, |(name, number)| format!("{name} in {number} resource instances"));
    let finalizers = finalizers.map(|text| format!("Some content in the namespace has finalizers remaining: {text}"));
    for (kind, problem) in
        [(DISCOVERY, discovery), (PARSING, None), (CONTENT, content), (REMAINING, objects), (FINALIZERS, finalizers)]
    {
        changed |= set(conditions, &kind, problem, now);
    }
    changed
}

fn counted(counts: &BTreeMap<String, usize>, text: impl Fn((&String, &usize)) -> String) -> Option<String> {
    (!counts.is_empty()).then(|| counts.iter().map(text).collect::<Vec<_>>().join(", "))
}

fn set(conditions: &mut Vec<NamespaceCondition>, kind: &Kind, problem: Option<String>, now: Time) -> bool {
    let status = if problem.is_some() { "True" } else { "False" };
    let reason = if problem.is_some() { kind.reason } else { kind.fine.0 };
    let message = problem.unwrap_or_else(|| kind.fine.1.to_owned());
    let place = conditions.iter().position(|condition| condition.r#type == kind.name);
    let wanted = NamespaceCondition {
        r#type: kind.name.into(),
        status: status.into(),
        last_transition_time: now,
        reason: reason.into(),
        message,
    };
    match place {
        None => conditions.push(wanted),
        Some(place) => {
            let known = &mut conditions[place];
            if (&known.status, &known.reason, &known.message) == (&wanted.status, &wanted.reason, &wanted.message) {
                return false;
            }
            // The time of the last transition stays unless the status changes.
            let since = if known.status == wanted.status { known.last_transition_time } else { now };
            *known = NamespaceCondition { last_transition_time: since, ..wanted };
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_say_what_remains_and_change_only_with_it() {
        let (mut conditions, then, later) = (Vec::new(), Time::from_unix(1), Time::from_unix(2));
        let mut deleted = Deleted { estimate: 15, ..Deleted::default() };
        deleted.objects.extend([("pods.".to_owned(), 2), ("deployments.apps".to_owned(), 1)]);
        deleted.finalizers.insert("a.b/c".to_owned(), 1);
        assert!(update(&mut conditions, &deleted, then));
        assert!(!update(&mut conditions, &deleted, later));
        let of = |conditions: &[NamespaceCondition], name: &str| {
            conditions.iter().find(|condition| condition.r#type == name).cloned().unwrap()
        };
        let remaining = of(&conditions, REMAINING.name);
        assert_eq!(
            remaining.message,
            "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances"
        );
        assert_eq!(
            of(&conditions, FINALIZERS.name).message,
            "Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances"
        );
        assert!(update(&mut conditions, &Deleted::default(), later));
        let removed = of(&conditions, REMAINING.name);
        assert_eq!((removed.status.as_str(), removed.last_transition_time), ("False", later));
        assert_eq!(of(&conditions, DISCOVERY.name).last_transition_time, then);
        assert_eq!(conditions.len(), 5);
    }
}
