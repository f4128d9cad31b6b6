//! Buffers of writes that connections of a worker lend one another.
//!
//! A connection needs one from when its streams have something to say until that has left, mostly within one poll. Made anew each time, one
//! that holds an answer of some kilobytes is memory that the allocator takes from the kernel and gives back: a twentieth of creating a pod.

use std::cell::RefCell;

/// How many buffers a worker keeps.
const MOST: usize = 8;
/// The capacity of a new one.
const FIRST: usize = 8 << 10;
/// One that has grown larger is not kept.
const LARGEST: usize = 256 << 10;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer.
pub(super) fn take() -> Vec<u8> {
    KEPT.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(FIRST))
}

/// Keeps a buffer for whoever takes one next on this thread.
pub(super) fn give_back(mut buffer: Vec<u8>) {
    if (FIRST..=LARGEST).contains(&buffer.capacity()) {
        buffer.clear();
        KEPT.with_borrow_mut(|kept| {
            if kept.len() < MOST {
                kept.push(buffer);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_lent_again_and_empty() {
        let mut buffer = take();
        buffer.extend_from_slice(&[7; 2 * FIRST]);
        let capacity = buffer.capacity();
        give_back(buffer);
        let again = take();
        assert_eq!((again.len(), again.capacity()), (0, capacity));
    }

    #[test]
    fn what_is_kept_has_limits() {
        give_back(Vec::with_capacity(LARGEST + 1));
        assert_eq!(take().capacity(), FIRST, "too large");
        (0..MOST + 3).for_each(|_| give_back(Vec::with_capacity(2 * FIRST)));
        assert_eq!(KEPT.with_borrow(Vec::len), MOST);
    }
}
