//! `kube-apiserver assets`: the folder, and its programs as envtest starts them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::kubectl::Kubectl;
use common::{Outcome, PROGRAM, Server};
use needs::needs;
use ports::free_port;
use serde_json::{Value, json};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(60);
const MARKER: &str = "kube-apiserver-assets.txt";

fn assets_in(current: &Path, path: &str, args: &[&str]) -> Outcome {
    let mut command = Command::new(PROGRAM);
    common::run(command.arg("assets").args(args).current_dir(current).env("PATH", path), b"")
}

/// Makes a folder, with the kubectl of `PATH`.
fn assets(place: &Path) -> PathBuf {
    let outcome = assets_in(place, &std::env::var("PATH").unwrap(), &["assets"]);
    assert!(outcome.ok, "{}", outcome.stderr);
    PathBuf::from(outcome.stdout.trim_end())
}

fn output(program: &Path, args: &[&str]) -> String {
    let outcome = common::run(Command::new(program).args(args), b"");
    assert!(outcome.ok, "{}", outcome.stderr);
    outcome.stdout
}

/// Writes a program that prints a text.
fn write_program(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\necho {text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < DEADLINE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn folder_has_programs_and_is_updated() {
    let place = tempfile::tempdir().unwrap();
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    write_program(&bin.join("kubectl"), "first");
    let made = assets_in(place.path(), bin.to_str().unwrap(), &["a/b"]);
    assert!(made.ok && made.stderr.is_empty(), "{}", made.stderr);
    let folder = place.path().canonicalize().unwrap().join("a/b");
    assert_eq!(made.stdout, format!("{}\n", folder.display()), "the path is the whole output, for a shell");
    assert!(output(&folder.join("etcd"), &["--version"]).starts_with("etcd Version: 3."));
    assert!(output(&folder.join("kube-apiserver"), &["--version"]).starts_with("Kubernetes v1.36"));
    assert_eq!(output(&folder.join("kubectl"), &[]), "first\n");
    // envtest looks for flags in the help.
    assert!(output(&folder.join("etcd"), &["--help"]).lines().any(|line| line.trim().starts_with("--unsafe-no-fsync")));

    // The copies survive their original, and the command works from the folder itself, which may be in PATH.
    let path = format!("{}:{}", folder.display(), bin.display());
    write_program(&bin.join("kubectl"), "second");
    let again =
        common::run(Command::new(folder.join("kube-apiserver")).arg("assets").arg(&folder).env("PATH", path), b"");
    assert!(again.ok, "{}", again.stderr);
    assert_eq!(output(&folder.join("kubectl"), &[]), "second\n");
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["etcd", "kube-apiserver", MARKER, "kubectl"], "no temporary file is left");
}

#[test]
fn programs_of_others_are_kept() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("k8s");
    fs::create_dir(&folder).unwrap();
    write_program(&folder.join("etcd"), "upstream");
    let refused = assets_in(place.path(), "", &["k8s"]);
    assert!(!refused.ok && refused.stderr.contains("k8s/etcd was not made by this command"), "{}", refused.stderr);
    assert_eq!(output(&folder.join("etcd"), &[]), "upstream\n");
    assert!(!folder.join("kube-apiserver").exists());

    fs::remove_file(folder.join("etcd")).unwrap();
    write_program(&folder.join("kubectl"), "mine");
    let made = assets_in(place.path(), "", &["k8s"]);
    assert!(made.ok && made.stderr.is_empty(), "{}", made.stderr);
    assert_eq!(output(&folder.join("kubectl"), &[]), "mine\n");

    let without = assets_in(place.path(), "", &["other"]);
    assert!(without.ok && without.stderr.starts_with("no kubectl in PATH: "), "{}", without.stderr);
    // A link to nothing is not a file of this command either.
    fs::create_dir(place.path().join("linked")).unwrap();
    symlink("/nowhere", place.path().join("linked/kube-apiserver")).unwrap();
    assert!(!assets_in(place.path(), "", &["linked"]).ok);
}

