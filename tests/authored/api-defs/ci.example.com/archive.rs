//! Archives.

use crate::meta::ObjectMeta;

/// Storage location of build results.
#[kind(plural = "archives", scope = Cluster, gate = PipelineArchives)]
#[versions(v1)]
pub struct Archive {
    #[field(1)]
    pub metadata: ObjectMeta,
}
