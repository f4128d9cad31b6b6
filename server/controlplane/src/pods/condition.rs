//! Conditions of pods that the server itself sets.

use generated::core::v1::{PodCondition, PodStatus};
use machinery::scalar::Time;

/// Sets a condition of its type; the time moves only when the status changes (`podutil.UpdatePodCondition`).
pub fn set(status: &mut PodStatus, condition: PodCondition, now: Time) {
    let mut condition = PodCondition { last_transition_time: now, ..condition };
    match status.conditions.iter_mut().find(|known| known.r#type == condition.r#type) {
        None => status.conditions.push(condition),
        Some(known) => {
            if known.status == condition.status {
                condition.last_transition_time = known.last_transition_time;
            }
            *known = condition;
        }
    }
}
