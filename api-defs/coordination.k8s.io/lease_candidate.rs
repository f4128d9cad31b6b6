use crate::meta::ObjectMeta;

mod v1beta1 {
    /// Enters a component as a candidate in coordinated leader election.
    #[kind(plural = "leasecandidates", scope = Namespaced, create_on_update, unconditional_update = false, name = config_map_key)]
    #[versions(v1beta1(introduced = "1.33"), v1alpha2(introduced = "1.32"))]
    #[column("LeaseName", spec.leaseName)]
    #[column("BinaryVersion", spec.binaryVersion)]
    #[column("EmulationVersion", spec.emulationVersion)]
    #[column("Age", age)]
    #[check(spec, below)]
    struct LeaseCandidate {
        /// Name, namespace, labels and annotations of the candidate.
        #[field(1)]
        metadata: ObjectMeta,

        /// Lease being sought and the candidate's versions.
        #[field(2, required)]
        spec: LeaseCandidateSpec,
    }

    /// Lease that a candidate contests, and versions of the candidate.
    #[check(leaseName, filled)]
    #[check(emulationVersion, optional, format = semantic_version_of_numbers)]
    #[check(binaryVersion, required, format = semantic_version_of_numbers)]
    #[check(self, by_hand = validate_versions)]
    #[check(strategy, required, at("strategy.strategy", format = lease_strategy))]
    #[check(leaseName, immutable)]
    struct LeaseCandidateSpec {
        /// Lease being contested, in the same namespace; cannot be changed.
        #[field(1, required)]
        lease_name: String,

        /// When the coordinator last pinged the candidate.
        #[field(2)]
        ping_time: Option<MicroTime>,

        /// When the candidate last renewed its candidacy.
        #[field(3)]
        renew_time: Option<MicroTime>,

        /// Semantic version of the candidate's binary, without leading `v`.
        #[field(4, required)]
        binary_version: String,

        /// Semantic version the candidate behaves as; never above its binary version.
        #[field(5)]
        emulation_version: String,

        /// Leader picking method the candidate wants used.
        #[field(6, required, omitempty)]
        strategy: CoordinatedLeaseStrategy,
    }
}
