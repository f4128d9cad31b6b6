//! The node port allocation that all servers of a cluster share, in upstream's key and format
//! (`allocator/storage.Etcd`): a `RangeAllocation` that each allocation replaces by
//! compare-and-swap.

use std::sync::Arc;

use generated::core::v1::RangeAllocation;
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use options::PortRange;
use storage::{KeyValue, Revision, Store, Txn, TxnOutcome};

use super::bitmap::Bitmap;

/// The key below the storage prefix.
pub const NODE_PORTS_KEY: &str = "ranges/servicenodeports";
/// The encoded empty field `data`: upstream writes it even if no port is allocated.
const NO_PORTS: [u8; 2] = [0x1a, 0];
/// Maximum number of attempts after conflicts with other servers.
const ATTEMPTS: u32 = 1000;

/// The stored allocation.
pub struct StoredAllocation {
    store: Arc<dyn Store>,
    key: String,
    range: PortRange,
    as_json: bool,
    /// The last snapshot read or written. The lock serializes this server's changes, so that they
    /// do not conflict.
    last: tokio::sync::Mutex<Option<AllocationSnapshot>>,
}

/// The allocation at a revision.
#[derive(Clone, Debug)]
pub struct AllocationSnapshot {
    pub ports: Bitmap,
    /// The revision of the last write; 0 when nothing is stored.
    pub revision: Revision,
    /// Whether the allocation has this server's range. Another range must be replaced first.
    pub is_of_range: bool,
}

/// Why the allocation was not changed.
pub enum Unchanged<E> {
    /// The caller's function rejected the current allocation.
    Refused(E),
    /// The store failed. The change may or may not be stored.
    Failed(Status),
}

impl StoredAllocation {
    /// Creates the accessor. `prefix` is the storage prefix, such as `/registry`.
    pub fn new(store: Arc<dyn Store>, prefix: &str, range: PortRange, as_json: bool) -> Self {
        let key = format!("{prefix}/{NODE_PORTS_KEY}");
        StoredAllocation { store, key, range, as_json, last: tokio::sync::Mutex::default() }
    }

    /// Reads the current allocation. Of another range, only ports inside this range are included.
    ///
    /// # Errors
    /// When the store fails; 500 for an invalid value.
    pub async fn read(&self) -> Result<AllocationSnapshot, Status> {
        let found = self.store.get(self.key.as_bytes(), None).await.map_err(Status::internal)?;
        self.snapshot(found.kv)
    }

