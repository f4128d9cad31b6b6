//! REST over HTTP for every resource of a catalog: negotiation, verbs, tables, discovery, OpenAPI.
//!
//! One [`ApiServer`] serves a set of kinds; the delegation chain is made of three of them. It works on descriptors and knows no kind by
//! name.

mod admission;
mod answer;
mod audit;
mod behaviour;
mod body;
mod discovery;
mod empty;
mod endpoint;
mod events;
mod frames;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gzip;
mod listing;
mod loopback;
mod managed;
mod media;
mod open;
mod openapi_docs;
mod options;
mod owners;
mod packed;
mod partial;
mod patching;
mod peers;
mod registrations;
mod render;
mod route_table;
mod routes;
mod said_kind;
mod server;
mod table;
mod verbs;
mod versions;

pub use admission::{Admission, AdmissionChain, Attributes, Conversions, Operation, Reservations};
pub use behaviour::{Behaviour, Environment};
pub use body::internal;
pub use discovery::{Discovery, GroupVersions, RemoteDocument, RemoteVersion};
pub use endpoint::{Answer, Connected, Endpoint, Posted, SubresourceHandler};
pub use loopback::{Loopback, Resource};
pub use media::{Accepted, Encoding, Form};
pub use open::{CustomEndpoints, Incomplete, OpenKind, Origin};
pub use openapi_docs::{OpenApi, Served, options as openapi_options};
pub use options::{FieldValidation, WriteOptions};
pub use packed::Packed;
pub use peers::{GroupVersion, Members, NoPeers, PeerAddresses, PeerResources, Peers};
pub use registrations::{Backend, Registered, Registration, Registrations};
pub use server::{ApiServer, respond};
pub use verbs::delete::check as check_delete_options;
pub use versions::compare as compare_versions;
