//! Every word of the definition language that a CustomResourceDefinition can say.

#![group("verdict.example.com")]
#![version(v1)]
#![version(v1beta1)]
