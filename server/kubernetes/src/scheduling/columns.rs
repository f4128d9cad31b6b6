//! Printed columns of `scheduling` that are computed: the functions of `by_hand = ..` in its definitions.

use apimachinery::meta::v1::condition_status;
use machinery::print::{Cell, PrintContext};

use generated::scheduling::v1alpha2::PodGroup;

pub fn pod_group_policy(group: &PodGroup, _: &PrintContext) -> Cell {
    if group.spec.scheduling_policy.gang.is_some() { "Gang" } else { "Basic" }.into()
}

pub fn pod_group_status(group: &PodGroup, _: &PrintContext) -> Cell {
    let mut text = "Pending";
    for condition in &group.status.conditions {
        match condition.r#type.as_str() {
            "PodGroupScheduled" => {
                text = if condition.status == condition_status::TRUE { "Scheduled" } else { "Unschedulable" }
            }
            "DisruptionTarget" => text = &condition.reason,
            _ => {}
        }
    }
    text.into()
}
