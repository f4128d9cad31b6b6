//! Which server answers for which group and version.

#![group(
    "apiregistration.k8s.io",
    priority = 20001,
    model = "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    proto = "k8s.io.kube_aggregator.pkg.apis.apiregistration",
    package = apimachinery,
    validation = tagged,
)]
#![version(v1, priority = 0)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003)]