    /// Replaces the allocation. Returns false if it was written after the snapshot.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn replace(&self, snapshot: &AllocationSnapshot, ports: &Bitmap) -> Result<bool, Status> {
        let mut last = self.last.lock().await;
        *last = None;
        match self.commit(snapshot.revision, ports).await? {
            TxnOutcome::Committed { revision, .. } => {
                *last = Some(AllocationSnapshot { ports: ports.clone(), revision, is_of_range: true });
                Ok(true)
            }
            TxnOutcome::Conflict { .. } => Ok(false),
        }
    }

    /// Changes the allocation. `change` is called again after conflicts. A change without effect is
    /// not written.
    ///
    /// # Errors
    /// See [`Unchanged`]. Upstream's messages when nothing is stored or the stored range differs.
    pub async fn change<T, E>(&self, mut change: impl FnMut(&mut Bitmap) -> Result<T, E>) -> Result<T, Unchanged<E>> {
        let mut last = self.last.lock().await;
        // The cached snapshot may be stale: a rejection counts only for a snapshot that was just
        // read.
        let mut is_fresh = false;
        for _ in 0..ATTEMPTS {
            let known = match last.take() {
                Some(known) => known,
                None => {
                    is_fresh = true;
                    self.present().await.map_err(Unchanged::Failed)?
                }
            };
            let mut ports = known.ports.clone();
            let changed = match change(&mut ports) {
                Ok(changed) => changed,
                Err(refusal) if is_fresh => {
                    *last = Some(known);
                    return Err(Unchanged::Refused(refusal));
                }
                Err(_) => continue,
            };
            if ports == known.ports {
                if is_fresh {
                    *last = Some(known);
                    return Ok(changed);
                }
                continue;
            }
            match self.commit(known.revision, &ports).await.map_err(Unchanged::Failed)? {
                TxnOutcome::Committed { revision, .. } => {
                    *last = Some(AllocationSnapshot { ports, revision, is_of_range: true });
                    return Ok(changed);
                }
                TxnOutcome::Conflict { current, .. } => {
                    *last = Some(self.usable(current).map_err(Unchanged::Failed)?);
                    is_fresh = true;
                }
            }
        }
        Err(Unchanged::Failed(Status::internal("the allocation of node ports changes too fast")))
    }

    async fn present(&self) -> Result<AllocationSnapshot, Status> {
        let found = self.store.get(self.key.as_bytes(), None).await.map_err(Status::internal)?;
        self.usable(found.kv)
    }

    /// Returns a stored allocation if it is usable for allocations.
    fn usable(&self, stored: Option<KeyValue>) -> Result<AllocationSnapshot, Status> {
        let snapshot = self.snapshot(stored)?;
        match snapshot {
            AllocationSnapshot { revision: 0, .. } => {
                Err(Status::internal("cannot allocate resources of type servicenodeportallocations at this time"))
            }
            AllocationSnapshot { is_of_range: false, .. } => {
                Err(Status::internal("the provided range does not match the current range"))
            }
            usable => Ok(usable),
        }
    }

    fn snapshot(&self, stored: Option<KeyValue>) -> Result<AllocationSnapshot, Status> {
        let mut snapshot = AllocationSnapshot { ports: Bitmap::new(self.range), revision: 0, is_of_range: true };
        let Some(kv) = stored else { return Ok(snapshot) };
        if let Some(why) = kv.damage {
            return Err(Status::internal(why));
        }
        let stored = decode(&kv.value)?;
        snapshot.revision = kv.mod_revision;
        snapshot.is_of_range = stored.range == self.range.to_string();
        if snapshot.is_of_range {
            snapshot.ports = Bitmap::read(self.range, &stored.data);
        } else if let Ok(other) = stored.range.parse::<PortRange>() {
            for port in Bitmap::read(other, &stored.data).iter() {
                snapshot.ports.insert(port);
            }
        }
        Ok(snapshot)
    }

    async fn commit(&self, revision: Revision, ports: &Bitmap) -> Result<TxnOutcome, Status> {
        let value = encode(self.range, ports, self.as_json);
        self.store.commit(Txn::put(self.key.clone(), value).when(revision)).await.map_err(Status::internal)
    }
}

/// Encodes the allocation as upstream does. Upstream's repair rewrites any other bytes.
fn encode(range: PortRange, ports: &Bitmap, as_json: bool) -> Vec<u8> {
    let allocation =
        RangeAllocation { range: range.to_string(), data: ports.write().into(), ..RangeAllocation::default() };
    let (version, kind, mut value) = ("v1", "RangeAllocation", Vec::new());
    if as_json {
        json::encode_object(version, kind, Ref::of(&allocation), &mut value);
        return value;
    }
    let mut message = Vec::new();
    protobuf::encode(Ref::of(&allocation), &mut message);
    if allocation.data.is_empty() {
        message.extend(NO_PORTS);
    }
    envelope::encode_raw(version, kind, &message, &mut value);
    value
}

/// Decodes a stored allocation: protobuf, or JSON of a server with
/// `--storage-media-type=application/json`.
fn decode(stored: &[u8]) -> Result<RangeAllocation, Status> {
    let mut value = Owned::new(RangeAllocation::def());
    if envelope::is_envelope(stored) {
        let message = envelope::split(stored).map_err(Status::internal)?.raw;
        protobuf::decode(message, value.as_mut()).map_err(Status::internal)?;
    } else {
        json::decode(stored, value.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?;
    }
    value.into_inner().map_err(|_| Status::internal("an allocation of ports is no RangeAllocation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_allocations_as_upstream() {
        let range: PortRange = "30000-30127".parse().unwrap();
        let head = b"k8s\0\n\x15\n\x02v1\x12\x0fRangeAllocation\x12";
        let message = b"\n\x10\n\0\x12\0\x1a\0\"\0*\x002\x008\0B\0\x12\x0b30000-30127\x1a";
        let mut ports = Bitmap::new(range);
        let none = [&head[..], b"!", message, b"\0", b"\x1a\0\"\0"].concat();
        assert_eq!(encode(range, &ports, false), none);
        ports.insert(30050);
        let one = [&head[..], b"(", message, b"\x07\x04\0\0\0\0\0\0", b"\x1a\0\"\0"].concat();
        assert_eq!(encode(range, &ports, false), one);
    }
}
