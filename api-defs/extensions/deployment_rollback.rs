/// Request body of the removed `rollback` subresource, asking a Deployment to revert.
#[kind]
#[versions(v1beta1(introduced = "1.2", deprecated = "1.8", removed = "1.16"))]
pub struct DeploymentRollback {
    /// Deployment to be reverted; must equal the name in the request path.
    #[field(1, required)]
    pub name: String,

    /// Annotations written onto the Deployment as part of the revert.
    #[field(2)]
    pub updated_annotations: Map<String, String>,

    /// Target revision for the revert.
    #[field(3, required)]
    pub rollback_to: RollbackConfig,
}

/// Identifies which Deployment revision to go back to.
#[deprecated]
pub struct RollbackConfig {
    /// Revision number to restore; 0 selects the previous one.
    #[field(1)]
    pub revision: i64,
}
