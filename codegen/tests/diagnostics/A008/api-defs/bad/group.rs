//! A name that is none.

#![group("Shop_Example")]
#![version(v1)]
