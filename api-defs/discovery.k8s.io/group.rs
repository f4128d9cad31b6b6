//! Where the endpoints of services are.

#![group(
    "discovery.k8s.io",
    priority = 16200,
    model = "io.k8s.api.discovery",
    proto = "k8s.io.api.discovery",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 12, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L019)]
