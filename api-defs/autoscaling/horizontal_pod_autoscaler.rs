use crate::core::ConditionStatus;
use crate::meta::ObjectMeta;

/// Adjusts a workload's replica count automatically from observed metrics.
#[kind(plural = "horizontalpodautoscalers", short = "hpa", category = "all", scope = Namespaced, generation = false)]
#[versions(v2(introduced = "1.23"), v1(introduced = "1.2"))]
#[subresource(status, resets(spec))]
#[column("Reference", by_hand = horizontal_pod_autoscaler_reference, reads(spec.scaleTargetRef), "Kind and name of the scaled object.")]
#[column("Targets", by_hand = horizontal_pod_autoscaler_targets, reads(spec.metrics, status.currentMetrics), "Current and target value of each metric.")]
#[column("MinPods", by_hand = horizontal_pod_autoscaler_min_pods, reads(spec.minReplicas), "Lower limit of the number of replicas.")]
#[column("MaxPods", spec.maxReplicas)]
#[column("Replicas", status.currentReplicas)]
#[column("Age", age)]
#[default(spec.minReplicas = 1)]
#[default(
    spec.metrics = [{ r#type: Resource, resource: { name: Cpu, target: { r#type: Utilization, averageUtilization: 80 } } }]
)]
#[default(by_hand = default_horizontal_pod_autoscaler)]
#[normalize(by_hand = normalize_horizontal_pod_autoscaler)]
#[check(self, choose(any_api_version, was(not(holds(spec.metrics, below = version)))))]
#[check(spec, below, when(not(subresource = status)))]
#[check(status, below, when(subresource = status))]
pub struct HorizontalPodAutoscaler {
    /// Name, namespace, labels and annotations of the autoscaler.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Workload to scale, its replica bounds and the metrics to follow.
    #[field(2, required)]
    pub spec: HorizontalPodAutoscalerSpec,

    /// Latest metric readings, replica counts and conditions of the autoscaler.
    #[field(3)]
    pub status: HorizontalPodAutoscalerStatus,
}

/// Target to scale, with bounds and metrics.
#[check(minReplicas, min = 0, when(any(gate(HPAScaleToZero), was(minReplicas = 0))))]
#[check(minReplicas, min = 1, when(not(gate(HPAScaleToZero)), not(was(minReplicas = 0))))]
#[check(maxReplicas, missing = "must be set and greater than 0", when(maxReplicas = 0))]
#[check(maxReplicas, min(0, "must be greater than or equal to 1"))]
#[check(maxReplicas, at_least(minReplicas, "must be greater than or equal to `minReplicas`"))]
#[check(scaleTargetRef, below = target)]
#[check(metrics, below)]
#[check(
    metrics,
    refused = "must specify at least one Object or External metric to support scaling to zero replicas",
    when(minReplicas = 0, not(metrics.type = (Object, External)))
)]
#[check(behavior, below)]
pub struct HorizontalPodAutoscalerSpec {
    /// Workload to scale; it has to offer the `scale` subresource.
    #[field(1, required)]
    pub scale_target_ref: CrossVersionObjectReference,

    /// Lower replica bound; default 1, while 0 needs `HPAScaleToZero` and suitable metrics.
    #[field(2)]
    pub min_replicas: Option<i32>,

    /// Upper replica bound; may not be below `minReplicas`.
    #[field(3, required)]
    pub max_replicas: i32,

    /// Signals to follow; the one asking for most replicas wins, default 80% CPU.
    #[field(4, list = atomic)]
    pub metrics: Vec<MetricSpec>,

    /// Tuning of scaling speed and stabilization in each direction.
    #[field(5)]
    pub behavior: Option<HorizontalPodAutoscalerBehavior>,
}

/// Separate tuning for growing and for shrinking a workload.
#[check(scaleUp, below)]
#[check(scaleDown, below)]
pub struct HorizontalPodAutoscalerBehavior {
    /// Growth tuning; by default up to 4 pods or 100% per 15 seconds.
    #[field(1)]
    pub scale_up: Option<HPAScalingRules>,

    /// Shrink tuning; by default waits 300 seconds before dropping towards `minReplicas`.
    #[field(2)]
    pub scale_down: Option<HPAScalingRules>,
}

/// Tuning of autoscaler moves in one direction, up or down.
#[check(stabilizationWindowSeconds, min(0, "must be greater than or equal to zero"), max = 3600)]
#[check(selectPolicy, one_of(Disabled, Max, Min))]
#[check(policies, missing = "must specify at least one Policy", when(sent_empty(policies)))]
#[check(policies, filled = "must specify at least one Policy", below)]
#[check(tolerance, not_negative)]
pub struct HPAScalingRules {
    /// Look-back seconds to damp flapping, 0 to 3600; default 0 up, 300 down.
    #[field(3)]
    pub stabilization_window_seconds: Option<i32>,

