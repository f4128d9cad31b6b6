//! Lists at a past revision.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::{config_maps, create, embedded};
use registry::{ListQuery, Predicate};
use storage::{Store, Txn};

/// A compacted revision is expired, even if the resource has not changed since.
#[tokio::test]
async fn a_compacted_revision_is_expired_though_nothing_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let maps = config_maps(store.clone()).await;
    create(&maps, "a", "one").await;
    let predicate = Predicate::default();
    let revision = maps.list("", &predicate, &ListQuery::default()).await.unwrap().revision;
    let exactly = ListQuery {
        resource_version: revision.to_string(),
        resource_version_match: "Exact".into(),
        ..ListQuery::default()
    };
    for other in ["/other/one", "/other/two"] {
        store.commit(Txn::put(other, "x")).await.unwrap();
    }
    assert_eq!(maps.list("", &predicate, &exactly).await.unwrap().entries.len(), 1);
    store.compact(revision + 2).await.unwrap();
    let status = maps.list("", &predicate, &exactly).await.err().unwrap();
    assert_eq!((status.code, status.reason), (410, "Expired"));
}
