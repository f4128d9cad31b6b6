//! What every group uses.

#![group("meta.k8s.io", module = meta, package = apimachinery)]
#![version(v1)]
#![allow(L012)]
