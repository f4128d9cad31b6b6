//! Identifiers of types in a model.

/// Index into [`Model::structs`](super::Model::structs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);
