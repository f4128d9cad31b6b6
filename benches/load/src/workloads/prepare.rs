//! Creates objects for the other workloads.

use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::pod_name;
use crate::Common;
use crate::client::{ApiRequest, Server};
use crate::error::{Error, Result};
use crate::objects;

/// The number and size of the objects.
#[derive(Args)]
pub struct Options {
    /// Number of pods.
    #[arg(long, default_value_t = 0)]
    pods: usize,
    /// Number of secrets.
    #[arg(long, default_value_t = 0)]
    secrets: usize,
    /// Bytes of data in each secret.
    #[arg(long, default_value_t = 1_000_000)]
    secret_size: usize,
}

/// Creates the namespace and its default service account; no controller does it here.
pub async fn namespace(server: &Server, name: &str) -> Result<()> {
    let mut client = server.connect().await?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    for api_request in [
        ApiRequest::post(
            "/api/v1/namespaces",
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
        ),
        ApiRequest::post(format!("/api/v1/namespaces/{name}/serviceaccounts"), &account),
    ] {
        ignore_already_exists(client.call(&api_request, false).await.map(drop))?;
    }
    Ok(())
}

/// Treats an existing object as success.
pub fn ignore_already_exists(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(Error::Answer { code: 409, .. }) => Ok(()),
        other => other,
    }
}

pub async fn run(server: &Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let namespace = format!("/api/v1/namespaces/{}", common.namespace);
    let pods = (0..options.pods).map(|n| ApiRequest::post(format!("{namespace}/pods"), &objects::pod(&pod_name(n))));
    let secret = |n| objects::secret(&format!("secret-{n:06}"), options.secret_size);
    let secrets = (0..options.secrets).map(|n| ApiRequest::post(format!("{namespace}/secrets"), &secret(n)));
    let requests: Vec<ApiRequest> = pods.chain(secrets).collect();
    let mut workers = Vec::new();
    let workers_count = common.clients.max(8);
    for worker in 0..workers_count {
        let mut client = server.connect().await?;
        let own_requests: Vec<ApiRequest> = requests.iter().skip(worker).step_by(workers_count).cloned().collect();
        workers.push(tokio::spawn(async move {
            for api_request in &own_requests {
                ignore_already_exists(client.call(api_request, false).await.map(drop))?;
            }
            Ok::<_, Error>(())
        }));
    }
    for worker in workers {
        worker.await.map_err(|e| Error::Other(e.to_string()))??;
    }
    println!("prepared {} objects in {}", requests.len(), common.namespace);
    Ok(())
}
