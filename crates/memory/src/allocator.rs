//! The process' general allocator, for memory that does not come from a pool. It keeps freed memory, which is much
//! after a burst of work.

/// Returns freed memory to the system, where the allocator can be asked to.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "a call into the C library")
)]
pub fn trim_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: may be called at any time, from any thread; see malloc_trim(3).
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Size from which a piece gets its own pages, which go back to the system when they are freed; the columns of a batch
/// are smaller.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: libc::c_int = 1 << 20;
/// Greatest free memory at the end of the heap.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FREE_AT_END: libc::c_int = 4 << 20;

/// Makes the allocator keep little freed memory: for a process whose memory is limited. Otherwise it takes ever larger
/// pieces from the heap, where one live piece keeps all memory below it.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "calls into the C library")
)]
pub fn tighten_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: may be called at any time, from any thread; see mallopt(3).
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_PAGES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, FREE_AT_END);
    }
}
