//! Requests and responses as handlers see them.
//!
//! The listener makes a [`Request`] and adds the [`Peer`]. Filters add the [`RequestInfo`], the
//! [`AuditId`], the [`User`] and [`warnings::Warnings`] to its extensions; [`RequestExt`] reads them.
//! This crate depends on no filter, authenticator or authorizer.

mod audit_id;
pub mod body;
pub mod handler;
pub mod negotiation;
mod peer;
pub mod request_info;
pub mod respond;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod upgrade;
pub mod user;
pub mod warnings;

pub use audit_id::AuditId;
pub use body::{Body, BodyError};
pub use handler::{BoxFuture, Handler, Request, RequestExt, Response};
pub use peer::{ClientCertificate, Connection, Peer};
pub use request_info::{Query, RequestInfo};
pub use user::User;
