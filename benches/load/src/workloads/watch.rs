//! Fan-out: many watchers of one config map that changes repeatedly.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::mpsc;

use crate::client::{ApiRequest, Client, Server};
use crate::error::{Error, Result};
use crate::measure::{Clock, Sample};
use crate::{Common, TIMEOUT, objects};

/// Parameters of the watches.
#[derive(Args)]
pub struct Options {
    /// Number of watchers.
    #[arg(long, default_value_t = 100)]
    watchers: usize,
    /// Number of watchers that share a connection.
    #[arg(long, default_value_t = 50)]
    per_connection: usize,
    /// Number of watchers that stop reading after their start; they are not counted.
    #[arg(long, default_value_t = 0)]
    stalled: usize,
}

const MARK: &[u8] = b"\"at\":\"";

impl Options {
    /// Options for this many watchers, all of which read.
    pub fn reading(watchers: usize) -> Self {
        Options { watchers, per_connection: 50, stalled: 0 }
    }
}

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let collection = format!("/api/v1/namespaces/{}/configmaps", common.namespace);
    let created = ApiRequest::post(&collection, &objects::config_map("fan-out", 1024));
    super::prepare::ignore_already_exists(server.connect().await?.call(&created, false).await.map(drop))?;
    fan_out(&server, common, options, &collection).await
}

/// Changes the object `fan-out` of a collection `--operations` times, at `--rate` a second or each
/// after the previous acknowledgement.
pub async fn fan_out(server: &Server, common: &Common, options: &Options, collection: &str) -> Result<()> {
    let began = Instant::now();
    let mut writer = server.connect().await?;
    let (sender, mut samples) = mpsc::unbounded_channel();
    let expected = options.watchers * common.operations;
    let mut stalled = Vec::new();
    let mut connection = server.connect().await?;
    for number in 0..options.watchers + options.stalled {
        if number % options.per_connection == 0 {
            connection = server.connect().await?;
        }
        let body = begin(&mut connection.clone(), collection).await?;
        if number >= options.watchers {
            stalled.push(body);
            continue;
        }
        tokio::spawn(follow(body, began, sender.clone()));
    }
    drop(sender);
    let clock = Clock::start(common.pid);
    let first = tokio::time::Instant::now();
    for number in 0..common.operations {
        if common.rate > 0.0 {
            tokio::time::sleep_until(first + Duration::from_secs_f64(number as f64 / common.rate)).await;
        }
        change(&mut writer, collection, began, number).await?;
    }
    let mut delivered = Vec::with_capacity(expected);
    while delivered.len() < expected {
        match tokio::time::timeout(TIMEOUT, samples.recv()).await {
            Ok(Some(sample)) => delivered.push(sample),
            _ => return Err(Error::Other(format!("{} of {expected} deliveries arrived", delivered.len()))),
        }
    }
    clock.report(&format!("{} watchers, each delivery", options.watchers), &mut delivered);
    Ok(())
}

async fn begin(client: &mut Client, collection: &str) -> Result<Incoming> {
    let path = format!("{collection}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dfan-out");
    let response = client.send(&ApiRequest::get(path.as_str())).await?;
    let code = response.status().as_u16();
    if code != 200 {
        return Err(Error::Answer { method: Method::GET, path, code, body: String::new() });
    }
    Ok(response.into_body())
}

/// Writes the time since the start of the run into the data.
async fn change(writer: &mut Client, collection: &str, began: Instant, number: usize) -> Result<()> {
    let body = format!("{{\"data\":{{\"at\":\"{}\",\"n\":\"{number}\"}}}}", began.elapsed().as_nanos());
    let api_request = ApiRequest {
        method: Method::PATCH,
        content_type: "application/merge-patch+json",
        body: body.into(),
        ..ApiRequest::get(format!("{collection}/fan-out"))
    };
    writer.call(&api_request, false).await.map(drop)
}

/// Reads a watch, and sends a sample for each event with a time of this run.
///
/// Complete lines are parsed in place: cache misses of the clients slow down the server on the same
/// machine.
async fn follow(mut body: Incoming, began: Instant, samples: mpsc::UnboundedSender<Sample>) {
    let mut rest: Vec<u8> = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        let mut data = &data[..];
        while let Some(end) = memchr::memchr(b'\n', data) {
            let (line, after) = data.split_at(end + 1);
            data = after;
            let begun = std::mem::take(&mut rest);
            let sample =
                if begun.is_empty() { delivered(line, began) } else { delivered(&[&begun, line].concat(), began) };
            if sample.is_some_and(|sample| samples.send(sample).is_err()) {
                return;
            }
        }
        rest.extend_from_slice(data);
    }
}

/// Returns a sample from the write time in an event; `None` for events without a change of this
/// run.
fn delivered(line: &[u8], began: Instant) -> Option<Sample> {
    if line.starts_with(b"{\"type\":\"ADDED\"") {
        return None;
    }
    let now = began.elapsed();
    let from = memchr::memmem::find(line, MARK)? + MARK.len();
    let length = memchr::memchr(b'"', &line[from..])?;
    let written = std::str::from_utf8(&line[from..from + length]).ok()?.parse().ok()?;
    let latency = now.saturating_sub(Duration::from_nanos(written));
    Some(Sample { latency, first_byte: Duration::ZERO, bytes: line.len() })
}
