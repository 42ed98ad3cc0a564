//! Memory straight from the operating system: zeroed, page-aligned, optionally in huge pages.

#![expect(
    unsafe_code,
    reason = "no safe call gives aligned, advised pages that can be given back"
)]

use std::ptr::NonNull;

/// The size and alignment of a huge page on the supported machines.
pub(super) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// An anonymous mapping, unmapped when dropped.
pub(super) struct Pages {
    start: NonNull<u8>,
    requested: usize,
    #[cfg(not(unix))]
    layout: std::alloc::Layout,
}

impl Pages {
    /// Maps `bytes`. With `huge`, `bytes` is a multiple of [`HUGE_PAGE_BYTES`], the mapping is
    /// aligned to it, and the kernel is advised to use huge pages.
    #[cfg(unix)]
    pub(super) fn map(bytes: usize, huge: bool) -> Option<Self> {
        let slack = if huge { HUGE_PAGE_BYTES } else { 0 };
        let mapped = bytes.checked_add(slack)?;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
        // existing memory.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let mut start = address.cast::<u8>();
        if huge {
            let head = start.align_offset(HUGE_PAGE_BYTES);
            let tail = slack - head;
            // SAFETY: `head` and `tail` are page-aligned parts of the mapping just made, outside of
            // the `bytes` that are kept; unmapping or advising them is ours to do.
            unsafe {
                if head > 0 {
                    libc::munmap(address, head);
                }
                start = start.add(head);
                if tail > 0 {
                    libc::munmap(start.add(bytes).cast(), tail);
                }
                #[cfg(target_os = "linux")]
                libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
            }
        }
        Some(Self {
            start: NonNull::new(start)?,
            requested: bytes,
        })
    }

    /// Maps `bytes`; without mmap, from the allocator.
    #[cfg(not(unix))]
    pub(super) fn map(bytes: usize, huge: bool) -> Option<Self> {
        let align = if huge { HUGE_PAGE_BYTES } else { 4096 };
        let layout = std::alloc::Layout::from_size_align(bytes.max(1), align).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })?;
        Some(Self {
            start,
            requested: bytes,
            layout,
        })
    }

    /// The first byte.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Requested size in bytes.
    pub(super) fn requested_bytes(&self) -> usize {
        self.requested
    }

    /// Pointer to the byte at `offset`, which must lie inside.
    pub(super) fn at(&self, offset: usize) -> NonNull<u8> {
        assert!(offset < self.requested, "an offset inside the mapping");
        // SAFETY: the offset was just checked to lie inside the mapping.
        unsafe { self.start.add(offset) }
    }
}

// SAFETY: the mapping belongs to this value alone; it is bound to no thread.
unsafe impl Send for Pages {}

impl Drop for Pages {
    #[cfg(unix)]
    fn drop(&mut self) {
        // SAFETY: `start` and `requested` are what `map` kept of its mapping, and no block of it is
        // in use: blocks hold their pool, and a slab is dropped only when it is empty.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.requested);
        }
    }

    #[cfg(not(unix))]
    fn drop(&mut self) {
        // SAFETY: allocated in `map` with this layout.
        unsafe { std::alloc::dealloc(self.start.as_ptr(), self.layout) }
    }
}
