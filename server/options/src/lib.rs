//! The command line options, with upstream's flag names and meanings (upstream:
//! `cmd/kube-apiserver/app/options`), and the configuration files that they name.
//!
//! `flags::FLAGS` lists all flags. [`Options::parse_from`] converts their values to typed options and
//! reports all errors. [`configuration`] decodes configuration files; [`reload`] applies their changes.

#![deny(clippy::missing_errors_doc)]

mod admission;
mod aggregation;
mod algorithm;
mod audit;
mod authentication;
mod authorization;
mod command;
pub mod configuration;
mod connections;
mod controllers;
mod deprecated;
mod documents;
mod egress;
mod error;
mod error_list;
mod fixed;
mod flag;
mod flags;
pub mod identity;
mod kubelet;
mod logs;
mod metrics;
mod network;
mod oidc;
mod options;
mod peers;
mod plugins;
mod program;
pub mod reload;
mod request_headers;
mod requests;
mod services;
mod serving;
mod storage;
mod tls;
mod values;
pub mod version;
mod vmodule;
mod words;

pub use admission::AdmissionOptions;
pub use aggregation::AggregationOptions;
pub use algorithm::Algorithm;
pub use audit::{
    AuditBatch, AuditDelivery, AuditFormat, AuditLimits, AuditLogOptions, AuditMode, AuditOptions, AuditRotation,
    AuditWebhookOptions,
};
pub use authentication::{AuthenticationOptions, DelegationOptions, TokenWebhookOptions};
pub use authorization::{AccessWebhookOptions, AuthorizationMode, AuthorizationOptions};
pub use connections::ConnectionOptions;
pub use controllers::{CONTROLLERS, ControllerOptions, KnownController, SigningOptions};
pub use documents::document;
pub use egress::EgressOptions;
pub use error::{BoxError, DocumentError, EgressError, Error, FileError, FlagError, FlagErrors, ValueError};
pub use kubelet::KubeletOptions;
pub use logs::{LogFormat, LogOptions};
pub use metrics::MetricsOptions;
pub use network::{Cidr, PortRange};
pub use oidc::IssuerOptions;
pub use options::{Options, subcommand};
pub use peers::PeerOptions;
pub use plugins::PLUGINS;
pub use program::{ServerProgram, Subcommand};
pub use request_headers::RequestHeaders;
pub use requests::RequestOptions;
pub use services::ServiceOptions;
pub use serving::ServingOptions;
pub use storage::{EncryptionOptions, EtcdListenOptions, EtcdOptions, EtcdOverride, StorageOptions};
pub use tls::SniCertificate;
pub use vmodule::Module;
