//! Custom resources: kinds that users add to a running server.

#![group(
    "apiextensions.k8s.io",
    priority = 16700,
    model = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    proto = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions",
    package = apimachinery,
    validation = tagged,
)]
#![version(v1)]
#![version(v1beta1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L003, L008, L010, L019)]
