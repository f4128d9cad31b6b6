//! Every word of the definition language that a CustomResourceDefinition supports.

#![group("verdict.example.com")]
#![version(v1)]
#![version(v1beta1)]
