//! A key with its value, and revisions.

use bytes::Bytes;

/// A revision of the whole store. Each committed write increments it. An empty store is at revision 1.
pub type Revision = u64;

/// The number of a lease. 0 stands for no lease.
pub type LeaseId = i64;

/// A key with its value and history (mvccpb's `KeyValue`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: Bytes,
    /// The value, in an allocation of its own, so that it retains no other memory.
    pub value: Bytes,
    /// The revision of the write that created the key.
    pub create_revision: Revision,
    /// The revision of the last write.
    pub mod_revision: Revision,
    /// The number of writes since the key was created; 1 after the creation.
    pub version: u64,
    /// The lease that the key is attached to; 0 for none. Only the embedded store reports it.
    pub lease: LeaseId,
    /// Whether the value should be rewritten unchanged.
    ///
    /// It is not encrypted with the current key, or not at all (`value.Read.TransformFromStorage`).
    pub stale: bool,
    /// Why the value cannot be decrypted; it is in stored form then.
    pub damage: Option<Box<str>>,
}