#[test]
fn wrong_arguments_are_refused() {
    let place = tempfile::tempdir().unwrap();
    for (args, why) in [
        (&[][..], "DIR is missing\nusage: kube-apiserver assets DIR"),
        (&["a", "b"], "unexpected argument \"b\""),
        (&["--force"], "unexpected argument \"--force\""),
        (&["/proc/x"], "cannot write /proc/x: "),
    ] {
        let refused = assets_in(place.path(), "", args);
        assert!(!refused.ok && refused.stderr.starts_with(&format!("error: {why}")), "{args:?}: {}", refused.stderr);
    }
    assert!(assets_in(place.path(), "", &["--help"]).stdout.starts_with("usage: kube-apiserver assets DIR"));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is written");
}

/// The two programs of a folder, started as envtest starts them.
struct Environment {
    kubectl: Kubectl,
    etcd: Child,
    _place: TempDir,
}

impl Environment {
    fn start(prepare: impl FnOnce(&Path), flags: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let folder = assets(place.path());
        prepare(&folder);
        let address = format!("127.0.0.1:{}", free_port(Ipv4Addr::LOCALHOST));
        let url = format!("http://{address}");
        let mut etcd = Command::new(folder.join("etcd"));
        etcd.arg(format!("--data-dir={}", place.path().join("etcd-data").display()))
            .args(["--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync=true"])
            .args([format!("--listen-client-urls={url}"), format!("--advertise-client-urls={url}")]);
        let etcd = etcd.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("the start of etcd", || TcpStream::connect(&address).is_ok());
        let servers = format!("--etcd-servers={url}");
        let flags = [&[&*servers, "--disable-admission-plugins=ServiceAccount"], flags].concat();
        let server = Server::start_program(&folder.join("kube-apiserver"), &place.path().join("server"), &flags);
        Environment { kubectl: Kubectl(server), etcd, _place: place }
    }

    fn create(&self, object: &Value) -> Value {
        serde_json::from_str(&self.kubectl.run_with(&["create", "-o", "json", "-f", "-"], &object.to_string())).unwrap()
    }

    /// Creates an owner and its dependent, both config maps.
    fn create_owned(&self) {
        let owner = self.create(&config_map("default", "owner", &Value::Null));
        let reference = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
        }]);
        self.create(&config_map("default", "dependent", &reference));
    }

    fn exists(&self, args: &[&str]) -> bool {
        let found = self.kubectl.try_run(&[&["get"], args].concat(), "");
        assert!(found.ok || found.stderr.contains("NotFound"), "{}", found.stderr);
        found.ok
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        let _ = self.etcd.kill();
        let _ = self.etcd.wait();
    }
}

fn config_map(namespace: &str, name: &str, owners: &Value) -> Value {
    let metadata = json!({"name": name, "namespace": namespace, "ownerReferences": owners});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

#[needs(kubectl)]
#[test]
fn dependents_and_namespaces_are_deleted() {
    let environment = Environment::start(|_| (), &[]);
    environment.create_owned();
    environment.kubectl.run(&["delete", "configmap", "owner"]);
    eventually("garbage collection", || !environment.exists(&["configmap", "dependent"]));
    environment.kubectl.run(&["create", "namespace", "demo"]);
    environment.create(&config_map("demo", "content", &Value::Null));
    environment.kubectl.run(&["delete", "namespace", "demo", "--timeout=60s"]);
    assert!(!environment.exists(&["namespace", "demo"]));
}

/// Controllers would have acquired their lease before the server accepted requests.
fn assert_no_controllers(environment: &Environment) {
    environment.create_owned();
    environment.kubectl.run(&["delete", "configmap", "owner"]);
    environment.kubectl.run(&["create", "namespace", "demo"]);
    environment.kubectl.run(&["delete", "namespace", "demo", "--wait=false"]);
    assert!(!environment.exists(&["lease", "-n", "kube-system", "kube-controller-manager"]), "nothing holds the lease");
    assert!(environment.exists(&["configmap", "dependent"]) && environment.exists(&["namespace", "demo"]));
}

#[needs(kubectl)]
#[test]
fn flags_turn_controllers_off() {
    assert_no_controllers(&Environment::start(|_| (), &["--controllers=-*"]));
    assert_no_controllers(&Environment::start(|_| (), &["--test-server=false"]));
}

#[needs(kubectl)]
#[test]
fn no_controllers_run_without_the_marker() {
    assert_no_controllers(&Environment::start(|folder| fs::remove_file(folder.join(MARKER)).unwrap(), &[]));
}
