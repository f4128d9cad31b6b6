use crate::meta::ObjectMeta;

/// Per-namespace defaults and bounds on what pods, containers and claims may request.
#[kind(plural = "limitranges", short = "limits", scope = Namespaced, create_on_update, metadata = whole)]
#[versions(v1(introduced = "1.0"))]
#[strategy(create = create_limit_range)]
#[check(spec.limits, below)]
pub struct LimitRange {
    /// Name, labels and annotations of the LimitRange.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Bounds and defaults enforced at admission.
    #[field(2)]
    pub spec: LimitRangeSpec,
}

/// Collection of bounds that a LimitRange enforces.
pub struct LimitRangeSpec {
    /// One entry for each kind of object to constrain.
    #[field(1, required, list = atomic)]
    pub limits: Vec<LimitRangeItem>,
}

/// Bounds and defaults for one kind of object.
#[default(by_hand = default_limit_range_item)]
#[check(
    self,
    by_hand = validate_limit_type,
    when(not(type = (Pod, Container, PersistentVolumeClaim)))
)]
#[check(type, distinct)]
#[check(max, each_key(format = container_resource_name), when(type = (Pod, Container)))]
#[check(max, each_key(format = resource_name), when(not(type = (Pod, Container))))]
#[check(min, each_key(format = container_resource_name), when(type = (Pod, Container)))]
#[check(min, each_key(format = resource_name), when(not(type = (Pod, Container))))]
#[check(default, forbidden = "may not be specified when `type` is 'Pod'", when(type = Pod))]
#[check(default, each_key(format = container_resource_name), when(type = Container))]
#[check(default, each_key(format = resource_name), when(not(type = (Pod, Container))))]
#[check(defaultRequest, forbidden = "may not be specified when `type` is 'Pod'", when(type = Pod))]
#[check(defaultRequest, each_key(format = container_resource_name), when(type = Container))]
#[check(defaultRequest, each_key(format = resource_name), when(not(type = (Pod, Container))))]
#[check(
    min,
    at(limits, missing = "either minimum or maximum storage value is required, but neither was provided"),
    when(type = PersistentVolumeClaim, unset(min.storage), unset(max.storage))
)]
#[check(
    maxLimitRequestRatio,
    each_key(format = container_resource_name),
    when(type = (Pod, Container))
)]
#[check(
    maxLimitRequestRatio,
    each_key(format = resource_name),
    when(not(type = (Pod, Container)))
)]
#[check(self, by_hand = validate_limits)]
pub struct LimitRangeItem {
    /// Kind being constrained: `Pod`, `Container` or `PersistentVolumeClaim`.
    #[field(1, required)]
    pub r#type: LimitType,

    /// Ceiling per resource; larger values are refused.
    #[field(2)]
    pub max: Map<String, Quantity>,

    /// Floor per resource; smaller values are refused.
    #[field(3)]
    pub min: Map<String, Quantity>,

    /// Limit injected when a container gives none for that resource.
    #[field(4)]
    pub default: Map<String, Quantity>,

    /// Request injected when a container leaves it out.
    #[field(5)]
    pub default_request: Map<String, Quantity>,

    /// Greatest allowed limit divided by request, curbing overcommit per resource.
    #[field(6)]
    pub max_limit_request_ratio: Map<String, Quantity>,
}

/// Kind of object a LimitRange entry constrains.
#[open]
pub enum LimitType {
    Pod,
    Container,
    PersistentVolumeClaim,
}
