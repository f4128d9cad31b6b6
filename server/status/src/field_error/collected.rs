//! Limit on the total size of the error texts of one validation.
//!
//! A Status lists at most the first thousand errors and one mebibyte of text. A validation finds as
//! many errors as a body has values, and each may show a value and a path of any length. Errors
//! created after [`MAX_TEXTS`] bytes have no texts: no Status would show them.

use std::cell::Cell;

/// Limit on the bytes of error texts of one validation: several times the limit of a Status.
const MAX_TEXTS: usize = 8 << 20;
/// Bytes that an error counts besides its texts, because there may also be many small errors.
const OVERHEAD: usize = 64;

thread_local! {
    /// The remaining bytes; `None` outside of a validation.
    static ROOM: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Restores the counter of the outer validation on drop, also after a panic.
struct Restore(Option<usize>);

impl Drop for Restore {
    fn drop(&mut self) {
        ROOM.set(self.0);
    }
}

/// Runs a validation with a limit on the bytes of its error texts.
pub fn with_bounded_texts<T>(validate: impl FnOnce() -> T) -> T {
    let _restore = Restore(ROOM.replace(Some(MAX_TEXTS)));
    validate()
}

/// Whether the error texts of the validation have reached their limit, so that no Status would show
/// another error.
///
/// A check that compares each item of one list with each item of another stops then.
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
    fn error_texts_of_validation_are_bounded() {
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
