//! The attributes of a request that flow control uses.

/// The user and the request attributes (upstream: `RequestDigest`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Digest<'a> {
    pub user: &'a str,
    pub groups: &'a [String],
    /// The Kubernetes verb or, for non-resource requests, the method in lower case.
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

/// A request that is kept while it waits or runs, for the debug documents.
pub trait RequestDetails: Send + Sync {
    fn digest(&self) -> Digest<'_>;
}
