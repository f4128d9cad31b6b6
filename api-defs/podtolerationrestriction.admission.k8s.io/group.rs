//! Configuration of the admission plugin `PodTolerationRestriction`.

#![group("podtolerationrestriction.admission.k8s.io", package = generated, internal, validation = tagged)]
#![version(v1alpha1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L005, L011, L017, L019)]
