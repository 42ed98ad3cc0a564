//! The process' general allocator, for what does not come from a pool: it keeps what was freed, and after a
//! burst of work that is much.

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
