//! The controllers that the semantics of the API rest on, in the process of the server.
//!
//! They are those of upstream's kube-controller-manager: they have its names, its service accounts,
//! its field manager and its lease, so that a kube-controller-manager and these controllers exclude
//! each other. They read the watch cache, and write through admission as a client does. A controller
//! without work has a queue and watches that wait.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod aggregated_roles;
mod certificates;
mod client;
mod context;
mod election;
mod events;
mod finished_jobs;
mod garbage;
mod lease_requests;
mod legacy_tokens;
mod manager;
mod namespaces;
mod per_namespace;
mod policy_types;
mod queue;
mod quotas;
mod recorder;
mod resources;
mod root_ca;
mod service_accounts;
mod services;
mod storage_migration;
mod unscheduled_pods;
mod volume_protection;

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Background, RunningServer};
use request::Handler;

/// The controllers of a server, as its flags select them.
pub struct Controllers;

#[async_trait]
impl Background for Controllers {
    async fn start(&self, server: RunningServer) -> Arc<dyn Handler> {
        manager::start(server).await
    }
}
