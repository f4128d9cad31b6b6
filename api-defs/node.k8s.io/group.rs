//! Ways to run containers that nodes offer.

#![group(
    "node.k8s.io",
    priority = 16300,
    model = "io.k8s.api.node",
    proto = "k8s.io.api.node",
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, unserved)]
#![version(v1alpha1, priority = 1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L010, L019)]
