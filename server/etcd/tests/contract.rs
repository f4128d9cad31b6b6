//! The contract of every store, with the etcd store as the client of the served store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;
#[macro_use]
#[path = "../../storage/tests/contract/mod.rs"]
mod contract;

use common::Served;
use storage::{EtcdOptions, EtcdStore};

async fn open() -> (EtcdStore, Served) {
    // Leases of the contract are short.
    let served = Served::start(&["--unsafe-no-fsync", "--heartbeat-interval=50", "--election-timeout=500"]).await;
    let mut options = EtcdOptions::new([&*served.url]);
    options.compaction_interval = None;
    (EtcdStore::connect(options).await.unwrap(), served)
}

contract_suite!(open);