    /// Which policy wins: `Max` (default), `Min`, or `Disabled` to block this direction.
    #[field(1)]
    pub select_policy: Option<ScalingPolicySelect>,

    /// Rate limits for this direction; built-in ones apply if left unset.
    #[field(2, list = atomic)]
    pub policies: Vec<HPAScalingPolicy>,

    /// Deviation from target ignored by the autoscaler; cluster default 0.1, meaning 10%.
    #[field(4, gate = HPAConfigurableTolerance)]
    pub tolerance: Option<Quantity>,
}

/// Which of several rate limits applies, or none at all.
#[open]
pub enum ScalingPolicySelect {
    Max,
    Min,
    Disabled,
}

/// Caps how much the replica count may change within a time window.
#[check(type, one_of(Percent, Pods))]
#[check(value, positive)]
#[check(periodSeconds, positive, max = 1800)]
pub struct HPAScalingPolicy {
    /// Whether `value` means a number of `Pods` or a `Percent` of replicas.
    #[field(1, required)]
    pub r#type: HPAScalingPolicyType,

    /// Largest change permitted per window; must be above 0.
    #[field(2, required)]
    pub value: i32,

    /// Length of the window in seconds, 1 to 1800.
    #[field(3, required)]
    pub period_seconds: i32,
}

/// Unit for rate limits: absolute pods or percent of replicas.
#[open]
pub enum HPAScalingPolicyType {
    Pods,
    Percent,
}

/// State last recorded by the autoscaling controller.
#[check(currentReplicas, not_negative)]
#[check(desiredReplicas, not_negative)]
pub struct HorizontalPodAutoscalerStatus {
    /// Autoscaler generation the controller most recently acted on.
    #[field(1)]
    pub observed_generation: Option<i64>,

    /// When the replica count was last altered by this autoscaler.
    #[field(2)]
    pub last_scale_time: Option<Time>,

    /// Replicas seen at the autoscaler's last look.
    #[field(3)]
    pub current_replicas: i32,

    /// Replicas the autoscaler last calculated as right.
    #[field(4, required)]
    pub desired_replicas: i32,

    /// Latest reading for each configured metric.
    #[field(5, always, list = atomic)]
    pub current_metrics: Vec<MetricStatus>,

    /// Conditions telling whether and why scaling works or is held back.
    #[field(6, list = map(type), patch = merge)]
    pub conditions: Vec<HorizontalPodAutoscalerCondition>,
}

/// One observed aspect of an autoscaler's ability to act.
#[versions(v2, v1)]
pub struct HorizontalPodAutoscalerCondition {
    /// Aspect reported: `AbleToScale`, `ScalingActive` or `ScalingLimited`, among others.
    #[field(1, required)]
    pub r#type: HorizontalPodAutoscalerConditionType,

    /// Whether the autoscaler condition holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the autoscaler condition last switched its status.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code such as `FailedGetResourceMetric` or `TooManyReplicas`.
    #[field(4)]
    pub reason: String,

    /// Readable detail on the autoscaler condition.
    #[field(5)]
    pub message: String,
}

/// Aspects reported in an autoscaler's conditions.
#[open]
pub enum HorizontalPodAutoscalerConditionType {
    ScalingActive,
    AbleToScale,
    ScalingLimited,
    ScaledToZero,
}

mod v1 {
    #[differs(HorizontalPodAutoscaler)]
    #[default(spec.minReplicas = 1)]
    #[normalize(none)]
    struct HorizontalPodAutoscaler {}

    #[convert(
        HorizontalPodAutoscaler,
        by_hand = v1_horizontal_pod_autoscaler,
        here(spec.targetCPUUtilizationPercentage, status.currentCPUUtilizationPercentage),
        hub(spec.metrics, spec.behavior, status.currentMetrics, status.conditions)
    )]
    struct MetricsInAnnotations;

    #[differs(HorizontalPodAutoscalerSpec)]
    struct HorizontalPodAutoscalerSpec {
        #[gone]
        metrics: (),
        #[gone]
        behavior: (),

        /// Wanted average CPU as percent of requests (v1 only).
        #[field(4)]
        target_cpu_utilization_percentage: Option<i32>,
    }

    #[differs(HorizontalPodAutoscalerStatus)]
    struct HorizontalPodAutoscalerStatus {
        /// Replicas seen at the autoscaler's last look.
        #[field(3, required)]
        current_replicas: i32,

        #[gone]
        current_metrics: (),
        #[gone]
        conditions: (),

        /// Latest average CPU as percent of requests (v1 only).
        #[field(5)]
        current_cpu_utilization_percentage: Option<i32>,
    }
}
