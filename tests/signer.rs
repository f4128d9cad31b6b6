//! Service account tokens signed by an external program, at a Unix socket and with keys that the
//! server does not have.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;
#[path = "../server/grpc/tests/program/mod.rs"]
mod program;

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::{PROGRAM, Server};
use http::Request;
use kube::Client;
use kube::client::Body;
use program::{Answer, Called, serve, unary};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use tonic::Status;

#[derive(Clone, PartialEq, prost::Message)]
struct Empty {}

#[derive(Clone, PartialEq, prost::Message)]
struct Claims {
    #[prost(string, tag = "1")]
    claims: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Signed {
    #[prost(string, tag = "1")]
    header: String,
    #[prost(string, tag = "2")]
    signature: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Keys {
    #[prost(message, repeated, tag = "1")]
    keys: Vec<Key>,
    #[prost(message, optional, tag = "2")]
    data_timestamp: Option<Timestamp>,
    #[prost(int64, tag = "3")]
    refresh_hint_seconds: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Key {
    #[prost(string, tag = "1")]
    key_id: String,
    #[prost(bytes = "vec", tag = "2")]
    key: Vec<u8>,
    #[prost(bool, tag = "3")]
    exclude_from_oidc_discovery: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Timestamp {
    #[prost(int64, tag = "1")]
    seconds: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Metadata {
    #[prost(int64, tag = "1")]
    max_token_expiration_seconds: i64,
}

/// The DER prefix of a P-256 point in a `SubjectPublicKeyInfo`.
const P256: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The signer's keys; it signs with the last one. Without keys it rejects requests.
#[derive(Clone, Default)]
struct Signer(Arc<Mutex<Vec<(Key, EcdsaKeyPair)>>>);

impl Signer {
    /// Adds a key for signing. Only this key is published to clients.
    fn rotate(&self, id: &str) {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        let key = [&P256, pair.public_key().as_ref()].concat();
        let mut keys = self.0.lock().unwrap();
        keys.iter_mut().for_each(|(key, _)| key.exclude_from_oidc_discovery = true);
        keys.push((Key { key_id: id.into(), key, exclude_from_oidc_discovery: false }, pair));
    }

    fn sign(&self, claims: &Claims) -> Result<Signed, Status> {
        let keys = self.0.lock().unwrap();
        let (key, pair) = keys.last().ok_or_else(|| Status::failed_precondition("locked"))?;
        let header = json!({"alg": "ES256", "kid": key.key_id, "typ": "JWT"}).to_string();
        let header = URL_SAFE_NO_PAD.encode(header);
        let message = format!("{header}.{}", claims.claims);
        let signature = pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        Ok(Signed { header, signature: URL_SAFE_NO_PAD.encode(signature) })
    }

    async fn answer(self, request: Called) -> Answer {
        let method = request.uri().path().to_owned();
        match method.as_str() {
            "/v1.ExternalJWTSigner/Sign" => unary(request, |claims: Claims| self.sign(&claims)).await,
            "/v1.ExternalJWTSigner/FetchKeys" => {
                let keys = self.0.lock().unwrap().iter().map(|(key, _)| key.clone()).collect();
                let data_timestamp = Some(Timestamp { seconds: 1_700_000_000 });
                let keys = Keys { keys, data_timestamp, refresh_hint_seconds: 600 };
                unary(request, move |_: Empty| Ok(keys.clone())).await
            }
            "/v1.ExternalJWTSigner/Metadata" => {
                unary(request, |_: Empty| Ok(Metadata { max_token_expiration_seconds: 3600 })).await
            }
            other => Status::unimplemented(other).into_http(),
        }
    }

    fn start(&self, socket: &Path) {
        let (signer, socket) = (self.clone(), socket.to_owned());
        tokio::spawn(async move { serve(&socket, move |request| signer.clone().answer(request)).await });
    }
}

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> (u16, Value, String) {
    let request = Request::builder().method(method).uri(path).header("Content-Type", "application/json");
    let response = client.send(request.body(Body::from(body.to_string().into_bytes())).unwrap()).await.unwrap();
    let (code, headers) = (response.status().as_u16(), format!("{:?}", response.headers()));
    let text = response.into_body().collect_bytes().await.unwrap();
    let text = String::from_utf8_lossy(&text);
    (code, serde_json::from_str(&text).unwrap_or_else(|_| json!(text)), headers)
}

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

async fn issue(client: &Client, seconds: u32) -> (u16, Value, String) {
    let spec = json!({"expirationSeconds": seconds});
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec});
    send(client, "POST", &format!("{ACCOUNTS}/builder/token"), &request).await
}

/// Returns the user name of a token.
async fn user_of_token(client: &Client, token: &Value) -> Value {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
    let (code, answer, _) = send(client, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
    assert_eq!(code, 201, "{answer}");
    answer["status"]["user"]["username"].clone()
}

/// Returns the published key IDs, and the headers with their cache lifetime.
async fn published(client: &Client) -> (Vec<String>, String) {
    let (_, keys, headers) = send(client, "GET", "/openid/v1/jwks", &Value::Null).await;
    let ids = keys["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect();
    (ids, headers)
}

fn endpoint(socket: &Path) -> String {
    format!("--service-account-signing-endpoint={}", socket.display())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_signed_by_external_signer() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, signer) = (folder.path().join("signer.sock"), Signer::default());
    signer.rotate("one");
    signer.start(&socket);
    let server = Server::start_with(folder.path(), &[&endpoint(&socket)]);
    let client = client::connect(&server).await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "builder"}});
    assert_eq!(send(&client, "POST", ACCOUNTS, &account).await.0, 201);

    let (code, issued, headers) = issue(&client, 7200).await;
    assert_eq!((code, &issued["spec"]["expirationSeconds"]), (201, &json!(3600)), "{issued}");
    assert!(headers.contains("requested expiration of 7200 seconds shortened to 3600 seconds"), "{headers}");
    let first = issued["status"]["token"].clone();
    let builder = json!("system:serviceaccount:default:builder");
    assert_eq!(user_of_token(&client, &first).await, builder);
    let forged = json!(first.as_str().unwrap().rsplit_once('.').unwrap().0.to_owned() + ".AAAA");
    assert_eq!(user_of_token(&client, &forged).await, Value::Null);
    let (ids, headers) = published(&client).await;
    assert_eq!(ids, ["one"]);
    assert!(headers.contains("public, max-age=59") || headers.contains("public, max-age=600"), "{headers}");

    // A token signed with an unknown key makes the server fetch the keys.
    signer.rotate("two");
    let (code, issued, _) = issue(&client, 600).await;
    assert_eq!(code, 201, "{issued}");
    for token in [&first, &issued["status"]["token"]] {
        assert_eq!(user_of_token(&client, token).await, builder);
    }
    // The published keys are updated a moment later.
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    while published(&client).await.0 != ["two"] {
        assert!(tokio::time::Instant::now() < deadline, "{:?}", published(&client).await);
        tokio::task::yield_now().await;
    }

    signer.0.lock().unwrap().clear();
    let (code, refused, _) = issue(&client, 600).await;
    let error = "Internal error occurred: failed to generate token: while signing jwt: rpc error: code = FailedPrecondition desc = locked";
    assert_eq!((code, &refused["message"]), (500, &json!(error)));
    let (_, metrics, _) = send(&client, "GET", "/metrics", &Value::Null).await;
    for line in [
        "apiserver_externaljwt_sign_request_total{code=\"OK\"} 2\n",
        "apiserver_externaljwt_sign_request_total{code=\"FailedPrecondition\"} 1\n",
        "apiserver_externaljwt_fetch_keys_data_timestamp 1.7e+09\n",
    ] {
        assert!(metrics.as_str().unwrap().contains(line), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejects_flags_that_conflict_with_external_signer() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, signer) = (folder.path().join("signer.sock"), Signer::default());
    signer.rotate("one");
    signer.start(&socket);
    let endpoint = endpoint(&socket);
    let data = format!("--data-dir={}", folder.path().join("data").display());
    for (flag, expect) in [
        (
            "--service-account-max-token-expiration=2h",
            "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 2h0m0s > 1h0m0s",
        ),
        (
            "--service-account-signing-key-file=/key",
            "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time",
        ),
        (
            "--service-account-key-file=/key",
            "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)",
        ),
        (
            "--service-account-signing-endpoint=@a..b",
            "invalid value \"@a..b\" passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name",
        ),
    ] {
        let mut command = Command::new(PROGRAM);
        command.args(["--secure-port=0", &data, &endpoint, flag]);
        let refused = tokio::task::block_in_place(|| common::run(&mut command, b""));
        assert!(!refused.ok && refused.stderr.contains(expect), "{flag}: {}", refused.stderr);
    }
}
