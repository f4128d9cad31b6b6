//! Authorization: access checks and listings of permissions.

#![group(
    "authorization.k8s.io",
    priority = 17600,
    model = "io.k8s.api.authorization",
    proto = "k8s.io.api.authorization",
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L007, L010, L015, L016)]
