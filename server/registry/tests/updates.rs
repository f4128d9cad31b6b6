//! Updates: versions, preconditions, retries, immutable metadata, dry runs, and updates of the server
//! itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use common::{
    Edit, config_map, config_maps, create, create_from, data, edit, embedded, exists, refusal, resource, set_data,
    version, within,
};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{
    CheckWrite, DeleteOptions, Precondition, ResourceStore, UpdateOptions, Updated, UpdatedObjectInfo, meta, meta_mut,
};
use serde_json::json;
use storage::EmbeddedStore;
use tempfile::TempDir;

/// Two stores over the same keys, as of two servers, with the object `a` in the namespace `n`.
async fn two_servers() -> (TempDir, Arc<ResourceStore>, Arc<ResourceStore>) {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<EmbeddedStore> = embedded(&folder);
    let (one, other) = (config_maps(store.clone()).await, config_maps(store).await);
    create(&one, "n", "a").await;
    (folder, one, other)
}

async fn one_server() -> (TempDir, Arc<ResourceStore>) {
    let (folder, one, _) = two_servers().await;
    (folder, one)
}

/// Sends an object, regardless of the stored one.
struct Send(Owned);

impl CheckWrite for Send {}

#[async_trait]
impl UpdatedObjectInfo for Send {
    async fn apply(&mut self, _: Option<&Owned>) -> Result<Owned, Status> {
        Ok(self.0.clone())
    }
}

async fn send(store: &ResourceStore, object: Owned, options: &UpdateOptions) -> Result<Updated, Status> {
    store.update(&within("n"), "a", options, &mut Send(object)).await
}

const MODIFIED: &str = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply \
                        your changes to the latest version and try again";

#[tokio::test]
async fn an_update_of_an_old_version_conflicts() {
    let (_folder, maps) = one_server().await;
    let old = maps.get("n", "a", "").await.unwrap();
    let mut new = old.clone();
    set_data(&mut new, "k", "1");
    let first = send(&maps, new, &UpdateOptions::default()).await.unwrap();
    assert!(!first.created && version(&first.object) != version(&old));
    let refused = refusal(send(&maps, old, &UpdateOptions::default()).await);
    assert_eq!(refused, (409, "Conflict", MODIFIED.into()));
}

#[tokio::test]
async fn an_update_without_a_version_replaces_any() {
    let (_folder, maps) = one_server().await;
    edit(&maps, |new| set_data(new, "k", "1")).await.unwrap();
    let updated = send(&maps, config_map("a"), &UpdateOptions::default()).await.unwrap();
    assert!(data(&updated.object).is_empty());
}

#[tokio::test]
async fn a_kind_can_require_a_version_in_updates() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let hooks = resource(store, "admissionregistration.k8s.io", "validatingwebhookconfigurations").await;
    let object = common::decoded(&hooks, &json!({ "metadata": { "name": "a" } }));
    hooks
        .create(&within(""), object.clone(), &registry::CreateOptions::default(), &mut common::Anything)
        .await
        .unwrap();
    let refused = refusal(hooks.update(&within(""), "a", &UpdateOptions::default(), &mut Send(object)).await);
    let why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert!(refused.0 == 422 && refused.2.ends_with(why), "{refused:?}");
}

