//! Versions that clients read.

/// The version of etcd whose API is served. Clients derive from it what they may use.
pub(crate) const VERSION: &str = "3.6.6";
/// The versions of the cluster and of the storage that an etcd of this version reports.
pub(crate) const CLUSTER_VERSION: &str = "3.6.0";
