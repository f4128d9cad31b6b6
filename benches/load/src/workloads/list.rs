//! LIST of all pods, in each format.

use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::timed;
use crate::Common;
use crate::client::{ApiRequest, Client, Server};
use crate::error::{Error, Result};
use crate::measure::{self, Sample};

/// Parameters of the list.
#[derive(Args)]
pub struct Options {
    /// The format of the response.
    #[arg(long, value_enum, default_value_t = Form::Json)]
    form: Form,
    /// Number of pods per page; 0 is no limit.
    #[arg(long, default_value_t = 0)]
    page: usize,
    /// Accept any cached version (resourceVersion=0).
    #[arg(long)]
    any: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Json,
    Protobuf,
    /// JSON, compressed.
    Gzip,
    Table,
    Metadata,
}

pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

impl Form {
    fn accept(self) -> &'static str {
        match self {
            Form::Json | Form::Gzip => "application/json",
            Form::Protobuf => PROTOBUF,
            Form::Table => "application/json;as=Table;v=v1;g=meta.k8s.io",
            Form::Metadata => "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        }
    }
}

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let (form, page, any) = (options.form, options.page, options.any);
    let path = format!("/api/v1/namespaces/{}/pods", common.namespace);
    measure::run(&format!("LIST pods as {form:?}"), server, common, move |mut client, _| {
        let path = if any { format!("{path}?resourceVersion=0") } else { path.clone() };
        let api_request = ApiRequest { accept: form.accept(), gzip: form == Form::Gzip, ..ApiRequest::get(path) };
        async move {
            if page == 0 {
                timed(&mut client, &api_request).await
            } else {
                paged(&mut client, &api_request, page).await
            }
        }
    })
    .await
}

/// Reads all pages of a list as one operation.
async fn paged(client: &mut Client, api_request: &ApiRequest, page: usize) -> Result<Sample> {
    let began = Instant::now();
    let (mut sample, mut token) = (Sample::default(), String::new());
    loop {
        let path = format!("{}?limit={page}&continue={token}", api_request.path);
        let answer = client.call(&ApiRequest { path, ..api_request.clone() }, true).await?;
        if sample.bytes == 0 {
            sample.first_byte = answer.first_byte;
        }
        sample.bytes += answer.length;
        token = continuation(&answer.body)?;
        if token.is_empty() {
            sample.latency = began.elapsed();
            return Ok(sample);
        }
    }
}

/// Returns the continue token in a list's metadata, which precedes the items.
fn continuation(body: &[u8]) -> Result<String> {
    let text = String::from_utf8_lossy(&body[..body.len().min(2048)]);
    let metadata = text.split_once("\"metadata\":").and_then(|(_, rest)| rest.split_once('}')).map(|(head, _)| head);
    let metadata: Value = metadata
        .and_then(|head| serde_json::from_str(&format!("{head}}}")).ok())
        .ok_or_else(|| Error::Other("a list without metadata".into()))?;
    Ok(metadata["continue"].as_str().unwrap_or("").to_string())
}
