//! REST over HTTP for every resource of a catalog: negotiation, verbs, tables, discovery, OpenAPI.
//!
//! One [`ApiServer`] serves a set of kinds. The delegation chain consists of three servers. A
//! server works on descriptors and knows no kind by name.

mod admission;
mod audit;
mod background;
mod body;
mod compressed;
mod connect_options;
mod custom_endpoints;
mod discovery;
mod empty;
mod endpoint;
mod endpoint_builder;
mod error;
mod events;
mod frames;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gvk;
mod gzip;
mod kind_extensions;
mod listing;
mod loopback;
mod managed;
mod media;
mod open;
mod openapi_docs;
mod options;
mod owners;
mod partial;
mod patching;
mod peers;
mod registrations;
mod render;
mod response;
mod route_table;
mod routes;
mod server;
mod server_context;
mod table;
mod verbs;
mod versions;

pub use admission::{Admission, AdmissionAttributes, AdmissionChain, Conversions, Operation, Reservations};
pub use background::{Background, RunningServer};
pub use body::internal;
pub use compressed::Compressed;
pub use custom_endpoints::{CustomEndpoints, LateCustomEndpoints};
pub use discovery::{Discovery, GroupVersions, RemoteDocument, RemoteVersion};
pub use endpoint::{ConnectRequest, CreateRequest, Endpoint, SubresourceHandler, SubresourceOutput};
pub use endpoint_builder::EndpointBuilder;
pub use error::Error;
pub use kind_extensions::KindExtensions;
pub use loopback::{GroupVersionResource, Loopback};
pub use media::{Accepted, Encoding, Representation};
pub use open::{Incomplete, OpenKind, Origin};
pub use openapi_docs::{OpenApi, Served, options as openapi_options};
pub use options::{FieldValidation, WriteOptions};
pub use peers::{GroupVersion, Members, NoPeers, PeerAddresses, PeerResources, Peers};
pub use registrations::{AggregatedServer, Registered, Registration, Registrations};
pub use server::{ApiServer, respond};
pub use server_context::ServerContext;
pub use verbs::delete::check as check_delete_options;
pub use versions::compare as compare_versions;
