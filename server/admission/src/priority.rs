//! `Priority`: sets the priority of pods from their priority class, and ensures that there is one
//! default class.

use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{Pod, PodSpec, preemption_policy};
use generated::scheduling::v1::PriorityClass;
use generated::scheduling::v1alpha2::PodGroup;
use machinery::features::{self as gates, FeatureGates};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Stores;

use super::forbidden;
use super::lookup::{find, find_all};
use kubernetes::scheduling::SYSTEM_PRIORITY_CLASSES;

const CLASSES: (&str, &str) = ("scheduling.k8s.io", "priorityclasses");

/// The resolved values of a priority class.
struct Resolved {
    class: String,
    priority: i32,
    policy: String,
}

/// Sets the priority and the preemption policy of new pods.
pub async fn admit(
    (stores, features): (&Stores, &FeatureGates),
    attributes: &AdmissionAttributes,
    object: &mut Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    if let Some(group) = object.downcast_mut::<PodGroup>() {
        return admit_group((stores, features), attributes, group).await;
    }
    let Some(pod) = object.downcast_mut::<Pod>() else { return Ok(()) };
    if attributes.operation == Operation::Update {
        if let Some(old) = old.and_then(Owned::downcast_ref::<Pod>) {
            pod.spec.priority = pod.spec.priority.or(old.spec.priority);
            pod.spec.preemption_policy =
                pod.spec.preemption_policy.take().or_else(|| old.spec.preemption_policy.clone());
        }
        return Ok(());
    }
    let resolved = resolve(stores, attributes, &pod.spec.priority_class_name).await?;
    apply(&mut pod.spec, resolved).map_err(|why| forbidden(attributes, why))
}

async fn resolve(stores: &Stores, attributes: &AdmissionAttributes, name: &str) -> Result<Resolved, Status> {
    let class = if name.is_empty() {
        default_class(stores, attributes).await?
    } else {
        let found = find::<PriorityClass>(stores, attributes, CLASSES, ("", name)).await?;
        Some(found.ok_or_else(|| forbidden(attributes, format!("no PriorityClass with name {name} was found")))?)
    };
    let default = preemption_policy::PREEMPT_LOWER_PRIORITY.to_string();
    Ok(match class {
        Some(class) => Resolved {
            class: class.metadata.name.clone(),
            priority: class.value,
            policy: class.preemption_policy.clone().unwrap_or(default),
        },
        None => Resolved { class: String::new(), priority: 0, policy: default },
    })
}

/// A value in the pod that differs from that of its class.
#[derive(Debug, thiserror::Error)]
enum Mismatch {
    #[error(
        "the integer value of priority ({given}) must not be provided in pod spec; \
         priority admission controller computed {computed} from the given PriorityClass name"
    )]
    Priority { given: i32, computed: i32 },
    #[error(
        "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; \
         priority admission controller computed {computed} from the given PriorityClass name"
    )]
    PreemptionPolicy { given: String, computed: String },
}

fn apply(spec: &mut PodSpec, resolved: Resolved) -> Result<(), Mismatch> {
    let Resolved { class, priority, policy } = resolved;
    if let Some(given) = spec.priority.filter(|given| *given != priority) {
        return Err(Mismatch::Priority { given, computed: priority });
    }
    if let Some(given) = spec.preemption_policy.as_ref().filter(|given| **given != policy) {
        return Err(Mismatch::PreemptionPolicy { given: given.clone(), computed: policy });
    }
    spec.priority_class_name = class;
    spec.priority = Some(priority);
    spec.preemption_policy = Some(policy);
    Ok(())
}

/// Sets the priority of a new pod group.
async fn admit_group(
    (stores, features): (&Stores, &FeatureGates),
    attributes: &AdmissionAttributes,
    group: &mut PodGroup,
) -> Result<(), Status> {
    if attributes.operation != Operation::Create || !features.enabled(gates::WorkloadAwarePreemption) {
        return Ok(());
    }
    let resolved = resolve(stores, attributes, &group.spec.priority_class_name).await?;
    let priority = resolved.priority;
    if let Some(wrong) = group.spec.priority.filter(|wrong| *wrong != priority) {
        let why = format!(
            "priority set in the pod group ({wrong}) must match the priority computed ({priority}) based on the \
             priority class set in the spec"
        );
        return Err(forbidden(attributes, why));
    }
    group.spec.priority = Some(priority);
    group.spec.priority_class_name = resolved.class;
    Ok(())
}

/// Rejects a second default class.
pub async fn validate(stores: &Stores, attributes: &AdmissionAttributes, object: &Owned) -> Result<(), Status> {
    let Some(class) = object.downcast_ref::<PriorityClass>().filter(|class| class.global_default) else {
        return Ok(());
    };
    match default_class(stores, attributes).await?.map(|default| default.metadata.name.clone()) {
        Some(default) if attributes.operation == Operation::Create || default != class.metadata.name => {
            let why = format!("PriorityClass {default} is already marked as default. Only one default can exist");
            Err(forbidden(attributes, why))
        }
        _ => Ok(()),
    }
}

/// Returns the default class. Of several, the one with the lowest value.
async fn default_class(
    stores: &Stores,
    attributes: &AdmissionAttributes,
) -> Result<Option<Arc<PriorityClass>>, Status> {
    let classes = find_all::<PriorityClass>(stores, attributes, CLASSES, "").await?;
    Ok(classes.into_iter().filter(|class| class.global_default).min_by_key(|class| class.value))
}

/// Rejects the deletion of system priority classes.
pub fn validate_delete(attributes: &AdmissionAttributes) -> Result<(), Status> {
    let is_system = SYSTEM_PRIORITY_CLASSES.iter().any(|(name, ..)| *name == attributes.name);
    if (attributes.group, attributes.plural) == CLASSES && attributes.subresource.is_empty() && is_system {
        return Err(forbidden(attributes, "this is a system priority class and cannot be deleted"));
    }
    Ok(())
}
