use crate::meta::ObjectMeta;

/// What works.
#[kind(plural = "workers", scope = Namespaced)]
#[versions(v1)]
#[check(units, requierd)]
#[check(units, positive, when(updaet))]
pub struct Worker {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// How many work.
    #[field(2)]
    pub units: i32,
}
