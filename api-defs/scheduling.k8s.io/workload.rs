use crate::meta::ObjectMeta;

mod v1alpha2 {
    /// Scheduling blueprint of an application, made of one or more pod group patterns.
    #[kind(plural = "workloads", scope = Namespaced, gate = GenericWorkload)]
    #[versions(v1alpha2)]
    #[column("Age", age)]
    struct Workload {
        /// Name, namespace and labels of this blueprint.
        #[field(1)]
        metadata: ObjectMeta,

        /// Pod group patterns and the controlling object.
        #[field(2, required)]
        spec: WorkloadSpec,
    }

    /// Declares the pod groups composing an application.
    struct WorkloadSpec {
        /// Object driving the application, like a Job; informational for tools.
        #[field(1, immutable, dv("k8s:optional"))]
        controller_ref: Option<TypedLocalObjectReference>,

        /// Pod group patterns, one to eight of them.
        #[field(2, required, list = map(name), unique, max_items = 8, immutable, dv("k8s:required"))]
        pod_group_templates: Vec<PodGroupTemplate>,
    }

    /// Reference by group, kind and name inside the same namespace.
    struct TypedLocalObjectReference {
        /// API group of the referenced type; leave empty for core.
        #[field(1, format = dns1123_subdomain, dv("k8s:optional"))]
        api_group: String,

        /// Referenced type, for instance `Job`.
        #[field(2, required, format = path_segment_name, dv("k8s:required"))]
        kind: String,

        /// Name of the referenced object, in the same namespace.
        #[field(3, required, format = path_segment_name, dv("k8s:required"))]
        name: String,
    }

    /// Named pattern within a Workload for creating pod groups.
    struct PodGroupTemplate {
        /// DNS label unique within the Workload; groups refer to it.
        #[field(1, required, format = dns1123_label, dv("k8s:required"))]
        name: String,

        /// Mode, basic or gang, given to groups made from this pattern.
        #[field(2, required)]
        scheduling_policy: PodGroupSchedulingPolicy,

        /// Placement limits copied into resulting groups.
        #[field(
            3,
            always,
            dv(
                "k8s:ifDisabled(TopologyAwareWorkloadScheduling)=+k8s:forbidden",
                "k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:optional"
            ),
            gate = TopologyAwareWorkloadScheduling
        )]
        scheduling_constraints: Option<PodGroupSchedulingConstraints>,

        /// Shared device claims copied into resulting groups.
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

        /// Preemption granularity copied into resulting groups.
        #[field(
            5,
            dv(
                "k8s:ifDisabled(\"WorkloadAwarePreemption\")=+k8s:forbidden",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:optional"
            ),
            gate = WorkloadAwarePreemption
        )]
        disruption_mode: Option<DisruptionMode>,

        /// PriorityClass assigned to resulting groups.
        #[field(
            6,
            dv(
                "k8s:ifDisabled(\"WorkloadAwarePreemption\")=+k8s:forbidden",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:optional",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:format=k8s-long-name"
            ),
            gate = WorkloadAwarePreemption
        )]
        priority_class_name: String,

        /// Numeric priority for resulting groups, normally filled from the class.
        #[field(
            7,
            dv(
                "k8s:ifDisabled(\"WorkloadAwarePreemption\")=+k8s:forbidden",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:optional",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:maximum=1000000000",
                "k8s:ifEnabled(\"WorkloadAwarePreemption\")=+k8s:minimum=-2147483648"
            ),
            gate = WorkloadAwarePreemption
        )]
        priority: Option<i32>,
    }
}
