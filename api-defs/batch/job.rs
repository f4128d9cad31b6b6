use crate::core::{ConditionStatus, PodConditionType, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Runs pods until a given number of them finish successfully.
#[kind(
    plural = "jobs",
    category = "all",
    scope = Namespaced,
    gc = orphan,
    metadata = unchecked,
    orphan_warning = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    label_error = "field label {quoted} not supported for Job"
)]
#[versions(v1(introduced = "1.2"))]
#[subresource(status, resets(spec))]
#[column("Status", by_hand = job_status, reads(metadata.deletionTimestamp, status.conditions), "Whether the job runs, is suspended, complete, failed, or being deleted.")]
#[column("Completions", by_hand = job_completions, reads(spec.completions, spec.parallelism, status.succeeded), "Pods that have succeeded, of those wanted.")]
#[column("Duration", by_hand = job_duration, reads(status.startTime, status.completionTime), "How long the job has run, or took.")]
#[column("Age", age)]
#[column("Containers", join(spec.template.spec.containers.name), priority = 1)]
#[column("Images", join(spec.template.spec.containers.image), priority = 1)]
#[column("Selector", selector(spec.selector), priority = 1)]
#[selectable("status.successful", by_hand = job_successful_label, reads(status.succeeded))]
#[default(spec.completionMode = NonIndexed)]
#[default(spec.suspend = false)]
#[default(spec.manualSelector = false)]
#[default(by_hand = default_job)]
#[strategy(create = create_job, warnings = warn_job)]
#[condition(indexed, spec.completionMode = Indexed)]
#[condition(complete, some(status.conditions, type = Complete, status = True))]
#[condition(failed, some(status.conditions, type = Failed, status = True))]
#[condition(failing, some(status.conditions, type = FailureTarget, status = True))]
#[condition(succeeding, some(status.conditions, type = SuccessCriteriaMet, status = True))]
#[condition(suspended, some(status.conditions, type = Suspended, status = True))]
#[condition(finished, any(complete, failed))]
#[condition(idle, spec.suspend = true, any(unset(status.startTime), suspended), status.active = 0)]
#[condition(
    mutable_scheduling,
    any(
        all(gate(MutableSchedulingDirectivesForSuspendedJobs), was(idle)),
        all(
            not(gate(MutableSchedulingDirectivesForSuspendedJobs)),
            was(all(spec.suspend = true, unset(status.startTime)))
        )
    )
)]
#[condition(mutable_resources, gate(MutablePodResourcesForSuspendedJobs), was(idle))]
#[check(self, by_hand = validate_job_metadata, when(not(subresource = status)))]
#[check(self, by_hand = validate_generated_selector, when(not(subresource = status), not(spec.manualSelector = true)))]
#[check(spec, below, when(not(subresource = status)))]
#[check(spec, below = selector, when(not(subresource = status)))]
#[check(
    self,
    by_hand = validate_names_of_pods,
    when(not(subresource = status), indexed, above(spec.completions, 0))
)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
#[check(spec, below, when(update, not(subresource = status)))]
#[check(spec, below = selector, when(update, not(subresource = status)))]
#[check(spec.completions, immutable, when(not(indexed)))]
#[check(
    spec.completions,
    invalid = "can only be modified in tandem with spec.parallelism",
    when(
        update,
        indexed,
        set(spec.completions),
        changed(spec.completions),
        not(same(spec.completions, spec.parallelism))
    )
)]
#[check(spec.selector, immutable)]
#[check(spec.template, immutable, when(not(mutable_scheduling), not(mutable_resources)))]
#[check(
    spec.template,
    invalid = "field is immutable",
    when(
        mutable_scheduling,
        not(mutable_resources),
        differs(
            spec.template,
            metadata.labels,
            metadata.annotations,
            spec.affinity.nodeAffinity,
            spec.nodeSelector,
            spec.tolerations,
            spec.schedulingGates
        )
    )
)]
#[check(
    spec.template.spec,
    invalid = "field is immutable",
    when(
        mutable_resources,
        not(mutable_scheduling),
        differs(spec.template.spec, containers.resources, initContainers.resources)
    )
)]
#[check(
    spec.template.spec,
    invalid = "field is immutable",
    when(
        mutable_resources,
        mutable_scheduling,
        differs(
            spec.template.spec,
            containers.resources,
            initContainers.resources,
            affinity.nodeAffinity,
            nodeSelector,
            tolerations,
            schedulingGates
        )
    )
)]
#[check(spec.completionMode, immutable)]
#[check(spec.podFailurePolicy, immutable)]
#[check(spec.backoffLimitPerIndex, immutable)]
#[check(spec.managedBy, immutable)]
#[check(spec.successPolicy, immutable)]
#[check(status, below, when(subresource = status))]
#[check(
    status.conditions,
    invalid(omitted, "cannot set Complete=True and Failed=true conditions"),
    when(complete, failed, flips(complete, failed))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set Complete=True and FailureTarget=true conditions"),
    when(complete, failing, flips(complete, failing))
)]
#[check(
    status.completionTime,
    invalid = "cannot set completionTime when there is no Complete=True condition",
    when(set(status.completionTime), not(complete), any(flips(complete), changed(status.completionTime)))
)]
#[check(
    status.completionTime,
    missing = "completionTime is required for Complete jobs",
    when(unset(status.completionTime), complete, any(flips(complete), changed(status.completionTime)))
)]
#[check(
    status.completionTime,
    at_least(status.startTime, "must be equal to or after `startTime`"),
    when(any(changed(status.startTime), changed(status.completionTime)))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set Failed=True condition without the FailureTarget=true condition"),
    when(failed, not(failing), any(flips(failed), changed(status.failedIndexes)))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
    when(complete, not(succeeding), flips(complete, succeeding))
)]
#[check(
    status.active,
    invalid = "active>0 is invalid for finished job",
    when(finished, above(status.active, 0), any(flips(finished), changed(status.active)))
)]
#[check(
    status.startTime,
    missing = "startTime is required for finished job",
    when(
        finished,
        unset(status.startTime),
        any(flips(finished), changed(status.startTime)),
        not(all(spec.suspend = true, spec.completions = 0))
    )
)]
#[check(
    status.uncountedTerminatedPods,
    invalid = "must be empty for finished job",
    when(
        finished,
        not(none(status.uncountedTerminatedPods.failed, status.uncountedTerminatedPods.succeeded)),
        any(flips(finished), changed(status.uncountedTerminatedPods))
    )
)]
#[check(self, by_hand = validate_index_formats, when(subresource = status, set(spec.completions)))]
#[check(
    status.completedIndexes,
    invalid = "cannot set non-empty completedIndexes when non-indexed completion mode",
    when(set(status.completedIndexes), not(indexed), changed(status.completedIndexes))
)]
#[check(self, by_hand = validate_failed_indexes, when(subresource = status, set(status.failedIndexes)))]
#[check(
    status.terminating,
    invalid = "terminating>0 is invalid for finished job",
    when(finished, above(status.terminating, 0), any(flips(finished), changed(status.terminating)))
)]
#[check(
    status.ready,
    at_most(status.active, "cannot set more ready pods than active"),
    when(any(changed(status.ready), changed(status.active)))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
    when(subresource = status, succeeding, failed)
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
    when(subresource = status, succeeding, failing)
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"),
    when(subresource = status, set(spec.successPolicy), not(succeeding), complete)
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot disable the terminal Failed=True condition"),
    when(was(failed), not(failed))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot disable the terminal Complete=True condition"),
    when(was(complete), not(complete))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot disable the terminal FailureTarget=True condition"),
    when(was(failing), not(failing))
)]
#[check(status.failed, grows = "cannot decrease the failed counter")]
#[check(
    status.succeeded,
    grows = "cannot decrease the succeeded counter",
    when(not(all(indexed, same(spec.completions, spec.parallelism))))
)]
#[check(status.completionTime, immutable, when(set(status.completionTime), was(set(status.completionTime))))]
#[check(
    status.startTime,
    invalid = "field is immutable for unsuspended job once set",
    when(
        was(set(status.startTime)),
        changed(status.startTime),
        not(spec.suspend = true),
        not(all(was(suspended), some(status.conditions, type = Suspended, status = False)))
    )
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot disable the SuccessCriteriaMet=True condition"),
    when(was(succeeding), not(succeeding))
)]
#[check(
    status.conditions,
    invalid(omitted, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"),
    when(was(complete), not(was(succeeding)), succeeding)
)]
pub struct Job {
    /// Name, namespace, labels and annotations of the Job.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Pod template, parallelism, completions and retry rules of the Job.
    #[field(2)]
    pub spec: JobSpec,

