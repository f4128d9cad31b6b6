//! Objects for the other workloads.

use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::pod_name;
use crate::Common;
use crate::client::{Ask, Server};
use crate::error::{Error, Result};
use crate::objects;

/// What to create.
#[derive(Args)]
pub struct Options {
    /// How many pods.
    #[arg(long, default_value_t = 0)]
    pods: usize,
    /// How many secrets.
    #[arg(long, default_value_t = 0)]
    secrets: usize,
    /// How many bytes each secret holds.
    #[arg(long, default_value_t = 1_000_000)]
    secret_size: usize,
}

/// Makes the namespace and its default service account, which no controller here does.
pub async fn namespace(server: &Server, name: &str) -> Result<()> {
    let mut client = server.connect().await?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    for ask in [
        Ask::post("/api/v1/namespaces", &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})),
        Ask::post(format!("/api/v1/namespaces/{name}/serviceaccounts"), &account),
    ] {
        unless_there(client.ask(&ask, false).await.map(drop))?;
    }
    Ok(())
}

/// What is there already need not be made.
pub fn unless_there(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(Error::Answer { code: 409, .. }) => Ok(()),
        other => other,
    }
}

pub async fn run(server: &Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let namespace = format!("/api/v1/namespaces/{}", common.namespace);
    let pods = (0..options.pods).map(|n| Ask::post(format!("{namespace}/pods"), &objects::pod(&pod_name(n))));
    let secret = |n| objects::secret(&format!("secret-{n:06}"), options.secret_size);
    let secrets = (0..options.secrets).map(|n| Ask::post(format!("{namespace}/secrets"), &secret(n)));
    let asks: Vec<Ask> = pods.chain(secrets).collect();
    let mut workers = Vec::new();
    let workers_count = common.clients.max(8);
    for worker in 0..workers_count {
        let mut client = server.connect().await?;
        let mine: Vec<Ask> = asks.iter().skip(worker).step_by(workers_count).cloned().collect();
        workers.push(tokio::spawn(async move {
            for ask in &mine {
                unless_there(client.ask(ask, false).await.map(drop))?;
            }
            Ok::<_, Error>(())
        }));
    }
    for worker in workers {
        worker.await.map_err(|e| Error::Other(e.to_string()))??;
    }
    println!("prepared {} objects in {}", asks.len(), common.namespace);
    Ok(())
}
