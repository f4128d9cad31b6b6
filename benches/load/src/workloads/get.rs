//! GET of single pods.

use std::sync::Arc;

use clap::Args;

use super::{pod_name, timed};
use crate::Common;
use crate::client::{ApiRequest, Server};
use crate::error::Result;
use crate::measure;

/// Parameters of the reads.
#[derive(Args)]
pub struct Options {
    /// Accept any cached version (resourceVersion=0).
    #[arg(long)]
    any: bool,
    /// Number of pods to choose from, the first ones created by `prepare`.
    #[arg(long, default_value_t = 1)]
    pods: usize,
    /// Request protobuf.
    #[arg(long)]
    protobuf: bool,
}

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let (namespace, pods) = (common.namespace.clone(), options.pods.max(1));
    let query = if options.any { "?resourceVersion=0" } else { "" };
    let accept = if options.protobuf { super::list::PROTOBUF } else { "application/json" };
    let name = if options.any { "GET pod, resourceVersion=0" } else { "GET pod" };
    measure::run(name, server, common, move |mut client, number| {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{}{query}", pod_name(number % pods));
        async move { timed(&mut client, &ApiRequest { accept, ..ApiRequest::get(path) }).await }
    })
    .await
}
