//! The global allocator of the program: mimalloc.

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys as mi;

/// The alignment of each block that has at least this size (mimalloc: `MI_MAX_ALIGN_SIZE`).
const NATURAL_ALIGNMENT: usize = 16;

/// mimalloc, by its plain functions where these align a block as required.
///
/// The allocator of the crate `mimalloc` always calls the functions for aligned blocks. These take a
/// longer way for most blocks above 1 KiB, and reserve more memory than required.
pub struct Allocator;

/// Whether blocks of this size have the alignment without a request for it.
const fn is_aligned(size: usize, align: usize) -> bool {
    align <= NATURAL_ALIGNMENT && align <= size
}

#[allow(unsafe_code)]
// SAFETY: each block comes from mimalloc, with at least the size and the alignment of its layout, and
// all functions of mimalloc accept each of its blocks.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        match is_aligned(size, align) {
            true => unsafe { mi::mi_malloc(size) }.cast(),
            false => unsafe { mi::mi_malloc_aligned(size, align) }.cast(),
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        match is_aligned(size, align) {
            true => unsafe { mi::mi_zalloc(size) }.cast(),
            false => unsafe { mi::mi_zalloc_aligned(size, align) }.cast(),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        unsafe { mi::mi_free(block.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match is_aligned(size, layout.align()) {
            true => unsafe { mi::mi_realloc(block.cast(), size) }.cast(),
            false => unsafe { mi::mi_realloc_aligned(block.cast(), size, layout.align()) }.cast(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn blocks_have_the_alignment_of_their_layout() {
        for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
            for size in (0..200).chain((1..40).map(|step| step * 97)).filter(|size| size % align == 0 && *size > 0) {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the blocks are used as their layouts say.
                unsafe {
                    let blocks: Vec<*mut u8> = (0..20).map(|_| Allocator.alloc(layout)).collect();
                    let zeroed = Allocator.alloc_zeroed(layout);
                    let larger = Allocator.realloc(zeroed, layout, size * 3);
                    assert!(blocks.iter().chain([&larger]).all(|block| block.addr() % align == 0), "{size}, {align}");
                    assert!((0..size).all(|offset| larger.add(offset).read() == 0));
                    blocks.into_iter().for_each(|block| Allocator.dealloc(block, layout));
                    Allocator.dealloc(larger, Layout::from_size_align(size * 3, align).unwrap());
                }
            }
        }
    }
}
