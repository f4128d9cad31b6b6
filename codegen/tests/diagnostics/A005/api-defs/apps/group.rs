//! What runs.

#![group("apps", model = "io.k8s.api.apps", proto = "k8s.io.api.apps", package = generated, validation = tagged)]
#![version(v1)]
