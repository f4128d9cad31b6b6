//! Whether someone may do something.

#![group(
    "authorization.k8s.io",
    priority = 17600,
    model = "io.k8s.api.authorization",
    proto = "k8s.io.api.authorization"
)]
#![version(v1)]
#![version(v1beta1, unserved)]
