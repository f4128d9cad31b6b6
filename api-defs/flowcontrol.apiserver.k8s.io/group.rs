//! Which requests wait for which others when the server is busy.

#![group(
    "flowcontrol.apiserver.k8s.io",
    priority = 16100,
    model = "io.k8s.api.flowcontrol",
    proto = "k8s.io.api.flowcontrol",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1, priority = 21)]
#![version(v1beta3, priority = 18, unserved)]
#![version(v1beta2, unserved)]
#![version(v1beta1, priority = 12, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L004, L019, L021)]
