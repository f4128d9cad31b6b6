//! Role-based access control: roles and their bindings.

#![group(
    "rbac.authorization.k8s.io",
    priority = 17000,
    model = "io.k8s.api.rbac",
    proto = "k8s.io.api.rbac",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, unserved)]
#![version(v1alpha1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L019)]