    /// Progress, pod counts and conditions of the Job.
    #[field(3)]
    pub status: JobStatus,
}

/// How a Job's pods run, retry and finish.
#[condition(indexed, completionMode = Indexed)]
#[condition(excessive, indexed, above(completions, 100000), set(backoffLimitPerIndex))]
#[condition(unindexed, any(unset(completionMode), completionMode = NonIndexed))]
#[check(template, by_hand = choose_values_of_pods, when(update))]
#[check(
    self,
    choose = any_values_of_pods,
    when(was(not(holds(selector.matchExpressions, each(field(values, each(format = label_value)))))))
)]
#[check(self, open(container_names), when(set(podFailurePolicy)))]
#[check(template.spec.containers.name, note = container_names, when(set(podFailurePolicy)))]
#[check(template.spec.initContainers.name, note = container_names, when(set(podFailurePolicy)))]
#[check(self, choose = no_backoff_per_index, when(unset(backoffLimitPerIndex)))]
#[check(parallelism, not_negative)]
#[check(completions, not_negative)]
#[check(activeDeadlineSeconds, not_negative)]
#[check(backoffLimit, not_negative)]
#[check(ttlSecondsAfterFinished, not_negative)]
#[check(backoffLimitPerIndex, not_negative)]
#[check(maxFailedIndexes, not_negative)]
#[check(backoffLimitPerIndex, required = "when maxFailedIndexes is specified", when(set(maxFailedIndexes)))]
#[check(managedBy, format = domain_prefixed_path, max_bytes = 63)]
#[check(completionMode, one_of(NonIndexed, Indexed))]
#[check(completions, required = "when completion mode is Indexed", when(indexed))]
#[check(
    parallelism,
    max(100000, "must be less than or equal to 100000 when completion mode is Indexed"),
    when(indexed)
)]
#[check(
    maxFailedIndexes,
    at_most(completions, "must be less than or equal to completions"),
    when(indexed)
)]
#[check(maxFailedIndexes, max = 100000, when(indexed))]
#[check(
    maxFailedIndexes,
    required = "must be specified when completions is above 100000",
    when(excessive)
)]
#[check(
    parallelism,
    max(
        10000,
        "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
    ),
    when(excessive)
)]
#[check(
    maxFailedIndexes,
    max(
        10000,
        "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
    ),
    when(excessive)
)]
#[check(
    backoffLimitPerIndex,
    invalid = "requires indexed completion mode",
    when(set(backoffLimitPerIndex), unindexed)
)]
#[check(
    maxFailedIndexes,
    invalid = "requires indexed completion mode",
    when(set(maxFailedIndexes), unindexed)
)]
#[check(podFailurePolicy, below)]
#[check(
    successPolicy,
    invalid = "requires indexed completion mode",
    when(set(successPolicy), not(completionMode = Indexed))
)]
#[check(successPolicy, below, when(indexed))]
#[check(self, by_hand = validate_success_rules, when(set(successPolicy), completionMode = Indexed))]
#[check(podReplacementPolicy, one_of(Failed), when(set(podFailurePolicy)))]
#[check(podReplacementPolicy, one_of(Failed, TerminatingOrFailed), when(unset(podFailurePolicy)))]
#[check(template, by_hand = validate_template)]
#[check(
    template.spec.restartPolicy,
    missing = "valid values: \"OnFailure\", \"Never\"",
    when(template.spec.restartPolicy = ("", Always))
)]
#[check(
    template.spec.restartPolicy,
    one_of(OnFailure, Never),
    when(not(template.spec.restartPolicy = ("", Always)))
)]
#[check(
    template.spec.restartPolicy,
    invalid = "only \"Never\" is supported when podFailurePolicy is specified",
    when(set(podFailurePolicy), template.spec.restartPolicy = OnFailure)
)]
#[check(selector, required, when(part(selector)))]
#[check(selector, by_hand = validate_selector_of_pods, when(part(selector)))]
#[check(
    template.metadata.labels,
    selected(selector, "`selector` does not match template `labels`"),
    when(part(selector))
)]
pub struct JobSpec {
    /// Most pods running at once; default 1, and 0 pauses the Job.
    #[field(1)]
    pub parallelism: Option<i32>,

