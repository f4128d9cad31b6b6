//! OpenAPI documents of an API server, as `/openapi/v2` and `/openapi/v3/..` serve them.
//!
//! A [`Catalog`] is data: definitions (schemas), group versions, resources and their verbs. [`Catalog::v2`] and
//! [`Catalog::v3`] turn it into documents whose operations follow upstream's naming and parameter rules
//! (`k8s.io/apiserver/pkg/endpoints/installer.go` and `openapi/openapi.go`). Codegen makes the catalog of the
//! built-in resources; a server takes out what `--runtime-config` switched off. Documents of [`custom`] resources are made
//! apart and merged in. [`protobuf`] encodes either document for clients that ask for protobuf.
//!
//! This crate knows no kind by name, only the few types that the protocol itself speaks ([`names`]).

pub mod builtin;
mod catalog;
pub mod custom;
mod documents;
mod endpoints;
mod item;
mod media;
mod merge;
pub mod names;
mod paths;
pub mod protobuf;
mod references;
mod schema;
mod v2;
mod v3;

pub use catalog::{
    Answer, Catalog, GroupVersion, GroupVersionKind, Parameter, Parameters, Resource, Scope, Serving, Subresource,
};
pub use documents::Options;
pub use merge::merge_v2;
pub use schema::to_v2;
