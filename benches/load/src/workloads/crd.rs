//! Many definitions: the time from each to its first object, its memory, and the cost of documents
//! about all definitions.

use std::time::{Duration, Instant};

use clap::Args;

use super::create::unique_name;
use super::timed;
use crate::client::{ApiRequest, Client, Server};
use crate::error::{Error, Result};
use crate::measure::{Clock, Sample};
use crate::process::usage;
use crate::{Common, TIMEOUT, objects};

/// The number and size of the definitions.
#[derive(Args)]
pub struct Options {
    /// Number of definitions.
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Approximate bytes of schema in each.
    #[arg(long, default_value_t = 20 << 10)]
    schema: usize,
    /// Number of definitions that share a group.
    #[arg(long, default_value_t = 10)]
    per_group: usize,
    /// Duration in seconds of the measurement of the idle server.
    #[arg(long, default_value_t = 10)]
    idle: u64,
}

/// Delay before another attempt to create an object: short, but long enough not to keep the server
/// busy with errors.
const PAUSE: Duration = Duration::from_millis(1);
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub async fn run(server: &Server, common: &Common, options: &Options) -> Result<()> {
    let mut client = server.connect().await?;
    let run = unique_name();
    let group = |number: usize| format!("{run}-{}.example.com", number / options.per_group.max(1));
    let before = common.pid.and_then(usage);
    let clock = Clock::start(common.pid);
    let mut samples = Vec::new();
    for number in 0..options.count {
        let plural = format!("gadgets{number}");
        let latency = define(&mut client, &group(number), &plural, options.schema, &common.namespace).await?;
        samples.push(Sample { latency, ..Sample::default() });
    }
    clock.report("POST CRD to first object", &mut samples);
    if let (Some(before), Some(after)) = (before, common.pid.and_then(usage)) {
        let growth = after.resident.saturating_sub(before.resident) / options.count.max(1) as u64;
        println!("  memory     {growth} bytes of resident growth for each definition and its object");
    }
    documents(&mut client, &group(0), options).await?;
    if let Some(before) = common.pid.and_then(usage) {
        tokio::time::sleep(Duration::from_secs(options.idle)).await;
        let after = common.pid.and_then(usage).unwrap_or_default();
        let cpu = after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e3;
        println!("idle: {cpu:.1} ms CPU in {} s", options.idle);
    }
    Ok(())
}

/// Requests each document twice: newly generated and cached.
async fn documents(client: &mut Client, group: &str, options: &Options) -> Result<()> {
    define(client, &format!("{}.example.com", unique_name()), "gadgets", options.schema, "default").await?;
    let discovery = ApiRequest { accept: DISCOVERY, ..ApiRequest::get("/apis") };
    let openapi = ApiRequest::get(format!("/openapi/v3/apis/{group}/v1"));
    for (name, api_request) in [("aggregated discovery", discovery), ("OpenAPI v3 of one group", openapi)] {
        let (first, again) = (timed(client, &api_request).await?, timed(client, &api_request).await?);
        let milliseconds = |sample: &Sample| sample.latency.as_secs_f64() * 1e3;
        println!("{name}: {:.2} ms, again {:.2} ms, {} bytes", milliseconds(&first), milliseconds(&again), first.bytes);
    }
    Ok(())
}

/// Creates a definition; returns the time until an object of it was created.
async fn define(client: &mut Client, group: &str, plural: &str, schema: usize, namespace: &str) -> Result<Duration> {
    let definition = objects::large_crd(group, plural, schema);
    let object = objects::gadget(group, plural);
    let create = ApiRequest::post(format!("/apis/{group}/v1/namespaces/{namespace}/{plural}"), &object);
    let began = Instant::now();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    client.call(&ApiRequest::post(path, &definition), false).await?;
    loop {
        match client.call(&create, false).await {
            Ok(_) => return Ok(began.elapsed()),
            Err(Error::Answer { code: 404 | 503, .. }) if began.elapsed() < TIMEOUT => tokio::time::sleep(PAUSE).await,
            Err(other) => return Err(other),
        }
    }
}
