//! Human-readable reports of what happened to objects; stored as core events.

#![group(
    "events.k8s.io",
    priority = 17750,
    model = "io.k8s.api.events",
    proto = "k8s.io.api.events",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 5, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L012)]
