use crate::meta::ObjectMeta;

/// What works.
#[kind(plural = "workers", scope = Namespaced)]
#[versions(v1)]
#[check(unit, positive)]
#[check(units, positive, when(set(nmae)))]
pub struct Worker {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// How many work.
    #[field(2)]
    pub units: i32,
}
