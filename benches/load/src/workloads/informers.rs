//! Many informers that begin at once: each asks a watch for all there is (KEP-3157), which is far more than fits into memory for each of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use http::Method;
use http_body_util::BodyExt;
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use crate::client::{Ask, Server};
use crate::error::{Error, Result};
use crate::measure::{Clock, Sample};
use crate::{Common, objects};

/// What there is, and who wants it.
#[derive(Args)]
pub struct Options {
    /// How many informers.
    #[arg(long, default_value_t = 1000)]
    informers: usize,
    /// How many of them share a connection.
    #[arg(long, default_value_t = 50)]
    per_connection: usize,
    /// How many secrets there are.
    #[arg(long, default_value_t = 400)]
    secrets: usize,
    /// Bytes in each.
    #[arg(long, default_value_t = 1_000_000)]
    size: usize,
    /// Ask for protobuf.
    #[arg(long)]
    protobuf: bool,
    /// Stop after so many seconds, wherever they are then.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

const MARK: &[u8] = b"k8s.io/initial-events-end";

/// Tells how long informers took to know everything, of those that did in time, and what that cost.
pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let collection = format!("/api/v1/namespaces/{}/secrets", common.namespace);
    let mut client = server.connect().await?;
    for number in 0..options.secrets {
        let secret = objects::secret(&format!("large-{number}"), options.size);
        match client.ask(&Ask::post(&collection, &secret), false).await {
            Ok(_) | Err(Error::Answer { code: 409, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let path = format!(
        "{collection}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let accept = if options.protobuf { "application/vnd.kubernetes.protobuf;stream=watch" } else { "application/json" };
    let ask = Ask { accept, ..Ask::get(path) };
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let (sender, mut samples) = mpsc::unbounded_channel();
    let clock = Clock::start(common.pid);
    let mut connection = server.connect().await?;
    for number in 0..options.informers {
        if number % options.per_connection == 0 {
            connection = server.connect().await?;
        }
        tokio::spawn(inform(connection.clone(), ask.clone(), end, sender.clone()));
    }
    drop(sender);
    let mut all = Vec::new();
    while let Some(sample) = samples.recv().await {
        all.push(sample?);
    }
    let known = all.iter().filter(|sample: &&Sample| !sample.latency.is_zero()).count();
    println!("{known} of {} informers knew everything after {} s at most", options.informers, options.seconds);
    clock.report("informers", &mut all);
    Ok(())
}

/// Reads until everything is known, or time is over; then the latency is zero.
async fn inform(
    mut client: crate::client::Client,
    ask: Ask,
    end: Instant,
    samples: mpsc::UnboundedSender<Result<Sample>>,
) {
    let began = Instant::now();
    let reading = async {
        let response = client.send(&ask).await?;
        let code = response.status().as_u16();
        if code != 200 {
            return Err(Error::Answer { method: Method::GET, path: ask.path.clone(), code, body: String::new() });
        }
        let (mut body, mut sample, mut last) = (response.into_body(), Sample::default(), Vec::new());
        while let Ok(Some(frame)) = timeout_at(end.into(), body.frame()).await {
            let Ok(data) = frame?.into_data() else { continue };
            sample.bytes += data.len();
            // The last bookmark is small; it may come in two pieces.
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
