//! Rewriting stored objects in the current storage version.

#![group(
    "storagemigration.k8s.io",
    priority = 15800,
    model = "io.k8s.api.storagemigration",
    proto = "k8s.io.api.storagemigration",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1beta1, priority = 9, off)]
