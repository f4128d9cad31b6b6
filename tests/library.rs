//! The server as a library within a test process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use http::Method;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use kube_apiserver::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn server_runs_within_test_process() {
    let server = TestServer::start().unwrap();
    let client = server.client().unwrap();
    let path = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let (status, created) = client.send(Method::POST, path, &map).await.unwrap();
    assert_eq!((status.as_u16(), &created["data"]["k"]), (201, &json!("v")));
    let (status, refused) = client.send(Method::POST, path, &map).await.unwrap();
    assert_eq!((status.as_u16(), &refused["reason"]), (409, &json!("AlreadyExists")));
    let whole = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}});
    let applied = client.send(Method::PATCH, &format!("{path}/b?fieldManager=test"), &whole).await.unwrap();
    assert_eq!(applied.0.as_u16(), 201);

    // The client of the crate `kube`.
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(config).unwrap());
    assert_eq!(maps.get("a").await.unwrap().data.unwrap()["k"], "v");
}

#[tokio::test]
async fn servers_are_independent_and_stop_on_drop() {
    let (one, other) = (TestServer::start().unwrap(), TestServer::start().unwrap());
    let of = |server: &apiserver::InProcess| server.client().unwrap();
    let (first, second) = (of(&one), of(&other));
    let path = "/api/v1/namespaces/default/configmaps";
    first.send(Method::POST, path, &json!({"metadata": {"name": "a"}})).await.unwrap();
    let (status, _) = second.send(Method::GET, &format!("{path}/a"), &Value::Null).await.unwrap();
    assert_eq!(status.as_u16(), 404);
    let folder = one.kubeconfig().parent().unwrap().to_owned();
    drop(one);
    assert!(first.send(Method::GET, path, &Value::Null).await.is_err() && !folder.exists());
    assert_eq!(second.send(Method::GET, path, &Value::Null).await.unwrap().0.as_u16(), 200);
}
