//! Changing the size of workloads with their load.

#![group(
    "autoscaling",
    priority = 17500,
    model = "io.k8s.api.autoscaling",
    proto = "k8s.io.api.autoscaling",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v2, priority = 30)]
#![version(v1)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L015)]
