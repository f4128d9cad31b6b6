//! The contract suite on an encrypted store: users get plaintext, and no stored value is plaintext.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../../storage/tests/contract/mod.rs"]
#[macro_use]
mod contract;

use std::path::Path;
use std::sync::Arc;

use encryption::{EncryptedStore, Encryption, GroupResource, KeySpace};
use prometheus::Registry;
use storage::{EmbeddedStore, Store};
use tempfile::TempDir;

const CONFIGURATION: &str = "
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: ['*.*']
  providers:
  - aesgcm: {keys: [{name: one, secret: AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=}]}
";

/// The key prefixes of the suite; each is a resource.
const RESOURCES: [&str; 38] = [
    "ahead",
    "again",
    "bytes",
    "confined",
    "count",
    "create",
    "delete",
    "elsewhere",
    "future",
    "goes-on",
    "history",
    "keep",
    "lease",
    "missing",
    "nothing",
    "now",
    "old",
    "once",
    "order",
    "overtake",
    "page",
    "present",
    "prev",
    "progress",
    "prolong",
    "race",
    "rang",
    "range",
    "refused",
    "replay",
    "resume",
    "same",
    "stale",
    "survive",
    "trace",
    "undo",
    "update",
    "secret",
];

async fn encrypted(dir: &Path) -> (EncryptedStore, Arc<EmbeddedStore>) {
    let file = dir.join("encryption.yaml");
    std::fs::write(&file, CONFIGURATION).unwrap();
    let inner = Arc::new(EmbeddedStore::open(dir.join("store")).unwrap());
    let encryption = Encryption::open(&file, false, &Registry::new(), "apiserver-a").await.unwrap();
    let keys = KeySpace::new("", RESOURCES.map(|name| (name.to_owned(), GroupResource::parse(name))));
    (EncryptedStore::new(inner.clone(), encryption, Arc::new(keys)), inner)
}

async fn open() -> (EncryptedStore, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (encrypted(dir.path()).await.0, dir)
}

contract_suite!(open);

#[tokio::test]
async fn stored_values_are_encrypted() {
    let dir = tempfile::tempdir().unwrap();
    let (store, inner) = encrypted(dir.path()).await;
    contract::put(&store, "/secret/a", "in the clear").await;
    let kept = contract::get(&*inner, "/secret/a").await.unwrap().value;
    assert!(kept.starts_with(b"k8s:enc:aesgcm:v1:one:"), "{}", kept.escape_ascii());
    assert!(!kept.windows(9).any(|part| part == b"the clear"));
    contract::put(&*inner, "/secret/b", "k8s:enc:aesgcm:v1:one:nonsense").await;
    let damaged = contract::get(&store, "/secret/b").await.unwrap();
    assert_eq!(damaged.damage.as_deref(), Some("the stored data was shorter than the required size"));
    store.close().await.unwrap();
}
