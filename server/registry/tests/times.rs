//! Times of field ownership in updates that change nothing else.

mod common;

use apimachinery::meta::v1::ManagedFieldsEntry;
use async_trait::async_trait;
use common::{Anything, config_maps, embedded, within};
use generated::core::v1::ConfigMap;
use machinery::reflect::Owned;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{CheckWrite, CreateOptions, UpdateOptions, UpdatedObjectInfo, meta, meta_mut};

fn time(text: &str) -> Time {
    text.parse().expect("the text is a time")
}

/// Updates the object's owner one second after its creation.
struct Later(fn(&mut Owned));

impl CheckWrite for Later {}

#[async_trait]
impl UpdatedObjectInfo for Later {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut new = current.expect("the object exists").clone();
        meta_mut(&mut new).expect("a config map has metadata").managed_fields[0].time =
            Some(time("2026-01-01T00:00:01Z"));
        self.0(&mut new);
        Ok(new)
    }
}

/// Returns the resource version and the time of ownership of the created and of the updated object.
async fn update(change: fn(&mut Owned)) -> [(String, Option<Time>); 2] {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = config_maps(embedded(&folder)).await;
    let mut object = ConfigMap::default();
    object.metadata.name = "a".into();
    let owner = ManagedFieldsEntry {
        manager: "one".into(),
        operation: "Update".into(),
        fields_type: "FieldsV1".into(),
        time: Some(time("2026-01-01T00:00:00Z")),
        ..Default::default()
    };
    object.metadata.managed_fields = vec![owner];
    let created = store
        .create(&within("n"), Owned::of(object), &CreateOptions::default(), &mut Anything)
        .await
        .expect("the object is created");
    let updated = store
        .update(&within("n"), "a", &UpdateOptions::default(), &mut Later(change))
        .await
        .expect("the object is updated");
    [created, updated.object].map(|object| {
        let meta = meta(object.as_ref()).expect("a config map has metadata");
        (meta.resource_version.clone(), meta.managed_fields[0].time)
    })
}

#[tokio::test]
async fn update_of_times_alone_writes_nothing() {
    let [created, updated] = update(|_| ()).await;
    assert_eq!(created, updated);
}

/// This is what an apply of a status with labels does.
#[tokio::test]
async fn update_whose_other_changes_are_reset_writes_nothing() {
    let [created, updated] = update(|new| {
        meta_mut(new).expect("a config map has metadata").creation_timestamp = time("2020-01-01T00:00:00Z");
    })
    .await;
    assert_eq!(created, updated);
}

#[tokio::test]
async fn update_of_another_field_writes_its_time() {
    let [created, updated] = update(|new| {
        meta_mut(new).expect("a config map has metadata").labels.insert("a".into(), "b".into());
    })
    .await;
    assert_ne!(created.0, updated.0);
    assert_eq!(updated.1, Some(time("2026-01-01T00:00:01Z")));
}
