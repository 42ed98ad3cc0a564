//! Resources that the process has used.

#![expect(unsafe_code, reason = "a call into the C library")]

/// The numbers of getrusage(2) for the whole process; `None` where the system does not report them.
pub fn process_usage() -> Option<libc::rusage> {
    // SAFETY: `rusage` is plain numbers, for which all zeros are values; getrusage writes one of them into memory
    // that is ours.
    let (failed, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), usage)
    };
    (failed == 0).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_seen() {
        let user = || process_usage().map(|usage| (usage.ru_utime.tv_sec, usage.ru_utime.tv_usec));
        let before = user();
        let mut sum = 0_u64;
        while user() <= before {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert!(user() > before);
    }
}
