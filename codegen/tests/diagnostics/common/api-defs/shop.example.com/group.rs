//! What a shop sells.

#![group("shop.example.com")]
#![version(v1)]
#![version(v1beta1)]
