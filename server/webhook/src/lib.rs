//! HTTPS clients of other servers: webhooks, aggregated API servers, token issuers.
//!
//! This crate has what all clients share. Certificates are verified unless verification is disabled
//! explicitly. Redirects are never followed. A Service is resolved once per request, and that
//! address is dialled. Errors have the texts of Go's HTTP client, because API clients see them.

mod backoff;
mod client;
mod connect;
mod dial_metrics;
mod error;
mod konnectivity;
mod kubeconfig;
pub mod metrics;
mod reviewer;
mod route;
mod services;
mod tls;
mod token;
mod trust_anchors;
mod users;

pub use backoff::Backoff;
pub use client::{Body, Client, Reply};
pub use connect::is_remote;
pub use dial_metrics::DialMetrics;
pub use error::Error;
pub use kubeconfig::Kubeconfig;
pub use reviewer::{ReviewServer, Reviewer};
pub use route::{Proxy, Route};
pub use services::{NoServices, ServiceAddress, Services, WebhookTarget};
pub use tls::{ClientIdentity, Trust};
pub use users::Users;
