//! Devices that pods can ask for, and which claim got which device.

#![group(
    "resource.k8s.io",
    priority = 16200,
    model = "io.k8s.api.resource",
    proto = "k8s.io.api.resource",
    finalizers = qualified,
    package = generated,
    validation = tagged,
)]
#![version(v1, priority = 21)]
#![version(v1beta2, off)]
#![version(v1beta1, priority = 9, off)]
#![version(v1alpha3, priority = 1, off)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L010, L012, L014, L015, L019, L021)]
