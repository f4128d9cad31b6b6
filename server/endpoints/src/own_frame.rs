//! The frame that a worker has sent last, in a copy of its own.
//!
//! A change is told to hundreds of watchers at once, by several workers, and all send the same bytes. If they shared them in one place, each
//! watcher would cost several counts of who holds what, which one processor has to fetch from the other.

use std::cell::RefCell;
use std::ptr;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use storage::cache::{EncodingId, Entry};

use crate::frames::LARGE;

thread_local! {
    static LAST: RefCell<Last<Entry>> = const { RefCell::new(Last::none()) };
}

/// The frame of an entry; `shared` fetches it for the first times.
pub fn own_frame(entry: &Arc<Entry>, id: EncodingId, shared: impl FnOnce() -> Option<Bytes>) -> Option<Bytes> {
    LAST.with_borrow_mut(|last| last.frame(entry, id, shared))
}

struct Last<E> {
    /// Not kept alive, but nothing else can be in its place.
    entry: Weak<E>,
    id: EncodingId,
    /// Made when it is wanted for the second time: most changes have one watcher.
    copy: Option<Bytes>,
}

impl<E> Last<E> {
    const fn none() -> Self {
        Last { entry: Weak::new(), id: 0, copy: None }
    }

    fn frame(&mut self, entry: &Arc<E>, id: EncodingId, shared: impl FnOnce() -> Option<Bytes>) -> Option<Bytes> {
        let is_last = self.id == id && ptr::eq(self.entry.as_ptr(), Arc::as_ptr(entry));
        if let Some(copy) = self.copy.as_ref().filter(|_| is_last) {
            return Some(copy.clone());
        }
        let frame = shared()?;
        if !is_last {
            *self = Last { entry: Arc::downgrade(entry), id, copy: None };
        } else if frame.len() < LARGE {
            self.copy = Some(Bytes::copy_from_slice(&frame));
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for frames in turn; says of each whether it is the shared one.
    fn are_shared(frame: &Bytes, asked: &[(&Arc<u8>, EncodingId)]) -> Vec<bool> {
        let mut last = Last::none();
        let given = asked.iter().map(|(entry, id)| last.frame(entry, *id, || Some(frame.clone())).unwrap());
        given.inspect(|given| assert_eq!(given, frame)).map(|given| given.as_ptr() == frame.as_ptr()).collect()
    }

    #[test]
    fn a_frame_that_is_wanted_again_and_again_is_copied_once() {
        let (one, other) = (&Arc::new(1), &Arc::new(1));
        let small = Bytes::from(vec![b'x'; 100]);
        assert_eq!(are_shared(&small, &[(one, 1); 4]), [true, true, false, false]);
        assert_eq!(are_shared(&small, &[(one, 1), (other, 1), (one, 2), (one, 2), (one, 1)]), [true; 5]);
        let large = Bytes::from(vec![b'x'; LARGE]);
        assert_eq!(are_shared(&large, &[(one, 1); 4]), [true; 4], "large ones are never copied");
    }

    #[test]
    fn an_entry_in_the_place_of_one_that_is_gone_is_another_one() {
        let mut last = Last::none();
        let gone = Arc::new(1);
        let frame = |text: &'static str| move || Some(Bytes::from_static(text.as_bytes()));
        (0..3).for_each(|_| drop(last.frame(&gone, 1, frame("gone"))));
        drop(gone);
        let new = Arc::new(1);
        assert_eq!(last.frame(&new, 1, frame("new")).unwrap(), "new");
        assert_eq!(last.frame(&new, 1, || None), None, "what is not there yet is not made up");
    }
}
