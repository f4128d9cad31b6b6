//! Facts about patches, on a few kinds that have every way of merging.

mod apply;
mod documents;
mod fixture;
mod owners;
mod sets;
mod strategic;
mod types;
