//! Reviews of container images by a webhook.

#![group(
    "imagepolicy.k8s.io",
    model = "io.k8s.api.imagepolicy",
    proto = "k8s.io.api.imagepolicy",
    package = generated,
    validation = tagged,
)]
#![version(v1alpha1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L019)]
