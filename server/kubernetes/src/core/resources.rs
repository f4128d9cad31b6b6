//! Resource lists: amounts are stored with a precision of 1/1000 (`SetDefaults_ResourceList`).

use std::collections::BTreeMap;

use machinery::scalar::Quantity;

use super::pod_resources::fill;
use generated::core::v1::{
    LimitRangeItem, NodeStatus, PersistentVolumeClaimStatus, PersistentVolumeSpec, ResourceQuotaSpec,
    ResourceQuotaStatus, ResourceRequirements, VolumeResourceRequirements, limit_type,
};

/// Minimum power of ten of stored quantities.
const MILLI_SCALE: i32 = -3;

/// Rounds every quantity up to thousandths.
pub(super) fn round_up(resources: &mut BTreeMap<String, Quantity>) {
    for quantity in resources.values_mut() {
        quantity.round_up(MILLI_SCALE);
    }
}

/// Mirrors `SetDefaults_LimitRangeItem`.
pub fn default_limit_range_item(item: &mut LimitRangeItem) {
    if item.r#type == limit_type::CONTAINER {
        fill(&mut item.default, &item.max);
        fill(&mut item.default_request, &item.default);
        fill(&mut item.default_request, &item.min);
    }
    let LimitRangeItem { max, min, default, default_request, max_limit_request_ratio, .. } = item;
    [max, min, default, default_request, max_limit_request_ratio].into_iter().for_each(round_up);
}

/// Mirrors `SetDefaults_NodeStatus`.
pub fn default_node_status(status: &mut NodeStatus) {
    if status.allocatable.is_empty() {
        status.allocatable.clone_from(&status.capacity);
    }
    round_up(&mut status.capacity);
    round_up(&mut status.allocatable);
}

/// Rounds the size of a claim.
pub fn default_persistent_volume_claim_status(status: &mut PersistentVolumeClaimStatus) {
    round_up(&mut status.capacity);
    round_up(&mut status.allocated_resources);
}

/// Rounds the size of a volume.
pub fn default_persistent_volume_spec(spec: &mut PersistentVolumeSpec) {
    round_up(&mut spec.capacity);
}

/// Rounds quotas.
pub fn default_resource_quota_spec(spec: &mut ResourceQuotaSpec) {
    round_up(&mut spec.hard);
}

/// Rounds quotas and their usage.
pub fn default_resource_quota_status(status: &mut ResourceQuotaStatus) {
    round_up(&mut status.hard);
    round_up(&mut status.used);
}

/// Rounds requests and limits of a container or a pod.
pub fn default_resource_requirements(resources: &mut ResourceRequirements) {
    round_up(&mut resources.limits);
    round_up(&mut resources.requests);
}

/// Rounds requests and limits of a claim.
pub fn default_volume_resource_requirements(resources: &mut VolumeResourceRequirements) {
    round_up(&mut resources.limits);
    round_up(&mut resources.requests);
}
