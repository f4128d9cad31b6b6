//! The objects of a resource: each is written without a change, which the store encodes in the
//! current storage version (`SVMController.runMigration`).

use machinery::status::Status;
use serde_json::{Value, json};

use crate::client::Client;
use crate::resources::{ServedResource, items, text};

/// Upstream's field manager. It owns no fields.
const MANAGER: &str = "storage-version-migrator-controller";
/// Number of objects in a page of a list.
const PAGE: usize = 500;
/// Codes of failures after which a migration is tried again (`isRetriableError`).
const RETRIABLE: [u16; 4] = [429, 500, 503, 504];

/// How a migration ends.
pub enum Outcome {
    /// All objects are rewritten.
    Succeeded,
    /// The migration has failed; why.
    Failed(String),
}

/// The current version of a resource.
///
/// # Errors
/// The list fails.
pub async fn latest_version(client: &Client, resource: &ServedResource) -> Result<String, Status> {
    let list = client.metadata(&format!("{}?limit=1", resource.path(""))).await?;
    Ok(text(&list["metadata"]["resourceVersion"]))
}

/// Rewrites the objects that are not newer than a version.
///
/// # Errors
/// A request fails, and may succeed later.
pub async fn rewrite(client: &Client, resource: &ServedResource, latest: &str) -> Result<Outcome, Status> {
    let Ok(latest) = latest.parse::<u64>() else {
        return Ok(Outcome::Failed(format!("resource version {latest:?} is not well formed")));
    };
    let mut after = String::new();
    loop {
        let page = client.metadata(&format!("{}?limit={PAGE}&continue={after}", resource.path(""))).await?;
        for object in items(&page["items"]) {
            match rewrite_one(client, resource, object, latest).await {
                // The object was changed or deleted meanwhile, and needs no migration any more.
                Err(status) if status.code == 409 => {}
                Err(status) if RETRIABLE.contains(&status.code) => return Err(status),
                Err(status) => return Ok(Outcome::Failed(status.message)),
                Ok(()) => {}
            }
        }
        after = text(&page["metadata"]["continue"]);
        if after.is_empty() {
            return Ok(Outcome::Succeeded);
        }
    }
}

async fn rewrite_one(client: &Client, resource: &ServedResource, object: &Value, latest: u64) -> Result<(), Status> {
    let metadata = &object["metadata"];
    let version = text(&metadata["resourceVersion"]);
    if version.parse::<u64>().is_ok_and(|version| version > latest) {
        return Ok(());
    }
    let api_version = match resource.group.as_str() {
        "" => resource.version.clone(),
        group => format!("{group}/{}", resource.version),
    };
    // With uid and version, an object that is deleted meanwhile is not created again.
    let same = json!({
        "apiVersion": api_version, "kind": resource.kind,
        "metadata": {"uid": metadata["uid"], "resourceVersion": version},
    });
    let path = format!("{}/{}", resource.path(&text(&metadata["namespace"])), text(&metadata["name"]));
    client.apply(&format!("{path}?fieldManager={MANAGER}"), &same).await.map(drop)
}
