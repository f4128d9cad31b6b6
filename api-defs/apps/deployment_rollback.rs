mod v1beta1 {
    /// Obsolete request that sends a Deployment back to an earlier revision.
    #[kind]
    #[versions(v1beta1(
        introduced = "1.6",
        deprecated = "1.8",
        removed = "1.16",
        replacement = "apps/v1 DeploymentRollback"
    ))]
    struct DeploymentRollback {
        /// Name of the Deployment to roll back.
        #[field(1, required)]
        name: String,

        /// Annotations to put on the Deployment along with the rollback.
        #[field(2)]
        updated_annotations: Map<String, String>,

        /// Target revision settings of the rollback.
        #[field(3, required)]
        rollback_to: RollbackConfig,
    }

    /// Chooses the revision for an obsolete Deployment rollback.
    #[deprecated]
    struct RollbackConfig {
        /// Revision number to restore; 0 means the previous one.
        #[field(1)]
        revision: i64,
    }
}
