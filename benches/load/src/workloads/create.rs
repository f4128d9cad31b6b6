//! POST of new objects.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::timed;
use crate::client::{ApiRequest, Server};
use crate::error::{Error, Result};
use crate::{Common, TIMEOUT, measure, objects};

/// The kind of the created objects.
#[derive(Args)]
pub struct Options {
    #[arg(long, value_enum, default_value_t = Kind::ConfigMap)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// With 1 KB of data.
    ConfigMap,
    Pod,
    /// A custom resource of about 1 KB; its definition is created first.
    Widget,
}

const GROUP: &str = "load.example.com";

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let (kind, namespace, run) = (options.kind, common.namespace.clone(), unique_name());
    if kind == Kind::Widget {
        let probe = ApiRequest::post(widgets(GROUP, &namespace), &objects::widget(GROUP, &unique_name()));
        define(&server, &objects::crd(GROUP), &probe).await?;
    }
    measure::run(&format!("POST {kind:?}"), server, common, move |mut client, number| {
        let name = format!("{run}-{number:06}");
        let api_request = match kind {
            Kind::ConfigMap => ApiRequest::post(
                format!("/api/v1/namespaces/{namespace}/configmaps"),
                &objects::config_map(&name, 1024),
            ),
            Kind::Pod => ApiRequest::post(format!("/api/v1/namespaces/{namespace}/pods"), &objects::pod(&name)),
            Kind::Widget => ApiRequest::post(widgets(GROUP, &namespace), &objects::widget(GROUP, &name)),
        };
        async move { timed(&mut client, &api_request).await }
    })
    .await
}

fn widgets(group: &str, namespace: &str) -> String {
    format!("/apis/{group}/v1/namespaces/{namespace}/widgets")
}

/// Returns a name that no earlier run used.
pub fn unique_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("run-{:x}", since.as_millis())
}

/// Creates a definition, and waits until an object of it can be created, by creating `first`.
pub async fn define(server: &Server, definition: &Value, first: &ApiRequest) -> Result<()> {
    let mut client = server.connect().await?;
    let definition = ApiRequest::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    super::prepare::ignore_already_exists(client.call(&definition, false).await.map(drop))?;
    let began = Instant::now();
    loop {
        match super::prepare::ignore_already_exists(client.call(first, false).await.map(drop)) {
            Ok(()) => return Ok(()),
            Err(Error::Answer { code: 404 | 503, .. }) if began.elapsed() < TIMEOUT => tokio::task::yield_now().await,
            Err(other) => return Err(other),
        }
    }
}
