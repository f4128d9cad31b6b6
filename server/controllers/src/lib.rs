//! The controllers that the semantics of the API rest on, in the process of the server.
//!
//! They are those of upstream's kube-controller-manager: they have its names, its service accounts,
//! its field manager and its lease, so that a kube-controller-manager and these controllers exclude
//! each other. They read the watch cache, and write through admission as a client does. A controller
//! without work has a queue and watches that wait.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod aggregated_roles;
mod client;
mod context;
mod election;
mod events;
mod finished_jobs;
mod garbage;
mod manager;
mod namespaces;
mod per_namespace;
mod queue;
mod quotas;
mod recorder;
mod resources;
mod root_ca;
mod service_accounts;
mod services;
mod unscheduled_pods;
mod volume_protection;

use async_trait::async_trait;
use endpoints::{Background, RunningServer};

/// The controllers of a server, as its flags select them.
pub struct Controllers;

#[async_trait]
impl Background for Controllers {
    async fn start(&self, server: RunningServer) {
        manager::start(server).await;
    }
}
