use crate::core::ResourceName;
use crate::meta::LabelSelector;

/// One signal for scaling; fill in the block that matches `type`.
#[versions(v2, v1)]
#[check(
    type,
    filled = "must specify a metric source type",
    one_of(ContainerResource, External, Object, Pods, Resource)
)]
#[check(object, below)]
#[check(external, below, when(unset(object)))]
#[check(pods, below, when(none(object, external)))]
#[check(resource, below, when(none(object, external, pods)))]
#[check(containerResource, below, when(none(object, external, pods, resource)))]
#[check(object, filled = "must populate information for the given metric source", when(type = Object))]
#[check(external, filled = "must populate information for the given metric source", when(type = External))]
#[check(pods, filled = "must populate information for the given metric source", when(type = Pods))]
#[check(resource, filled = "must populate information for the given metric source", when(type = Resource))]
#[check(
    containerResource,
    filled = "must populate information for the given metric source",
    when(type = ContainerResource)
)]
#[check(type, one_of(ContainerResource, External, Object, Pods, Resource))]
#[check(
    object,
    forbidden = "must populate the given metric source only",
    when(not(type = Object), many(object, external, pods, resource, containerResource))
)]
#[check(
    external,
    forbidden = "must populate the given metric source only",
    when(not(type = External), many(object, external, pods, resource, containerResource))
)]
#[check(
    pods,
    forbidden = "must populate the given metric source only",
    when(not(type = Pods), many(object, external, pods, resource, containerResource))
)]
#[check(
    resource,
    forbidden = "must populate the given metric source only",
    when(not(type = Resource), many(object, external, pods, resource, containerResource))
)]
#[check(
    containerResource,
    forbidden = "must populate the given metric source only",
    when(not(type = ContainerResource), many(object, external, pods, resource, containerResource))
)]
#[check(object.describedObject, below = version, when(part(version), type = Object))]
pub struct MetricSpec {
    /// Kind of signal, naming which other block to fill in.
    #[field(1, required)]
    pub r#type: MetricSourceType,

    /// Metric describing one Kubernetes object, e.g. requests per second on an Ingress.
    #[field(2)]
    pub object: Option<ObjectMetricSource>,

    /// Custom metric averaged over the workload's pods.
    #[field(3)]
    pub pods: Option<PodsMetricSource>,

    /// CPU or memory usage of whole pods.
    #[field(4)]
    pub resource: Option<ResourceMetricSource>,

    /// CPU or memory usage of one container per pod.
    #[field(7)]
    pub container_resource: Option<ContainerResourceMetricSource>,

    /// Metric from a system outside the cluster.
    #[field(5)]
    pub external: Option<ExternalMetricSource>,
}

/// Kinds of signal an autoscaler can follow.
#[open]
pub enum MetricSourceType {
    Object,
    Pods,
    Resource,
    ContainerResource,
    External,
}

/// Scales on a metric belonging to a single Kubernetes object.
#[versions(v2, v1)]
#[check(describedObject, below)]
#[check(metric, below)]
#[check(target, below)]
#[check(
    target.averageValue,
    required = "must set either a target value or averageValue",
    when(unset(target.value))
)]
pub struct ObjectMetricSource {
    /// Object that the metric describes.
    #[field(1, required)]
    pub described_object: CrossVersionObjectReference,

    /// Level to hold; in v2beta1, the object described instead.
    #[field(2, required)]
    pub target: MetricTarget,

    /// Name and label filter of the object's metric.
    #[field(3, required)]
    pub metric: MetricIdentifier,
}

/// Names an object in the same namespace by kind and name.
#[check(kind, required, format = path_segment_name, when(part(default, target)))]
#[check(name, required, format = path_segment_name, when(part(default, target)))]
#[check(apiVersion, format = api_version, when(part(default, version), not(option(any_api_version))))]
#[check(
    apiVersion,
    format = api_version,
    when(part(target), kind = ReplicationController, any(changed(apiVersion), changed(kind)))
)]
#[check(
    apiVersion,
    format = api_version_of_named_group,
    when(part(target), not(kind = ReplicationController), any(changed(apiVersion), changed(kind)))
)]
pub struct CrossVersionObjectReference {
    /// Kind of the object referred to, e.g. `Deployment`.
    #[field(1, required)]
    pub kind: String,

