//! Archives.

use crate::meta::ObjectMeta;

/// Where what was built is kept.
#[kind(plural = "archives", scope = Cluster, gate = PipelineArchives)]
#[versions(v1)]
pub struct Archive {
    #[field(1)]
    pub metadata: ObjectMeta,
}
