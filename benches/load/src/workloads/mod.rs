//! The workloads: one file for each.

pub mod abuse;
pub mod crd;
pub mod create;
pub mod custom;
pub mod get;
pub mod idle;
pub mod informers;
pub mod list;
pub mod patch;
pub mod prepare;
pub mod saturation;
pub mod watch;

use std::time::Instant;

use crate::client::{Ask, Client};
use crate::error::Result;
use crate::measure::Sample;

/// Asks once, and says how that went.
async fn timed(client: &mut Client, ask: &Ask) -> Result<Sample> {
    let began = Instant::now();
    let answer = client.ask(ask, false).await?;
    Ok(Sample { latency: began.elapsed(), first_byte: answer.first_byte, bytes: answer.length })
}

/// The name of the pod with this number.
fn pod_name(number: usize) -> String {
    format!("pod-{number:06}")
}
