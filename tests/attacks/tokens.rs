//! Altered tokens (NCC 2022 TTV and PCK), and tokens that are bound to a deleted object (ToB 2019).

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, JSON, Target, answer, token};

const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
/// How long a token may authenticate after its object is deleted: authentication results are cached
/// for ten seconds.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the code of a self review with this token: 201 or 401.
async fn review(target: &Target, token: &str) -> u16 {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let request = target.http().post(format!("{}{SELF}", target.server.url)).header("Content-Type", JSON);
    answer(request.bearer_auth(token).body(review)).await.code
}

/// Issues a token of a service account, bound to an object when one is given.
async fn issue(target: &Target, account: &str, object: Option<Value>) -> String {
    let mut request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    if let Some(object) = object {
        request["spec"]["boundObjectRef"] = object;
    }
    let issued = target.create(&format!("{ACCOUNTS}/{account}/token"), &request).await;
    issued["status"]["token"].as_str().unwrap().to_owned()
}

/// Returns all texts that differ from a token in one place: one changed character, one missing, one
/// more on either side.
fn altered_tokens(token: &str) -> Vec<String> {
    let changed = |at: usize| {
        let mut bytes = token.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let places = (0..token.len()).step_by((token.len() / 40).max(1)).chain([token.len() - 3]);
    let mut all: Vec<String> = places.map(changed).collect();
    all.extend([token[..token.len() - 1].to_owned(), format!("{token}x"), format!("x{token}")]);
    all.extend([token.to_uppercase(), token.to_lowercase()].into_iter().filter(|other| other != token));
    all
}

/// NCC 2022 TTV, PCK: only the exact token authenticates, for every token type.
///
/// The test cannot show on a busy machine that comparison times leak nothing. That holds because
/// secrets are looked up by salted hash or compared by the crate `subtle`.
#[tokio::test]
async fn altered_tokens_do_not_authenticate() {
    let target = Target::start(&["--enable-bootstrap-token-auth"]);
    target.create_default_account().await;
    let bootstrap = target.create_bootstrap_token().await;
    let issued = issue(&target, "default", None).await;
    for token in [token(ADMIN), bootstrap, issued] {
        let begin = Instant::now();
        while review(&target, &token).await != 201 {
            assert!(begin.elapsed() < TIMEOUT, "the right token does not authenticate");
        }
        for wrong in altered_tokens(&token) {
            assert_eq!(review(&target, &wrong).await, 401, "{wrong} for {token}");
        }
    }
    target.assert_alive().await;
}

/// Deletes an object, recreates it under its name, and waits until the token is rejected.
async fn replace(target: &Target, path: &str, object: &Value, token: &str) {
    let (folder, _) = path.rsplit_once('/').unwrap();
    let deleted = target.send(ADMIN, Method::DELETE, &format!("{path}?gracePeriodSeconds=0"), JSON, "").await;
    assert_eq!(deleted.code, 200, "{}", deleted.body);
    target.create(folder, object).await;
    let begin = Instant::now();
    while review(target, token).await != 401 {
        assert!(begin.elapsed() < TIMEOUT, "the token outlives {path}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// ToB 2019, revocation: a token ends with its account, and with the secret, pod or node that it is
/// bound to.
///
/// A new object of the same name does not revive it.
#[tokio::test]
async fn tokens_expire_with_bound_objects() {
    let target = Target::start(&[]);
    let account = json!({"metadata": {"name": "default"}});
    target.create(ACCOUNTS, &account).await;
    let pod = json!({"metadata": {"name": "bound"}, "spec": {"nodeName": "bound",
        "automountServiceAccountToken": false, "containers": [{"name": "main", "image": "nginx"}]}});
    let named = json!({"metadata": {"name": "bound"}});
    for (kind, path, object) in [
        ("Secret", "/api/v1/namespaces/default/secrets/bound", &named),
        ("Node", "/api/v1/nodes/bound", &named),
        ("Pod", "/api/v1/namespaces/default/pods/bound", &pod),
    ] {
        target.create(path.rsplit_once('/').unwrap().0, object).await;
        let reference = json!({"apiVersion": "v1", "kind": kind, "name": "bound"});
        let token = issue(&target, "default", Some(reference)).await;
        assert_eq!(review(&target, &token).await, 201, "{kind}");
        replace(&target, path, object, &token).await;
    }
    let token = issue(&target, "default", None).await;
    assert_eq!(review(&target, &token).await, 201);
    replace(&target, &format!("{ACCOUNTS}/default"), &account, &token).await;
    target.assert_alive().await;
}
