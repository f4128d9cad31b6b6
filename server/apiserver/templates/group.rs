//! The group `@group@`.

#![group("@group@")]
#![version(v1)]
