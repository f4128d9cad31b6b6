//! OpenAPI documents of an API server, as `/openapi/v2` and `/openapi/v3/..` serve them.
//!
//! A [`Catalog`] is data: definitions (schemas), group versions, resources and their verbs.
//! [`Catalog::v2`] and [`Catalog::v3`] convert it to documents. Their operations follow upstream's
//! rules for names and parameters (`k8s.io/apiserver/pkg/endpoints/installer.go` and
//! `openapi/openapi.go`). Codegen writes the catalog of the built-in resources; a server removes
//! what `--runtime-config` disables. Documents of [`custom`] resources are built apart and merged.
//! [`protobuf`] encodes both documents for clients that request protobuf.
//!
//! The crate refers to no kind by name, except for the few types of the protocol itself
//! ([`names`]).

pub mod builtin;
mod catalog;
pub mod custom;
mod documents;
mod endpoints;
mod item;
mod media;
mod merge;
pub mod names;
mod options;
mod paths;
pub mod protobuf;
mod references;
mod schema;
mod v2;
mod v3;

pub use catalog::{
    Catalog, GroupVersion, GroupVersionKind, Parameter, Parameters, Resource, Scope, Serving, Subresource,
    SubresourceResponse,
};
pub use merge::merge_v2;
pub use options::OpenApiOptions;
pub use schema::to_v2;
