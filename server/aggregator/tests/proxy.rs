//! Proxies requests through the aggregator to an HTTPS server, and checks the bytes on both sides.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../../../tests/common/tls_server.rs"]
mod tls_server;

use std::sync::Arc;

use aggregator::{AggregatedServers, Aggregator};
use endpoints::{AggregatedServer, Discovery, Registration};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use request::handler::FromFn;
use request::{Body, Handler, RequestInfo, User, respond};
use tls_server::TlsServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use webhook::{Error, ServiceAddress, Services};

struct At(String);

impl ServiceAddress for At {
    fn resolve(&self, _: &str, name: &str, _: i32) -> Result<String, Error> {
        if name == "back" { Ok(self.0.clone()) } else { Err(Error::Service("service not found".into())) }
    }
}

/// Starts an aggregated server `back.default.svc`. Returns its address and certificate.
async fn backend() -> (String, Vec<u8>) {
    let server = TlsServer::start("127.0.0.1", &["back.default.svc"], answer).await;
    (format!("127.0.0.1:{}", server.port), server.certificate.into_bytes())
}

/// Responds to one request, depending on its path.
async fn answer(mut stream: TlsStream<TcpStream>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let path = head.split(' ').nth(1).unwrap();
    let text = |code: &str, headers: &str, body: &str| {
        format!("HTTP/1.1 {code}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let list = r#"{"kind":"APIResourceList","resources":[{"name":"things","namespaced":true,"kind":"Thing","verbs":["get"]}]}"#;
    let answer = match path.split('?').next().unwrap().rsplit('/').next().unwrap() {
        "v1" => text("200 OK", "Content-Type: application/json\r\n", list),
        "echo" => text("200 OK", "Access-Control-Allow-Origin: *\r\nKeep-Alive: 5\r\n", &head),
        "moved" => text("302 Found", "Location: https://elsewhere.example.com/\r\n", ""),
        "same" => text("304 Not Modified", "ETag: \"1\"\r\n", ""),
        "refused" => text("403 Forbidden", "", "no"),
        "attach" => "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n".into(),
        _ => text("404 Not Found", "", ""),
    };
    stream.write_all(answer.as_bytes()).await.unwrap();
    if answer.contains(" 101 ") {
        let mut received = [0; 5];
        stream.read_exact(&mut received).await.unwrap();
        stream.write_all(&received.to_ascii_uppercase()).await.unwrap();
    }
    let _ = stream.shutdown().await;
}

/// Creates a front proxy where every client is `jane`, with `shop/v1` at a backend.
async fn front(change: impl Fn(&mut AggregatedServer)) -> (Arc<Aggregator>, Arc<Discovery>, Arc<AggregatedServers>) {
    let (address, certificate) = backend().await;
    let mut back = AggregatedServer {
        namespace: "default".into(),
        name: "back".into(),
        port: 443,
        ca_bundle: certificate,
        insecure: false,
        available: true,
    };
    change(&mut back);
    let discovery = Arc::new(Discovery::default());
    discovery.registrations().replace(vec![registration(back)]);
    let backends = Arc::new(AggregatedServers::new(Arc::new(Services::new(Arc::new(At(address)))), None));
    let next = Arc::new(FromFn(|_| respond::not_found()));
    (Arc::new(Aggregator::new(discovery.clone(), backends.clone(), true, next)), discovery, backends)
}

fn registration(back: AggregatedServer) -> Registration {
    Registration {
        group: "shop".into(),
        version: "v1".into(),
        group_priority: 100,
        version_priority: 1,
        backend: Some(Arc::new(back)),
    }
}

/// Opens a connection to the front proxy.
fn connect(front: &Arc<Aggregator>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let front = front.clone();
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let front = front.clone();
        async move {
            let mut request = request.map(Body::from);
            let info = RequestInfo::new(request.method(), request.uri()).unwrap();
            request.extensions_mut().insert(Arc::new(info));
            request.extensions_mut().insert(Arc::new(User::new("jane", ["dev"])));
            Ok::<_, std::convert::Infallible>(front.handle(request).await)
        }
    });
    tokio::spawn(async move {
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(theirs), service);
        let _ = connection.with_upgrades().await;
    });
    ours
}

