//! Requests of the server to its own API (NCC 2022 47W).

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::SECRETS;
use crate::support::{ADMIN, JSON, Target};

/// Returns the inodes of the open sockets of the process.
fn sockets(process: u32) -> BTreeSet<String> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).unwrap().filter_map(Result::ok);
    let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())).collect()
}

/// Returns the connections that the process opened to its own port.
fn connections_to_itself(target: &Target) -> Vec<String> {
    let port = target.server.url.rsplit(':').next().unwrap().parse::<u16>().unwrap();
    let (own, process) = (format!(":{port:04X}"), target.server.process_id());
    let open = sockets(process);
    let mut found = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields[2].ends_with(&own) && open.contains(fields[9]) {
                found.push(line.to_owned());
            }
        }
    }
    found
}

/// NCC 2022 47W: the loopback client's token gave its holder all rights.
///
/// This server makes internal requests without a connection, so there is no such credential. The
/// test observes no connection to its own port while the server creates built-in objects and
/// handles reviews, quotas, definitions and webhook configurations.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_has_no_loopback_credential() {
    let target = Target::start(&[]);
    let mut seen = connections_to_itself(&target);
    let begin = Instant::now();
    // Built-in objects: roles, priority levels, the service `kubernetes`, the server's lease.
    for path in [
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt",
        "/api/v1/namespaces/default/services/kubernetes",
    ] {
        while target.get(ADMIN, path).await.code != 200 {
            seen.extend(connections_to_itself(&target));
            assert!(begin.elapsed() < Duration::from_secs(60), "{path} is not made");
        }
    }
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "1000"}}});
    target.create("/api/v1/namespaces/default/resourcequotas", &quota).await;
    for number in 0..50 {
        let map = json!({"metadata": {"name": format!("map-{number}")}}).to_string();
        let maps = "/api/v1/namespaces/default/configmaps";
        target.send(ADMIN, reqwest::Method::POST, maps, JSON, map).await;
        seen.extend(connections_to_itself(&target));
    }
    assert!(seen.is_empty(), "{seen:#?}");

    // Neither a certificate that the server generated nor a user name grants that identity.
    let claimed = target.request("mallory", reqwest::Method::GET, SECRETS);
    let claimed = claimed.header("Impersonate-User", "system:apiserver").header("Impersonate-Group", "system:masters");
    assert_eq!(claimed.send().await.unwrap().status(), 403);
    target.assert_alive().await;
}
