//! How many pods may be taken away at a time.

#![group(
    "policy",
    priority = 17100,
    model = "io.k8s.api.policy",
    proto = "k8s.io.api.policy",
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L010)]
