//! Requests to admission webhooks and their responses.

#![group(
    "admission.k8s.io",
    model = "io.k8s.api.admission",
    proto = "k8s.io.api.admission",
    package = generated,
    validation = tagged,
)]
#![version(v1, unserved)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003)]
