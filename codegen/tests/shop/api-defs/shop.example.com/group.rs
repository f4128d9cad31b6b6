//! What a shop sells.

#![group("shop.example.com")]
#![version(v1)]
#![version(v1beta1, off)]
#![version(v1alpha1, unserved)]
