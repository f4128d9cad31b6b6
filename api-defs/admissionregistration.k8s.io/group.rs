//! Admission webhooks and CEL policies that validate or mutate requests.

#![group(
    "admissionregistration.k8s.io",
    priority = 16700,
    model = "io.k8s.api.admissionregistration",
    proto = "k8s.io.api.admissionregistration",
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 12, off)]
#![version(v1alpha1, priority = 9, off)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L014, L017, L019)]
