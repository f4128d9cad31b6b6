//! Bushes and mosses, which use the words about resources that trees do not use.

use crate::meta::ObjectMeta;

/// A bush, which nothing changes.
#[kind(
    plural = "bushes",
    scope = Cluster,
    verbs(get, list, create, delete, watch),
    gc = orphan,
    orphan_warning = "the leaves of the bush stay",
    delete_returns_object,
    watch_cache = false
)]
#[versions(v1, v1beta1(off))]
pub struct Bush {
    #[field(1)]
    pub metadata: ObjectMeta,
}

/// A moss, which grows where it is written.
#[kind(
    plural = "mosses",
    scope = Cluster,
    create_on_update,
    unconditional_update = false,
    graceful,
    generation,
    metadata = whole
)]
#[versions(v1, v1beta1(unserved))]
#[strategy(grace = grace_of_moss)]
pub struct Moss {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// How many square metres it covers.
    #[field(2)]
    pub area: i32,
}

/// A seed, which cannot be listed.
#[kind(plural = "seeds", scope = Cluster, list = false, verbs(get, create, delete))]
#[versions(v1)]
pub struct Seed {
    #[field(1)]
    pub metadata: ObjectMeta,
}
