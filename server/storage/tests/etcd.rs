//! The etcd store: the contract suite on a real etcd, and tests of several members, TLS, shared leases
//! and compaction.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[macro_use]
mod contract;
mod etcd_server;

use std::{path::PathBuf, time::Duration};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use storage::{Error, EtcdOptions, EtcdStore, KeyRange, Store, Txn};

use contract::{commit, events_until, get, put, summary};
use etcd_server::EtcdServer;
use needs::needs;

async fn open() -> (EtcdStore, EtcdServer) {
    let server = EtcdServer::start();
    (store(std::slice::from_ref(&server)).await, server)
}

/// Connects a store to some servers, without periodic compaction.
async fn store(servers: &[EtcdServer]) -> EtcdStore {
    let mut options = EtcdOptions::new(servers.iter().map(|server| &*server.url));
    options.compaction_interval = None;
    EtcdStore::connect(options).await.unwrap()
}

contract_suite!(
    #[needs(etcd)]
    open
);

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_etcd_share_its_compaction() {
    let server = EtcdServer::start();
    let mut options = EtcdOptions::new([&*server.url]);
    options.compaction_interval = Some(Duration::from_millis(100));
    let (one, other) = (EtcdStore::connect(options.clone()).await.unwrap(), EtcdStore::connect(options).await.unwrap());
    let first = put(&one, "/a", "0").await;
    while one.get(b"/a", Some(first)).await.is_ok() {
        put(&one, "/a", "1").await;
    }
    let mut watch = other.watch(KeyRange::key("compact_rev_key"), None).await.unwrap();
    let mut compactions = Vec::new();
    while compactions.len() < 4 {
        put(&one, "/a", "2").await;
        let from = one.current_revision().await.unwrap();
        compactions.extend(events_until(&mut watch, from).await);
    }
    let revision = |value: &[u8]| std::str::from_utf8(value).unwrap().parse::<u64>().unwrap();
    for event in &compactions {
        let before = revision(&event.prev.as_ref().unwrap().value);
        assert!(revision(&event.kv.value) > before, "every compaction goes further than the one before");
    }
    assert!(one.close().await.is_ok() && matches!(one.current_revision().await, Err(Error::Closed)));
}

#[needs(etcd)]
#[tokio::test]
async fn keys_with_the_same_ttl_share_a_lease() {
    let (store, server) = open().await;
    for (key, ttl) in [("/a", 3600), ("/b", 3600), ("/c", 60), ("/d", 0)] {
        commit(&store, Txn::create(key, "1").with_ttl(ttl)).await;
    }
    // The range from "/" to "0", in base64.
    let answer = server.post("/v3/kv/range", r#"{"key": "Lw==", "range_end": "MA=="}"#);
    let leases: Vec<_> = answer
        .split("\"key\":")
        .skip(1)
        .map(|kv| kv.split("\"lease\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("none"))
        .collect();
    assert_eq!(leases.len(), 4, "{answer}");
    assert_eq!(leases[0], leases[1]);
    assert!(leases[0] != leases[2] && leases[0] != "none" && leases[3] == "none", "{leases:?}");
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_member_takes_over() {
    let mut servers = EtcdServer::cluster(3);
    let store = store(&servers).await;
    let from = put(&store, "/a", "0").await;
    let mut watch = store.watch(KeyRange::prefix("/"), Some(from)).await.unwrap();
    events_until(&mut watch, from).await;
    // The first member is the preferred one. A write in progress at its end may fail; a later one must not.
    servers[0].kill();
    let mut last = None;
    while last.is_none() {
        last = store.commit(Txn::put("/a", "1")).await.ok().map(|outcome| outcome.revision());
    }
    assert!(get(&store, "/a").await.is_some_and(|kv| &kv.value[..] == b"1"));
    let events = events_until(&mut watch, last.unwrap()).await;
    assert!(summary(&events).iter().all(|event| event == "~a=1"));
    let sizes: Vec<_> = store.database_sizes().await.into_iter().map(|size| size.bytes.is_some()).collect();
    assert_eq!(sizes, [false, true, true]);
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_outlive_the_loss_of_the_leader() {
    let mut servers = EtcdServer::cluster(3);
    let store = store(&servers).await;
    let from = put(&store, "/a", "0").await;
    let mut watch = store.watch(KeyRange::prefix("/"), Some(from)).await.unwrap();
    events_until(&mut watch, from).await;
    servers[1].kill();
    servers[2].kill();
    // One member of three cannot elect a leader, and without a leader there are no linearizable reads.
    assert!(store.get(b"/a", None).await.is_err());
    let (opened, ()) = tokio::join!(store.watch(KeyRange::prefix("/"), None), async { servers[1].restart() });
    let mut last = None;
    while last.is_none() {
        last = store.commit(Txn::put("/a", "1")).await.ok().map(|outcome| outcome.revision());
    }
    for mut watch in [watch, opened.unwrap()] {
        let events = events_until(&mut watch, last.unwrap()).await;
        assert!(!events.is_empty() && summary(&events).iter().all(|event| event == "~a=1"), "{:?}", summary(&events));
    }
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_certificate_is_presented_to_etcd() {
    let folder = tempfile::tempdir().unwrap();
    let [ca, certificate, key] = ["ca.pem", "cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = KeyPair::generate().unwrap();
    std::fs::write(&ca, params.self_signed(&authority).unwrap().pem()).unwrap();
    let issuer = Issuer::new(params, authority);
    let leaf = KeyPair::generate().unwrap();
    // Server and client use the same certificate.
    let signed = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&leaf, &issuer).unwrap();
    std::fs::write(&certificate, signed.pem()).unwrap();
    std::fs::write(&key, leaf.serialize_pem()).unwrap();
    let flag = |name, file: &PathBuf| format!("--{name}={}", file.display()).into();
    let flags = [("trusted-ca-file", &ca), ("cert-file", &certificate), ("key-file", &key)].map(|(n, f)| flag(n, f));
    let server = EtcdServer::start_with("https", &[&flags[..], &["--client-cert-auth".into()]].concat());
    let mut options = EtcdOptions::new([server.url.trim_start_matches("https://")]);
    (options.ca_file, options.certificate) = (Some(ca), Some((certificate, key)));
    let store = EtcdStore::connect(options).await.unwrap();
    let mut watch = store.watch(KeyRange::prefix("/"), None).await.unwrap();
    let revision = put(&store, "/a", "1").await;
    assert_eq!(summary(&events_until(&mut watch, revision).await), ["+a=1"]);
}

#[tokio::test]
async fn connect_errors_name_the_cause() {
    let mut options = EtcdOptions::new(["https://127.0.0.1:1"]);
    let error = EtcdStore::connect(options.clone()).await.err().unwrap().to_string();
    assert!(error.contains("127.0.0.1:1") && error.contains("--etcd-cafile"), "{error}");
    options.ca_file = Some("/nowhere/ca.pem".into());
    let error = EtcdStore::connect(options).await.err().unwrap().to_string();
    assert!(error.contains("/nowhere/ca.pem"), "{error}");
}