#[tokio::test]
async fn a_malformed_version_is_refused() {
    let (_folder, maps) = one_server().await;
    let mut object = maps.get("n", "a", "").await.unwrap();
    meta_mut(&mut object).unwrap().resource_version = "x".into();
    let refused = refusal(send(&maps, object, &UpdateOptions::default()).await);
    assert_eq!(refused, (500, "", r#"strconv.ParseUint: parsing "x": invalid syntax"#.into()), "as upstream");
}

/// Sets a value, after another server wrote the object during the first attempts.
struct Interrupted {
    other: Arc<ResourceStore>,
    interruptions: usize,
    attempts: usize,
    sends_version: bool,
}

impl CheckWrite for Interrupted {}

#[async_trait]
impl UpdatedObjectInfo for Interrupted {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        self.attempts += 1;
        if self.attempts <= self.interruptions {
            let key = format!("other-{}", self.attempts);
            edit(&self.other, |new| set_data(new, &key, "x")).await?;
        }
        let mut new = current.unwrap().clone();
        if !self.sends_version {
            meta_mut(&mut new).unwrap().resource_version.clear();
        }
        set_data(&mut new, "own", "x");
        Ok(new)
    }
}

#[tokio::test]
async fn a_conflicting_update_is_computed_again() {
    let (_folder, maps, other) = two_servers().await;
    let mut change = Interrupted { other, interruptions: 2, attempts: 0, sends_version: false };
    let updated = maps.update(&within("n"), "a", &UpdateOptions::default(), &mut change).await.unwrap();
    let keys: Vec<String> = data(&updated.object).into_iter().map(|(key, _)| key).collect();
    assert_eq!((change.attempts, keys), (3, ["other-1", "other-2", "own"].map(String::from).to_vec()));
}

#[tokio::test]
async fn a_removed_object_is_not_created_by_a_retry() {
    let (_folder, maps, other) = two_servers().await;
    struct Removed(Arc<ResourceStore>);
    impl CheckWrite for Removed {}
    #[async_trait]
    impl UpdatedObjectInfo for Removed {
        async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
            self.0.delete(&within("n"), "a", &DeleteOptions::default(), &common::Anything).await?;
            let mut new = current.unwrap().clone();
            set_data(&mut new, "own", "x");
            Ok(new)
        }
    }
    let refused = refusal(maps.update(&within("n"), "a", &UpdateOptions::default(), &mut Removed(other)).await);
    assert_eq!(refused, (404, "NotFound", r#"configmaps "a" not found"#.into()));
}

#[tokio::test]
async fn an_update_creates_only_if_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let refused = refusal(send(&maps, config_map("a"), &UpdateOptions::default()).await);
    assert_eq!(refused, (404, "NotFound", r#"configmaps "a" not found"#.into()));
    let creates = UpdateOptions { create_when_absent: true, ..UpdateOptions::default() };
    let mut object = config_map("a");
    meta_mut(&mut object).unwrap().uid = "u".into();
    let (code, _, message) = refusal(send(&maps, object, &creates).await);
    assert!(code == 422 && message.contains("field is immutable"), "an absent object has no uid: {message}");
    let mut object = config_map("a");
    meta_mut(&mut object).unwrap().resource_version = "7".into();
    let precondition = Precondition { uid: Some("u".into()), resource_version: None };
    let requires = UpdateOptions { precondition, ..creates.clone() };
    let (code, _, message) = refusal(send(&maps, object.clone(), &requires).await);
    assert!(code == 409 && message.contains("Precondition failed: UID in precondition: u"), "{message}");
    assert!(send(&maps, object, &creates).await.unwrap().created, "the sent version is ignored");
    assert!(exists(&maps).await);
}

#[tokio::test]
async fn preconditions_name_the_key_and_both_values() {
    let (_folder, maps) = one_server().await;
    let stored = maps.get("n", "a", "").await.unwrap();
    let uid = meta(stored.as_ref()).unwrap().uid.clone();
    let wrong = |uid: Option<&str>, version: Option<&str>, dry_run| UpdateOptions {
        precondition: Precondition { uid: uid.map(Into::into), resource_version: version.map(Into::into) },
        dry_run,
        ..UpdateOptions::default()
    };
    let text = |key: &str, what: &str, wanted: &str, is: &str| {
        format!(
            "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, Code: 4, Key: {key}, \
             ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what} in precondition: {wanted}, {what} in \
             object meta: {is}"
        )
    };
    let (_, _, message) = refusal(send(&maps, stored.clone(), &wrong(Some("u"), None, false)).await);
    assert_eq!(message, text("/registry/configmaps/n/a", "UID", "u", &uid));
    let (_, _, message) = refusal(send(&maps, stored.clone(), &wrong(None, Some("99"), true)).await);
    assert_eq!(message, text("/configmaps/n/a", "ResourceVersion", "99", &version(&stored)));
    let fits = wrong(Some(&uid), Some(&version(&stored)), false);
    assert!(send(&maps, stored.clone(), &fits).await.is_ok());
}

#[tokio::test]
async fn the_server_keeps_its_metadata() {
    let (_folder, maps) = one_server().await;
    let before = maps.get("n", "a", "").await.unwrap();
    let after = edit(&maps, |new| {
        let new = meta_mut(new).unwrap();
        (new.generation, new.creation_timestamp) = (9, common::time("2020-01-01T00:00:00Z"));
        new.uid.clear();
        new.deletion_timestamp = None;
    });
    assert_eq!(version(&after.await.unwrap()), version(&before), "nothing changed, so nothing is written");
    let (code, _, message) = refusal(edit(&maps, |new| meta_mut(new).unwrap().uid = "other".into()).await);
    assert!(code == 422 && message.contains("metadata.uid: Invalid value: \"other\": field is immutable"), "{message}");
    let (code, _, message) = refusal(edit(&maps, |new| meta_mut(new).unwrap().name = "b".into()).await);
    assert!(code == 422 && message.contains("metadata.name: Invalid value: \"b\": field is immutable"), "{message}");
    let (code, _, message) = refusal(edit(&maps, |new| meta_mut(new).unwrap().namespace = "m".into()).await);
    assert_eq!(code, 400, "{message}");
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let (_folder, maps) = one_server().await;
    let options = UpdateOptions { dry_run: true, ..UpdateOptions::default() };
    let shown = maps.update(&within("n"), "a", &options, &mut Edit(|new: &mut Owned| set_data(new, "k", "1"))).await;
    assert_eq!(data(&shown.unwrap().object), [("k".to_owned(), "1".to_owned())]);
    assert!(data(&maps.get("n", "a", "").await.unwrap()).is_empty());
}

#[tokio::test]
async fn an_invalid_change_is_not_stored() {
    let (_folder, maps) = one_server().await;
    let (code, _, message) = refusal(edit(&maps, |new| set_data(new, "a b", "1")).await);
    assert!(code == 422 && message.starts_with(r#"ConfigMap "a" is invalid: data[a b]: "#), "{message}");
    assert!(data(&maps.get("n", "a", "").await.unwrap()).is_empty());
}

#[tokio::test]
async fn the_last_finalizer_releases_a_deleted_object() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let finalizers = ["example.com/one", "example.com/two"];
    create_from(&maps, &json!({ "metadata": { "name": "a", "finalizers": finalizers } })).await;
    let deleted = maps.delete(&within("n"), "a", &DeleteOptions::default(), &common::Anything).await.unwrap();
    let at = meta(deleted.object.as_ref()).unwrap().deletion_timestamp;
    assert!(at.is_some() && !deleted.gone);
    let (code, _, message) =
        refusal(edit(&maps, |new| meta_mut(new).unwrap().finalizers.push("example.com/three".into())).await);
    assert!(code == 422 && message.contains("no new finalizers can be added"), "{message}");
    let kept = edit(&maps, |new| {
        let new = meta_mut(new).unwrap();
        new.finalizers.pop();
        new.deletion_timestamp = None;
    });
    assert_eq!(meta(kept.await.unwrap().as_ref()).unwrap().deletion_timestamp, at);
    let last = edit(&maps, |new| meta_mut(new).unwrap().finalizers.clear()).await.unwrap();
    assert!(meta(last.as_ref()).unwrap().finalizers.is_empty());
    assert!(!exists(&maps).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_updates_without_validation_and_with_retries() {
    let (_folder, maps, other) = two_servers().await;
    let attempts = AtomicUsize::new(0);
    let change = |object: &mut Owned| {
        if attempts.fetch_add(1, Ordering::Relaxed) == 0 {
            // Another server writes between the read and the write of the first attempt.
            let (other, runtime) = (other.clone(), tokio::runtime::Handle::current());
            let write = std::thread::spawn(move || runtime.block_on(edit(&other, |new| set_data(new, "other", "x"))));
            write.join().unwrap().unwrap();
        }
        set_data(object, "not a key", "y");
        Ok(())
    };
    let updated = maps.guaranteed_update(&within("n"), "a", &UpdateOptions::default(), &change).await.unwrap();
    let keys: Vec<String> = data(&updated).into_iter().map(|(key, _)| key).collect();
    assert_eq!((attempts.into_inner(), keys), (2, ["not a key", "other"].map(String::from).to_vec()));
}

#[tokio::test]
async fn the_server_updates_only_what_exists_and_fits() {
    let (_folder, maps) = one_server().await;
    let nothing = |_: &mut Owned| Ok(());
    let refused = refusal(maps.guaranteed_update(&within("n"), "b", &UpdateOptions::default(), &nothing).await);
    assert_eq!(refused, (404, "NotFound", r#"configmaps "b" not found"#.into()));
    let precondition = Precondition { uid: None, resource_version: Some("99".into()) };
    let options = UpdateOptions { precondition, ..UpdateOptions::default() };
    let refused = refusal(maps.guaranteed_update(&within("n"), "a", &options, &nothing).await);
    assert_eq!((refused.0, refused.1), (409, "Conflict"));
    let fails = |_: &mut Owned| Err(Status::bad_request("no"));
    let refused = refusal(maps.guaranteed_update(&within("n"), "a", &UpdateOptions::default(), &fails).await);
    assert_eq!(refused, (400, "BadRequest", "no".into()));
    let before = version(&maps.get("n", "a", "").await.unwrap());
    let same = maps.guaranteed_update(&within("n"), "a", &UpdateOptions::default(), &nothing).await.unwrap();
    assert_eq!(version(&same), before, "no change is no write");
}
