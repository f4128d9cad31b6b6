//! Which part of the declarations is enforced.

/// Which part of the declarations is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationScope {
    /// Constraints and tags only.
    ///
    /// For upstream's kinds: upstream validates their declared enums, unions and required fields by
    /// hand, with other messages or not at all; their tags determine what is enforced.
    Tagged,
    /// All of a declaration: also closed enums, unions and required fields.
    Declared,
}
