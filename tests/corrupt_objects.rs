//! Undecryptable objects: which errors report them, and how they are deleted
//! (`AllowUnsafeMalformedObjectDeletion`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::path::Path;

use common::Server;
use common::wire::{Connection, Request};
use serde_json::{Value, json};

const ADMIN: &str = "admins-token-c1d2";
const BOB: &str = "bobs-token-e3f4";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const OPTION: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";
const GATE: &str = "--feature-gates=AllowUnsafeMalformedObjectDeletion=true";
const KEYS: [&str; 2] =
    ["AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=", "IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE="];

/// Starts a server that encrypts secrets with a key and has no other key.
fn start(folder: &Path, key: &str, flags: &[&str]) -> Server {
    let (tokens, file) = (folder.join("tokens.csv"), folder.join("encryption.yaml"));
    std::fs::write(&tokens, format!("{ADMIN},admin,1,system:masters\n{BOB},bob,2\n")).unwrap();
    let provider = format!("{{secretbox: {{keys: [{{name: one, secret: {key}}}]}}}}");
    let head = "apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration";
    std::fs::write(&file, format!("{{{head}, resources: [{{resources: [secrets], providers: [{provider}]}}]}}"))
        .unwrap();
    let own = [
        format!("--token-auth-file={}", tokens.display()),
        format!("--encryption-provider-config={}", file.display()),
        "--authorization-mode=RBAC".to_owned(),
    ];
    let flags: Vec<&str> = own.iter().map(String::as_str).chain(flags.iter().copied()).collect();
    Server::start_with(folder, &flags)
}

async fn send(server: &Server, token: &str, method: &str, target: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = Connection::new(server).send(Request::json(token, method, target, &body)).await;
    (answer.code, answer.json())
}

/// Creates secrets that the next server cannot decrypt, and lets bob delete secrets.
async fn prepare(folder: &Path) {
    let server = start(folder, KEYS[0], &[]);
    for name in ["a", "b"] {
        // Without the unsafe option, a finalizer would delay the deletion.
        let secret = json!({"metadata": {"name": name, "finalizers": ["example.com/hold"]}, "stringData": {"k": "v"}});
        assert_eq!(send(&server, ADMIN, "POST", SECRETS, secret).await.0, 201);
    }
    let rules =
        json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "delete", "deletecollection"]}]);
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let role = json!({"metadata": {"name": "bob"}, "rules": rules});
    assert_eq!(send(&server, ADMIN, "POST", &format!("{roles}/roles"), role).await.0, 201);
    let of = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "bob"});
    let binding = json!({"metadata": {"name": "bob"}, "roleRef": of, "subjects": [{"kind": "User", "name": "bob"}]});
    assert_eq!(send(&server, ADMIN, "POST", &format!("{roles}/rolebindings"), binding).await.0, 201);
    assert!(server.stop());
}

fn message(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["message"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn undecryptable_objects_are_reported_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path()).await;
    let server = start(folder.path(), KEYS[1], &[GATE]);
    let a = format!("{SECRETS}/a");
    let unread = send(&server, BOB, "GET", &a, Value::Null).await;
    let (_, reason) = message(&unread).1.rsplit_once("transformable revision=0: ").unwrap();
    let error = |key: &str| {
        format!(
            "StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: \
             data from the storage is not transformable revision=0: {reason}"
        )
    };
    assert_eq!(message(&unread), (500, &*format!("Internal error occurred: {}", error("/secrets/default/a"))));
    // A list reports all of them.
    let listed = send(&server, BOB, "GET", SECRETS, Value::Null).await;
    assert_eq!(message(&listed), (500, "failed to read one or more secrets from the storage"));
    let cause = |key: &str| json!({"reason": "UnexpectedServerResponse", "message": error(key), "field": key});
    let causes = json!([cause("/registry/secrets/default/a"), cause("/registry/secrets/default/b")]);
    let details = json!({"name": "list", "kind": "secrets", "causes": causes});
    assert_eq!((&listed.1["reason"], &listed.1["details"]), (&json!("StorageReadError"), &details));
    // The deletion requires the explicit option and the right to use it.
    assert_eq!(send(&server, ADMIN, "DELETE", &a, Value::Null).await.0, 500);
    let refused = send(&server, BOB, "DELETE", &a, json!({ OPTION: true })).await;
    let expect = "secrets \"a\" is forbidden: not permitted to do \"unsafe-delete-ignore-read-errors\", reason: ";
    assert!(refused.0 == 403 && message(&refused).1.starts_with(expect), "{refused:?}");
    let both = send(&server, ADMIN, "DELETE", &a, json!({ OPTION: true, "gracePeriodSeconds": 0 })).await;
    assert!(both.0 == 422 && message(&both).1.ends_with("cannot be set together with .gracePeriodSeconds"), "{both:?}");
    let all = send(&server, ADMIN, "DELETE", SECRETS, json!({ OPTION: true })).await;
    assert!(all.0 == 422 && message(&all).1.contains("is not allowed with DELETECOLLECTION"), "{all:?}");
    let done = send(&server, ADMIN, "DELETE", &a, json!({ OPTION: true })).await;
    assert_eq!((done.0, &done.1["details"]), (200, &json!({"name": "a", "kind": "Secret"})));
    assert_eq!(send(&server, ADMIN, "GET", &a, Value::Null).await.0, 404);
    let audited = server.audit_log();
    assert!(audited.contains(r#""apiserver.k8s.io/unsafe-delete-ignore-read-error":"""#), "{audited}");
    // The option does not delete readable objects; the list works again without the undecryptable
    // ones.
    assert_eq!(send(&server, ADMIN, "DELETE", &format!("{SECRETS}/b?{OPTION}=true"), Value::Null).await.0, 200);
    let secret = json!({"metadata": {"name": "c"}});
    assert_eq!(send(&server, ADMIN, "POST", SECRETS, secret).await.0, 201);
    let refused = send(&server, ADMIN, "DELETE", &format!("{SECRETS}/c"), json!({ OPTION: true })).await;
    assert!(refused.0 == 422 && message(&refused).1.contains("is exclusively used to delete corrupt object(s)"));
    let listed = send(&server, BOB, "GET", SECRETS, Value::Null).await;
    assert_eq!((listed.0, listed.1["items"].as_array().map(Vec::len)), (200, Some(1)));
}

#[tokio::test]
async fn option_is_ignored_without_feature_gate() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path()).await;
    let server = start(folder.path(), KEYS[1], &[]);
    let options = json!({ OPTION: true, "gracePeriodSeconds": 0 });
    assert_eq!(send(&server, ADMIN, "DELETE", &format!("{SECRETS}/a"), options.clone()).await.0, 500);
    let secret = json!({"metadata": {"name": "c"}});
    assert_eq!(send(&server, ADMIN, "POST", SECRETS, secret).await.0, 201);
    assert_eq!(send(&server, ADMIN, "DELETE", &format!("{SECRETS}/c"), options).await.0, 200);
}