    /// Successful pods needed; unset means any one success finishes the Job.
    #[field(2)]
    pub completions: Option<i32>,

    /// Seconds the Job may run, retries included, before it is stopped and failed.
    #[field(3)]
    pub active_deadline_seconds: Option<i64>,

    /// Rules reacting to particular pod failures instead of plain retry counting.
    #[field(11)]
    pub pod_failure_policy: Option<PodFailurePolicy>,

    /// Lets an Indexed Job succeed early once chosen indexes are done.
    #[field(16)]
    pub success_policy: Option<SuccessPolicy>,

    /// Pod failures tolerated before the Job fails; default 6.
    #[field(7)]
    pub backoff_limit: Option<i32>,

    /// Failures tolerated for each index; Indexed Jobs with `restartPolicy: Never` only.
    #[field(12)]
    pub backoff_limit_per_index: Option<i32>,

    /// Failed indexes tolerated before the whole Job fails; requires `backoffLimitPerIndex`.
    #[field(13)]
    pub max_failed_indexes: Option<i32>,

    /// Pod label query, generated automatically; normally leave it unset.
    #[field(4)]
    pub selector: Option<LabelSelector>,

    /// True lets you supply your own pod selector; clashes are then your risk.
    #[field(5)]
    pub manual_selector: Option<bool>,

