//! Deletions of collections in which some objects cannot be deleted (upstream:
//! `Store.DeleteCollection`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use apiserver::{Admission, AdmissionAttributes, Operation, Owned, Server, Status, async_trait};
use http::{Method, StatusCode};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";

/// Rejects deletions of objects whose names contain `kept`.
struct Kept;

#[async_trait]
impl Admission for Kept {
    async fn admit(&self, _: &AdmissionAttributes, _: &mut Owned, _: Option<&Owned>) -> Result<(), Status> {
        Ok(())
    }

    async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        _: Option<&Owned>,
        _: Option<&Owned>,
    ) -> Result<(), Status> {
        match attributes.operation == Operation::Delete && attributes.name.contains("kept") {
            true => Err(Status::bad_request(format!("{} is not deleted", attributes.name))),
            false => Ok(()),
        }
    }
}

/// Creates objects, deletes all of them with a number of workers, and compares the objects that are
/// left. The request fails with one of `failures`, or succeeds when there are none.
async fn check(workers: usize, names: &[&str], failures: &[&str], left: &[&str]) {
    let server = Server::delegating("test-server", kubernetes::catalog()).admission(Kept);
    let running = server.flags([format!("--delete-collection-workers={workers}")]).start().unwrap();
    let client = running.client().unwrap();
    for name in names {
        let map = json!({ "metadata": { "name": name } });
        assert_eq!(client.send(Method::POST, MAPS, &map).await.unwrap().0, StatusCode::CREATED);
    }
    let (code, answer) = client.send(Method::DELETE, MAPS, &Value::Null).await.unwrap();
    let case = format!("{workers} workers, {names:?}: {answer}");
    match failures.is_empty() {
        true => assert_eq!((code, &answer["kind"]), (StatusCode::OK, &json!("ConfigMapList")), "{case}"),
        false => {
            assert_eq!((code, &answer["kind"]), (StatusCode::BAD_REQUEST, &json!("Status")), "{case}");
            let message = answer["message"].as_str().unwrap();
            assert!(failures.iter().any(|name| message == format!("{name} is not deleted")), "{case}");
        }
    }
    let (_, list) = client.send(Method::GET, MAPS, &Value::Null).await.unwrap();
    let found = list["items"].as_array().unwrap().iter().map(|map| map["metadata"]["name"].as_str().unwrap());
    assert_eq!(found.collect::<Vec<_>>(), left, "{case}");
    tokio::task::spawn_blocking(move || drop(running)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_is_deleted_until_every_worker_has_failed() {
    check(1, &["a", "b", "c"], &[], &[]).await;
    // Without another worker, the objects after a failure are left.
    check(1, &["a", "b-kept", "c"], &["b-kept"], &["b-kept", "c"]).await;
    // Another worker deletes them.
    check(2, &["a", "b-kept", "c", "d"], &["b-kept"], &["b-kept"]).await;
    check(2, &["a-kept", "b-kept", "c"], &["a-kept", "b-kept"], &["a-kept", "b-kept", "c"]).await;
    check(3, &["a-kept", "b-kept", "c", "d"], &["a-kept", "b-kept"], &["a-kept", "b-kept"]).await;
}
