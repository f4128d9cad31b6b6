//! Pod conditions that the server sets.

use generated::core::v1::{PodCondition, PodStatus};
use machinery::scalar::Time;

/// Sets the condition of a type. The transition time changes only with the status
/// (`podutil.UpdatePodCondition`).
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
