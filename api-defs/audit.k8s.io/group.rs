//! Audit events, and policies that select the recorded requests and details.

#![group(
    "audit.k8s.io",
    model = "io.k8s.apiserver.pkg.apis.audit",
    proto = "k8s.io.apiserver.pkg.apis.audit",
    internal,
    package = apimachinery,
    validation = tagged,
)]
#![version(v1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L012, L019)]
