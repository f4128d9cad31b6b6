//! Creates: names, namespaces, conflicts, dry runs and reservations.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use common::{
    Anything, config_map, config_maps, create, create_from, edit, embedded, exists, refusal, resource, version, within,
};
use generated::core::v1::Pod;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{
    CheckWrite, CreateOptions, DeleteOptions, Reservation, ResourceStore, WriteContext, WriteHook, WriteOutcome, meta,
    meta_mut,
};
use serde_json::json;
use storage::Store as _;

const STORED: CreateOptions = CreateOptions { dry_run: false };
const DRY_RUN: CreateOptions = CreateOptions { dry_run: true };

fn generated() -> Owned {
    let mut object = config_map("");
    meta_mut(&mut object).unwrap().generate_name = "web-".into();
    object
}

#[tokio::test]
async fn a_new_object_gets_identity_time_and_version() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let mut sent = config_map("a");
    let of_sent = meta_mut(&mut sent).unwrap();
    of_sent.uid = "chosen".into();
    of_sent.self_link = "/link".into();
    let created = maps.create(&within("n"), sent, &STORED, &mut Anything).await.unwrap();
    let of_created = meta(created.as_ref()).unwrap();
    assert!(of_created.uid.len() == 36 && of_created.creation_timestamp.unix() > 0, "{of_created:?}");
    assert_eq!((of_created.namespace.as_str(), of_created.self_link.as_str()), ("n", ""));
    let read = maps.get("n", "a", "").await.unwrap();
    assert!(created.as_ref() == read.as_ref() && !version(&read).is_empty());
}

#[tokio::test]
async fn a_taken_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    create(&maps, "n", "a").await;
    create(&maps, "other", "a").await;
    for options in [STORED, DRY_RUN] {
        let refused = refusal(maps.create(&within("n"), config_map("a"), &options, &mut Anything).await);
        assert_eq!(refused, (409, "AlreadyExists", r#"configmaps "a" already exists"#.into()));
    }
}

#[tokio::test]
async fn the_conflict_with_a_deleted_object_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    create_from(&maps, &json!({ "metadata": { "name": "a", "finalizers": ["example.com/hold"] } })).await;
    maps.delete(&within("n"), "a", &DeleteOptions::default(), &Anything).await.unwrap();
    let (_, reason, message) = refusal(maps.create(&within("n"), config_map("a"), &STORED, &mut Anything).await);
    assert_eq!(
        (reason, message.as_str()),
        ("AlreadyExists", r#"object is being deleted: configmaps "a" already exists"#)
    );
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let shown = maps.create(&within("n"), config_map("a"), &DRY_RUN, &mut Anything).await.unwrap();
    assert!(!meta(shown.as_ref()).unwrap().uid.is_empty());
    assert!(!exists(&maps).await);
}

#[tokio::test]
async fn a_new_object_has_no_version() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let mut object = config_map("a");
    meta_mut(&mut object).unwrap().resource_version = "7".into();
    let shown = maps.create(&within("n"), object.clone(), &DRY_RUN, &mut Anything).await.unwrap();
    assert_eq!(version(&shown), "7");
    let refused = refusal(maps.create(&within("n"), object, &STORED, &mut Anything).await);
    assert_eq!(refused, (500, "", "resourceVersion should not be set on objects to be created".into()));
}

#[tokio::test]
async fn the_namespace_is_that_of_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let mut object = config_map("a");
    meta_mut(&mut object).unwrap().namespace = "other".into();
    let refused = refusal(maps.create(&within("n"), object, &STORED, &mut Anything).await);
    let why = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(refused, (400, "BadRequest", why.into()));
    let nodes = resource(embedded(&tempfile::tempdir().unwrap()), "", "nodes").await;
    let mut node = common::decoded(&nodes, &json!({ "metadata": { "name": "a", "namespace": "n" } }));
    let created = nodes.create(&within(""), node.clone(), &STORED, &mut Anything).await.unwrap();
    assert_eq!(meta(created.as_ref()).unwrap().namespace, "", "cluster-scoped objects lose it");
    meta_mut(&mut node).unwrap().name = "b".into();
    assert!(nodes.create(&within(""), node, &STORED, &mut Anything).await.is_ok());
}

/// Takes the names of the first objects that it checks, and counts them.
struct TakeNames {
    other: Arc<ResourceStore>,
    takes: usize,
    seen: BTreeSet<String>,
}

#[async_trait]
impl CheckWrite for TakeNames {
    async fn check(&mut self, new: &Owned, _: Option<&Owned>) -> Result<(), Status> {
        let name = &meta(new.as_ref()).unwrap().name;
        if self.seen.len() < self.takes {
            create(&self.other, "n", name).await;
        }
        self.seen.insert(name.clone());
        Ok(())
    }
}

#[tokio::test]
async fn a_generated_name_that_is_taken_is_replaced_seven_times() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let (maps, other) = (config_maps(store.clone()).await, config_maps(store).await);
    let mut check = TakeNames { other: other.clone(), takes: 7, seen: BTreeSet::new() };
    let created = maps.create(&within("n"), generated(), &STORED, &mut check).await.unwrap();
    let name = &meta(created.as_ref()).unwrap().name;
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
    assert_eq!(check.seen.len(), 8);
    let mut check = TakeNames { other, takes: 8, seen: BTreeSet::new() };
    let (code, reason, message) = refusal(maps.create(&within("n"), generated(), &STORED, &mut check).await);
    assert_eq!((code, reason, check.seen.len()), (409, "AlreadyExists", 8));
    let why = "already exists, the server was not able to generate a unique name for the object";
    assert!(message.ends_with(why), "{message}");
}

