//! Mistakes of new users: each message names the file or the flag, and the remedy.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::kubectl::{Kubectl, assert_has};
use common::{Outcome, PROGRAM, Server};
use needs::needs;
use rcgen::generate_simple_self_signed;

const DEADLINE: Duration = Duration::from_secs(60);

fn run_in(folder: &Path, args: &[&str]) -> Outcome {
    common::run(Command::new(PROGRAM).current_dir(folder).args(args), b"")
}

/// Runs the server with flags that prevent its start; its message has these texts.
#[track_caller]
fn check(folder: &Path, flags: &[&str], expect: &[&str]) {
    let refused = run_in(folder, &[&["--secure-port=0", "--controllers=-*"], flags].concat());
    assert!(!refused.ok, "{flags:?} are accepted");
    let lines = format!("\n{}", refused.stderr);
    let last = lines.rsplit_once("\nerror: ").unwrap_or_default().1;
    assert!(expect.iter().all(|text| last.contains(text)), "{flags:?}: {}", refused.stderr);
}

#[test]
fn help_names_commands() {
    let place = tempfile::tempdir().unwrap();
    for args in [&["help"][..], &["--help"]] {
        let help = run_in(place.path(), args);
        assert!(help.ok && help.stderr.is_empty(), "{}", help.stderr);
        for command in ["assets", "convert", "etcd", "help", "kubeconfig", "new", "probe", "snapshot"] {
            let line = format!("\n  {command:10}  ");
            assert!(help.stdout.find(&line).is_some_and(|at| at < 2000), "{command} is on the first screen");
        }
    }
    // Each command describes itself.
    for command in ["assets", "convert", "etcd", "kubeconfig", "new", "probe", "snapshot"] {
        let help = run_in(place.path(), &[command, "--help"]);
        assert!(
            help.ok && help.stdout.to_lowercase().starts_with("usage: kube-apiserver"),
            "{command}: {}",
            help.stdout
        );
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "help writes nothing");
}

#[test]
fn help_into_a_closed_pipe_ends_quietly() {
    for args in [&["--help"][..], &["help"], &["help", "bash"], &["etcd", "--help"], &["--version"]] {
        let mut process =
            Command::new(PROGRAM).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(process.stdout.take());
        let mut text = String::new();
        process.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(process.wait().unwrap().success() && text.is_empty(), "{args:?}: {text}");
    }
}

#[needs(kubectl)]
#[test]
fn server_survives_a_reader_that_leaves() {
    let place = tempfile::tempdir().unwrap();
    let data = format!("--data-dir={}", place.path().join("data").display());
    let mut server = Command::new(PROGRAM);
    server.args(["--secure-port=0", "--controllers=-*", "--ui=false", &data]).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    // As `kube-apiserver 2>&1 | head -1`.
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let pid = server.id().to_string();
    let kubeconfig = format!("--kubeconfig={}", place.path().join("data/admin.kubeconfig").display());
    let is_ready = || common::run(Command::new("kubectl").args([&kubeconfig, "get", "--raw", "/readyz"]), b"").ok;
    let begin = Instant::now();
    while !is_ready() {
        assert!(begin.elapsed() < DEADLINE && server.try_wait().unwrap().is_none(), "the server ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert!(server.wait().unwrap().success(), "a signal ends the server in order");
}

#[test]
fn mistakes_of_the_command_line() {
    let place = tempfile::tempdir().unwrap();
    let check = |flags: &[&str], expect: &[&str]| check(place.path(), flags, expect);
    let unknown = run_in(place.path(), &["hlep"]);
    assert!(
        unknown.stderr.contains("unknown command \"hlep\"; there are: assets, convert, etcd, help"),
        "{}",
        unknown.stderr
    );
    check(&["--secure-prot=1"], &["'--secure-prot'", "a similar argument exists: '--secure-port'"]);
    check(&["--tls-cert-file"], &["a value is required for '--tls-cert-file"]);
    check(&["--bind-address=example.com"], &["\"example.com\"", "--bind-address", "invalid IP address"]);
    check(&["--feature-gates=Foo=true"], &["--feature-gates", "unrecognized feature gate: Foo"]);
    check(&["--controllers=deployment"], &["\"deployment-controller\"", "kube-controller-manager runs it"]);
    check(&["--enable-admission-plugins=Foo"], &["plugin \"Foo\" is unknown"]);
    check(&["--tls-cert-file=a.crt"], &["--tls-cert-file and --tls-private-key-file must be given together"]);
    check(&["--test-server=maybe"], &["\"maybe\"", "--test-server"]);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "no data directory is made");
}

#[test]
fn unusable_files_are_named() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    let pair = |name: &str| {
        let pair = generate_simple_self_signed([name.to_owned()]).unwrap();
        write(&format!("{name}.crt"), &pair.cert.pem());
        write(&format!("{name}.key"), &pair.signing_key.serialize_pem());
    };
    pair("a");
    pair("b");
    write("junk", "junk\n");
    write("open.yaml", "{\"a\"");
    let check = |flags: &[&str], expect: &[&str]| check(place.path(), flags, expect);
    check(&["--tls-cert-file=no.crt", "--tls-private-key-file=a.key"], &["no.crt: No such file"]);
    check(&["--tls-cert-file=junk", "--tls-private-key-file=a.key"], &["junk: no certificate in PEM found"]);
    check(&["--tls-cert-file=a.crt", "--tls-private-key-file=junk"], &["junk: private key: "]);
    let other = ["--tls-cert-file=a.crt", "--tls-private-key-file=b.key"];
    check(&other, &["b.key: not the private key of the certificate a.crt"]);
    check(&["--client-ca-file=junk"], &["junk: no certificate in PEM found"]);
    check(
        &["--service-account-signing-key-file=junk"],
        &["junk: data does not contain a valid RSA or ECDSA private key"],
    );
    check(&["--token-auth-file=junk"], &["junk: line 1: token file must have at least 3 columns"]);
    check(&["--encryption-provider-config=open.yaml"], &["open.yaml: yaml: line 1"]);
    check(&["--audit-policy-file=open.yaml", "--audit-log-path=-"], &["from file open.yaml"]);
    check(&["--authentication-config=open.yaml"], &["\"open.yaml\""]);
}

