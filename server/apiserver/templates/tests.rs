//! Starts the server in this process and checks operations on objects.

use apiserver::{Client, InProcess, Server};
use http::{Method, StatusCode};
use serde_json::{Value, json};

const OBJECTS: &str = "/apis/@group@/v1/namespaces/default/@plural@";

/// Starts a server, which stops when it is dropped, and a client with administrator credentials.
fn start() -> (InProcess, Client) {
    let server = Server::delegating("@name@", @library@::groups()).start().unwrap();
    let client = server.client().unwrap();
    (server, client)
}

fn object(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "@group@/v1", "kind": "@kind@", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn objects_are_created_read_and_listed() {
    let (_server, client) = start();
    let one = object("one", json!({"owner": "me"}));
    let (status, created) = client.send(Method::POST, OBJECTS, &one).await.unwrap();
    assert_eq!(status, StatusCode::CREATED, "{created}");
    assert_eq!(created["spec"], json!({"size": 1, "owner": "me"}), "the size has its default");
    let (_, read) = client.send(Method::GET, &format!("{OBJECTS}/one"), &Value::Null).await.unwrap();
    assert_eq!(read, created);
    let (_, list) = client.send(Method::GET, OBJECTS, &Value::Null).await.unwrap();
    let items = list["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["metadata"]["name"]), (1, &json!("one")));
}

#[tokio::test]
async fn a_value_out_of_bounds_is_refused() {
    let (_server, client) = start();
    let large = object("large", json!({"owner": "me", "size": 101}));
    let (status, answer) = client.send(Method::POST, OBJECTS, &large).await.unwrap();
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["details"]["causes"][0]["field"], "spec.size", "{answer}");
}
