//! Configuration files that command-line flags of the API server name.

#![group(
    "apiserver.config.k8s.io",
    module = apiserverconfig,
    model = "io.k8s.apiserver.pkg.apis.apiserver",
    proto = "k8s.io.apiserver.pkg.apis.apiserver",
    package = apimachinery,
    internal,
    validation = tagged,
)]
#![version(v1, unserved)]
#![version(v1beta1, unserved)]
#![version(v1alpha1, unserved)]
// Older than these conventions; see docs/api-defs-errors.md.
#![allow(L005, L011, L017, L019)]
