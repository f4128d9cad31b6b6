use crate::meta::ObjectMeta;

mod v1 {
    /// Replica count view of a workload, used by `kubectl scale` and autoscalers.
    #[kind]
    #[versions(v1(introduced = "1.2"))]
    #[column("Name", metadata.name)]
    #[column("Desired", integer, spec.replicas)]
    #[column("Available", integer, status.replicas)]
    #[column("Age", age)]
    struct Scale {
        /// Name and namespace of the workload being scaled.
        #[field(1)]
        metadata: ObjectMeta,

        /// Wanted number of replicas for the workload.
        #[field(2)]
        spec: ScaleSpec,

        /// Observed replicas and their selector.
        #[field(3)]
        status: ScaleStatus,
    }

    /// The wanted size of a workload.
    struct ScaleSpec {
        /// Pods the workload should run; zero or more.
        #[field(1, default = 0)]
        replicas: i32,
    }

    /// The observed size of a workload.
    struct ScaleStatus {
        /// Pods the workload was last seen to have.
        #[field(1, required)]
        replicas: i32,

        /// Serialized label query for the pods, in URL query syntax.
        #[field(2)]
        selector: String,
    }
}
