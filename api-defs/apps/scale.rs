use crate::meta::ObjectMeta;

mod v1beta2 {
    /// Replica count view of a workload, from the retired `apps` beta versions.
    #[kind]
    #[versions(
        v1beta2(introduced = "1.8", deprecated = "1.9", removed = "1.16", replacement = "autoscaling/v1 Scale"),
        v1beta1(introduced = "1.6", deprecated = "1.8", removed = "1.16", replacement = "autoscaling/v1 Scale")
    )]
    struct Scale {
        /// Name and namespace of the workload whose beta scale is shown.
        #[field(1)]
        metadata: ObjectMeta,

        /// Wanted size of the workload.
        #[field(2)]
        spec: ScaleSpec,

        /// Current size of the workload along with its selector.
        #[field(3)]
        status: ScaleStatus,
    }

    /// The wanted size in a beta scale request.
    struct ScaleSpec {
        /// Pods the workload should have after scaling.
        #[field(1, default = 0)]
        replicas: i32,
    }

    /// The observed size in a beta scale response.
    struct ScaleStatus {
        /// Pods actually observed for the workload.
        #[field(1, required)]
        replicas: i32,

        /// Equality labels matching the workload's pods.
        #[field(2, map = atomic)]
        selector: Map<String, String>,

        /// Same selector as a string, for selectors a plain map cannot express.
        #[field(3)]
        target_selector: String,
    }
}

mod v1beta1 {
    #[differs(ScaleStatus)]
    struct ScaleStatus {
        /// Equality labels matching the workload's pods.
        #[field(2)]
        selector: Map<String, String>,
    }
}
