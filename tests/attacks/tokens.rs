//! Tokens that are nearly right (NCC 2022 TTV and PCK), and tokens that are bound to an object which is gone (ToB 2019).

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, JSON, Target, answer, token};

const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
/// How long a token may count after its object is gone: answers about tokens are remembered for ten seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The code of a review of oneself with this token: 201 or 401.
async fn review(target: &Target, token: &str) -> u16 {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let request = target.http().post(format!("{}{SELF}", target.server.url)).header("Content-Type", JSON);
    answer(request.bearer_auth(token).body(review)).await.code
}

/// A token of a service account, bound to an object when one is named.
async fn issue(target: &Target, account: &str, object: Option<Value>) -> String {
    let mut request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    if let Some(object) = object {
        request["spec"]["boundObjectRef"] = object;
    }
    let issued = target.create(&format!("{ACCOUNTS}/{account}/token"), &request).await;
    issued["status"]["token"].as_str().unwrap().to_owned()
}

/// All texts that differ from a token in one place: another character, one less at the end, one more on either side.
fn neighbours(token: &str) -> Vec<String> {
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

/// NCC 2022 TTV, PCK: only the whole token authenticates, of every kind. That the time of a comparison says nothing cannot be
/// shown on a busy machine; it holds because secrets are found by salted hash or compared by the crate `subtle`.
#[tokio::test]
async fn no_token_that_is_nearly_right_authenticates() {
    let target = Target::start(&["--enable-bootstrap-token-auth"]);
    target.create_default_account().await;
    let bootstrap = target.create_bootstrap_token().await;
    let issued = issue(&target, "default", None).await;
    for token in [token(ADMIN), bootstrap, issued] {
        let begin = Instant::now();
        while review(&target, &token).await != 201 {
            assert!(begin.elapsed() < PATIENCE, "the right token does not authenticate");
        }
        for wrong in neighbours(&token) {
            assert_eq!(review(&target, &wrong).await, 401, "{wrong} for {token}");
        }
    }
    target.assert_alive().await;
}

/// Deletes an object and creates it again under its name, and waits until the token is refused.
async fn replace(target: &Target, path: &str, object: &Value, token: &str) {
    let (folder, _) = path.rsplit_once('/').unwrap();
    let deleted = target.send(ADMIN, Method::DELETE, &format!("{path}?gracePeriodSeconds=0"), JSON, "").await;
    assert_eq!(deleted.code, 200, "{}", deleted.body);
    target.create(folder, object).await;
    let begin = Instant::now();
    while review(target, token).await != 401 {
        assert!(begin.elapsed() < PATIENCE, "the token outlives {path}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// ToB 2019, revocation: a token ends with its account, and with the secret, pod or node that it is bound to; a new object of the
/// same name does not revive it.
#[tokio::test]
async fn tokens_end_with_the_objects_that_they_are_bound_to() {
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
