//! Authentication: verifying and issuing tokens, and identities of callers.

#![group(
    "authentication.k8s.io",
    priority = 17700,
    model = "io.k8s.api.authentication",
    proto = "k8s.io.api.authentication",
    package = apimachinery,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 9, unserved)]
#![version(v1alpha1, priority = 1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L007, L010, L012, L016)]
