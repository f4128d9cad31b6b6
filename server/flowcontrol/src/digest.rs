//! What flow control looks at in a request.

/// A request: who asks, and for what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digest<'a> {
    pub user: &'a str,
    pub groups: &'a [String],
    /// The Kubernetes verb or, outside of resources, the method in lower case.
    pub verb: &'a str,
    pub path: &'a str,
    pub is_resource_request: bool,
    pub group: &'a str,
    pub version: &'a str,
    pub namespace: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    pub name: &'a str,
}

/// A request that is kept while it waits or runs, so that the debug documents can show it.
pub trait Asked: Send + Sync {
    fn digest(&self) -> Digest<'_>;
}
