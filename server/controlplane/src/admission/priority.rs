//! `Priority`: a pod's priority is that of its class, never its own say.

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::{Pod, PodSpec};
use generated::scheduling::v1::PriorityClass;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::forbidden;
use super::lookup::{find, find_all};
use crate::bootstrap::SYSTEM_PRIORITY_CLASSES;

const CLASSES: (&str, &str) = ("scheduling.k8s.io", "priorityclasses");
const PREEMPT_LOWER_PRIORITY: &str = "PreemptLowerPriority";

/// What a class gives.
struct Resolved {
    class: String,
    priority: i32,
    policy: String,
}

/// Fills priority and preemption policy.
pub async fn admit(
    environment: &Environment,
    attributes: &Attributes,
    object: &mut Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let Some(pod) = object.downcast_mut::<Pod>() else { return Ok(()) };
    if attributes.operation == Operation::Update {
        if let Some(old) = old.and_then(Owned::downcast_ref::<Pod>) {
            pod.spec.priority = pod.spec.priority.or(old.spec.priority);
            pod.spec.preemption_policy =
                pod.spec.preemption_policy.take().or_else(|| old.spec.preemption_policy.clone());
        }
        return Ok(());
    }
    let resolved = resolve(environment, attributes, &pod.spec.priority_class_name).await?;
    apply(&mut pod.spec, resolved).map_err(|why| forbidden(attributes, why))
}

async fn resolve(environment: &Environment, attributes: &Attributes, name: &str) -> Result<Resolved, Status> {
    let class = if name.is_empty() {
        // Of several, which only a race can make, the lowest.
        let classes = find_all::<PriorityClass>(environment, attributes, CLASSES, "").await?;
        classes.into_iter().filter(|c| c.global_default).min_by_key(|c| c.value)
    } else {
        let found = find::<PriorityClass>(environment, attributes, CLASSES, ("", name)).await?;
        Some(found.ok_or_else(|| forbidden(attributes, format!("no PriorityClass with name {name} was found")))?)
    };
    let default = PREEMPT_LOWER_PRIORITY.to_string();
    Ok(match class {
        Some(class) => Resolved {
            class: class.metadata.name.clone(),
            priority: class.value,
            policy: class.preemption_policy.clone().unwrap_or(default),
        },
        None => Resolved { class: String::new(), priority: 0, policy: default },
    })
}

fn apply(spec: &mut PodSpec, resolved: Resolved) -> Result<(), String> {
    let Resolved { class, priority, policy } = resolved;
    if let Some(said) = spec.priority.filter(|said| *said != priority) {
        return Err(format!(
            "the integer value of priority ({said}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name"
        ));
    }
    if let Some(said) = spec.preemption_policy.as_ref().filter(|said| **said != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({said}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        ));
    }
    spec.priority_class_name = class;
    spec.priority = Some(priority);
    spec.preemption_policy = Some(policy);
    Ok(())
}

/// The system's classes stay.
pub fn validate_delete(attributes: &Attributes) -> Result<(), Status> {
    let is_system = SYSTEM_PRIORITY_CLASSES.iter().any(|(name, ..)| *name == attributes.name);
    if (attributes.kind.group, attributes.plural) == CLASSES && is_system {
        return Err(forbidden(attributes, "this is a system priority class and cannot be deleted"));
    }
    Ok(())
}
