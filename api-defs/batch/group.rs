//! Work that comes to an end, once or on a schedule.

#![group(
    "batch",
    priority = 17400,
    model = "io.k8s.api.batch",
    proto = "k8s.io.api.batch",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L019)]
