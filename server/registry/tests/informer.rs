//! Informers on the embedded store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Anything, config_maps, create, embedded, within};
use generated::core::v1::ConfigMap;
use registry::{DeleteOptions, Informer, Informers, Observer, Stores};

fn names(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    objects.iter().map(|o| format!("{}/{}", o.metadata.namespace, o.metadata.name)).collect()
}

#[tokio::test]
async fn an_informer_follows_changes_and_calls_its_observers() {
    let folder = tempfile::tempdir().unwrap();
    let store = config_maps(embedded(&folder)).await;
    create(&store, "a", "one").await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer: Observer<ConfigMap> = Box::new({
        let (seen, name) = (seen.clone(), |o: &Arc<ConfigMap>| o.metadata.name.clone());
        move |old, new| seen.lock().unwrap().push((old.map(name), new.map(name)))
    });
    let informer = Informer::observed(&store, vec![observer]);
    let mut changes = informer.changes();
    informer.synced().await;
    assert_eq!(names(&informer.all()), ["a/one"]);
    create(&store, "a-b", "two").await;
    changes.wait_for(|changes| *changes == 2).await.unwrap();
    assert_eq!(names(&informer.all()), ["a-b/two", "a/one"]);
    assert_eq!(names(&informer.in_namespace("a")), ["a/one"]);
    assert!(informer.get("a-b", "two").is_some() && informer.get("a", "two").is_none());
    store.delete(&within("a"), "one", &DeleteOptions::default(), &Anything).await.unwrap();
    changes.wait_for(|changes| *changes == 3).await.unwrap();
    assert_eq!(names(&informer.all()), ["a-b/two"]);
    let (one, two) = (Some("one".to_owned()), Some("two".to_owned()));
    assert_eq!(*seen.lock().unwrap(), [(None, one.clone()), (None, two), (one, None)]);
}

#[tokio::test]
async fn a_resource_has_one_shared_informer() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Stores::from_iter([(("", "configmaps"), config_maps(embedded(&folder)).await)]);
    let informers = Informers::new(Arc::new(stores));
    let (first, second) = (informers.of::<ConfigMap>("", "configmaps"), informers.of::<ConfigMap>("", "configmaps"));
    second.unwrap().synced().await;
    assert_eq!(*first.unwrap().changes().borrow(), 1);
    assert!(informers.of::<ConfigMap>("", "nothings").is_none());
}
