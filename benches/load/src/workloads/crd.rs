//! Many definitions: the time from each to its first object, the memory that each keeps, and what documents about all of them cost.

use std::time::{Duration, Instant};

use clap::Args;

use super::create::stamp;
use super::timed;
use crate::client::{Ask, Client, Server};
use crate::error::{Error, Result};
use crate::measure::{Clock, Sample};
use crate::process::usage;
use crate::{Common, PATIENCE, objects};

/// Which definitions to make.
#[derive(Args)]
pub struct Options {
    /// How many.
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// How many bytes of schema each has, about.
    #[arg(long, default_value_t = 20 << 10)]
    schema: usize,
    /// How many of them share a group.
    #[arg(long, default_value_t = 10)]
    per_group: usize,
    /// How long to look at the server doing nothing, in seconds.
    #[arg(long, default_value_t = 10)]
    idle: u64,
}

/// How long to wait before an object is tried to be created again: short, and long enough not to keep the server busy with refusals.
const PAUSE: Duration = Duration::from_millis(1);
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub async fn run(server: &Server, common: &Common, options: &Options) -> Result<()> {
    let mut client = server.connect().await?;
    let run = stamp();
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

/// Each document twice: made anew, and as it is kept.
async fn documents(client: &mut Client, group: &str, options: &Options) -> Result<()> {
    define(client, &format!("{}.example.com", stamp()), "gadgets", options.schema, "default").await?;
    let discovery = Ask { accept: DISCOVERY, ..Ask::get("/apis") };
    let openapi = Ask::get(format!("/openapi/v3/apis/{group}/v1"));
    for (name, ask) in [("aggregated discovery", discovery), ("OpenAPI v3 of one group", openapi)] {
        let (first, again) = (timed(client, &ask).await?, timed(client, &ask).await?);
        let milliseconds = |sample: &Sample| sample.latency.as_secs_f64() * 1e3;
        println!("{name}: {:.2} ms, again {:.2} ms, {} bytes", milliseconds(&first), milliseconds(&again), first.bytes);
    }
    Ok(())
}

/// Makes a definition; how long it took until an object of it could be created.
async fn define(client: &mut Client, group: &str, plural: &str, schema: usize, namespace: &str) -> Result<Duration> {
    let definition = objects::large_crd(group, plural, schema);
    let object = objects::gadget(group, plural);
    let create = Ask::post(format!("/apis/{group}/v1/namespaces/{namespace}/{plural}"), &object);
    let began = Instant::now();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    client.ask(&Ask::post(path, &definition), false).await?;
    loop {
        match client.ask(&create, false).await {
            Ok(_) => return Ok(began.elapsed()),
            Err(Error::Answer { code: 404 | 503, .. }) if began.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            Err(other) => return Err(other),
        }
    }
}