    /// Name of the object referred to.
    #[field(2, required)]
    pub name: String,

    /// Group and version of the object referred to, e.g. `apps/v1`.
    #[field(3)]
    pub api_version: String,
}

/// The level at which a metric should be held.
#[check(type, filled = "must specify a metric target type")]
#[check(
    type,
    invalid = "must be either Utilization, Value, or AverageValue",
    when(not(type = (Utilization, Value, AverageValue)))
)]
#[check(value, positive = "must be positive")]
#[check(averageValue, positive = "must be positive")]
#[check(averageUtilization, min(1, "must be greater than 0"))]
pub struct MetricTarget {
    /// How the level is expressed: `Utilization`, `Value` or `AverageValue`.
    #[field(1, required)]
    pub r#type: MetricTargetType,

    /// Level for the metric as a whole, used with type `Value`.
    #[field(2)]
    pub value: Option<Quantity>,

    /// Level per pod, used with type `AverageValue`.
    #[field(3)]
    pub average_value: Option<Quantity>,

    /// Percent of requested resources to hold, used with type `Utilization`.
    #[field(4)]
    pub average_utilization: Option<i32>,
}

/// Ways of expressing the level a metric should be held at.
#[open]
pub enum MetricTargetType {
    Utilization,
    Value,
    AverageValue,
}

/// Identifies a metric by its name and optional labels.
#[check(name, required = "must specify a metric name", format = path_segment_name)]
pub struct MetricIdentifier {
    /// Name under which the metrics API serves the metric.
    #[field(1, required)]
    pub name: String,

    /// Label filter for the metric series; with none, only the name counts.
    #[field(2)]
    pub selector: Option<LabelSelector>,
}

/// Scales on a custom metric averaged across the workload's pods.
#[versions(v2, v1)]
#[check(metric, below)]
#[check(target, below)]
#[check(target.averageValue, required = "must specify a positive target averageValue")]
pub struct PodsMetricSource {
    /// Name and label filter of the per-pod metric.
    #[field(1, required)]
    pub metric: MetricIdentifier,

    /// Per-pod average to hold; type must be `AverageValue`.
    #[field(2, required)]
    pub target: MetricTarget,
}

/// Scales on CPU or memory summed over each pod's containers.
#[versions(v2, v1)]
#[check(name, filled = "must specify a resource name")]
#[check(target, below)]
#[check(
    target.averageUtilization,
    required = "must set either a target raw value or a target utilization",
    when(unset(target.averageValue))
)]
#[check(
    target.averageValue,
    forbidden = "may not set both a target raw value and a target utilization",
    when(set(target.averageUtilization))
)]
pub struct ResourceMetricSource {
    /// Resource to follow for whole pods, `cpu` or `memory`.
    #[field(1, required)]
    pub name: ResourceName,

    /// Pod average to hold, as utilization percent or absolute amount.
    #[field(2, required)]
    pub target: MetricTarget,
}

/// Scales on CPU or memory of one named container in each pod.
#[versions(v2, v1)]
#[check(name, required = "must specify a resource name")]
#[check(self, by_hand = validate_container_resource, when(set(name)))]
#[check(container, required = "must specify a container", name = dns1123_label)]
#[check(target, below)]
#[check(
    target.averageUtilization,
    required = "must set either a target raw value or a target utilization",
    when(unset(target.averageValue))
)]
#[check(
    target.averageValue,
    forbidden = "may not set both a target raw value and a target utilization",
    when(set(target.averageUtilization))
)]
pub struct ContainerResourceMetricSource {
    /// Resource to watch, `cpu` or `memory`.
    #[field(1, required)]
    pub name: ResourceName,

