//! Pods and what they need: nodes, volumes, services, configuration, accounts and quotas.

#![group(
    "",
    priority = 18000,
    model = "io.k8s.api.core",
    proto = "k8s.io.api.core",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1, priority = 1)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L004, L008, L009, L010, L012, L014, L015, L017, L019, L021)]
