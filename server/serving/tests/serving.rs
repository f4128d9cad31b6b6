//! Requests over HTTPS to a complete server on a free port.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use authz::AlwaysDeny;
use authz::rbac::{RbacPolicy, RuleSource};
use options::Options;
use request::handler::FromFn;
use request::{Body, BoxFuture, Handler, Request, RequestExt, Response};
use reqwest::{Certificate, Client, Identity, StatusCode, Version};
use serde_json::Value;
use serving::shutdown::Shutdown;
use serving::{Access, Handlers, Server};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

const TOKENS: &str = "admintoken,admin,uid-admin,\"system:masters\"\nalicetoken,alice,uid-alice,\"dev\"\n";

struct Running {
    url: String,
    address: std::net::SocketAddr,
    directory: TempDir,
    shutdown: Shutdown,
    ended: tokio::task::JoinHandle<Result<(), serving::Error>>,
}

/// Responds with user, verb and resource, and whether the request has an Authorization header.
fn echo() -> impl Handler {
    FromFn(|request: Request| {
        let (info, user) = (request.info().unwrap(), request.user().unwrap());
        Response::new(Body::full(format!(
            "{} {} {} {}",
            user.name,
            info.verb,
            info.resource,
            request.headers().contains_key("authorization")
        )))
    })
}

fn start(flags: &[&str], handler: impl Handler + 'static) -> Running {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let required = [
        format!("--data-dir={}", directory.path().join("data").display()),
        "--secure-port=0".into(),
        format!("--token-auth-file={}", file("tokens.csv", TOKENS)),
        format!(
            "--service-account-signing-key-file={}",
            file("sa.pem", &rcgen::KeyPair::generate().unwrap().serialize_pem())
        ),
    ];
    let args =
        std::iter::once("kube-apiserver".to_owned()).chain(required).chain(flags.iter().map(|f| (*f).to_owned()));
    let server = Server::prepare(Options::parse_from(args).unwrap()).unwrap();
    let (address, shutdown) = (server.address().unwrap(), server.shutdown.clone());
    let roles: Arc<dyn RuleSource> = Arc::new(RbacPolicy::default());
    let authorizer = server.authorizer(roles.clone(), || Ok(Arc::new(AlwaysDeny) as _)).unwrap();
    let access = Access { authentication: server.authentication().unwrap(), authorizer, roles };
    let handlers = Handlers { handler: Arc::new(handler), paths: Box::new(Vec::new), access };
    let ended = tokio::spawn(server.run(handlers));
    Running { url: format!("https://127.0.0.1:{}", address.port()), address, directory, shutdown, ended }
}

fn pki(running: &Running, file: &str) -> Vec<u8> {
    std::fs::read(running.directory.path().join("data/pki").join(file)).unwrap()
}

/// A client that trusts the server, with the client certificate of this name, if any.
fn client(running: &Running, certificate: Option<&str>) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .tls_built_in_root_certs(false)
        .add_root_certificate(Certificate::from_pem(&pki(running, "ca.crt")).unwrap());
    match certificate {
        Some(name) => {
            let pem = [pki(running, &format!("{name}.crt")), pki(running, &format!("{name}.key"))].concat();
            builder.identity(Identity::from_pem(&pem).unwrap()).build().unwrap()
        }
        None => builder.build().unwrap(),
    }
}

