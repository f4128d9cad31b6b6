//! Storage versions of resources, as reported by each API server of a cluster.

#![group(
    "internal.apiserver.k8s.io",
    module = apiserverinternal,
    priority = 16000,
    model = "io.k8s.api.apiserverinternal",
    proto = "k8s.io.api.apiserverinternal",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1alpha1, priority = 9, off)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003)]
