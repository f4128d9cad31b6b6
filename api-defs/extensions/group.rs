//! The first home of workloads, ingresses and network policies: still decoded, never served.

#![group(
    "extensions",
    model = "io.k8s.api.extensions",
    proto = "k8s.io.api.extensions",
    package = generated,
    validation = tagged,
)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L015, L019)]