async fn get(running: &Running, client: &Client, path: &str, token: &str) -> (StatusCode, String) {
    let request = client.get(format!("{}{path}", running.url));
    let request = if token.is_empty() { request } else { request.bearer_auth(token) };
    let response = request.send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn serves_http1_and_http2() {
    let running = start(&[], echo());
    let root = || Certificate::from_pem(&pki(&running, "ca.crt")).unwrap();
    client(&running, None);
    for (client, version) in [
        (Client::builder().http1_only().add_root_certificate(root()).build().unwrap(), Version::HTTP_11),
        (Client::builder().add_root_certificate(root()).build().unwrap(), Version::HTTP_2),
    ] {
        let response =
            client.get(format!("{}/api/v1/pods", running.url)).bearer_auth("admintoken").send().await.unwrap();
        assert_eq!(response.version(), version);
        assert_eq!(response.headers()["cache-control"], "no-cache, private");
        assert_eq!(response.headers()["audit-id"].len(), 36);
        assert_eq!(response.text().await.unwrap(), "admin list pods false");
    }
}

#[tokio::test]
async fn authenticates_and_authorizes_requests() {
    let running = start(&[], echo());
    let (anonymous, admin) = (client(&running, None), client(&running, Some("admin")));
    assert_eq!(
        get(&running, &admin, "/api/v1/pods", "").await,
        (StatusCode::OK, "kubernetes-admin list pods false".into())
    );
    assert_eq!(get(&running, &anonymous, "/healthz", "wrong").await.0, StatusCode::UNAUTHORIZED);
    for (path, token, message) in [
        (
            "/api/v1/pods",
            "alicetoken",
            r#"pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope"#,
        ),
        ("/version", "", r#"forbidden: User "system:anonymous" cannot get path "/version""#),
    ] {
        let (code, text) = get(&running, &anonymous, path, token).await;
        let status: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((code, status["message"].as_str().unwrap()), (StatusCode::FORBIDDEN, message));
    }
    let impersonated = anonymous.get(format!("{}/api/v1/pods", running.url)).bearer_auth("admintoken");
    let impersonated = impersonated
        .header("Impersonate-User", "carol")
        .header("Impersonate-Group", "system:masters")
        .send()
        .await
        .unwrap();
    assert_eq!(impersonated.text().await.unwrap(), "carol list pods false");
}

#[tokio::test]
async fn replies_401_to_certificate_of_unknown_authority() {
    let running = start(&[], echo());
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, "foreign");
    let pem = params.self_signed(&key).unwrap().pem() + &key.serialize_pem();
    client(&running, None);
    let root = Certificate::from_pem(&pki(&running, "ca.crt")).unwrap();
    let foreign = Client::builder()
        .add_root_certificate(root)
        .identity(Identity::from_pem(pem.as_bytes()).unwrap())
        .build()
        .unwrap();
    assert_eq!(get(&running, &foreign, "/healthz", "").await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(
        get(&running, &foreign, "/api/v1/pods", "admintoken").await,
        (StatusCode::OK, "admin list pods false".into())
    );
}

#[tokio::test]
async fn serves_system_paths() {
    let running = start(&[], echo());
    let admin = client(&running, Some("admin"));
    assert_eq!(get(&running, &admin, "/readyz", "").await, (StatusCode::OK, "ok".into()));
    assert!(get(&running, &admin, "/livez?verbose", "").await.1.ends_with("livez check passed\n"));
    let version: Value = serde_json::from_str(&get(&running, &admin, "/version", "").await.1).unwrap();
    assert_eq!(
        (&version["major"], &version["minor"], &version["gitVersion"]),
        (&"1".into(), &"36".into(), &"v1.36.2".into())
    );
    assert!(get(&running, &admin, "/metrics", "").await.1.contains("apiserver_request_total{"));
}

#[tokio::test]
async fn replies_400_to_plain_http() {
    let running = start(&[], echo());
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut response = String::new();
    // The server closes the connection with unread data, which may reset it after the response.
    let _ = stream.read_to_string(&mut response).await;
    assert_eq!(response, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
    let admin = client(&running, Some("admin"));
    while !get(&running, &admin, "/metrics", "").await.1.contains("apiserver_tls_handshake_errors_total 1\n") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn kubeconfig_has_address_of_server() {
    let running = start(&[], echo());
    get(&running, &client(&running, None), "/", "").await;
    let text = std::fs::read_to_string(running.directory.path().join(Path::new("data/admin.kubeconfig"))).unwrap();
    assert!(text.contains(&format!("server: {}\n", running.url)), "{text}");
}

/// Signals the first `Notify` when a request arrives, and responds when the second is signalled.
///
/// The response to a watch has a body that never ends.
struct Slow(Arc<Notify>, Arc<Notify>);

impl Handler for Slow {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            self.0.notify_one();
            if request.info().is_some_and(|info| info.is_long_running()) {
                let forever =
                    futures_util::stream::pending::<Result<http_body::Frame<bytes::Bytes>, request::BodyError>>();
                return Response::new(Body::stream(http_body_util::StreamBody::new(forever)));
            }
            self.1.notified().await;
            Response::new(Body::full("done"))
        })
    }
}

#[tokio::test]
async fn shutdown_waits_for_requests() {
    let (entered, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let running = start(&[], Slow(Arc::clone(&entered), Arc::clone(&release)));
    let admin = client(&running, Some("admin"));
    let request = |path: &str| tokio::spawn(admin.get(format!("{}{path}", running.url)).send());
    let slow = request("/api/v1/pods");
    entered.notified().await;
    let watch = request("/api/v1/pods?watch=1").await.unwrap().unwrap();
    entered.notified().await;
    running.shutdown.initiate();
    assert_eq!(watch.text().await.unwrap(), "");
    release.notify_one();
    assert_eq!(slow.await.unwrap().unwrap().text().await.unwrap(), "done");
    tokio::time::timeout(Duration::from_secs(30), running.ended).await.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(running.address).await.is_err());
}
