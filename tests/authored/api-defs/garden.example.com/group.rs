//! Gardens: what the words about kinds do.

#![group("garden.example.com", priority = 1700, finalizers = qualified)]
#![version(v1, priority = 20)]
#![version(v1beta1, priority = 10)]
#![version(v1alpha1, off)]
#![version(v1alpha2, unserved)]
