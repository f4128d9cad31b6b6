//! What a shop sells.

#![group("shop.example.com")]
#![version(v1)]
