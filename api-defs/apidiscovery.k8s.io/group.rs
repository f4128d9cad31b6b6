//! Everything a server offers, in one answer.

#![group(
    "apidiscovery.k8s.io",
    model = "io.k8s.api.apidiscovery",
    proto = "k8s.io.api.apidiscovery",
    package = apimachinery,
    internal,
    validation = tagged,
)]
#![version(v2, unserved)]
#![version(v2beta1, unserved)]
