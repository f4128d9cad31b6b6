//! Products of a shop.

#![group("shop.example.com")]
#![version(v1)]
