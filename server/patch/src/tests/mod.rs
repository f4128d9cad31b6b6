//! Tests of patches, on a few kinds with every merge behaviour.

mod apply;
mod documents;
mod fixture;
mod owners;
mod sets;
mod strategic;
mod types;
