//! A client of the `kube` crate for a test server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};

use crate::common::Server;

/// Returns a client with the administrator's certificate.
pub async fn connect(server: &Server) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}
