//! What every group uses: metadata, options, lists, statuses and tables.

#![group(
    "meta.k8s.io",
    model = "io.k8s.apimachinery.pkg.apis.meta",
    proto = "k8s.io.apimachinery.pkg.apis.meta",
    package = apimachinery,
    internal
)]
#![version(v1, unserved)]
#![version(v1beta1, unserved)]
