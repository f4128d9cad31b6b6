//! GETs of one client before and during an attack by others: the latency of well-behaved clients.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::setpriority_process;
use serde_json::json;
use tokio::runtime::{self, Runtime};

use super::abuse::{Attack, LISTER, run_beside};
use super::{pod_name, timed};
use crate::Common;
use crate::client::{ApiRequest, Server};
use crate::error::Result;
use crate::measure::{Clock, Sample};

/// The user that reads single pods meanwhile.
const READER: &str = "load-reader";
/// The scheduling priority of threads that run only on idle processors.
const LEAST_PRIORITY: i32 = 19;
/// Interval of its reads.
const EVERY: Duration = Duration::from_millis(5);

/// Parameters of the attack.
#[derive(Args)]
pub struct Options {
    /// The kind of attack.
    #[arg(long, value_enum)]
    attack: Attack,
    /// Number of attacking connections.
    #[arg(long, default_value_t = 16)]
    attackers: usize,
    /// Duration of the attack in seconds, after a third of that without.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Number of pods to choose from, the first ones created by `prepare`.
    #[arg(long, default_value_t = 1)]
    pods: usize,
}

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    allow(&server).await?;
    let time = Duration::from_secs(options.seconds);
    let before = read(&server, common, options, "GET pod, quiet", time / 3).await?;
    let (path, until) = (format!("/api/v1/namespaces/{}/pods", common.namespace), Instant::now() + time);
    let low_priority_runtime = low_priority_runtime()?;
    let attacker = |_| low_priority_runtime.spawn(options.attack.run(server.clone(), path.clone(), until));
    let attackers = (0..options.attackers).map(attacker).collect();
    let name = format!("GET pod, beside {:?}", options.attack);
    let during = read(&server, common, options, &name, time);
    let (during, done) = run_beside(attackers, during).await;
    low_priority_runtime.shutdown_background();
    let during = during?;
    println!(
        "{:?}: {done} times; p99 {:.1} times what it was",
        options.attack,
        during.as_secs_f64() / before.as_secs_f64()
    );
    Ok(())
}

/// Creates threads for attackers, which simulate other machines: they use only the processors that
/// server and reader leave idle.
fn low_priority_runtime() -> Result<Runtime> {
    let modest = || {
        let _ = setpriority_process(None, LEAST_PRIORITY); // then they are as urgent as others
    };
    Ok(runtime::Builder::new_multi_thread().enable_all().on_thread_start(modest).build()?)
}

/// Reads pods in sequence for a while; returns the 99th percentile of the latency.
async fn read(server: &Server, common: &Common, options: &Options, name: &str, time: Duration) -> Result<Duration> {
    let mut client = server.connect().await?;
    let (clock, until) = (Clock::start(common.pid), Instant::now() + time);
    let mut samples: Vec<Sample> = Vec::new();
    while Instant::now() < until {
        let pod = pod_name(samples.len() % options.pods.max(1));
        let path = format!("/api/v1/namespaces/{}/pods/{pod}", common.namespace);
        samples.push(timed(&mut client, &ApiRequest { user: Some(READER), ..ApiRequest::get(path) }).await?);
        tokio::time::sleep(EVERY).await;
    }
    clock.report(name, &mut samples);
    Ok(samples.get(samples.len() * 99 / 100).map_or(Duration::ZERO, |sample| sample.latency))
}

/// Lets both users read everything. They must not be administrators, whose requests are exempt from
/// limits.
async fn allow(server: &Server) -> Result<()> {
    let subject = |name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "load"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [subject(LISTER), subject(READER)]
    });
    let api_request = ApiRequest::post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding);
    super::prepare::ignore_already_exists(server.connect().await?.call(&api_request, false).await.map(drop))
}
