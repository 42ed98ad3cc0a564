//! Prefetch hints to the processor.

/// Prefetches the cache line at an address, which need not be valid.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "an intrinsic: a hint to the processor")]
    // SAFETY: a prefetch never faults, and SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