    /// Average to aim for, as utilization percent or absolute amount per container.
    #[field(2, required)]
    pub target: MetricTarget,

    /// Name of the container to measure, e.g. leaving out sidecars.
    #[field(3, required)]
    pub container: String,
}

/// Scales on a metric from outside the cluster, like a queue length.
#[versions(v2, v1)]
#[check(metric, below)]
#[check(target, below)]
#[check(
    target.averageValue,
    required = "must set either a target value for metric or a per-pod target",
    when(unset(target.value))
)]
#[check(
    target.value,
    forbidden = "may not set both a target value for metric and a per-pod target",
    when(set(target.averageValue))
)]
pub struct ExternalMetricSource {
    /// Name and label filter of the external metric.
    #[field(1, required)]
    pub metric: MetricIdentifier,

    /// Total value or per-pod average to aim for.
    #[field(2, required)]
    pub target: MetricTarget,
}

/// Latest reading of one scaling signal.
#[versions(v2, v1)]
pub struct MetricStatus {
    /// Kind of signal, telling which block holds the reading.
    #[field(1, required)]
    pub r#type: MetricSourceType,

    /// Reading for a metric on one Kubernetes object.
    #[field(2)]
    pub object: Option<ObjectMetricStatus>,

    /// Reading for a custom per-pod metric.
    #[field(3)]
    pub pods: Option<PodsMetricStatus>,

    /// Reading for pod CPU or memory.
    #[field(4)]
    pub resource: Option<ResourceMetricStatus>,

    /// Reading for CPU or memory of one container.
    #[field(7)]
    pub container_resource: Option<ContainerResourceMetricStatus>,

    /// Reading for a metric from outside the cluster.
    #[field(5)]
    pub external: Option<ExternalMetricStatus>,
}

/// Latest reading of a metric on a single object.
#[versions(v2, v1)]
pub struct ObjectMetricStatus {
    /// Which object metric the reading is for.
    #[field(1, required)]
    pub metric: MetricIdentifier,

    /// Latest level of the object's metric.
    #[field(2, required)]
    pub current: MetricValueStatus,

    /// Kubernetes object that was measured.
    #[field(3, required)]
    pub described_object: CrossVersionObjectReference,
}

/// A measured level of a metric, in up to three forms.
pub struct MetricValueStatus {
    /// Measured level of the metric as a whole.
    #[field(1)]
    pub value: Option<Quantity>,

    /// Measured level divided across the pods.
    #[field(2)]
    pub average_value: Option<Quantity>,

    /// Measured usage as percent of requests; resource metrics only.
    #[field(3)]
    pub average_utilization: Option<i32>,
}

/// Latest reading of a per-pod custom metric.
#[versions(v2, v1)]
pub struct PodsMetricStatus {
    /// Which per-pod metric the reading is for.
    #[field(1, required)]
    pub metric: MetricIdentifier,

    /// Latest average over all the pods.
    #[field(2, required)]
    pub current: MetricValueStatus,
}

/// Latest reading of pod CPU or memory.
#[versions(v2, v1)]
pub struct ResourceMetricStatus {
    /// Resource that was measured for whole pods.
    #[field(1, required)]
    pub name: ResourceName,

    /// Latest pod usage averaged over the workload.
    #[field(2, required)]
    pub current: MetricValueStatus,
}

/// Latest reading of a container-level resource metric.
#[versions(v2, v1)]
pub struct ContainerResourceMetricStatus {
    /// Resource that was measured for the container, such as `cpu`.
    #[field(1, required)]
    pub name: ResourceName,

    /// Latest container usage averaged over the pods.
    #[field(2, required)]
    pub current: MetricValueStatus,

    /// Container that the reading belongs to.
    #[field(3, required)]
    pub container: String,
}

/// Latest reading of an external metric.
#[versions(v2, v1)]
pub struct ExternalMetricStatus {
    /// Which external metric the reading is for.
    #[field(1, required)]
    pub metric: MetricIdentifier,

