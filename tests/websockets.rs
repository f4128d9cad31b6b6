//! Watches through WebSockets, for clients that cannot read a response incrementally, such as
//! browsers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::Server;
use common::wire::{Connection, Request};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

const TOKEN: &str = "admins-token-77aa";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=1";
const JSON: &str = "Accept: application/json";
/// WebSocket headers of a valid upgrade, besides those of every upgrade.
const WEBSOCKET_HEADERS: [&str; 3] =
    ["Sec-WebSocket-Version: 13", "Origin: http://x", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
const TIMEOUT: Duration = Duration::from_secs(60);

type Socket = WebSocketStream<TlsStream<TcpStream>>;

struct Cluster {
    server: Server,
    _folder: TempDir,
}

impl Cluster {
    fn start(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.csv");
        std::fs::write(&tokens, format!("{TOKEN},admin,1,system:masters\n")).unwrap();
        let token_flag = format!("--token-auth-file={}", tokens.display());
        let flags: Vec<&str> = flags.iter().copied().chain([token_flag.as_str()]).collect();
        Cluster { server: Server::start_with(folder.path(), &flags), _folder: folder }
    }

    async fn send(&self, method: &str, target: &str, body: &str) -> (u16, String) {
        let answer = Connection::new(&self.server).send(Request::json(TOKEN, method, target, body)).await;
        (answer.code, answer.text())
    }

    async fn create(&self, name: &str) {
        let map = json!({"metadata": {"name": name}, "data": {"k": "v"}}).to_string();
        assert_eq!(self.send("POST", MAPS, &map).await.0, 201);
    }

    /// Sends an upgrade with these headers; returns the response head, the bytes after it, and the
    /// connection.
    async fn upgrade(&self, target: &str, headers: &[&str]) -> (String, Vec<u8>, TlsStream<TcpStream>) {
        let mut stream = Connection::new(&self.server).open().await;
        let fixed = ["Host: localhost", "Upgrade: websocket", "Connection: Upgrade"];
        let lines = fixed.iter().chain(headers).map(|line| format!("{line}\r\n")).collect::<String>();
        stream.write_all(format!("GET {target} HTTP/1.1\r\n{lines}\r\n").as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        let mut received = Vec::new();
        loop {
            if let Some(at) = received.windows(4).position(|end| end == b"\r\n\r\n") {
                let rest = received.split_off(at + 4);
                return (String::from_utf8(received).unwrap().to_ascii_lowercase(), rest, stream);
            }
            let read = tokio::time::timeout(TIMEOUT, stream.read_buf(&mut received)).await;
            assert!(read.unwrap().unwrap() > 0, "the connection ended before the answer");
        }
    }

    /// Starts a watch through a WebSocket, with further headers.
    async fn watch(&self, target: &str, headers: &[&str]) -> Socket {
        let token = format!("Authorization: Bearer {TOKEN}");
        let all: Vec<&str> = WEBSOCKET_HEADERS.iter().chain(headers).copied().chain([token.as_str()]).collect();
        let (head, rest, stream) = self.upgrade(target, &all).await;
        assert!(head.starts_with("http/1.1 101 "), "{head}");
        assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"), "{head}");
        WebSocketStream::from_partially_read(stream, rest, Role::Client, None).await
    }

    /// Returns the value of a metric for watches of config maps.
    async fn metric(&self, name: &str) -> String {
        let (_, text) = self.send("GET", "/metrics", "").await;
        let is_meant = |line: &&str| {
            line.starts_with(name) && line.contains("resource=\"configmaps\"") && line.contains("verb=\"WATCH\"")
        };
        text.lines().find(is_meant).and_then(|line| line.rsplit(' ').next()).unwrap_or_default().to_owned()
    }

    async fn await_metric(&self, name: &str, value: &str) {
        let reached = async { while self.metric(name).await != value {} };
        tokio::time::timeout(TIMEOUT, reached).await.unwrap_or_else(|_| panic!("{name} is not {value}"));
    }

    /// Returns the status codes of ended watches of config maps, from the audit log.
    fn audited_codes(&self) -> Vec<u64> {
        let events = self.server.audit_log();
        let events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_last = |event: &Value| {
            let uri = event["requestURI"].as_str().unwrap_or_default();
            event["stage"] == "ResponseComplete" && uri.starts_with(WATCH)
        };
        events.filter(is_last).map(|event| event["responseStatus"]["code"].as_u64().unwrap_or_default()).collect()
    }
}

async fn next(socket: &mut Socket) -> Message {
    tokio::time::timeout(TIMEOUT, socket.next()).await.expect("a message").unwrap().unwrap()
}

/// Returns the next event: its type, and its object.
async fn event(socket: &mut Socket) -> (String, Value) {
    let Message::Text(text) = next(socket).await else { panic!("events in JSON are text") };
    let mut event: Value = serde_json::from_str(&text).unwrap();
    (event["type"].as_str().unwrap().to_owned(), event["object"].take())
}

/// Fails unless the server sends a close frame and closes the connection.
async fn assert_closed(mut socket: Socket) {
    let Message::Close(Some(frame)) = next(&mut socket).await else { panic!("no close frame") };
    assert_eq!(u16::from(frame.code), 1000);
    let rest = tokio::time::timeout(TIMEOUT, socket.next()).await.expect("the connection ends");
    assert!(rest.is_none_or(|message| message.is_err()));
}

#[tokio::test]
async fn each_event_is_one_message() {
    let cluster = Cluster::start(&[]);
    for name in ["a", "b"] {
        cluster.create(name).await;
    }
    let mut text = cluster.watch(WATCH, &[JSON]).await;
    let mut binary = cluster.watch(WATCH, &["Accept: application/vnd.kubernetes.protobuf"]).await;
    let mut table = cluster.watch(WATCH, &["Accept: application/json;as=Table;v=v1;g=meta.k8s.io"]).await;
    for name in ["a", "b", "c"] {
        if name == "c" {
            cluster.create(name).await;
        }
        let (kind, object) = event(&mut text).await;
        assert_eq!((kind.as_str(), &object["metadata"]["name"]), ("ADDED", &json!(name)));
        let Message::Binary(bytes) = next(&mut binary).await else { panic!("protobuf is binary") };
        // A WatchEvent: its type, then a RawExtension with the object, without a length prefix.
        assert!(bytes.starts_with(b"\x0a\x05ADDED\x12"), "{bytes:?}");
        assert!(
            bytes.windows(4).any(|part| part == b"k8s\0")
                && bytes.windows(3).any(|part| part == [10, 1, name.as_bytes()[0]])
        );
        let (_, rows) = event(&mut table).await;
        assert_eq!((&rows["kind"], &rows["rows"][0]["cells"][0]), (&json!("Table"), &json!(name)));
        assert_eq!(rows["columnDefinitions"].is_null(), name != "a");
    }
    // Data frames of the client are ignored; control frames are handled.
    text.send(Message::Text("hello".into())).await.unwrap();
    text.send(Message::Ping("are you there".into())).await.unwrap();
    assert_eq!(next(&mut text).await, Message::Pong("are you there".into()));
    text.send(Message::Close(None)).await.unwrap();
    let Message::Close(_) = next(&mut text).await else { panic!("no close frame") };
    assert_eq!(cluster.metric("apiserver_longrunning_requests").await, "2");
    // A client may also drop the connection.
    drop(binary);
    drop(table);
    cluster.await_metric("apiserver_longrunning_requests", "0").await;
    assert_eq!(cluster.metric("apiserver_request_total{code=\"0\"").await, "3");
}

#[tokio::test]
async fn bookmarks_errors_and_close_are_sent() {
    let cluster = Cluster::start(&[]);
    cluster.create("a").await;
    let initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
    let mut socket = cluster.watch(&format!("{WATCH}{initial}"), &[JSON]).await;
    assert_eq!(event(&mut socket).await.0, "ADDED");
    let (kind, object) = event(&mut socket).await;
    assert_eq!(
        (kind.as_str(), &object["metadata"]["annotations"]["k8s.io/initial-events-end"]),
        ("BOOKMARK", &json!("true"))
    );
    assert_closed(socket).await;
    // A revision that is never reached.
    let mut socket = cluster.watch(&format!("{WATCH}{initial}&resourceVersion=99999999"), &[JSON]).await;
    let (kind, object) = event(&mut socket).await;
    assert_eq!((kind.as_str(), &object["kind"]), ("ERROR", &json!("Status")));
    assert_closed(socket).await;
    // An error before the watch begins is a regular response.
    let authorization = format!("Authorization: Bearer {TOKEN}");
    let headers: Vec<&str> = WEBSOCKET_HEADERS.iter().copied().chain([authorization.as_str()]).collect();
    for (target, code) in [(&*format!("{WATCH}&labelSelector=x%3D%3D%3D"), 400), ("/api/v1/nothings?watch=1", 404)] {
        assert!(cluster.upgrade(target, &headers).await.0.starts_with(&format!("http/1.1 {code} ")), "{target}");
    }
    let recorded = async {
        while cluster.audited_codes() != [101, 101, 400] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, recorded).await.unwrap_or_else(|_| panic!("recorded: {:?}", cluster.audited_codes()));
}

/// Handshake responses equal those of kube-apiserver 1.36.2.
#[tokio::test]
async fn handshakes_are_validated() {
    let cluster = Cluster::start(&[]);
    let authorization = format!("Authorization: Bearer {TOKEN}");
    let in_protocol = format!("base64url.bearer.authorization.k8s.io.{}", URL_SAFE_NO_PAD.encode(TOKEN));
    let protocols = |list: &str| format!("Sec-WebSocket-Protocol: {}", list.replace("TOKEN", &in_protocol));
    let check = async |target: &str, headers: &[&str], expect: &str| {
        let (head, ..) = cluster.upgrade(target, headers).await;
        assert!(head.starts_with(&format!("http/1.1 {expect}")), "{headers:?}: {head}");
        head
    };
    let [version, origin, key] = WEBSOCKET_HEADERS;
    check(WATCH, &[version, origin, key, &authorization], "101").await;
    check(WATCH, &[version, key, &authorization], "403").await;
    check(WATCH, &[version, origin, &authorization], "400").await;
    let head = check(WATCH, &["Sec-WebSocket-Version: 8", origin, key, &authorization], "400").await;
    assert!(head.contains("sec-websocket-version: 13\r\n"), "{head}");
    for (offered, expect) in
        [("a, TOKEN", "101"), ("a, b, TOKEN", "400"), ("TOKEN", "401"), ("a, TOKEN, TOKEN", "401"), ("a", "403")]
    {
        let head = check(WATCH, &[version, origin, key, &protocols(offered)], expect).await;
        assert_eq!(head.contains("sec-websocket-protocol: a\r\n"), expect == "101");
        assert!(!head.contains("bearer"), "the token is not shown");
    }
    // A list has no events.
    check(MAPS, &[version, origin, key, &authorization], "200").await;
}

/// Established watches hold no seats, and a stopping server sends close frames.
#[tokio::test]
async fn websocket_watches_hold_no_seats_and_close_at_shutdown() {
    let cluster = Cluster::start(&["--max-requests-inflight=4", "--max-mutating-requests-inflight=4"]);
    cluster.create("a").await;
    let mut sockets = Vec::new();
    for _ in 0..20 {
        let mut socket = cluster.watch(WATCH, &[JSON]).await;
        assert_eq!(event(&mut socket).await.0, "ADDED");
        sockets.push(socket);
    }
    assert_eq!(cluster.send("GET", MAPS, "").await.0, 200);
    let Cluster { server, _folder } = cluster;
    let stopped = tokio::task::spawn_blocking(move || server.stop());
    for socket in sockets {
        assert_closed(socket).await;
    }
    assert!(stopped.await.unwrap());
}