/// Refuses every object, and records how its reservations end.
#[derive(Default)]
struct Refuse {
    settled: Vec<WriteOutcome>,
}

#[async_trait]
impl CheckWrite for Refuse {
    async fn check(&mut self, _: &Owned, _: Option<&Owned>) -> Result<(), Status> {
        Err(Status::bad_request("refused"))
    }

    async fn settle(&mut self, outcome: WriteOutcome) {
        self.settled.push(outcome);
    }
}

#[tokio::test]
async fn a_refused_object_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let mut check = Refuse::default();
    let refused = refusal(maps.create(&within("n"), config_map("a"), &STORED, &mut check).await);
    assert_eq!(refused, (400, "BadRequest", "refused".into()));
    assert_eq!(check.settled, [WriteOutcome::NotStored]);
    assert!(!exists(&maps).await);
    let refused = refusal(maps.create(&within("n"), config_map("A_b"), &STORED, &mut check).await);
    assert_eq!((refused.0, refused.1), (422, "Invalid"), "validation precedes admission: {}", refused.2);
}

/// Labels every object, and records the outcome of each write.
#[derive(Clone, Default)]
struct Hook(Arc<Mutex<Vec<WriteOutcome>>>);

#[async_trait]
impl Reservation for Hook {
    async fn finish(self: Box<Self>, outcome: WriteOutcome) {
        self.0.lock().unwrap().push(outcome);
    }
}

#[async_trait]
impl WriteHook for Hook {
    async fn begin(
        &self,
        _: &WriteContext,
        new: &mut Owned,
        _: Option<&Owned>,
    ) -> Result<Box<dyn Reservation>, Status> {
        meta_mut(new).unwrap().labels.insert("reserved".into(), "yes".into());
        Ok(Box::new(self.clone()))
    }

    async fn after_delete(&self, object: &Owned) {
        assert_eq!(meta(object.as_ref()).unwrap().name, "a");
        self.0.lock().unwrap().clear();
    }
}

#[tokio::test]
async fn a_reservation_ends_with_the_outcome_of_its_write() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    let hook = Hook::default();
    maps.set_write_hook(Arc::new(hook.clone()));
    let outcomes = || hook.0.lock().unwrap().clone();
    let created = maps.create(&within("n"), config_map("a"), &STORED, &mut Anything).await.unwrap();
    assert_eq!(meta(created.as_ref()).unwrap().labels["reserved"], "yes");
    assert_eq!(outcomes(), [WriteOutcome::Stored]);
    refusal(maps.create(&within("n"), config_map("a"), &STORED, &mut Anything).await);
    assert_eq!(outcomes(), [WriteOutcome::Stored, WriteOutcome::NotStored], "the name is taken");
    refusal(maps.create(&within("n"), config_map("B_"), &STORED, &mut Anything).await);
    assert_eq!(outcomes()[2], WriteOutcome::NotStored, "the object is invalid");
    maps.create(&within("n"), config_map("c"), &DRY_RUN, &mut Anything).await.unwrap();
    assert_eq!(outcomes()[3], WriteOutcome::NotStored, "a dry run keeps no reservation");
    maps.delete(&within("n"), "a", &DeleteOptions::default(), &Anything).await.unwrap();
    assert!(outcomes().is_empty(), "the hook learns of removed objects");
}

/// Removes a default of a new object, as an admission plugin may.
struct WithoutScheduler;

#[async_trait]
impl WriteHook for WithoutScheduler {
    async fn begin(
        &self,
        _: &WriteContext,
        new: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<Box<dyn Reservation>, Status> {
        if old.is_none() {
            new.as_mut().downcast::<Pod>().unwrap().spec.scheduler_name.clear();
        }
        Ok(Box::new(Hook::default()))
    }

    async fn after_delete(&self, _: &Owned) {}
}

#[tokio::test]
async fn defaults_that_a_hook_removed_are_in_the_response_and_not_in_the_stored_value() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let pods = resource(store.clone(), "", "pods").await;
    pods.set_write_hook(Arc::new(WithoutScheduler));
    let object = json!({ "metadata": { "name": "a" }, "spec": { "containers": [{ "name": "a", "image": "a" }] } });
    let created = create_from(&pods, &object).await;
    let scheduler = |pod: &Owned| pod.downcast_ref::<Pod>().unwrap().spec.scheduler_name.clone();
    assert_eq!(scheduler(&created), "default-scheduler");
    let stored = store.get(b"/registry/pods/n/a", None).await.unwrap().kv.unwrap().value;
    assert!(!stored.windows(17).any(|text| text == b"default-scheduler"), "upstream stores no such default");
    let again = edit(&pods, |_| {}).await.unwrap();
    assert_ne!(version(&again), version(&created), "the first write without a change stores the default");
    let unchanged = edit(&pods, |_| {}).await.unwrap();
    assert_eq!(version(&unchanged), version(&again));
}
