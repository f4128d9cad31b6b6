//! This server answers recorded conversations as kube-apiserver 1.36.2 does.
//!
//! The conversations are those of `tests/conformance`, and former differences that
//! `tests/differential` found.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use common::Server;
use conversations::archive;
use conversations::known::Known;
use conversations::report;
use conversations::run::{self, Outcome};
use conversations::scenario::Scenario;
use differential::client::Remote;
use differential::{kubeconfig, replay};

/// The users of the recordings.
const USERS: [(&str, &str); 3] = [
    ("admin", "admintoken,admin,uid-admin,\"system:masters\""),
    ("alice", "alicetoken,alice,uid-alice,\"dev\""),
    ("bob", "bobtoken,bob,uid-bob,\"dev,ops\""),
];

/// The flags of the recorded server. A flag that a scenario requires replaces the one here.
const FLAGS: [&str; 3] = [
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/16",
    "--service-account-issuer=https://kubernetes.default.svc",
];

/// Number of concurrent scenarios on one server. Most scenarios wait for the server.
const JOBS: usize = 8;

/// Maximum number of repetitions of a scenario that differs, each on a new server.
///
/// Some answers depend on the time at which controllers act. On a busy machine a controller and a
/// request can write in another order than in the recording.
const REPEATS: usize = 2;

type Scenarios = Vec<Arc<Scenario>>;

/// Replays scenarios on a new server with the required flags.
async fn replay_on_new_server(required: &[String], scenarios: &Scenarios) -> Vec<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.csv");
    fs::write(&tokens, USERS.map(|(_, line)| format!("{line}\n")).concat()).unwrap();
    let name = |flag: &str| flag.split_once('=').map_or(flag, |(name, _)| name).to_string();
    let usual = FLAGS.iter().filter(|flag| required.iter().all(|other| name(other) != name(flag)));
    let mut flags: Vec<String> = usual.map(|flag| flag.to_string()).collect();
    flags.extend(required.iter().cloned());
    flags.push(format!("--token-auth-file={}", tokens.display()));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let server = tokio::task::block_in_place(|| Server::start_with(folder.path(), &flags));
    let users = USERS.map(|(name, line)| (name.to_string(), line.split(',').next().unwrap_or_default().to_string()));
    let remote = conversations::client::Remote::new(&server.kubeconfig(), HashMap::from(users)).unwrap();
    let outcomes = run::replay(&Arc::new(remote), scenarios, JOBS).await;
    tokio::task::block_in_place(|| drop(server));
    outcomes
}

/// Replays scenarios that require the same flags, and repeats those that differ.
async fn replay_group(required: &[String], scenarios: &Scenarios, known: &Known) -> Vec<Outcome> {
    let mut outcomes = replay_on_new_server(required, scenarios).await;
    for _ in 0..REPEATS {
        let differing: Vec<usize> = (0..outcomes.len()).filter(|at| known.is_surprise(&outcomes[*at])).collect();
        if differing.is_empty() {
            break;
        }
        let again = differing.iter().map(|at| scenarios[*at].clone()).collect();
        for (at, outcome) in differing.into_iter().zip(replay_on_new_server(required, &again).await) {
            let before = std::mem::replace(&mut outcomes[at], outcome);
            // Standard error itself: the harness hides captured output of tests that pass.
            let text = format!("differed, and is replayed again:\n{}", report::differences(&[before]));
            std::io::stderr().write_all(text.as_bytes()).unwrap();
        }
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_of_upstream_match() {
    let recordings = archive::recordings();
    let known = Known::read(&recordings.join("known-differences.txt")).unwrap();
    let mut groups: BTreeMap<Vec<String>, Scenarios> = BTreeMap::new();
    for scenario in archive::scenarios(&recordings, &[]).unwrap() {
        groups.entry(scenario.requires.clone()).or_default().push(Arc::new(scenario));
    }
    let (without_flags, with_flags): (Vec<_>, Vec<_>) = groups.iter().partition(|(required, _)| required.is_empty());
    let replay_all = async |groups: Vec<(&Vec<String>, &Scenarios)>| {
        let mut outcomes = Vec::new();
        for (required, scenarios) in groups {
            outcomes.extend(replay_group(required, scenarios, &known).await);
        }
        outcomes
    };
    // Most scenarios need no flags. Their server runs concurrently with the other servers, which run in sequence.
    let (mut outcomes, others) = tokio::join!(replay_all(without_flags), replay_all(with_flags));
    outcomes.extend(others);
    println!("{}", report::areas(&outcomes));
    let steps: usize = outcomes.iter().map(|outcome| outcome.steps.len()).sum();
    assert!(steps > 11_900, "only {steps} steps were replayed");
    let complaints = known.complaints(&outcomes);
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Starts a server with the flags and the user of the recordings; returns it with a client.
fn start(folder: &Path) -> (Server, Remote) {
    let tokens = folder.join("tokens.csv");
    fs::write(&tokens, "admintoken,admin,uid-admin,\"system:masters\"\n").unwrap();
    let flags = [
        format!("--token-auth-file={}", tokens.display()),
        "--service-cluster-ip-range=10.0.0.0/24".to_string(),
        "--service-account-issuer=https://kubernetes.default.svc".to_string(),
        "--authorization-mode=RBAC".to_string(),
    ];
    let server = Server::start_with(folder, &flags.each_ref().map(String::as_str));
    let config = format!(
        "{{current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], clusters: [{{name: c, cluster: {{server: \
         '{}', insecure-skip-tls-verify: true}}}}], users: [{{name: u, user: {{token: admintoken}}}}]}}",
        server.url
    );
    let file = folder.join("kubeconfig");
    fs::write(&file, config).unwrap();
    let remote = Remote::new(kubeconfig::read(&file).unwrap()).unwrap();
    (server, remote)
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_conversations_match_upstream() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, remote) = start(folder.path());
    let talks = replay::read_folder(Path::new("tests/differential/conversations")).unwrap();
    assert!(!talks.is_empty(), "no conversation was recorded");
    let mut complaints = Vec::new();
    for (at, talk) in talks.iter().enumerate() {
        complaints.extend(replay::replay(&remote, talk, &format!("{at}")).await.unwrap());
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
