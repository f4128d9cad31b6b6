//! Many informers that start concurrently: each watches with initial events (KEP-3157).
//!
//! The objects take far more memory than one copy for each informer would allow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use http::Method;
use http_body_util::BodyExt;
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use crate::client::{ApiRequest, Server};
use crate::error::{Error, Result};
use crate::measure::{Clock, Sample};
use crate::{Common, objects};

/// The number of objects and informers.
#[derive(Args)]
pub struct Options {
    /// Number of informers.
    #[arg(long, default_value_t = 1000)]
    informers: usize,
    /// Number of informers that share a connection.
    #[arg(long, default_value_t = 50)]
    per_connection: usize,
    /// Number of secrets.
    #[arg(long, default_value_t = 400)]
    secrets: usize,
    /// Bytes of data in each secret.
    #[arg(long, default_value_t = 1_000_000)]
    size: usize,
    /// Request protobuf.
    #[arg(long)]
    protobuf: bool,
    /// Stop after this many seconds, even when informers are not synced.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

const MARK: &[u8] = b"k8s.io/initial-events-end";

/// Reports how long informers took to sync, of those that synced in time, and the cost.
pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let collection = format!("/api/v1/namespaces/{}/secrets", common.namespace);
    let mut client = server.connect().await?;
    for number in 0..options.secrets {
        let secret = objects::secret(&format!("large-{number}"), options.size);
        match client.call(&ApiRequest::post(&collection, &secret), false).await {
            Ok(_) | Err(Error::Answer { code: 409, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let path = format!(
        "{collection}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let accept = if options.protobuf { "application/vnd.kubernetes.protobuf;stream=watch" } else { "application/json" };
    let api_request = ApiRequest { accept, ..ApiRequest::get(path) };
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let (sender, mut samples) = mpsc::unbounded_channel();
    let clock = Clock::start(common.pid);
    let mut connection = server.connect().await?;
    for number in 0..options.informers {
        if number % options.per_connection == 0 {
            connection = server.connect().await?;
        }
        tokio::spawn(run_informer(connection.clone(), api_request.clone(), end, sender.clone()));
    }
    drop(sender);
    let mut all = Vec::new();
    while let Some(sample) = samples.recv().await {
        all.push(sample?);
    }
    let synced = all.iter().filter(|sample: &&Sample| !sample.latency.is_zero()).count();
    println!("{synced} of {} informers synced after {} s at most", options.informers, options.seconds);
    clock.report("informers", &mut all);
    Ok(())
}

/// Reads until the informer is synced, or the time is over; then the latency is zero.
async fn run_informer(
    mut client: crate::client::Client,
    api_request: ApiRequest,
    end: Instant,
    samples: mpsc::UnboundedSender<Result<Sample>>,
) {
    let began = Instant::now();
    let reading = async {
        let response = client.send(&api_request).await?;
        let code = response.status().as_u16();
        if code != 200 {
            return Err(Error::Answer {
                method: Method::GET,
                path: api_request.path.clone(),
                code,
                body: String::new(),
            });
        }
        let (mut body, mut sample, mut last) = (response.into_body(), Sample::default(), Vec::new());
        while let Ok(Some(frame)) = timeout_at(end.into(), body.frame()).await {
            let Ok(data) = frame?.into_data() else { continue };
            sample.bytes += data.len();
            // The last bookmark is small; it may arrive in two frames.
            last = [&last[last.len().saturating_sub(512)..], &data[data.len().saturating_sub(512)..]].concat();
            if last.windows(MARK.len()).any(|window| window == MARK) {
                sample.latency = began.elapsed();
                break;
            }
        }
        Ok(sample)
    };
    let _ = samples.send(reading.await);
}
