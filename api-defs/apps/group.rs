//! Workloads that run as sets of alike pods.

#![group(
    "apps",
    priority = 17800,
    model = "io.k8s.api.apps",
    proto = "k8s.io.api.apps",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta2, unserved)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L014, L015, L019)]
