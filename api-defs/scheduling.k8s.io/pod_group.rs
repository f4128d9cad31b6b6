use crate::meta::{Condition, ObjectMeta};

mod v1alpha2 {
    /// Set of pods that the scheduler treats as one unit.
    #[kind(plural = "podgroups", scope = Namespaced, generation = false, gate = GenericWorkload)]
    #[versions(v1alpha2)]
    #[subresource(status)]
    #[column("Policy", by_hand = pod_group_policy, reads(spec.schedulingPolicy), "How the pods of the group are scheduled.")]
    #[column("Workload", spec.podGroupTemplateRef.workload.workloadName or "<none>")]
    #[column("Status", by_hand = pod_group_status, reads(status.conditions), "How far the group has been scheduled.")]
    #[column("Age", age)]
    #[check(status.conditions, below, when(subresource = status))]
    #[check(self, open(spec_claims), when(subresource = status))]
    #[check(spec.resourceClaims.name, note = spec_claims, when(subresource = status))]
    #[check(
        status.resourceClaimStatuses,
        each(field(name, noted(spec_claims, "must match the name of an entry in `spec.resourceClaims`"))),
        when(subresource = status)
    )]
    struct PodGroup {
        /// Name, namespace and labels; member pods live alongside.
        #[field(1)]
        metadata: ObjectMeta,

        /// Scheduling policy, constraints and priority of the group.
        #[field(2, required)]
        spec: PodGroupSpec,

        /// Scheduling outcome and generated claims of the group.
        #[field(3)]
        status: PodGroupStatus,
    }

    /// Desired scheduling behaviour of a pod group.
    struct PodGroupSpec {
        /// Workload template this group was created from, if any.
        #[field(1, always, immutable, dv("k8s:optional"))]
        pod_group_template_ref: Option<PodGroupTemplateReference>,

        /// Basic or gang mode for member pods; immutable.
        #[field(2, required, immutable)]
        scheduling_policy: PodGroupSchedulingPolicy,

        /// Placement limits for the group, topology being one example.
        #[field(
            3,
            dv(
                "k8s:ifDisabled(TopologyAwareWorkloadScheduling)=+k8s:forbidden",
                "k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:optional",
                "k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:immutable"
            ),
            gate = TopologyAwareWorkloadScheduling
        )]
        scheduling_constraints: Option<PodGroupSchedulingConstraints>,

        /// Device claims the members have in common.
        #[field(
            4,
            list = map(name),
            unique,
            patch = merge_retain_keys,
            max_items = 4,
            immutable,
            dv("k8s:optional"),
            gate = DRAWorkloadResourceClaims
        )]
        resource_claims: Vec<PodGroupResourceClaim>,

        /// Whether preemption may hit single members or just the entire group; `Pod` by default.
        #[field(
            5,
            default = Pod,
            dv(
                "k8s:ifDisabled(\"WorkloadAwarePreemption\")=+k8s:forbidden",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:optional",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:immutable"
            ),
            gate = WorkloadAwarePreemption
        )]
        disruption_mode: Option<DisruptionMode>,

        /// PriorityClass governing the group; the global default applies when empty.
        #[field(
            6,
            dv(
                "k8s:ifDisabled(\"WorkloadAwarePreemption\")=+k8s:forbidden",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:optional",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:format=k8s-long-name",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:immutable"
            ),
            gate = WorkloadAwarePreemption
        )]
        priority_class_name: String,

        /// Numeric priority resolved from the class by admission; higher goes first.
        #[field(
            7,
            dv(
                "k8s:ifDisabled(\"WorkloadAwarePreemption\")=+k8s:forbidden",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:optional",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:immutable",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:maximum=1000000000",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:minimum=-2147483648"
            ),
            gate = WorkloadAwarePreemption
        )]
        priority: Option<i32>,
    }

    /// Identifies the template that a pod group originates from.
    #[union(members(workload))]
    struct PodGroupTemplateReference {
        /// Template inside a Workload object, the only source currently supported.
        #[field(1, always, dv("k8s:optional", "k8s:unionMember"))]
        workload: Option<WorkloadPodGroupTemplateReference>,
    }

    /// Pinpoints a pod group pattern within a Workload.
    struct WorkloadPodGroupTemplateReference {
        /// Workload containing the pattern, in the same namespace.
        #[field(1, required, format = dns1123_subdomain, dv("k8s:required"))]
        workload_name: String,

        /// Pattern to look up in that Workload.
        #[field(2, required, format = dns1123_label, dv("k8s:required"))]
        pod_group_template_name: String,
    }

    /// Scheduling mode of a group; choose exactly one variant.
    #[union(members(basic, gang))]
    struct PodGroupSchedulingPolicy {
        /// Schedules member pods individually, like any other pods.
        #[field(1, dv("k8s:optional", "k8s:unionMember"))]
        basic: Option<BasicSchedulingPolicy>,

        /// Holds member pods back until enough can start together.
        #[field(2, dv("k8s:optional", "k8s:unionMember"))]
        gang: Option<GangSchedulingPolicy>,
    }

    /// Ordinary pod-by-pod scheduling, with no gang guarantee.
    struct BasicSchedulingPolicy {}

    /// All-or-nothing scheduling settings for a pod group.
    struct GangSchedulingPolicy {
        /// Pods that must fit together before any of them starts; at least 1.
        #[field(1, required, min = 1, dv("k8s:required"))]
        min_count: i32,
    }

    /// Placement restrictions applying to the group as a whole.
    struct PodGroupSchedulingConstraints {
        /// Domains that the group's pods must share, such as one rack.
        #[field(1, list = atomic, max_items = 1, dv("k8s:optional"))]
        topology: Vec<TopologyConstraint>,
    }

    /// Demands that all pods of a group land in one topology domain.
    struct TopologyConstraint {
        /// Node label defining the domain, like `topology.kubernetes.io/rack`.
        #[field(1, required, format = label_key, dv("k8s:required"))]
        key: String,
    }

    /// ResourceClaim shared by all pods of a group.
    #[union(members(resourceClaimName, resourceClaimTemplateName))]
    struct PodGroupResourceClaim {
        /// Label by which the group's pods refer to this claim.
        #[field(1, required, format = dns1123_label, dv("k8s:required"))]
        name: String,

        /// Existing claim to use; exclusive with the template field.
        #[field(2, format = dns1123_subdomain, dv("k8s:optional", "k8s:unionMember"))]
        resource_claim_name: Option<String>,

        /// Template from which one claim is generated for the whole group.
        #[field(3, format = dns1123_subdomain, dv("k8s:optional", "k8s:unionMember"))]
        resource_claim_template_name: Option<String>,
    }

    /// Unit of preemption: individual member pods or the complete group.
    enum DisruptionMode {
        Pod,
        PodGroup,
    }

    /// Observed scheduling state of a pod group.
    struct PodGroupStatus {
        /// Scheduling observations, for instance that the gang could not be placed.
        #[field(1, list = map(type), patch = merge)]
        conditions: Vec<Condition>,

        /// Generated claims, one entry for each templated claim.
        #[field(
            2,
            list = map(name),
            unique,
            patch = merge_retain_keys,
            max_items = 4,
            dv("k8s:optional"),
            gate = DRAWorkloadResourceClaims
        )]
        resource_claim_statuses: Vec<PodGroupResourceClaimStatus>,
    }

    /// Links a group's claim entry to its generated ResourceClaim.
    struct PodGroupResourceClaimStatus {
        /// Entry in the group's `resourceClaims` being reported.
        #[field(1, required)]
        name: String,

        /// Generated claim's name; unset if no claim was required.
        #[field(2, format = dns1123_subdomain, dv("k8s:optional"))]
        resource_claim_name: Option<String>,
    }
}
