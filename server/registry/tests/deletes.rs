//! Deletes: preconditions, finalizers, propagation, grace periods, dry runs and retries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use common::{
    Anything, config_maps, create, create_from, edit, embedded, exists, refusal, resource, set_data, version, within,
};
use machinery::reflect::Owned;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{
    CheckDelete, DeleteOptions, Deleted, Precondition, Propagation, ResourceStore, WriteContext, meta, meta_mut,
};
use serde_json::json;
use tempfile::TempDir;

const NOW: &str = "2026-01-01T00:00:00Z";

async fn maps_with(metadata: serde_json::Value) -> (TempDir, Arc<ResourceStore>) {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    create_from(&maps, &json!({ "metadata": metadata })).await;
    (folder, maps)
}

/// Deletes the object `a` in the namespace `n` at a point in time.
async fn delete_at(store: &ResourceStore, options: &DeleteOptions, now: &str) -> Result<Deleted, Status> {
    let context = WriteContext { now: common::time(now), ..within("n") };
    store.delete(&context, "a", options, &Anything).await
}

async fn delete(store: &ResourceStore, options: &DeleteOptions) -> Result<Deleted, Status> {
    delete_at(store, options, NOW).await
}

/// The deletion time, the grace period and the finalizers of an object.
fn deletion(object: &Owned) -> (Option<Time>, Option<i64>, Vec<String>) {
    let meta = meta(object.as_ref()).unwrap();
    (meta.deletion_timestamp, meta.deletion_grace_period_seconds, meta.finalizers.clone())
}

