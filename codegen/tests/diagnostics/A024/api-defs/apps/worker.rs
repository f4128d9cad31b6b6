use crate::meta::ObjectMeta;

/// What works.
#[kind(plural = "workers", scope = Namespaced)]
#[versions(v1)]
#[check(place, format = dns1123_lable)]
#[check(place, each(name = path_segmnt))]
pub struct Worker {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Where it works.
    #[field(2)]
    pub place: String,
}