async fn get(front: &Arc<Aggregator>, path: &str, headers: &str) -> String {
    let mut connection = connect(front);
    let request = format!("GET {path} HTTP/1.1\r\nHost: front\r\n{headers}\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

const CLOSE: &str = "Connection: close\r\n";
const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: shout\r\n";

#[tokio::test]
async fn proxies_requests() {
    let (front, ..) = front(|_| ()).await;
    let forged = "X-Remote-Group: system:masters\r\nTE: trailers\r\nConnection: close\r\n";
    let echo = get(&front, "/apis/shop/v1/echo?a=b", forged).await;
    let (head, body) = echo.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200") && !head.contains("access-control") && !head.contains("keep-alive"),
        "{head}"
    );
    for (line, there) in [
        ("get /apis/shop/v1/echo?a=b http/1.1", true),
        ("x-remote-user: jane", true),
        ("x-remote-group: dev", true),
        ("system:masters", false),
        ("te: trailers", false),
        ("host: front", false),
        ("x-forwarded-proto: https", true),
    ] {
        assert_eq!(body.contains(line), there, "{line} in {body}");
    }
    for (path, headers, expect) in [
        ("/apis/other/v1/echo", CLOSE, "HTTP/1.1 404"),
        ("/apis/shop", CLOSE, "HTTP/1.1 404"),
        ("/apis/shop/v1/same", CLOSE, "HTTP/1.1 304"),
        // CVE-2022-3172: redirects do not reach clients.
        ("/apis/shop/v1/moved", CLOSE, "HTTP/1.1 502"),
        // CVE-2018-1002105: a response without an upgrade closes the connection.
        ("/apis/shop/v1/refused", UPGRADE, "HTTP/1.1 403"),
        ("/apis/shop/v1/echo", UPGRADE, "HTTP/1.1 503"),
    ] {
        let answer = get(&front, path, headers).await;
        assert!(answer.starts_with(expect) && !answer.contains("elsewhere"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn relays_upgraded_connections() {
    let (front, ..) = front(|_| ()).await;
    let mut connection = connect(&front);
    let request = format!("GET /apis/shop/v1/attach HTTP/1.1\r\nHost: front\r\n{UPGRADE}\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(connection.read_u8().await.unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"));
    connection.write_all(b"hello").await.unwrap();
    let mut received = Vec::new();
    connection.read_to_end(&mut received).await.unwrap();
    assert_eq!(received, b"HELLO");
}

#[tokio::test]
async fn unreachable_servers_return_503() {
    type Change = fn(&mut AggregatedServer);
    for (change, expect) in [
        ((|back| back.available = false) as Change, "\r\n\r\nservice unavailable\n"),
        (|back| back.name = "gone".into(), "\r\n\r\nservice unavailable\n"),
        (|back| back.ca_bundle.clear(), "x509: certificate signed by unknown authority\n"),
    ] {
        let (front, ..) = front(change).await;
        let answer = get(&front, "/apis/shop/v1/things", CLOSE).await;
        assert!(answer.starts_with("HTTP/1.1 503") && answer.ends_with(expect), "{answer}");
    }
}

#[tokio::test]
async fn discovers_resources_of_servers() {
    let (_, discovery, backends) = front(|_| ()).await;
    let registered = discovery.registrations().current();
    let registration = registered.group("shop").unwrap()[0].clone();
    backends.probe(&registration).await.unwrap();
    let elsewhere = Registration { version: "v2".into(), ..registration };
    let why = backends.probe(&elsewhere).await.unwrap_err().to_string();
    assert!(
        why.starts_with("failing or missing response from https://127.0.0.1:") && why.ends_with("/apis/shop/v2: 404"),
        "{why}"
    );
    // The server has no aggregated discovery, so its resource list is requested.
    tokio::spawn(aggregator::follow(discovery.clone(), backends));
    loop {
        let known: serde_json::Value = serde_json::from_slice(&discovery.aggregated(false, true).text).unwrap();
        let versions = &known["items"][0]["versions"][0];
        if versions["freshness"] == "Current" {
            assert_eq!(versions["resources"][0]["resource"], "things");
            return;
        }
        tokio::task::yield_now().await;
    }
}
