//! The error of a comparison of rules.

use machinery::budget::Exceeded;

/// Why two sets of rules cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// The comparison takes too many steps.
    #[error("the rules are too many to be compared with the rules of the user")]
    TooComplex,
    /// The comparison takes too much memory.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
}
