//! The order in which pods are placed, and pods that are placed together.

#![group(
    "scheduling.k8s.io",
    priority = 16600,
    model = "io.k8s.api.scheduling",
    proto = "k8s.io.api.scheduling",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, unserved)]
#![version(v1alpha2, priority = 2, off)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003)]