    /// Pod to run; `restartPolicy` must be `Never` or `OnFailure`.
    #[field(6, required)]
    pub template: PodTemplateSpec,

    /// Seconds until a finished Job is deleted; kept forever when unset.
    #[field(8)]
    pub ttl_seconds_after_finished: Option<i32>,

    /// Interchangeable pods (`NonIndexed`, default) or numbered ones (`Indexed`).
    #[field(9)]
    pub completion_mode: Option<CompletionMode>,

    /// Deletes active pods and creates none while true; false resumes the Job.
    #[field(10)]
    pub suspend: Option<bool>,

    /// Replace pods once `TerminatingOrFailed`, or only after they have fully `Failed`.
    #[field(14)]
    pub pod_replacement_policy: Option<PodReplacementPolicy>,

    /// Controller in charge of the Job; default `kubernetes.io/job-controller`, cannot be changed.
    #[field(15)]
    pub managed_by: Option<String>,
}

/// Decides how a Job reacts to different kinds of pod failure.
#[check(rules, max_items = 20, below)]
pub struct PodFailurePolicy {
    /// Ordered reactions, at most 20; the first match wins.
    #[field(1, required, list = atomic)]
    pub rules: Vec<PodFailurePolicyRule>,
}

/// One reaction to a pod failure; give exactly one kind of criterion.
#[check(
    action,
    invalid = "requires the backoffLimitPerIndex to be set",
    when(action = FailIndex, option(no_backoff_per_index))
)]
#[check(
    action,
    required = "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]",
    one_of(Count, FailIndex, FailJob, Ignore)
)]
#[check(onExitCodes, below)]
#[check(onPodConditions, max_items = 20, below)]
#[check(
    self,
    invalid(omitted, "specifying both OnExitCodes and OnPodConditions is not supported"),
    when(many(onExitCodes, onPodConditions))
)]
#[check(
    self,
    invalid(omitted, "specifying one of OnExitCodes and OnPodConditions is required"),
    when(none(onExitCodes, onPodConditions))
)]
pub struct PodFailurePolicyRule {
    /// Action on a match: `FailJob`, `FailIndex`, `Ignore` or `Count`.
    #[field(1, required)]
    pub action: PodFailurePolicyAction,

    /// Criterion based on container exit codes.
    #[field(2)]
    pub on_exit_codes: Option<PodFailurePolicyOnExitCodesRequirement>,

    /// Criterion based on pod conditions, at most 20 patterns; any one suffices.
    #[field(3, list = atomic)]
    pub on_pod_conditions: Vec<PodFailurePolicyOnPodConditionsPattern>,
}

/// Reactions available for matched pod failures.
pub enum PodFailurePolicyAction {
    FailJob,
    FailIndex,
    Ignore,
    Count,
}

/// Matches failed pods by container exit code.
#[check(operator, required = "valid values: [\"In\" \"NotIn\"]", one_of(In, NotIn))]
#[check(
    containerName,
    noted(container_names, "must be one of the container or initContainer names in the pod template"),
    when(set(containerName))
)]
#[check(values, invalid = "at least one value is required", when(unset(values)))]
#[check(values, max_items = 255)]
#[check(self, by_hand = validate_exit_codes)]
pub struct PodFailurePolicyOnExitCodesRequirement {
    /// Container to examine; unset means any container or init container.
    #[field(1)]
    pub container_name: Option<String>,

    /// Whether the code must be `In` or `NotIn` the listed values.
    #[field(2, required)]
    pub operator: PodFailurePolicyOnExitCodesOperator,

    /// Up to 255 distinct exit codes; 0 is forbidden with operator `In`.
    #[field(3, required, list = set)]
    pub values: Vec<i32>,
}

/// Whether an exit code must be inside or outside the list.
pub enum PodFailurePolicyOnExitCodesOperator {
    In,
    NotIn,
}

/// Matches failed pods by one of their conditions.
#[check(type, format = qualified_name)]
#[check(
    status,
    required = "valid values: [\"False\" \"True\" \"Unknown\"]",
    one_of(False, True, Unknown)
)]
pub struct PodFailurePolicyOnPodConditionsPattern {
    /// Pod condition to look for, such as `DisruptionTarget`.
    #[field(1, required)]
    pub r#type: PodConditionType,

