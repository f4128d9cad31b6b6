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

use crate::client::{ApiRequest, Client};
use crate::error::Result;
use crate::measure::Sample;

/// Sends a request once and measures it.
async fn timed(client: &mut Client, api_request: &ApiRequest) -> Result<Sample> {
    let began = Instant::now();
    let answer = client.call(api_request, false).await?;
    Ok(Sample { latency: began.elapsed(), first_byte: answer.first_byte, bytes: answer.length })
}

/// Returns the name of the pod with this number.
fn pod_name(number: usize) -> String {
    format!("pod-{number:06}")
}
