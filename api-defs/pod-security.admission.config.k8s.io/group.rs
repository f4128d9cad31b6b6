//! Configuration of the admission plugin `PodSecurity`.

#![group(
    "pod-security.admission.config.k8s.io",
    module = podsecurity,
    package = generated,
    internal,
    validation = tagged,
)]
#![version(v1, unserved)]
#![version(v1beta1, unserved)]
#![version(v1alpha1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L005, L008, L011, L017, L019)]
