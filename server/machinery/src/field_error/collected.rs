//! How many bytes of texts the errors of one validation have.
//!
//! A Status tells the first thousand errors and one mebibyte of texts. A validation finds as many errors as a body has values, and each
//! may show a value and a path of any length. Errors that are made after [`MAX_TEXTS`] bytes have no texts: no client would see them.

use std::cell::Cell;

/// Bytes of texts that the errors of one validation keep: several times what a Status tells.
const MAX_TEXTS: usize = 8 << 20;
/// What an error counts besides its texts: there may be many small errors, too.
const OVERHEAD: usize = 64;

thread_local! {
    /// Bytes that may still be kept; nothing outside of a validation.
    static ROOM: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Restores the room of the outer validation when an inner one ends, by a panic too.
struct Restore(Option<usize>);

impl Drop for Restore {
    fn drop(&mut self) {
        ROOM.set(self.0);
    }
}

/// Runs a validation whose errors keep a bounded number of bytes.
pub fn with_bounded_texts<T>(validate: impl FnOnce() -> T) -> T {
    let _restore = Restore(ROOM.replace(Some(MAX_TEXTS)));
    validate()
}

/// Whether the errors of the validation have used up their bytes, so that no client would see another one. A check that
/// compares each item of one list with each of another one stops then.
pub fn is_full() -> bool {
    ROOM.get() == Some(0)
}

pub(super) fn count(bytes: usize) {
    if let Some(room) = ROOM.get() {
        ROOM.set(Some(room.saturating_sub(bytes + OVERHEAD)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::FieldError;
    use super::*;
    use crate::field_path::Path;

    #[test]
    fn texts_of_the_errors_of_a_validation_are_bounded() {
        let path = Path::new("spec");
        let value = "x".repeat(1 << 20);
        let make = || (0..100).map(|_| FieldError::invalid(&path, &value, "is wrong").text_len()).sum::<usize>();
        let kept = with_bounded_texts(make);
        assert!((MAX_TEXTS..MAX_TEXTS + (2 << 20)).contains(&kept), "{kept}");
        assert!(make() > 100 << 20, "errors outside of a validation keep their texts");
        let nested = with_bounded_texts(|| (with_bounded_texts(make), make()));
        assert_eq!(nested, (kept, kept));
    }
}
