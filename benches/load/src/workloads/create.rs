//! POST of new objects.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use serde_json::Value;

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
        let probe = Ask::post(widgets(GROUP, &namespace), &objects::widget(GROUP, &stamp()));
        define(&server, &objects::crd(GROUP), &probe).await?;
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

/// Makes a definition, and waits until an object of it can be created, which `first` does.
pub async fn define(server: &Server, definition: &Value, first: &Ask) -> Result<()> {
    let mut client = server.connect().await?;
    let definition = Ask::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    super::prepare::unless_there(client.ask(&definition, false).await.map(drop))?;
    let began = Instant::now();
    loop {
        match super::prepare::unless_there(client.ask(first, false).await.map(drop)) {
            Ok(()) => return Ok(()),
            Err(Error::Answer { code: 404 | 503, .. }) if began.elapsed() < PATIENCE => tokio::task::yield_now().await,
            Err(other) => return Err(other),
        }
    }
}
