//! The node ports that all servers of a cluster have allocated, in upstream's key and format
//! (`allocator/storage.Etcd`): a `RangeAllocation` that each allocation replaces by compare-and-swap.

use std::sync::Arc;

use generated::core::v1::RangeAllocation;
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use serving::options::PortRange;
use storage::{KeyValue, Revision, Store, Txn, TxnOutcome};

use super::bitmap::Bitmap;

/// What follows the prefix of all keys.
const KEY: &str = "ranges/servicenodeports";
/// The last field of the message when no port is allocated: upstream writes bytes that are empty, but there.
const NO_PORTS: [u8; 2] = [0x1a, 0];
/// How often a change is tried again because another server has written in between.
const ATTEMPTS: u32 = 1000;

/// The stored allocation.
pub struct Shared {
    store: Arc<dyn Store>,
    key: String,
    range: PortRange,
    as_json: bool,
    /// What was read or written last. Changes of this server wait for each other, so that they do not meet at the store.
    last: tokio::sync::Mutex<Option<Snapshot>>,
}

/// The allocation at a revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub ports: Bitmap,
    /// Of the last write; 0 when nothing is stored.
    pub revision: Revision,
    /// Whether the allocation is of this server's range; one of another range has to be replaced first.
    pub is_of_range: bool,
}

/// Why an allocation was not changed.
pub enum Unchanged<E> {
    /// The caller's function refused, about the present allocation.
    Refused(E),
    /// The store failed: the change may have been made or not.
    Failed(Status),
}

impl Shared {
    /// `prefix` is what all keys begin with, such as `/registry`.
    pub fn new(store: Arc<dyn Store>, prefix: &str, range: PortRange, as_json: bool) -> Self {
        let key = format!("{prefix}/{KEY}");
        Shared { store, key, range, as_json, last: tokio::sync::Mutex::default() }
    }

    /// The present allocation. Ports of another range count as far as this range has them.
    ///
    /// # Errors
    /// Those of the store, and 500 for a value that is no allocation.
    pub async fn read(&self) -> Result<Snapshot, Status> {
        let found = self.store.get(self.key.as_bytes(), None).await.map_err(Status::internal)?;
        self.snapshot(found.kv)
    }

    /// Replaces the allocation, unless it was written after the snapshot was read: false then.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn replace(&self, snapshot: &Snapshot, ports: &Bitmap) -> Result<bool, Status> {
        let mut last = self.last.lock().await;
        *last = None;
        match self.commit(snapshot.revision, ports).await? {
            TxnOutcome::Committed { revision, .. } => {
                *last = Some(Snapshot { ports: ports.clone(), revision, is_of_range: true });
                Ok(true)
            }
            TxnOutcome::Conflict { .. } => Ok(false),
        }
    }

    /// Changes the allocation; `change` is called again when another server was faster. A change that changes nothing is not written.
    ///
    /// # Errors
    /// As [`Unchanged`] says. Upstream's messages when nothing is stored, or when the stored range is another one.
    pub async fn change<T, E>(&self, mut change: impl FnMut(&mut Bitmap) -> Result<T, E>) -> Result<T, Unchanged<E>> {
        let mut last = self.last.lock().await;
        // What is remembered may be old: a refusal counts only if it is about what was just read.
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
                    *last = Some(Snapshot { ports, revision, is_of_range: true });
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

    async fn present(&self) -> Result<Snapshot, Status> {
        let found = self.store.get(self.key.as_bytes(), None).await.map_err(Status::internal)?;
        self.usable(found.kv)
    }

    /// A stored allocation from which ports can be taken.
    fn usable(&self, stored: Option<KeyValue>) -> Result<Snapshot, Status> {
        let snapshot = self.snapshot(stored)?;
        match snapshot {
            Snapshot { revision: 0, .. } => {
                Err(Status::internal("cannot allocate resources of type servicenodeportallocations at this time"))
            }
            Snapshot { is_of_range: false, .. } => {
                Err(Status::internal("the provided range does not match the current range"))
            }
            usable => Ok(usable),
        }
    }

    fn snapshot(&self, stored: Option<KeyValue>) -> Result<Snapshot, Status> {
        let mut snapshot = Snapshot { ports: Bitmap::new(self.range), revision: 0, is_of_range: true };
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

/// The bytes that upstream stores. Upstream repairs the allocation by writing it, unless the stored bytes are these.
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

/// A stored allocation: protobuf, or JSON where a server has `--storage-media-type=application/json`.
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
    fn allocations_are_stored_in_upstreams_bytes() {
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