    /// Value the pod condition must have; default `True`.
    #[field(2, always, default_hidden = True)]
    pub status: ConditionStatus,
}

/// Defines when an Indexed Job counts as successful before all indexes finish.
#[check(
    rules,
    filled = "at least one rules must be specified when the successPolicy is specified",
    max_items = 20
)]
pub struct SuccessPolicy {
    /// Alternatives tried in order, at most 20; meeting one is enough.
    #[field(1, required, list = atomic)]
    pub rules: Vec<SuccessPolicyRule>,
}

/// Success criterion by indexes, by count, or both together.
#[check(
    self,
    missing = "at least one of succeededCount or succeededIndexes must be specified",
    when(none(succeededCount, succeededIndexes))
)]
#[check(succeededIndexes, max_bytes = 65536)]
#[check(succeededCount, not_negative, when(part(count)))]
pub struct SuccessPolicyRule {
    /// Indexes that have to succeed, in compact form such as `0,2-4`.
    #[field(1)]
    pub succeeded_indexes: Option<String>,

    /// Number of indexes that have to succeed, within `succeededIndexes` if given.
    #[field(2)]
    pub succeeded_count: Option<i32>,
}

/// Whether a Job's pods are interchangeable or numbered.
pub enum CompletionMode {
    NonIndexed,
    Indexed,
}

/// When a Job may create a substitute for a departing pod.
pub enum PodReplacementPolicy {
    TerminatingOrFailed,
    Failed,
}

/// Progress reported by the Job controller.
#[check(active, not_negative)]
#[check(succeeded, not_negative)]
#[check(failed, not_negative)]
#[check(ready, not_negative)]
#[check(terminating, not_negative)]
#[check(uncountedTerminatedPods, below)]
pub struct JobStatus {
    /// Latest Job conditions, e.g. `Complete` or `Failed`.
    #[allow(L005)]
    #[field(1, list = atomic, patch = merge, key = type)]
    pub conditions: Vec<JobCondition>,

    /// When work began; reset after resuming from suspension.
    #[field(2)]
    pub start_time: Option<Time>,

    /// When the Job succeeded; never set for failed Jobs.
    #[field(3)]
    pub completion_time: Option<Time>,

    /// Pods pending or running that are not being deleted.
    #[field(4)]
    pub active: i32,

    /// Pods that ended in phase `Succeeded`.
    #[field(5)]
    pub succeeded: i32,

    /// Pods that ended in phase `Failed`.
    #[field(6)]
    pub failed: i32,

    /// Pods of the Job being deleted but not finished yet.
    #[field(11)]
    pub terminating: Option<i32>,

    /// Finished indexes of an Indexed Job in compact form, e.g. `1,3-5,7`.
    #[field(7)]
    pub completed_indexes: String,

    /// Indexes that ran out of retries, in compact form like `2,4-6`.
    #[field(10)]
    pub failed_indexes: Option<String>,

    /// Finished pods waiting to be added to the counters; internal bookkeeping.
    #[field(8)]
    pub uncounted_terminated_pods: Option<UncountedTerminatedPods>,

    /// Active pods of the Job that pass readiness.
    #[field(9)]
    pub ready: Option<i32>,
}

/// One observed aspect of a Job, such as completion or failure.
pub struct JobCondition {
    /// Aspect reported, e.g. `Complete`, `Failed` or `Suspended`.
    #[field(1, required)]
    pub r#type: JobConditionType,

    /// Whether the Job condition holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the Job condition was last looked at.
    #[field(3, always)]
    pub last_probe_time: Time,

    /// When the Job condition last switched its status.
    #[field(4, always)]
    pub last_transition_time: Time,

    /// CamelCase code such as `BackoffLimitExceeded` or `DeadlineExceeded`.
    #[field(5)]
    pub reason: String,

    /// Readable detail on the Job condition.
    #[field(6)]
    pub message: String,
}

/// Aspects reported in a Job's conditions.
#[open]
pub enum JobConditionType {
    Suspended,
    Complete,
    Failed,
    FailureTarget,
    SuccessCriteriaMet,
}

/// Finished pods that the Job's counters do not include yet.
#[check(self, by_hand = validate_uncounted_pods)]
pub struct UncountedTerminatedPods {
    /// UIDs of successful pods awaiting counting.
    #[field(1, list = set, go = "types.UID")]
    pub succeeded: Vec<String>,

    /// UIDs of failed pods awaiting counting.
    #[field(2, list = set, go = "types.UID")]
    pub failed: Vec<String>,
}

mod v1beta1 {
    use v1::JobSpec;
}
