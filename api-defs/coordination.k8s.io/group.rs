//! Leases: heartbeats and the election of leaders.

#![group(
    "coordination.k8s.io",
    priority = 16500,
    model = "io.k8s.api.coordination",
    proto = "k8s.io.api.coordination",
    package = generated,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, priority = 13, off)]
#![version(v1alpha2, priority = 12, off)]
