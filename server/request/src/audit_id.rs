//! The ID that correlates client, server and audit log.

use http::HeaderValue;

/// The audit ID of a request; in its extensions and in the `Audit-Id` header of its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditId(pub HeaderValue);