#[test]
fn unusable_data_is_named() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let check = |flags: &[&str], expect: &[&str]| check(place.path(), flags, expect);
    fs::write(path("file"), "").unwrap();
    check(&["--data-dir=file"], &["file: not a directory; --data-dir"]);
    fs::create_dir_all(path("other/store")).unwrap();
    fs::write(path("other/store/photo"), "").unwrap();
    check(&["--data-dir=other"], &["other/store does not hold a store of this program: it is not empty (photo)"]);

    let server = Server::start_in(&path("first"));
    let data = format!("--data-dir={}", server.data().display());
    check(&[&data], &["is the data directory of a running server: stop that, or name another with --data-dir"]);
    let used = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = used.local_addr().unwrap().port();
    let flag = format!("--secure-port={port}");
    let refused = run_in(place.path(), &["--data-dir=second", "--controllers=-*", &flag]);
    let what = format!("listening on 127.0.0.1:{port}: ");
    assert_has(&refused.stderr, &[&what, "another server listens there: stop it, or choose another --secure-port"]);
    let elsewhere = run_in(place.path(), &["--data-dir=second", "--controllers=-*", "--bind-address=203.0.113.7"]);
    assert_has(
        &elsewhere.stderr,
        &["listening on 203.0.113.7:6443: ", "; --bind-address needs an address of this host"],
    );

    assert!(server.stop());
    let data = path("first/data");
    fs::write(data.join("pki/ca.key"), "junk").unwrap();
    check(&["--data-dir=first/data"], &["pki/ca.key: not the private key of an authority", "remove both files"]);
    fs::remove_file(data.join("pki/ca.key")).unwrap();
    fs::write(data.join("store/store.db"), "junk".repeat(4096)).unwrap();
    check(&["--data-dir=first/data"], &["first/data/store", "not a database, or its header is damaged"]);
}

#[test]
fn wait_for_etcd_is_reported() {
    let place = tempfile::tempdir().unwrap();
    let data = format!("--data-dir={}", place.path().join("data").display());
    let mut server = Command::new(PROGRAM);
    server.args(["--secure-port=0", "--etcd-servers=http://127.0.0.1:1", &data]).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let found = lines.into_iter().find(|line| line.contains("waiting for etcd (--etcd-servers)"));
    server.kill().unwrap();
    server.wait().unwrap();
    assert_has(&found.expect("the log has the reason"), &["http://127.0.0.1:1"]);
}

#[needs(kubectl)]
#[test]
fn refusals_of_a_lone_server_say_what_to_type() {
    let place = tempfile::tempdir().unwrap();
    let kubectl = Kubectl(Server::start_with(place.path(), &["--controllers=*"]));
    let refused = kubectl.try_run(&["run", "web", "--image=nginx", "-n", "shop"], "");
    assert_has(
        &refused.stderr,
        &["Warning: to create it: kubectl create namespace shop", "namespaces \"shop\" not found"],
    );
    kubectl.run(&["create", "namespace", "shop"]);
    let overrides = r#"--overrides={"spec":{"serviceAccountName":"robot"}}"#;
    let pod = ["run", "web", "--image=nginx", "-n", "shop", overrides];
    let refused = kubectl.try_run(&pod, "");
    assert_has(
        &refused.stderr,
        &["Warning: to create it: kubectl create serviceaccount robot -n shop", "serviceaccount \"robot\" not found"],
    );
    kubectl.run(&["create", "serviceaccount", "robot", "-n", "shop"]);
    kubectl.run(&pod);
    // A text that is no name is not suggested as a part of a command.
    let text = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"x;y"}}"#;
    let refused = kubectl.try_run(&["create", "--raw", "/api/v1/namespaces/x;y/configmaps", "-f", "-"], text);
    assert!(!refused.ok && !refused.stderr.contains("Warning"), "{}", refused.stderr);

    // As in a cluster, whose controllers are those of another program.
    let place = tempfile::tempdir().unwrap();
    let kubectl = Kubectl(Server::start_with(place.path(), &["--controllers=-*"]));
    let refused = kubectl.try_run(&["run", "web", "--image=nginx", "-n", "shop"], "");
    assert_has(&refused.stderr, &["namespaces \"shop\" not found"]);
    assert!(!refused.stderr.contains("Warning"), "{}", refused.stderr);
}
