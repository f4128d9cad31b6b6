//! `kube-apiserver etcd`: the whole program as an etcd of etcdctl, of upstream's kube-apiserver and of
//! this server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Outcome, PROGRAM, Server};
use conversations::archive;
use conversations::known::Known;
use conversations::run;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use needs::needs;
use ports::free_port;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

/// A served store. Dropping it kills the process.
struct Etcd {
    process: Child,
    arguments: Vec<OsString>,
    url: String,
    folder: TempDir,
}

impl Etcd {
    fn start() -> Self {
        Self::start_with("http", &[])
    }

    fn start_with(scheme: &str, more: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{scheme}://127.0.0.1:{}", free_port(Ipv4Addr::LOCALHOST));
        let mut arguments: Vec<OsString> = [
            format!("--data-dir={}", folder.path().join("data").display()),
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            "--listen-peer-urls=http://localhost:0".into(),
            "--log-level=warn".into(),
        ]
        .map(Into::into)
        .into();
        arguments.extend(more.iter().map(Into::into));
        let process = run_etcd(&arguments);
        let etcd = Self { process, arguments, url, folder };
        etcd.wait_until_it_listens();
        etcd
    }

    fn wait_until_it_listens(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(self.address()).is_err() {
            assert!(Instant::now() < end, "the server does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    /// Ends the server with `kill -9` and starts it again with its data.
    fn kill_and_restart(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.process = run_etcd(&self.arguments);
        self.wait_until_it_listens();
    }

    /// Requests a path over HTTP/1.1 and returns the response with its head.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn etcdctl(&self, arguments: &[&str]) -> Outcome {
        self.etcdctl_with_input(arguments, b"")
    }

    fn etcdctl_with_input(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        let mut command = Command::new(needs::program!(etcdctl));
        command.arg(format!("--endpoints={}", self.url)).args(arguments);
        common::run(&mut command, input)
    }

    /// Runs etcdctl, which must succeed, and returns its output.
    #[track_caller]
    fn ctl(&self, arguments: &[&str]) -> String {
        let outcome = self.etcdctl(arguments);
        assert!(outcome.ok, "{arguments:?}: {}", outcome.stderr);
        outcome.stdout
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run_etcd(arguments: &[OsString]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.arg("etcd").args(arguments).stdout(Stdio::null()).stderr(Stdio::inherit());
    command.spawn().unwrap()
}

#[needs(etcdctl)]
#[test]
fn etcdctl_reads_writes_watches_and_maintains() {
    let etcd = Etcd::start();
    assert_eq!(etcd.ctl(&["put", "a", "1"]), "OK\n");
    assert_eq!(etcd.ctl(&["put", "b", "2"]), "OK\n");
    assert_eq!(etcd.ctl(&["get", "a", "--print-value-only"]), "1\n");
    assert_eq!(etcd.ctl(&["get", "--prefix", "", "--keys-only", "--order=DESCEND"]), "b\n\na\n\n");
    assert_eq!(etcd.ctl(&["put", "--prev-kv", "a", "3"]), "OK\na\n1\n");
    let txn = etcd.etcdctl_with_input(&["txn"], b"value(\"a\") = \"3\"\n\nput a 4\nput c 5\n\nget a\n\n");
    assert_eq!(txn.stdout, "SUCCESS\n\nOK\n\nOK\n", "{}", txn.stderr);
    assert_eq!(etcd.ctl(&["del", "--prefix", "b"]), "1\n");

    let lease = etcd.ctl(&["lease", "grant", "3600"]);
    let id = lease.split_whitespace().nth(1).unwrap().to_owned();
    etcd.ctl(&["put", &format!("--lease={id}"), "leased", "x"]);
    assert!(etcd.ctl(&["lease", "timetolive", "--keys", &id]).contains("attached keys([leased])"));
    assert!(etcd.ctl(&["lease", "keep-alive", "--once", &id]).contains("keepalived with TTL(3600)"));
    assert!(etcd.ctl(&["lease", "list"]).contains(&id));
    etcd.ctl(&["lease", "revoke", &id]);
    assert_eq!(etcd.ctl(&["get", "leased"]), "");

    assert!(
        etcd.etcdctl(&["endpoint", "health"]).stderr.contains("is healthy")
            || etcd.ctl(&["endpoint", "health"]).contains("is healthy")
    );
    assert!(etcd.ctl(&["endpoint", "status"]).contains("3.6.6"));
    assert!(etcd.ctl(&["endpoint", "hashkv"]).contains(", "));
    assert!(etcd.ctl(&["member", "list"]).contains("started, default"));
    assert_eq!(etcd.ctl(&["alarm", "list"]), "");
    etcd.ctl(&["defrag"]);
    assert!(etcd.ctl(&["compaction", "4"]).contains("compacted revision 4"));
    let refused = etcd.etcdctl(&["get", "a", "--rev=2"]);
    assert!(refused.stderr.contains("etcdserver: mvcc: required revision has been compacted"), "{}", refused.stderr);
    let refused = etcd.etcdctl(&["user", "add", "x:y"]);
    assert!(refused.stderr.contains("this server has no users and roles"), "{}", refused.stderr);
}

#[needs(etcdctl)]
#[test]
fn a_snapshot_by_etcdctl_is_restored_by_this_program() {
    let etcd = Etcd::start();
    for key in ["a", "b", "c"] {
        etcd.ctl(&["put", key, "1"]);
    }
    let file = etcd.folder.path().join("snapshot.db");
    etcd.ctl(&["snapshot", "save", file.to_str().unwrap()]);
    let snapshot = |verb: &str, more: &[&str]| {
        common::run(Command::new(PROGRAM).args(["snapshot", verb]).arg(&file).args(more), b"")
    };
    let status = snapshot("status", &[]);
    assert!(status.stdout.contains("keys      3\n"), "{} {}", status.stdout, status.stderr);
    let to = etcd.folder.path().join("restored");
    let restored = snapshot("restore", &[&format!("--data-dir={}", to.display())]);
    assert!(restored.ok, "{}", restored.stderr);
    let copy = Etcd::start_with("http", &[format!("--data-dir={}", to.display())]);
    assert_eq!(copy.ctl(&["get", "--prefix", "", "--keys-only"]), "a\n\nb\n\nc\n\n");
    let mut bytes = fs::read(&file).unwrap();
    bytes.push(0);
    fs::write(&file, bytes).unwrap();
    assert!(snapshot("status", &[]).stderr.contains("something follows its end"));
}

#[test]
fn health_version_and_metrics_are_served_beside_grpc() {
    let etcd = Etcd::start();
    assert!(etcd.get("/health").ends_with(r#"{"health":"true","reason":""}"#), "{}", etcd.get("/health"));
    assert!(etcd.get("/readyz").ends_with("\r\n\r\nok\n"));
    assert!(etcd.get("/livez?verbose").ends_with("[+]serializable_read ok\nok\n"));
    assert!(etcd.get("/version").contains(r#""etcdserver":"3.6.6""#));
    let metrics = etcd.get("/metrics");
    for name in ["etcd_server_has_leader 1", "etcd_mvcc_db_total_size_in_bytes ", "etcd_server_version{"] {
        assert!(metrics.contains(name), "{metrics}");
    }
    assert!(etcd.get("/v2/keys").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_program_called_etcd_is_etcd() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("etcd");
    symlink(PROGRAM, &program).unwrap();
    let run = |arguments: &[&str]| common::run(Command::new(&program).args(arguments).current_dir(&folder), b"");
    assert!(run(&["--version"]).stdout.starts_with("etcd Version: 3.6.6\n"));
    assert!(run(&["--help"]).stdout.contains("--listen-client-urls"));
    let unknown = run(&["--no-such-flag"]);
    assert!(
        !unknown.ok && unknown.stderr.contains("flag provided but not defined: -no-such-flag"),
        "{}",
        unknown.stderr
    );
    fs::create_dir_all(folder.path().join("default.etcd/member/snap")).unwrap();
    let foreign = run(&["--listen-client-urls=http://127.0.0.1:0"]);
    assert!(!foreign.ok && foreign.stderr.contains("has the data of an etcd"), "{}", foreign.stderr);
}

#[needs(etcdctl)]
#[test]
fn acknowledged_writes_survive_kill_9() {
    let mut etcd = Etcd::start();
    let mut written = Vec::new();
    for round in 0..4 {
        for i in 0..8 {
            let key = format!("{round}-{i}");
            etcd.ctl(&["put", &key, &key]);
            written.push(key);
        }
        etcd.ctl(&["lease", "grant", "3600"]);
        etcd.kill_and_restart();
        let keys = etcd.ctl(&["get", "--prefix", "", "--keys-only"]);
        let mut found: Vec<&str> = keys.lines().filter(|line| !line.is_empty()).collect();
        found.sort_unstable();
        written.sort();
        assert_eq!(found, written);
        assert_eq!(etcd.ctl(&["lease", "list"]).lines().count(), round + 2, "a line for each lease, and a title");
    }
}

/// A certificate authority, a certificate of the server and one of a client, as files.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let certificates = Self { folder };
        fs::write(certificates.file("ca.crt"), ca.pem()).unwrap();
        for (name, host) in [("server", "127.0.0.1"), ("client", "client")] {
            let key = KeyPair::generate().unwrap();
            let certificate = CertificateParams::new(vec![host.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
            fs::write(certificates.file(&format!("{name}.crt")), certificate.pem()).unwrap();
            fs::write(certificates.file(&format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        certificates
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }
}

#[needs(etcdctl)]
#[test]
fn a_client_needs_a_certificate_of_the_authority() {
    let certificates = Certificates::new();
    let flags = [
        format!("--cert-file={}", certificates.text("server.crt")),
        format!("--key-file={}", certificates.text("server.key")),
        format!("--trusted-ca-file={}", certificates.text("ca.crt")),
        "--client-cert-auth".to_owned(),
    ];
    let etcd = Etcd::start_with("https", &flags);
    let (ca, cert, key) =
        (certificates.text("ca.crt"), certificates.text("client.crt"), certificates.text("client.key"));
    let (ca, cert, key) = (format!("--cacert={ca}"), format!("--cert={cert}"), format!("--key={key}"));
    assert_eq!(etcd.ctl(&[&ca, &cert, &key, "put", "a", "1"]), "OK\n");
    let refused = etcd.etcdctl(&[&ca, "--command-timeout=2s", "--dial-timeout=1s", "get", "a"]);
    assert!(!refused.ok, "a client without a certificate is refused");
    let other = Certificates::new();
    let (cert, key) = (format!("--cert={}", other.text("client.crt")), format!("--key={}", other.text("client.key")));
    let refused = etcd.etcdctl(&[&ca, &cert, &key, "--command-timeout=2s", "--dial-timeout=1s", "get", "a"]);
    assert!(!refused.ok, "a certificate of another authority is refused");
}

fn config_map(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() }, ..ConfigMap::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_api_servers_share_the_served_store() {
    let etcd = tokio::task::block_in_place(Etcd::start);
    let folder = tempfile::tempdir().unwrap();
    let flags = [&*format!("--etcd-servers={}", etcd.url)];
    let start = |name: &str| tokio::task::block_in_place(|| Server::start_with(&folder.path().join(name), &flags));
    let (one, two) = (start("one"), start("two"));
    let maps = async |server: &Server| Api::<ConfigMap>::namespaced(client::connect(server).await, "default");
    let created = maps(&one).await.create(&PostParams::default(), &config_map("a")).await.unwrap();
    let read = maps(&two).await.get("a").await.unwrap();
    assert_eq!(read.metadata.resource_version, created.metadata.resource_version);
    let listed = maps(&two).await.list(&ListParams::default()).await.unwrap();
    assert!(listed.items.iter().any(|map| map.metadata.name.as_deref() == Some("a")));
    tokio::task::block_in_place(|| drop((one, two, etcd)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_api_server_joins_the_store_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://127.0.0.1:{}", free_port(Ipv4Addr::LOCALHOST));
    let start = |name: &str, flag: &str| {
        let flag = format!("--{flag}={url}");
        tokio::task::block_in_place(|| Server::start_with(&folder.path().join(name), &[&flag]))
    };
    let (one, two) = (start("one", "etcd-listen-client-urls"), start("two", "etcd-servers"));
    let maps = async |server: &Server| Api::<ConfigMap>::namespaced(client::connect(server).await, "default");
    for (from, to, name) in [(&one, &two, "a"), (&two, &one, "b")] {
        let created = maps(from).await.create(&PostParams::default(), &config_map(name)).await.unwrap();
        let read = maps(to).await.get(name).await.unwrap();
        assert_eq!(read.metadata.resource_version, created.metadata.resource_version);
    }
    let names = async |server: &Server| -> Vec<_> {
        let list = maps(server).await.list(&ListParams::default()).await.unwrap();
        list.items.into_iter().filter_map(|map| map.metadata.name).collect()
    };
    assert_eq!(names(&one).await, names(&two).await);
    tokio::task::block_in_place(|| drop((two, one)));
}

/// Upstream's kube-apiserver. Dropping it kills the process.
struct Upstream {
    process: Child,
    kubeconfig: PathBuf,
}

/// The users of the recordings.
const USERS: [&str; 3] = [
    "admintoken,admin,uid-admin,\"system:masters\"",
    "alicetoken,alice,uid-alice,\"dev\"",
    "bobtoken,bob,uid-bob,\"dev,ops\"",
];

impl Upstream {
    /// Starts it with the flags of the recordings.
    fn start(folder: &Path, etcd: &str) -> Self {
        fs::write(folder.join("tokens.csv"), USERS.map(|user| format!("{user}\n")).concat()).unwrap();
        let openssl = |arguments: &[&str]| {
            let made = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
            assert!(made.status.success(), "{made:?}");
        };
        openssl(&["genrsa", "-out", "sa.key", "2048"]);
        openssl(&["rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub"]);
        // The name of a program becomes the name of its field manager.
        let program = folder.join("kube-apiserver");
        symlink(needs::program!(kube_apiserver), &program).unwrap();
        let port = free_port(Ipv4Addr::LOCALHOST);
        let process = Command::new(program)
            .args(["--token-auth-file=tokens.csv", "--authorization-mode=RBAC", "--bind-address=127.0.0.1"])
            .args(["--service-cluster-ip-range=10.0.0.0/16", "--cert-dir=certificates"])
            .args(["--service-account-issuer=https://kubernetes.default.svc"])
            .args(["--service-account-key-file=sa.pub", "--service-account-signing-key-file=sa.key"])
            .args([format!("--secure-port={port}"), format!("--etcd-servers={etcd}")])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let kubeconfig = folder.join("kubeconfig");
        let text = format!(
            "{{current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], clusters: [{{name: c, \
             cluster: {{server: 'https://127.0.0.1:{port}', insecure-skip-tls-verify: true}}}}], \
             users: [{{name: u, user: {{token: admintoken}}}}]}}"
        );
        fs::write(&kubeconfig, text).unwrap();
        let upstream = Self { process, kubeconfig };
        upstream.wait_until_ready(folder, port);
        upstream
    }

    fn wait_until_ready(&self, folder: &Path, port: u16) {
        let url = format!("https://127.0.0.1:{port}/readyz");
        let end = Instant::now() + Duration::from_secs(180);
        loop {
            let mut curl = Command::new("curl");
            curl.args(["-skf", "-m", "2", "-H", "Authorization: Bearer admintoken", &url]);
            if curl.output().unwrap().status.success() {
                return;
            }
            let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(Instant::now() < end, "kube-apiserver is not ready:\n{}", log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[needs(kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upstreams_server_on_the_served_store_answers_as_recorded() {
    let (etcd, folder) = (tokio::task::block_in_place(Etcd::start), tempfile::tempdir().unwrap());
    let upstream = tokio::task::block_in_place(|| Upstream::start(folder.path(), &etcd.url));
    let recordings = archive::recordings();
    let known = Known::read(&recordings.join("known-differences.txt")).unwrap();
    let areas = ["crud", "list", "watch", "patch"].map(str::to_owned);
    let scenarios = archive::scenarios(&recordings, &areas).unwrap();
    let scenarios: Vec<_> =
        scenarios.into_iter().filter(|scenario| scenario.requires.is_empty()).map(Arc::new).collect();
    let users = HashMap::from(["admin", "alice", "bob"].map(|name| (name.to_owned(), format!("{name}token"))));
    let remote = conversations::client::Remote::new(&upstream.kubeconfig, users).unwrap();
    // One at a time: a scenario creates a ServiceCIDR, and others then get addresses of its range.
    let outcomes = run::replay(&Arc::new(remote), &scenarios, 1).await;
    let steps: usize = outcomes.iter().map(|outcome| outcome.steps.len()).sum();
    let surprises: Vec<_> = outcomes.into_iter().filter(|outcome| known.is_surprise(outcome)).collect();
    assert!(surprises.is_empty(), "{}", conversations::report::differences(&surprises));
    assert!(steps > 500, "only {steps} steps were replayed");
    tokio::task::block_in_place(|| drop((upstream, etcd)));
}