    /// Latest external total or per-pod average.
    #[field(2, required)]
    pub current: MetricValueStatus,
}

mod v1 {
    #[differs(ObjectMetricSource)]
    struct ObjectMetricSource {
        #[gone]
        described_object: (),

        /// Level to hold; in v2beta1, the object described instead.
        #[field(1, required)]
        target: CrossVersionObjectReference,

        #[gone]
        metric: (),

        /// Object metric to read (v2beta1).
        #[field(2, required)]
        metric_name: String,

        /// Wanted level of the object's metric (v2beta1).
        #[field(3, required)]
        target_value: Quantity,

        /// Label filter for the object's metric (v2beta1).
        #[field(4)]
        selector: Option<LabelSelector>,

        /// Wanted per-pod share of the object's metric (v2beta1).
        #[field(5)]
        average_value: Option<Quantity>,
    }

    #[convert(
        ObjectMetricSource,
        by_hand = v1_object_metric_source,
        here(target, metricName, targetValue, selector, averageValue),
        hub(describedObject, target, metric)
    )]
    struct FlatObjectTarget;

    #[differs(CrossVersionObjectReference)]
    #[structure(atomic)]
    struct CrossVersionObjectReference {}

    #[differs(PodsMetricSource)]
    struct PodsMetricSource {
        #[gone]
        metric: (),
        #[gone]
        target: (),

        /// Per-pod metric to read (v2beta1).
        #[field(1, required)]
        metric_name: String,

        /// Wanted average per pod as a quantity (v2beta1).
        #[field(2, required)]
        target_average_value: Quantity,

        /// Label filter for the per-pod metric (v2beta1).
        #[field(3)]
        selector: Option<LabelSelector>,
    }

    #[convert(
        PodsMetricSource,
        by_hand = v1_pods_metric_source,
        here(metricName, targetAverageValue, selector),
        hub(metric, target)
    )]
    struct FlatPodsTarget;

    #[differs(ResourceMetricSource)]
    struct ResourceMetricSource {
        #[gone]
        target: (),

        /// Wanted pod average as percent of requests (v2beta1).
        #[field(2)]
        target_average_utilization: Option<i32>,

        /// Wanted pod average as an absolute quantity (v2beta1).
        #[field(3)]
        target_average_value: Option<Quantity>,
    }

    #[convert(
        ResourceMetricSource,
        by_hand = v1_resource_metric_source,
        here(targetAverageUtilization, targetAverageValue),
        hub(target)
    )]
    struct FlatResourceTarget;

    #[differs(ContainerResourceMetricSource)]
    struct ContainerResourceMetricSource {
        #[gone]
        target: (),

        /// Wanted average as percent of the container's request (v2beta1).
        #[field(2)]
        target_average_utilization: Option<i32>,

        /// Wanted average as absolute quantity per container (v2beta1).
        #[field(3)]
        target_average_value: Option<Quantity>,

        /// Name of the container to measure, e.g. leaving out sidecars.
        #[field(5, required)]
        container: String,
    }

    #[convert(
        ContainerResourceMetricSource,
        by_hand = v1_container_resource_metric_source,
        here(targetAverageUtilization, targetAverageValue),
        hub(target)
    )]
    struct FlatContainerResourceTarget;

    #[differs(ExternalMetricSource)]
    struct ExternalMetricSource {
        #[gone]
        metric: (),
        #[gone]
        target: (),

        /// External metric to read (v2beta1).
        #[field(1, required)]
        metric_name: String,

        /// Label filter picking the external series (v2beta1).
        #[field(2)]
        metric_selector: Option<LabelSelector>,

        /// Wanted total, mutually exclusive with `targetAverageValue` (v2beta1).
        #[field(3)]
        target_value: Option<Quantity>,

        /// Wanted amount per pod, mutually exclusive with `targetValue` (v2beta1).
        #[field(4)]
        target_average_value: Option<Quantity>,
    }

    #[convert(
        ExternalMetricSource,
        by_hand = v1_external_metric_source,
        here(metricName, metricSelector, targetValue, targetAverageValue),
        hub(metric, target)
    )]
    struct FlatExternalTarget;

    #[differs(ObjectMetricStatus)]
    struct ObjectMetricStatus {
        #[gone]
        metric: (),
        #[gone]
        current: (),
        #[gone]
        described_object: (),

        /// Object that was measured (v2beta1).
        #[field(1, required)]
        target: CrossVersionObjectReference,

        /// Object metric that was read (v2beta1).
        #[field(2, required)]
        metric_name: String,

        /// Latest level of the object's metric (v2beta1).
        #[field(3, required)]
        current_value: Quantity,

        /// Label filter used for the object reading (v2beta1).
        #[field(4)]
        selector: Option<LabelSelector>,

        /// Latest per-pod share of the object's metric (v2beta1).
        #[field(5)]
        average_value: Option<Quantity>,
    }

    #[convert(
        ObjectMetricStatus,
        by_hand = v1_object_metric_status,
        here(target, metricName, currentValue, selector, averageValue),
        hub(metric, current, describedObject)
    )]
    struct FlatObjectCurrent;

    #[differs(PodsMetricStatus)]
    struct PodsMetricStatus {
        #[gone]
        metric: (),
        #[gone]
        current: (),

        /// Per-pod metric that was read (v2beta1).
        #[field(1, required)]
        metric_name: String,

        /// Latest average per pod (v2beta1).
        #[field(2, required)]
        current_average_value: Quantity,

        /// Label filter used for the per-pod reading (v2beta1).
        #[field(3)]
        selector: Option<LabelSelector>,
    }

    #[convert(
        PodsMetricStatus,
        by_hand = v1_pods_metric_status,
        here(metricName, currentAverageValue, selector),
        hub(metric, current)
    )]
    struct FlatPodsCurrent;

    #[differs(ResourceMetricStatus)]
    struct ResourceMetricStatus {
        #[gone]
        current: (),

        /// Latest pod average as percent of requests (v2beta1).
        #[field(2)]
        current_average_utilization: Option<i32>,

        /// Latest pod average as an absolute quantity (v2beta1).
        #[field(3, required)]
        current_average_value: Quantity,
    }

    #[convert(
        ResourceMetricStatus,
        by_hand = v1_resource_metric_status,
        here(currentAverageUtilization, currentAverageValue),
        hub(current)
    )]
    struct FlatResourceCurrent;

    #[differs(ContainerResourceMetricStatus)]
    struct ContainerResourceMetricStatus {
        #[gone]
        current: (),

        /// Latest average as percent of the container's request (v2beta1).
        #[field(2)]
        current_average_utilization: Option<i32>,

        /// Latest absolute average per container (v2beta1).
        #[field(3, required)]
        current_average_value: Quantity,

        /// Container that the reading belongs to.
        #[field(4, required)]
        container: String,
    }

    #[convert(
        ContainerResourceMetricStatus,
        by_hand = v1_container_resource_metric_status,
        here(currentAverageUtilization, currentAverageValue),
        hub(current)
    )]
    struct FlatContainerResourceCurrent;

    #[differs(ExternalMetricStatus)]
    struct ExternalMetricStatus {
        #[gone]
        metric: (),
        #[gone]
        current: (),

        /// External metric that was read (v2beta1).
        #[field(1, required)]
        metric_name: String,

        /// Label filter used for the external reading (v2beta1).
        #[field(2)]
        metric_selector: Option<LabelSelector>,

        /// Latest total of the external metric (v2beta1).
        #[field(3, required)]
        current_value: Quantity,

        /// Latest external amount divided by pod count (v2beta1).
        #[field(4)]
        current_average_value: Option<Quantity>,
    }

    #[convert(
        ExternalMetricStatus,
        by_hand = v1_external_metric_status,
        here(metricName, metricSelector, currentValue, currentAverageValue),
        hub(metric, current)
    )]
    struct FlatExternalCurrent;
}
