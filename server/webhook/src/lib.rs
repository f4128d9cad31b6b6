//! HTTPS to servers that are not this one: webhooks of all kinds, aggregated API servers, issuers of tokens.
//!
//! What all of them have in common stands here, so that it is right once: certificates are verified unless somebody says otherwise, redirects
//! are never followed, a service is resolved once per request and that very address is dialled, and errors read as those of Go's HTTP client,
//! because clients of this server see them.

mod client;
mod connect;
mod dial_metrics;
mod error;
mod konnectivity;
mod kubeconfig;
pub mod metrics;
mod route;
mod services;
mod tls;
mod token;
mod trust_anchors;
mod users;

pub use client::{Body, Client, Reply};
pub use connect::is_remote;
pub use dial_metrics::DialMetrics;
pub use error::Error;
pub use kubeconfig::Kubeconfig;
pub use route::{Proxy, Route};
pub use services::{NoServices, ServiceAddress, Services, Target};
pub use tls::{Identity, Trust};
pub use users::Users;
