//! Kinds of storage, the drivers that provide it, and what is attached where.

#![group(
    "storage.k8s.io",
    priority = 16800,
    model = "io.k8s.api.storage",
    proto = "k8s.io.api.storage",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, off)]
#![version(v1alpha1, priority = 1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L015, L019)]
