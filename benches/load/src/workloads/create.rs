//! POST of new objects.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};

use super::timed;
use crate::client::{Ask, Server};
use crate::error::{Error, Result};
use crate::{Common, PATIENCE, measure, objects};

/// What to create.
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
    /// A custom resource of about 1 KB; its definition is made first.
    Widget,
}

const GROUP: &str = "load.example.com";

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let (kind, namespace, run) = (options.kind, common.namespace.clone(), stamp());
    if kind == Kind::Widget {
        define(&server, GROUP, &namespace).await?;
    }
    measure::run(&format!("POST {kind:?}"), server, common, move |mut client, number| {
        let name = format!("{run}-{number:06}");
        let ask = match kind {
            Kind::ConfigMap => {
                Ask::post(format!("/api/v1/namespaces/{namespace}/configmaps"), &objects::config_map(&name, 1024))
            }
            Kind::Pod => Ask::post(format!("/api/v1/namespaces/{namespace}/pods"), &objects::pod(&name)),
            Kind::Widget => Ask::post(widgets(GROUP, &namespace), &objects::widget(GROUP, &name)),
        };
        async move { timed(&mut client, &ask).await }
    })
    .await
}

fn widgets(group: &str, namespace: &str) -> String {
    format!("/apis/{group}/v1/namespaces/{namespace}/widgets")
}

/// Something that no earlier run was called.
pub fn stamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("run-{:x}", since.as_millis())
}

/// Makes the definition, and waits until an object of it can be created.
async fn define(server: &Server, group: &str, namespace: &str) -> Result<()> {
    let mut client = server.connect().await?;
    let definition = Ask::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &objects::crd(group));
    match client.ask(&definition, false).await {
        Err(Error::Answer { code: 409, .. }) | Ok(_) => {}
        Err(other) => return Err(other),
    }
    let ask = Ask::post(widgets(group, namespace), &objects::widget(group, &stamp()));
    let began = Instant::now();
    loop {
        match client.ask(&ask, false).await {
            Ok(_) => return Ok(()),
            Err(Error::Answer { code: 404 | 503, .. }) if began.elapsed() < PATIENCE => tokio::task::yield_now().await,
            Err(other) => return Err(other),
        }
    }
}
