//! GETs of one client before and during an attack by others: what is left to those who do no harm.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::setpriority_process;
use serde_json::json;
use tokio::runtime::{self, Runtime};

use super::abuse::{Attack, LISTER, beside};
use super::{pod_name, timed};
use crate::Common;
use crate::client::{Ask, Server};
use crate::error::Result;
use crate::measure::{Clock, Sample};

/// Who reads single pods meanwhile.
const READER: &str = "load-reader";
/// That of threads that run when no other does, or nearly so.
const LEAST_PRIORITY: i32 = 19;
/// How often it does.
const EVERY: Duration = Duration::from_millis(5);

/// How to attack.
#[derive(Args)]
pub struct Options {
    /// What is done.
    #[arg(long, value_enum)]
    attack: Attack,
    /// By how many connections.
    #[arg(long, default_value_t = 16)]
    attackers: usize,
    /// For how long, after a third of that without.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// How many pods there are to choose from, the first ones that `prepare` made.
    #[arg(long, default_value_t = 1)]
    pods: usize,
}

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    allow(&server).await?;
    let time = Duration::from_secs(options.seconds);
    let before = read(&server, common, options, "GET pod, quiet", time / 3).await?;
    let (path, until) = (format!("/api/v1/namespaces/{}/pods", common.namespace), Instant::now() + time);
    let elsewhere = elsewhere()?;
    let attacker = |_| elsewhere.spawn(options.attack.run(server.clone(), path.clone(), until));
    let attackers = (0..options.attackers).map(attacker).collect();
    let name = format!("GET pod, beside {:?}", options.attack);
    let during = read(&server, common, options, &name, time);
    let (during, done) = beside(attackers, during).await;
    elsewhere.shutdown_background();
    let during = during?;
    println!(
        "{:?}: {done} times; p99 {:.1} times what it was",
        options.attack,
        during.as_secs_f64() / before.as_secs_f64()
    );
    Ok(())
}

/// Threads for attackers, who would be on other machines: they have the processors that the server and its reader leave.
fn elsewhere() -> Result<Runtime> {
    let modest = || {
        let _ = setpriority_process(None, LEAST_PRIORITY); // then they are as urgent as others
    };
    Ok(runtime::Builder::new_multi_thread().enable_all().on_thread_start(modest).build()?)
}

/// Reads pods one after the other for a while, and gives the 99th percentile of how long that took.
async fn read(server: &Server, common: &Common, options: &Options, name: &str, time: Duration) -> Result<Duration> {
    let mut client = server.connect().await?;
    let (clock, until) = (Clock::start(common.pid), Instant::now() + time);
    let mut samples: Vec<Sample> = Vec::new();
    while Instant::now() < until {
        let pod = pod_name(samples.len() % options.pods.max(1));
        let path = format!("/api/v1/namespaces/{}/pods/{pod}", common.namespace);
        samples.push(timed(&mut client, &Ask { user: Some(READER), ..Ask::get(path) }).await?);
        tokio::time::sleep(EVERY).await;
    }
    clock.report(name, &mut samples);
    Ok(samples.get(samples.len() * 99 / 100).map_or(Duration::ZERO, |sample| sample.latency))
}

/// Lets both users read everything: they must not be administrators, whom no server holds back.
async fn allow(server: &Server) -> Result<()> {
    let subject = |name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "load"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [subject(LISTER), subject(READER)]
    });
    let ask = Ask::post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding);
    super::prepare::unless_there(server.connect().await?.ask(&ask, false).await.map(drop))
}
