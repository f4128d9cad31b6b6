//! Many connections, most of which do nothing.

use std::sync::Arc;

use clap::Args;

use super::{pod_name, timed};
use crate::Common;
use crate::client::{Ask, Client, Server};
use crate::error::{Error, Result};
use crate::measure::{self, Clock, Sample};

/// How many connections.
#[derive(Args)]
pub struct Options {
    /// Connections that do nothing, besides those of `--clients`.
    #[arg(long, default_value_t = 9000)]
    idle: usize,
}

/// How many connections are being made at a time.
const AT_ONCE: usize = 32;

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let clock = Clock::start(common.pid);
    let idle = connect(&server, options.idle).await?;
    let mut samples: Vec<Sample> = idle.iter().map(|(_, sample)| *sample).collect();
    clock.report("connections", &mut samples);
    let namespace = common.namespace.clone();
    measure::run(&format!("GET pod beside {} idle connections", idle.len()), server, common, move |mut client, _| {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{}", pod_name(0));
        async move { timed(&mut client, &Ask::get(path)).await }
    })
    .await?;
    let answering = still_there(idle).await;
    println!("{answering} of the idle connections still answer");
    Ok(())
}

/// Makes connections, each of which has answered once.
async fn connect(server: &Arc<Server>, count: usize) -> Result<Vec<(Client, Sample)>> {
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|worker| {
            let (server, mine) = (server.clone(), count / AT_ONCE + usize::from(worker < count % AT_ONCE));
            tokio::spawn(async move {
                let mut made = Vec::with_capacity(mine);
                for _ in 0..mine {
                    let mut client = server.connect().await?;
                    let sample = timed(&mut client, &Ask::get("/livez")).await?;
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

async fn still_there(clients: Vec<(Client, Sample)>) -> usize {
    let mut answering = 0;
    for (mut client, _) in clients {
        answering += usize::from(timed(&mut client, &Ask::get("/livez")).await.is_ok());
    }
    answering
}
