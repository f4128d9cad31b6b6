//! Types that all groups share: metadata, options, lists, statuses and tables.

#![group(
    "meta.k8s.io",
    model = "io.k8s.apimachinery.pkg.apis.meta",
    proto = "k8s.io.apimachinery.pkg.apis.meta",
    package = apimachinery,
    internal,
    validation = tagged,
)]
#![version(v1, unserved)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L007, L012, L017, L019)]
