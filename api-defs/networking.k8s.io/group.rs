//! Traffic into and between pods, and the address ranges of services.

#![group(
    "networking.k8s.io",
    priority = 17200,
    model = "io.k8s.api.networking",
    proto = "k8s.io.api.networking",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, off)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L014, L019)]
