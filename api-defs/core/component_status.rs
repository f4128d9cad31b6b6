use crate::meta::ObjectMeta;

/// Health of a control plane component; deprecated since v1.19.
#[kind(plural = "componentstatuses", short = "cs", scope = Cluster, verbs(get, list), virtual)]
#[versions(v1(introduced = "1.0", deprecated = "1.19"))]
#[column("Status", by_hand = component_status_status, reads(conditions), "Whether the component is healthy.")]
#[column("Message", by_hand = component_status_message, reads(conditions), "Health as reported by the component.")]
#[column("Error", by_hand = component_status_error, reads(conditions), "Error that prevented the health check.")]
pub struct ComponentStatus {
    /// Carries the component's name, e.g. `scheduler` or `etcd-0`.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Health check results for the component.
    #[field(2, list = map(type), patch = merge)]
    pub conditions: Vec<ComponentCondition>,
}

/// Health result for one control plane component.
pub struct ComponentCondition {
    /// Kind of check, always `Healthy`.
    #[field(1, required)]
    pub r#type: ComponentConditionType,

    /// Health as `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Readable outcome of the health check, such as `ok`.
    #[field(3)]
    pub message: String,

    /// Error code or text if the check failed.
    #[field(4)]
    pub error: String,
}

/// Aspect reported for a control plane component; only `Healthy` exists.
#[open]
pub enum ComponentConditionType {
    Healthy,
}
