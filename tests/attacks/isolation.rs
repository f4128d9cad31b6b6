//! Requests of one user do not delay others: concurrent poisoned bodies, and pages with stalled
//! readers.
//!
//! The bounds suit a debug build on a busy machine. `ATTACK_BODIES` is the number of concurrent
//! poisoned bodies (64 in the release run), and `ATTACK_STRICT` sets the bounds of the release run.
//! The measured figures are printed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use needs::needs;
use reqwest::Method;
use rustix::process::setpriority_process;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use crate::common::own_address;
use crate::poison::{self, NAMESPACE, Poison};
use crate::support::{ADMIN, MERGE_PATCH, Target, http_client, token};
use crate::tls::Dialer;

/// Number of clients that send poisoned bodies, each on its own connection.
const CLIENTS: usize = 8;
/// The default memory budget of requests in a control group of 1 GB.
const REQUEST_MEMORY: &str = "--max-request-memory=268435456";
/// The lowest scheduling priority.
const LEAST_PRIORITY: i32 = 19;
const GIGABYTE: u64 = 1 << 30;

fn is_strict() -> bool {
    std::env::var_os("ATTACK_STRICT").is_some()
}

/// Starts a server with the memory budget of a 1 GB machine; an older program has no flag for that.
fn target() -> Target {
    match std::env::var_os("ATTACK_PROGRAM") {
        Some(_) => Target::start(&[]),
        None => Target::start(&[REQUEST_MEMORY]),
    }
}

/// Sends a poisoned body `count` times concurrently; returns the status codes.
///
/// The attackers run on a thread of the lowest priority: real attackers are on other machines, and
/// the probes share this one.
async fn attack(target: &Target, poison: &Poison, count: usize) -> Vec<u16> {
    let url = format!("{}{}", target.server.url, poison.path);
    let clients: Vec<_> = (0..CLIENTS).map(|_| http_client(&target.server).build().unwrap()).collect();
    let requests: Vec<_> = (0..count)
        .map(|i| {
            let request = clients[i % CLIENTS].request(poison.method.clone(), &url).bearer_auth(token("mallory"));
            let request = request.header("Content-Type", poison.media_type).body(poison.body.clone());
            request.timeout(Duration::from_secs(120)).send()
        })
        .collect();
    let attackers = move || {
        let _ = setpriority_process(None, LEAST_PRIORITY); // else they are as urgent as the probes
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(join_all(requests))
    };
    // A separate thread: a thread of the tokio pool would keep the priority.
    let (done, answers) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(attackers()).unwrap());
    let answers = answers.await.unwrap();
    answers.into_iter().map(|response| response.map_or(0, |response| response.status().as_u16())).collect()
}

/// Finding B12, with the bodies of B1 to B8 and B13: no body delays health checks and other users'
/// reads.
///
/// The peak of memory is bounded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poisoned_bodies_do_not_delay_other_requests() {
    let target = target();
    poison::prepare(&target, "mallory").await;
    target.grant("alice", "", json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}])).await;
    let count = std::env::var("ATTACK_BODIES").map_or(CLIENTS, |text| text.parse().unwrap());
    let read = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/patched");
    let quiet = target.probe("alice", &read);
    for _ in 0..50 {
        target.get(ADMIN, &read).await;
    }
    let quiet = quiet.finish().percentile(99);
    for poison in poison::all() {
        let (health, reads) = (target.probe("alice", "/livez"), target.probe("alice", &read));
        let codes = attack(&target, &poison, count).await;
        let (health, reads) = (health.finish().percentile(99), reads.finish().percentile(99));
        let memory = target.memory();
        let figures = format!(
            "{}: {count} bodies of {} KB: /livez p99 {health:?}, read p99 {reads:?} (quiet {quiet:?}), peak {} MB, codes {codes:?}",
            poison.name,
            poison.body.len() >> 10,
            memory.peak >> 20
        );
        println!("{figures}");
        let (of_health, of_reads) = match is_strict() {
            true => (Duration::from_millis(100), quiet * 5),
            false => (Duration::from_secs(2), Duration::from_secs(2)),
        };
        assert!(health < of_health && reads < of_reads && memory.peak < GIGABYTE, "{figures}");
        assert!(codes.iter().all(|code| *code != 0 && *code != 500), "{figures}");
    }
    target.assert_alive().await;
}

