//! The whole program with encryption at rest: stored bytes, a KMS plugin in another process, and a
//! reload of the configuration.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;
#[path = "../server/encryption/tests/kms_plugin/mod.rs"]
mod kms_plugin;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{PROGRAM, Server};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kms_plugin::Plugin;
use kube::api::{Api, ObjectMeta, PostParams};

#[test]
#[ignore = "it is the plugin of the other one"]
fn serve_kms_plugin() {
    kms_plugin::serve_if_requested();
}

const SECRET_VALUE: &str = "confidential value";

/// Returns all stored bytes, by a snapshot.
fn stored(folder: &Path) -> Vec<u8> {
    let file = folder.join("snapshot");
    let data = format!("--data-dir={}", folder.join("data").display());
    let saved = common::run(Command::new(PROGRAM).args(["snapshot", "save"]).arg(&file).arg(data), b"");
    assert!(saved.ok, "{}", saved.stderr);
    std::fs::read(file).unwrap()
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

async fn get_text(client: &kube::Client, path: &str) -> Result<String, kube::Error> {
    client.request_text(http::Request::get(path).body(Vec::new()).unwrap()).await
}

/// Waits until the response for a path satisfies a condition.
async fn wait_until(client: &kube::Client, path: &str, is: impl Fn(&Result<String, kube::Error>) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is(&get_text(client, path).await) {
        assert!(Instant::now() < deadline, "{path} does not change");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn configure(folder: &Path, first: &str) -> String {
    let file = folder.join("encryption.yaml");
    let kms = format!("{{kms: {{apiVersion: v2, name: test, endpoint: '{}'}}}}", Plugin::endpoint(folder));
    let rule = format!("{{resources: [secrets], providers: [{first}{kms}, {{identity: {{}}}}]}}");
    let head = "apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration";
    std::fs::write(&file, format!("{{{head}, resources: [{rule}]}}")).unwrap();
    format!("--encryption-provider-config={}", file.display())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_encrypted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plugin = Plugin::start(folder, "key-1");
    let flags = [&*configure(folder, ""), "--encryption-provider-config-automatic-reload"];
    let server = Server::start_with(folder, &flags);
    let client = client::connect(&server).await;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "default");
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let metadata = ObjectMeta { name: Some("a".into()), ..ObjectMeta::default() };
    let text = |text: &str| Some([("key".to_owned(), text.to_owned())].into());
    let secret = Secret { metadata: metadata.clone(), string_data: text(SECRET_VALUE), ..Secret::default() };
    let secret = secrets.create(&PostParams::default(), &secret).await.unwrap();
    let map = ConfigMap { metadata, data: text("public value"), ..ConfigMap::default() };
    maps.create(&PostParams::default(), &map).await.unwrap();

    let bytes = stored(folder);
    assert!(
        contains(&bytes, "public value") && contains(&bytes, "k8s:enc:kms:v2:test:") && !contains(&bytes, SECRET_VALUE)
    );
    assert_eq!(secrets.get("a").await.unwrap(), secret);
    assert_eq!(get_text(&client, "/readyz/kms-providers").await.unwrap(), "ok");
    assert!(get_text(&client, "/livez/kms-providers").await.is_err(), "no reason to restart the server");

    // Another provider becomes the first one: an unchanged secret is re-encrypted when it is
    // written again.
    let secretbox = "{secretbox: {keys: [{name: one, secret: AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=}]}}, ";
    configure(folder, secretbox);
    let reloaded = |text: &Result<String, kube::Error>| {
        text.as_ref().is_ok_and(|text| {
            contains(text.as_bytes(), "automatic_reloads_total{") && contains(text.as_bytes(), "status=\"success\"} 1")
        })
    };
    wait_until(&client, "/metrics", reloaded).await;
    assert_eq!(secrets.get("a").await.unwrap(), secret);
    let again = secrets.replace("a", &PostParams::default(), &secret).await.unwrap();
    assert_ne!(again.metadata.resource_version, secret.metadata.resource_version);
    let unchanged = secrets.replace("a", &PostParams::default(), &again).await.unwrap();
    assert_eq!(unchanged.metadata.resource_version, again.metadata.resource_version);
    let bytes = stored(folder);
    assert!(
        contains(&bytes, "k8s:enc:secretbox:v1:one:")
            && !contains(&bytes, "k8s:enc:kms:")
            && !contains(&bytes, SECRET_VALUE)
    );

    // Without the plugin the server continues to serve, and reports it as not ready.
    drop(plugin);
    wait_until(&client, "/readyz/kms-providers", Result::is_err).await;
    assert_eq!(get_text(&client, "/livez").await.unwrap(), "ok");
    assert_eq!(secrets.get("a").await.unwrap().data, secret.data);
    drop(server);
    let server = Server::start_with(folder, &[]);
    let secrets: Api<Secret> = Api::namespaced(client::connect(&server).await, "default");
    let expect = "Internal error occurred: identity transformer tried to read encrypted data";
    assert_eq!(error_message(secrets.get("a").await), expect);
    let expect = r#"Internal error occurred: unable to transform key "/registry/secrets/default/a": identity transformer tried to read encrypted data"#;
    assert_eq!(error_message(secrets.list(&Default::default()).await), expect);
}

fn error_message<T: std::fmt::Debug>(outcome: kube::Result<T>) -> String {
    match outcome.unwrap_err() {
        kube::Error::Api(status) => status.message,
        other => panic!("{other:?}"),
    }
}
