//! The sizes of collections.

/// The size of a resource's collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListSize {
    pub objects: u64,
    pub bytes: u64,
}

/// A source of collection sizes.
pub trait ListSizes: Send + Sync {
    /// The size of a resource's collection, or `None` when it is not cached.
    fn of(&self, group: &str, resource: &str) -> Option<ListSize>;
}