#[tokio::test]
async fn an_object_without_finalizers_is_removed() {
    let (_folder, maps) = maps_with(json!({ "name": "a" })).await;
    let before = maps.get("n", "a", "").await.unwrap();
    let deleted = delete(&maps, &DeleteOptions::default()).await.unwrap();
    assert!(deleted.gone && deletion(&deleted.object) == (None, None, Vec::new()));
    assert!(version(&deleted.object) > version(&before), "it has the version of its removal");
    let refused = refusal(delete(&maps, &DeleteOptions::default()).await);
    assert_eq!(refused, (404, "NotFound", r#"configmaps "a" not found"#.into()));
}

#[tokio::test]
async fn names_that_no_object_can_have_are_refused() {
    let (_folder, maps) = maps_with(json!({ "name": "a" })).await;
    for name in [".", "..", "a/b", "a%b"] {
        let context = within("n");
        let (code, _, message) = refusal(maps.delete(&context, name, &DeleteOptions::default(), &Anything).await);
        assert!(code == 400 && message.starts_with("Name parameter invalid: "), "{message}");
    }
    let (code, _, message) = refusal(maps.delete(&within(".."), "a", &DeleteOptions::default(), &Anything).await);
    assert_eq!((code, message.as_str()), (500, r#"invalid key: "/configmaps/../a""#));
}

#[tokio::test]
async fn preconditions_are_those_of_the_stored_object() {
    let (_folder, maps) = maps_with(json!({ "name": "a" })).await;
    let stored = maps.get("n", "a", "").await.unwrap();
    let (uid, now) = (meta(stored.as_ref()).unwrap().uid.clone(), version(&stored));
    let with = |uid: Option<&str>, version: Option<&str>| DeleteOptions {
        precondition: Precondition { uid: uid.map(Into::into), resource_version: version.map(Into::into) },
        ..DeleteOptions::default()
    };
    let start = r#"Operation cannot be fulfilled on ConfigMap "a": "#;
    let refused = refusal(delete(&maps, &with(Some("u"), None)).await);
    let why = format!(
        "the UID in the precondition (u) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
    );
    assert_eq!(refused, (409, "Conflict", format!("{start}{why}")));
    let refused = refusal(delete(&maps, &with(Some(&uid), Some("99"))).await);
    let why = format!(
        "the ResourceVersion in the precondition (99) does not match the ResourceVersion in record ({now}). The object might have been modified"
    );
    assert_eq!(refused, (409, "Conflict", format!("{start}{why}")));
    assert!(delete(&maps, &with(Some(&uid), Some(&now))).await.unwrap().gone);
}

#[tokio::test]
async fn finalizers_hold_a_deleted_object() {
    let (_folder, maps) = maps_with(json!({ "name": "a", "finalizers": ["example.com/hold"] })).await;
    let marked = (Some(common::time(NOW)), Some(0), vec!["example.com/hold".to_owned()]);
    let deleted = delete(&maps, &DeleteOptions::default()).await.unwrap();
    assert!(!deleted.gone);
    assert_eq!(deletion(&deleted.object), marked);
    let again = delete_at(&maps, &DeleteOptions::default(), "2026-01-01T00:01:00Z").await.unwrap();
    assert!(!again.gone && version(&again.object) == version(&deleted.object), "nothing is left to change");
    assert_eq!(deletion(&maps.get("n", "a", "").await.unwrap()), marked);
}

#[tokio::test]
async fn propagation_decides_on_the_finalizers_of_the_garbage_collector() {
    for (propagation, sent, stored) in [
        (Propagation::Orphan, vec![], vec!["orphan"]),
        (Propagation::Foreground, vec![], vec!["foregroundDeletion"]),
        (Propagation::Foreground, vec!["orphan", "example.com/hold"], vec!["example.com/hold", "foregroundDeletion"]),
        (Propagation::Background, vec!["orphan", "example.com/hold"], vec!["example.com/hold"]),
    ] {
        let (_folder, maps) = maps_with(json!({ "name": "a", "finalizers": sent })).await;
        let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
        let deleted = delete(&maps, &options).await.unwrap();
        assert_eq!(deletion(&deleted.object).2, stored, "{propagation:?}, {sent:?}");
        assert!(!deleted.gone && exists(&maps).await);
    }
    let (_folder, maps) = maps_with(json!({ "name": "a", "finalizers": ["orphan"] })).await;
    assert!(!delete(&maps, &DeleteOptions::default()).await.unwrap().gone, "the object requests it");
    let (_folder, maps) = maps_with(json!({ "name": "a", "finalizers": ["orphan"] })).await;
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    assert!(delete(&maps, &options).await.unwrap().gone);
    assert!(!exists(&maps).await);
}

#[tokio::test]
async fn a_dry_run_removes_nothing() {
    let (_folder, maps) = maps_with(json!({ "name": "a" })).await;
    let options = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    assert!(delete(&maps, &options).await.unwrap().gone);
    assert!(exists(&maps).await);
    let options = DeleteOptions { propagation: Some(Propagation::Foreground), ..options };
    let shown = delete(&maps, &options).await.unwrap();
    assert_eq!(deletion(&shown.object).2, ["foregroundDeletion"]);
    assert_eq!(deletion(&maps.get("n", "a", "").await.unwrap()), (None, None, Vec::new()));
}

/// A pod of a node, with a grace period of 40 seconds.
async fn pod_of_node() -> (TempDir, Arc<ResourceStore>) {
    let folder = tempfile::tempdir().unwrap();
    let pods = resource(embedded(&folder), "", "pods").await;
    let containers = json!([{ "name": "a", "image": "a" }]);
    let spec = json!({ "nodeName": "one", "terminationGracePeriodSeconds": 40, "containers": containers });
    create_from(&pods, &json!({ "metadata": { "name": "a" }, "spec": spec })).await;
    (folder, pods)
}

fn grace(seconds: i64) -> DeleteOptions {
    DeleteOptions { grace_period_seconds: Some(seconds), ..DeleteOptions::default() }
}

#[tokio::test]
async fn a_pod_of_a_node_ends_after_its_grace_period() {
    let (_folder, pods) = pod_of_node().await;
    let deleted = delete(&pods, &DeleteOptions::default()).await.unwrap();
    assert!(!deleted.gone);
    assert_eq!(deletion(&deleted.object), (Some(common::time("2026-01-01T00:00:40Z")), Some(40), Vec::new()));
    // A longer period, or none, changes nothing.
    for options in [grace(50), grace(40), DeleteOptions::default()] {
        let again = delete_at(&pods, &options, "2026-01-01T00:00:05Z").await.unwrap();
        assert!(!again.gone && version(&again.object) == version(&deleted.object));
    }
    // A shorter one moves the end, but not before the present.
    let sooner = delete_at(&pods, &grace(10), "2026-01-01T00:00:05Z").await.unwrap();
    assert_eq!(deletion(&sooner.object), (Some(common::time("2026-01-01T00:00:10Z")), Some(10), Vec::new()));
    let past = delete_at(&pods, &grace(3), "2026-01-01T00:00:07Z").await.unwrap();
    assert_eq!(deletion(&past.object), (Some(common::time("2026-01-01T00:00:07Z")), Some(1), Vec::new()));
    // The kubelet removes it.
    assert!(delete_at(&pods, &grace(0), "2026-01-01T00:00:08Z").await.unwrap().gone);
    assert!(!exists(&pods).await);
}

#[tokio::test]
async fn a_negative_grace_period_counts_as_one_second() {
    let (_folder, pods) = pod_of_node().await;
    let deleted = delete(&pods, &grace(-5)).await.unwrap();
    assert_eq!(deletion(&deleted.object), (Some(common::time("2026-01-01T00:00:01Z")), Some(1), Vec::new()));
}

#[tokio::test]
async fn a_pod_without_a_node_is_removed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pods = resource(embedded(&folder), "", "pods").await;
    let spec = json!({ "containers": [{ "name": "a", "image": "a" }] });
    create_from(&pods, &json!({ "metadata": { "name": "a" }, "spec": spec })).await;
    assert!(delete(&pods, &DeleteOptions::default()).await.unwrap().gone);
    assert!(!exists(&pods).await);
}

#[tokio::test]
async fn a_pod_with_finalizers_outlives_its_grace_period() {
    let (_folder, pods) = pod_of_node().await;
    let held = edit(&pods, |pod| meta_mut(pod).unwrap().finalizers.push("example.com/hold".into()));
    held.await.unwrap();
    let deleted = delete(&pods, &grace(0)).await.unwrap();
    let marked = (Some(common::time(NOW)), Some(0), vec!["example.com/hold".to_owned()]);
    assert_eq!((deletion(&deleted.object), deleted.gone), (marked, false));
    edit(&pods, |pod| meta_mut(pod).unwrap().finalizers.clear()).await.unwrap();
    assert!(!exists(&pods).await);
}

#[tokio::test]
async fn a_namespace_waits_for_its_finalizers() {
    let folder = tempfile::tempdir().unwrap();
    let namespaces = resource(embedded(&folder), "", "namespaces").await;
    let object = common::decoded(&namespaces, &json!({ "metadata": { "name": "a" } }));
    let created = namespaces.create(&within(""), object, &registry::CreateOptions::default(), &mut Anything).await;
    assert!(created.is_ok());
    let context = within("");
    let deleted = namespaces.delete(&context, "a", &DeleteOptions::default(), &Anything).await.unwrap();
    assert!(!deleted.gone && deletion(&deleted.object).0.is_some());
    let again = namespaces.delete(&context, "a", &DeleteOptions::default(), &Anything).await.unwrap();
    assert!(!again.gone);
    let options = DeleteOptions {
        precondition: Precondition { uid: Some("u".into()), resource_version: None },
        ..DeleteOptions::default()
    };
    let (code, _, message) = refusal(namespaces.delete(&context, "a", &options, &Anything).await);
    assert!(code == 409 && message.contains("Precondition failed: UID in precondition: u"), "{message}");
}

struct Refuse;

#[async_trait]
impl CheckDelete for Refuse {
    async fn check(&self, _: &Owned) -> Result<(), Status> {
        Err(Status::bad_request("refused"))
    }
}

#[tokio::test]
async fn admission_refuses_deletes() {
    let (_folder, maps) = maps_with(json!({ "name": "a" })).await;
    let refused = refusal(maps.delete(&within("n"), "a", &DeleteOptions::default(), &Refuse).await);
    assert_eq!(refused, (400, "BadRequest", "refused".into()));
    assert!(exists(&maps).await);
}

/// Lets another server write the object during the first check.
struct Interrupted {
    other: Arc<ResourceStore>,
    checks: AtomicUsize,
}

#[async_trait]
impl CheckDelete for Interrupted {
    async fn check(&self, _: &Owned) -> Result<(), Status> {
        if self.checks.fetch_add(1, Ordering::Relaxed) == 0 {
            edit(&self.other, |new| set_data(new, "k", "v")).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_delete_is_checked_again_after_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let (maps, other) = (config_maps(store.clone()).await, config_maps(store).await);
    create(&maps, "n", "a").await;
    let check = Interrupted { other, checks: AtomicUsize::new(0) };
    let deleted = maps.delete(&within("n"), "a", &DeleteOptions::default(), &check).await.unwrap();
    assert!(deleted.gone && check.checks.into_inner() == 2);
    assert_eq!(common::data(&deleted.object), [("k".to_owned(), "v".to_owned())], "the last state");
}
