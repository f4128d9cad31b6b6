//! Many connections, most of them idle.

use std::sync::Arc;

use clap::Args;

use super::{pod_name, timed};
use crate::Common;
use crate::client::{ApiRequest, Client, Server};
use crate::error::{Error, Result};
use crate::measure::{self, Clock, Sample};

/// The number of connections.
#[derive(Args)]
pub struct Options {
    /// Number of idle connections, besides those of `--clients`.
    #[arg(long, default_value_t = 9000)]
    idle: usize,
}

/// Number of connections that are established concurrently.
const AT_ONCE: usize = 32;

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let clock = Clock::start(common.pid);
    let idle = connect(&server, options.idle).await?;
    let mut samples: Vec<Sample> = idle.iter().map(|(_, sample)| *sample).collect();
    clock.report("connections", &mut samples);
    let namespace = common.namespace.clone();
    measure::run(&format!("GET pod beside {} idle connections", idle.len()), server, common, move |mut client, _| {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{}", pod_name(0));
        async move { timed(&mut client, &ApiRequest::get(path)).await }
    })
    .await?;
    let responding = count_responding(idle).await;
    println!("{responding} of the idle connections still respond");
    Ok(())
}

/// Opens connections; each has completed one request.
async fn connect(server: &Arc<Server>, count: usize) -> Result<Vec<(Client, Sample)>> {
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|worker| {
            let (server, share) = (server.clone(), count / AT_ONCE + usize::from(worker < count % AT_ONCE));
            tokio::spawn(async move {
                let mut made = Vec::with_capacity(share);
                for _ in 0..share {
                    let mut client = server.connect().await?;
                    let sample = timed(&mut client, &ApiRequest::get("/livez")).await?;
                    made.push((client, sample));
                }
                Ok::<_, Error>(made)
            })
        })
        .collect();
    let mut made = Vec::with_capacity(count);
    for worker in workers {
        made.extend(worker.await.map_err(|e| Error::Other(e.to_string()))??);
    }
    Ok(made)
}

async fn count_responding(clients: Vec<(Client, Sample)>) -> usize {
    let mut responding = 0;
    for (mut client, _) in clients {
        responding += usize::from(timed(&mut client, &ApiRequest::get("/livez")).await.is_ok());
    }
    responding
}
