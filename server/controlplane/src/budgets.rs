//! Disruption budgets for evictions.

use apimachinery::meta::v1::{Condition, condition_status};
use generated::core::v1::Pod;
use generated::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus, unhealthy_pod_eviction_policy_type};
use machinery::scalar::Time;
use machinery::status::{Cause, GroupResource, Status};
use meta::{compiled_selector, selects};
use registry::{Clock, Predicate, Stores, UpdateOptions, WriteContext};

const BUDGETS: (&str, &str) = ("policy", "poddisruptionbudgets");
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const ALLOWED: &str = "DisruptionAllowed";
/// Maximum number of unconfirmed evictions (`MaxDisruptedPodSize`).
const MAX_DISRUPTED: usize = 2000;

/// Returns the budget of a pod; more than one budget is an error.
pub async fn of_pod(stores: &Stores, pod: &Pod) -> Result<Option<PodDisruptionBudget>, Status> {
    let Some(store) = stores.get(&BUDGETS) else { return Ok(None) };
    let objects = store.objects(&pod.metadata.namespace, &Predicate::default()).await?;
    let budgets = objects.into_iter().filter_map(|object| object.into_inner::<PodDisruptionBudget>().ok());
    let mut matching = budgets.filter(|budget| covers(budget, pod));
    let first = matching.next();
    if matching.next().is_some() {
        let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        return Err(Status::new(500, "", why));
    }
    Ok(first)
}

fn covers(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    // An invalid selector selects nothing.
    compiled_selector(budget.spec.selector.as_deref()).is_some_and(|selector| selects(&selector, &pod.metadata.labels))
}

/// Whether the budget allows eviction of a pod that is not ready without counting it.
pub fn allows_unhealthy_eviction(budget: &PodDisruptionBudget) -> bool {
    let status = &budget.status;
    let always =
        budget.spec.unhealthy_pod_eviction_policy.as_deref() == Some(unhealthy_pod_eviction_policy_type::ALWAYS_ALLOW);
    always || (status.current_healthy >= status.desired_healthy && status.desired_healthy > 0)
}

/// Consumes one allowed disruption for a pod, or fails if there is none (`checkAndDecrement`).
pub async fn check_and_decrement(
    (stores, clock): (&Stores, &dyn Clock),
    namespace: &str,
    pod: &str,
    budget: &PodDisruptionBudget,
    dry_run: bool,
) -> Result<(), Status> {
    let Some(store) = stores.get(&BUDGETS) else { return Ok(()) };
    let options = UpdateOptions { dry_run, ..UpdateOptions::default() };
    let context = WriteContext { namespace: namespace.to_owned(), ..WriteContext::default() };
    let decrement_stored = |object: &mut machinery::reflect::Owned| match object.downcast_mut::<PodDisruptionBudget>() {
        Some(budget) => decrement(budget, pod, clock.now()),
        None => Err(Status::internal("budgets are stored as something else")),
    };
    store.guaranteed_update(&context, &budget.metadata.name, &options, &decrement_stored).await.map(drop)
}

fn decrement(budget: &mut PodDisruptionBudget, pod: &str, now: Time) -> Result<(), Status> {
    let name = &budget.metadata.name;
    let of = GroupResource { group: "policy", resource: "poddisruptionbudget" };
    let status = &mut budget.status;
    if status.observed_generation < budget.metadata.generation {
        return Err(still_processing(name));
    }
    if status.disruptions_allowed < 0 {
        return Err(Status::forbidden(of, name, "pdb disruptions allowed is negative"));
    }
    if status.disrupted_pods.len() > MAX_DISRUPTED {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Status::forbidden(of, name, why));
    }
    if status.disruptions_allowed == 0 {
        return Err(refused(&exhausted_message(name, status), 0));
    }
    status.disruptions_allowed -= 1;
    if status.disruptions_allowed == 0 {
        disallow(&mut status.conditions, status.observed_generation, now);
    }
    status.disrupted_pods.insert(pod.into(), now);
    Ok(())
}

/// Builds the message for a budget without allowed disruptions.
fn exhausted_message(name: &str, status: &PodDisruptionBudgetStatus) -> String {
    let condition = status.conditions.iter().find(|condition| condition.r#type == ALLOWED);
    let reported =
        condition.filter(|condition| condition.status == condition_status::FALSE && !condition.message.is_empty());
    match reported {
        // After a failed sync the numbers in the status are unreliable.
        Some(condition) if condition.reason == "SyncFailed" => format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed sync: {}",
            condition.message
        ),
        _ if status.current_healthy <= status.desired_healthy => format!(
            "The disruption budget {name} needs {} healthy pods and has {} currently",
            status.desired_healthy, status.current_healthy
        ),
        Some(condition) => format!(
            "The disruption budget {name} does not allow evicting pods currently ({}): {}",
            condition.reason, condition.message
        ),
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

/// The error while the status does not reflect the current budget.
pub fn still_processing(name: &str) -> Status {
    refused(&format!("The disruption budget {name} is still being processed by the server."), 10)
}

fn refused(why: &str, retry_after_seconds: i32) -> Status {
    let mut status = Status::too_many_requests(REFUSED, retry_after_seconds);
    let cause = Cause { reason: "DisruptionBudget".into(), message: why.into(), field: String::new() };
    status.details.get_or_insert_default().causes.push(cause);
    status
}

/// Sets the condition that no disruption is allowed (`pdb.UpdateDisruptionAllowedCondition`).
fn disallow(conditions: &mut Vec<Condition>, generation: i64, now: Time) {
    let new = Condition {
        r#type: ALLOWED.into(),
        status: condition_status::FALSE.into(),
        reason: "InsufficientPods".into(),
        observed_generation: generation,
        last_transition_time: now,
        ..Condition::default()
    };
    match conditions.iter_mut().find(|condition| condition.r#type == ALLOWED) {
        None => conditions.push(new),
        Some(known) if known.status == new.status => {
            *known = Condition { last_transition_time: known.last_transition_time, ..new };
        }
        Some(known) => *known = new,
    }
}
