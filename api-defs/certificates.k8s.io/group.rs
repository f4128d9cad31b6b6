//! Requests for X.509 certificates, and the trust anchors to check them with.

#![group(
    "certificates.k8s.io",
    priority = 17300,
    model = "io.k8s.api.certificates",
    proto = "k8s.io.api.certificates",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, off)]
#![version(v1alpha1, priority = 1, off)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L007, L010, L017)]
