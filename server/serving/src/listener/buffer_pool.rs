//! A pool of write buffers per worker thread.
//!
//! A connection needs a buffer from the first write of its streams until the flush, usually within
//! one poll. Allocating one each time makes the allocator request and release memory of the kernel
//! for responses of some kilobytes. That was a twentieth of the cost of creating a pod.

use std::cell::RefCell;

/// The number of buffers that a thread keeps.
const MAX_BUFFERS: usize = 8;
/// The capacity of a new buffer.
const INITIAL_CAPACITY: usize = 8 << 10;
/// Buffers that have grown beyond this are not kept.
const MAX_CAPACITY: usize = 256 << 10;

thread_local! {
    static POOL: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns an empty buffer.
pub(super) fn take() -> Vec<u8> {
    POOL.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(INITIAL_CAPACITY))
}

/// Returns a buffer to the pool of this thread.
pub(super) fn give_back(mut buffer: Vec<u8>) {
    if (INITIAL_CAPACITY..=MAX_CAPACITY).contains(&buffer.capacity()) {
        buffer.clear();
        POOL.with_borrow_mut(|pool| {
            if pool.len() < MAX_BUFFERS {
                pool.push(buffer);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reuses_buffers_empty() {
        let mut buffer = take();
        buffer.extend_from_slice(&[7; 2 * INITIAL_CAPACITY]);
        let capacity = buffer.capacity();
        give_back(buffer);
        let again = take();
        assert_eq!((again.len(), again.capacity()), (0, capacity));
    }

    #[test]
    fn pool_size_is_limited() {
        give_back(Vec::with_capacity(MAX_CAPACITY + 1));
        assert_eq!(take().capacity(), INITIAL_CAPACITY, "too large");
        (0..MAX_BUFFERS + 3).for_each(|_| give_back(Vec::with_capacity(2 * INITIAL_CAPACITY)));
        assert_eq!(POOL.with_borrow(Vec::len), MAX_BUFFERS);
    }
}
