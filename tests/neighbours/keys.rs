//! The keys in etcd and the revisions of their last writes.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::pair::Pair;

/// Prefixes of leases and peer endpoints; each server and node renews its own.
const LEASES: [&str; 6] = [
    "/registry/minions/node-",
    "/registry/leases/kube-node-lease/",
    "/registry/leases/kube-system/apiserver-",
    "/registry/masterleases/",
    "/registry/peerserverleases/",
    "compact_rev_key",
];

/// Keys with the revision of the last write and the number of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(pub BTreeMap<String, (u64, u64)>);

impl Keys {
    /// Reads all keys of the store.
    pub async fn read(pair: &Pair) -> Keys {
        let all = STANDARD.encode(b"\0");
        let range = json!({"key": all, "range_end": all, "keys_only": true});
        let answer = pair.post_etcd("range", &range).await;
        let number = |value: &Value| value.as_str().unwrap_or_default().parse::<u64>().unwrap();
        let key = |value: &Value| String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap();
        let rows = answer["kvs"].as_array().unwrap().iter();
        Keys(rows.map(|row| (key(&row["key"]), (number(&row["mod_revision"]), number(&row["version"])))).collect())
    }

    /// Returns the total number of writes to the keys with a prefix.
    pub fn renewals(&self, prefix: &str) -> u64 {
        self.0.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(_, (_, version))| version).sum()
    }

    /// Returns the keys that were written, created or deleted since `before`, except for leases.
    pub fn changed_since<'k>(&'k self, before: &'k Keys) -> Vec<&'k str> {
        let keys = self.0.keys().chain(before.0.keys().filter(|key| !self.0.contains_key(*key)));
        let changed = keys.filter(|key| self.0.get(*key) != before.0.get(*key));
        changed.map(String::as_str).filter(|key| !LEASES.iter().any(|lease| key.starts_with(lease))).collect()
    }
}
