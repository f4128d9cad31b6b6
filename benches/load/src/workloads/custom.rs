//! The same operations on config maps and on custom objects of the same content, in turn: the cost
//! of custom resources.

use std::sync::Arc;

use clap::Args;
use serde_json::Value;

use super::{create, timed, watch};
use crate::client::{ApiRequest, Server};
use crate::error::Result;
use crate::{Common, measure, objects};

const GROUP: &str = "same.example.com";

/// The number of operations.
#[derive(Args)]
pub struct Options {
    /// Number of objects that are created, and listed later.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// Number of lists.
    #[arg(long, default_value_t = 20)]
    lists: usize,
    /// Number of watchers that receive each of a thousand changes.
    #[arg(long, default_value_t = 100)]
    watchers: usize,
}

/// A kind, and the function that creates its objects.
struct Subject {
    name: &'static str,
    collection: String,
    object: fn(&str) -> Value,
}

impl Subject {
    async fn create(&self, server: &Arc<Server>, common: &Common) -> Result<()> {
        let (run, collection, object) = (create::unique_name(), self.collection.clone(), self.object);
        measure::run(&format!("POST {}", self.name), server.clone(), common, move |mut client, number| {
            let api_request = ApiRequest::post(collection.as_str(), &object(&format!("{run}-{number:06}")));
            async move { timed(&mut client, &api_request).await }
        })
        .await
    }

    /// Reads `below` in the collection, or the whole collection.
    async fn read(&self, server: &Arc<Server>, common: &Common, verb: &str, below: &str) -> Result<()> {
        let path = format!("{}{below}", self.collection);
        measure::run(&format!("{verb} {}", self.name), server.clone(), common, move |mut client, _| {
            let api_request = ApiRequest::get(path.as_str());
            async move { timed(&mut client, &api_request).await }
        })
        .await
    }
}

pub async fn run(server: Arc<Server>, common: &Common, options: &Options) -> Result<()> {
    let namespace = &common.namespace;
    let custom = format!("/apis/{GROUP}/v1/namespaces/{namespace}/maps");
    let subjects = [
        Subject {
            name: "ConfigMap",
            collection: format!("/api/v1/namespaces/{namespace}/configmaps"),
            object: |name| objects::config_map(name, 1024),
        },
        Subject { name: "custom Map", collection: custom.clone(), object: |name| objects::map(GROUP, name, 1024) },
    ];
    create::define(&server, &objects::map_crd(GROUP), &ApiRequest::post(custom, &objects::map(GROUP, "first", 1024)))
        .await?;
    let times = |operations: usize, clients: usize| Common { operations, clients, ..common.clone() };
    for subject in &subjects {
        subject.create(&server, &times(options.objects, common.clients)).await?;
    }
    for subject in &subjects {
        let mut client = server.connect().await?;
        let first = ApiRequest::post(subject.collection.as_str(), &(subject.object)("fan-out"));
        super::prepare::ignore_already_exists(client.call(&first, false).await.map(drop))?;
        subject.read(&server, &times(options.objects, common.clients), "GET", "/fan-out").await?;
    }
    for subject in &subjects {
        subject.read(&server, &times(options.lists, 1), "LIST", "").await?;
    }
    for subject in &subjects {
        println!("WATCH {}", subject.name);
        let watchers = watch::Options::reading(options.watchers);
        watch::fan_out(&server, &times(1000, 1), &watchers, &subject.collection).await?;
    }
    Ok(())
}