/// Sends the head of a config map create and waits until the server reads the body, which is never
/// sent.
async fn stall(dialer: &Dialer, length: usize) -> TlsStream<TcpStream> {
    let mut stream = dialer.tls().await.unwrap();
    let head = format!(
        "POST /api/v1/namespaces/{NAMESPACE}/configmaps HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n",
        token("mallory")
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let mut answer = [0; 12];
    let read = timeout(Duration::from_secs(20), stream.read_exact(&mut answer)).await;
    read.expect("the server does not request the body").unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    stream
}

/// Finding B12: requests with missing bodies hold no priority and fairness seats that other
/// requests wait for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_bodies_hold_no_seats() {
    const STALLED: usize = 40;
    let target = Target::start(&["--max-requests-inflight=20", "--max-mutating-requests-inflight=10"]);
    target.create_namespace(NAMESPACE).await;
    let rule = |verb| json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": [verb]}]);
    target.grant("mallory", NAMESPACE, rule("create")).await;
    target.grant("alice", NAMESPACE, rule("list")).await;
    let read = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    target.await_right("alice", &read).await;
    let dialer = Dialer::new(&target.server, None, false);
    let body = json!({"metadata": {"generateName": "late-"}}).to_string();
    for length in [body.len(), 60_000] {
        let mut stalled = join_all((0..STALLED).map(|_| stall(&dialer, length))).await;
        assert_eq!(target.get("alice", &read).await.code, 200);
        // A late body is served; it is padded with spaces to its declared length.
        let mut late = stalled.remove(0);
        late.write_all(format!("{body:length$}").as_bytes()).await.unwrap();
        late.flush().await.unwrap();
        let mut answer = String::new();
        while !answer.contains("HTTP/1.1 201") {
            let mut piece = [0; 1024];
            let read = timeout(Duration::from_secs(20), late.read(&mut piece)).await.unwrap().unwrap();
            assert_ne!(read, 0, "{answer}");
            answer.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    }
    target.assert_alive().await;
}

/// Starts a backend that answers each request with a page of this length.
async fn backend(address: &str, length: usize) -> u16 {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let chunk: Arc<[u8]> = vec![b'x'; 1 << 16].into();
        while let Ok((mut stream, _)) = listener.accept().await {
            let chunk = chunk.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let link = "<a href=\"/a\">";
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{link}",
                    length + link.len()
                );
                let mut sent = stream.write_all(head.as_bytes()).await;
                for _ in 0..length / chunk.len() {
                    if sent.is_ok() {
                        sent = stream.write_all(&chunk).await;
                    }
                }
            });
        }
    });
    port
}

/// Finding B10: a page of a backend with a stalled reader takes a window of memory, not its whole
/// length.
#[needs(network)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_page_readers_take_bounded_memory() {
    const READERS: usize = 12;
    const PAGE: usize = 60 << 20;
    let address = own_address();
    let target = target();
    target.create_namespace("pages").await;
    let pods = "/api/v1/namespaces/pages/pods";
    let spec = json!({
        "nodeName": "one", "automountServiceAccountToken": false, "containers": [{"name": "main", "image": "a"}],
    });
    target.create(pods, &json!({"metadata": {"name": "web"}, "spec": spec})).await;
    let status = json!({"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}});
    let path = format!("{pods}/web/status");
    let patched = target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, status.to_string()).await;
    assert_eq!(patched.code, 200, "{}", patched.body);
    let port = backend(&address, PAGE).await;
    let path = format!("{pods}/web:{port}/proxy/");
    let clients: Vec<_> = (0..READERS).map(|_| http_client(&target.server).build().unwrap()).collect();
    let url = format!("{}{path}", target.server.url);
    let stalled = clients.iter().map(|client| client.get(&url).bearer_auth(token(ADMIN)).send());
    let mut stalled: Vec<_> = join_all(stalled).await.into_iter().map(Result::unwrap).collect();
    assert!(stalled.iter().all(|response| response.status() == 200));
    let memory = target.memory();
    println!("{READERS} stalled pages of {} MB: peak {} MB", PAGE >> 20, memory.peak >> 20);
    assert!(memory.peak < GIGABYTE / 2, "{memory:?}");
    // A reader that continues gets the page.
    let (mut reader, mut length, mut begin) = (stalled.remove(0), 0, Vec::new());
    while let Some(chunk) = reader.chunk().await.unwrap() {
        if begin.len() < 100 {
            begin.extend_from_slice(&chunk);
        }
        length += chunk.len();
    }
    let link = format!("<a href=\"{path}a\">");
    assert!(begin.starts_with(link.as_bytes()), "{}", String::from_utf8_lossy(&begin[..begin.len().min(200)]));
    assert_eq!(length, PAGE + link.len());
    target.assert_alive().await;
}
