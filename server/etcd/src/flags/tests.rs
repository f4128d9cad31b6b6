use std::{ffi::OsString, time::Duration};

use super::*;
use crate::{Address, Compaction, Options};

/// What the program prints in place of a start.
#[derive(Debug, PartialEq)]
struct Message(String);

fn parse(args: &[&str]) -> Result<Options, Message> {
    parse_with(args, &[])
}

fn parse_with(args: &[&str], environment: &[(&str, &str)]) -> Result<Options, Message> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into()));
    match Options::parse("etcd", &args, environment) {
        Ok(Parsed::Run(options)) => Ok(*options),
        Ok(Parsed::Print(text)) => Err(Message(text)),
        Err(error) => Err(Message(error.to_string())),
    }
}

#[test]
fn defaults_are_those_of_etcd() {
    let options = parse(&[]).unwrap();
    assert_eq!(options.data_dir.to_str(), Some("default.etcd"));
    assert_eq!(options.listen, [Address { tls: false, host: "localhost".into(), port: 2379 }]);
    assert_eq!((options.quota, options.durable, options.compaction), (Some(2 << 30), true, None));
    assert_eq!((options.limits.max_txn_ops, options.limits.max_request_bytes), (128, 1_572_864));
    assert_eq!((options.limits.min_lease_ttl, options.limits.progress_interval.as_secs()), (2, 600));
    assert_eq!(Options::defaults().unwrap().data_dir, options.data_dir);
}

#[test]
fn accepts_the_command_lines_of_envtest_kubeadm_and_upstreams_tests() {
    let envtest = parse(&[
        "--advertise-client-urls=http://127.0.0.1:40123",
        "--data-dir=/tmp/x",
        "--listen-client-urls=http://127.0.0.1:40123",
        "--listen-peer-urls=http://localhost:0",
        "--unsafe-no-fsync=true",
    ]);
    assert!(!envtest.unwrap().durable);
    let kubeadm = parse(&[
        "--advertise-client-urls=https://10.0.0.1:2379",
        "--client-cert-auth=true",
        "--cert-file=/etc/s.crt",
        "--key-file=/etc/s.key",
        "--trusted-ca-file=/etc/ca.crt",
        "--data-dir=/var/lib/etcd",
        "--experimental-initial-corrupt-check=true",
        "--experimental-watch-progress-notify-interval=5s",
        "--feature-gates=InitialCorruptCheck=true",
        "--initial-advertise-peer-urls=https://10.0.0.1:2380",
        "--initial-cluster=node=https://10.0.0.1:2380",
        "--listen-client-urls=https://127.0.0.1:2379,https://10.0.0.1:2379",
        "--listen-metrics-urls=http://127.0.0.1:2381",
        "--listen-peer-urls=https://10.0.0.1:2380",
        "--name=node",
        "--peer-cert-file=/etc/p.crt",
        "--peer-client-cert-auth=true",
        "--peer-key-file=/etc/p.key",
        "--peer-trusted-ca-file=/etc/ca.crt",
        "--snapshot-count=10000",
    ])
    .unwrap();
    assert_eq!(kubeadm.limits.progress_interval, Duration::from_secs(5));
    assert!(kubeadm.tls.is_some_and(|tls| tls.client_ca.is_some()));
    assert_eq!((kubeadm.listen.len(), kubeadm.listen_metrics.len()), (2, 1));
    let integration = parse(&[
        "-data-dir",
        "/tmp/y",
        "-listen-client-urls",
        "http://127.0.0.1:0",
        "-advertise-client-urls",
        "http://127.0.0.1:0",
        "-listen-peer-urls",
        "http://127.0.0.1:0",
        "-log-level",
        "warn",
        "-logger",
        "zap",
        "-watch-progress-notify-interval",
        "5s",
        "-pre-vote=false",
        "-force-new-cluster",
    ]);
    assert_eq!(integration.unwrap().listen[0].port, 0);
}

#[test]
fn variables_of_the_environment_set_flags_that_are_not_given() {
    let environment = [("ETCD_NAME", "a"), ("ETCD_MAX_TXN_OPS", "5"), ("ETCD_UNKNOWN", "x"), ("ETCD_DATA_DIR", "")];
    let options = parse_with(&["--name=b"], &environment).unwrap();
    assert_eq!((options.name.as_str(), options.limits.max_txn_ops), ("b", 5));
    assert_eq!(options.data_dir.to_str(), Some("b.etcd"));
}

#[test]
fn rejects_unknown_flags_and_what_it_cannot_do() {
    for (args, part) in [
        (&["--no-such-flag"][..], "flag provided but not defined: -no-such-flag"),
        (&["serve"], "not a valid flag"),
        (&["--name"], "flag needs an argument"),
        (&["--max-txn-ops=many"], "invalid value"),
        (&["--listen-client-urls=unix:///tmp/x"], "not http or https"),
        (&["--listen-client-urls=https://localhost:1"], "--cert-file"),
        (&["--client-cert-auth"], "--trusted-ca-file"),
        (&["--initial-cluster=a=http://x:1,b=http://y:1", "--name=a"], "only member"),
        (&["--auto-tls"], "not supported"),
        (&["--config-file=x"], "not supported"),
        (&["--discovery=http://x"], "not supported"),
        (&["--auto-compaction-mode=daily"], "not one of"),
        (&["--election-timeout=100"], "five times"),
        (&["--cert-file=x"], "--key-file"),
    ] {
        let error = parse(args).unwrap_err().0;
        assert!(error.contains(part), "{args:?}: {error}");
    }
    assert!(parse(&["--auto-tls=false", "--host-whitelist=*", "--discovery="]).is_ok());
}

#[test]
fn retention_is_hours_a_duration_or_revisions() {
    let compaction = |args: &[&str]| parse(args).unwrap().compaction;
    assert_eq!(compaction(&["--auto-compaction-retention=1"]), Some(Compaction::Periodic(Duration::from_secs(3600))));
    assert_eq!(compaction(&["--auto-compaction-retention=5m"]), Some(Compaction::Periodic(Duration::from_secs(300))));
    let revisions = ["--auto-compaction-mode=revision", "--auto-compaction-retention=1000"];
    assert_eq!(compaction(&revisions), Some(Compaction::Revisions(1000)));
    assert_eq!(compaction(&["--auto-compaction-retention=0"]), None);
}

#[test]
fn prints_help_and_version() {
    let text = parse(&["--help"]).unwrap_err().0;
    assert!(text.contains("--data-dir") && text.contains("--snapshot-count"), "{text}");
    assert!(parse(&["--version"]).unwrap_err().0.starts_with("etcd Version: 3.6.6\n"));
}

#[test]
fn cipher_suites_have_the_names_of_go() {
    let tls = |suites: &str| {
        let flag = format!("--cipher-suites={suites}");
        parse(&["--cert-file=a", "--key-file=b", &flag]).map(|options| options.tls.unwrap().cipher_suites.len())
    };
    assert_eq!(tls("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"), Ok(2));
    assert_eq!(tls("TLS_AES_128_GCM_SHA256"), Ok(1));
    assert!(tls("TLS_RSA_WITH_RC4_128_SHA").unwrap_err().0.contains("not supported"));
}
