//! Whether an executor works: what the coordinator is told, which ends a job in which nothing moves.
//!
//! A fragment may work for minutes without a batch that comes or goes: an aggregation that reads its groups back from temporary
//! files and sums them up gives one row at its end. So that changes of memory and temporary files count, and processor time, too.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time between two looks that shows work; saying that the process is there takes a hundredth of it.
const WORK: Duration = Duration::from_millis(100);

/// What was last seen of a process.
#[derive(Debug, Default)]
pub struct Progress {
    /// Batches moved, bytes of memory and of temporary files.
    seen: (u64, u64, u64),
    processor: Duration,
    steps: u64,
}

impl Progress {
    /// A number that has changed since the last call if the process has worked: `seen` are the batches that it has moved, and
    /// the bytes of memory and of temporary files that it uses; `processor` is its processor time.
    pub fn step(&mut self, seen: (u64, u64, u64), processor: Duration) -> u64 {
        let has_computed = processor.saturating_sub(self.processor) >= WORK;
        if has_computed || seen != self.seen {
            self.steps += 1;
        }
        (self.seen, self.processor) = (seen, processor);
        self.steps
    }
}

/// Processor time of this process.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_memory_files_and_processor_time_are_work() {
        let mut progress = Progress::default();
        let at = Duration::from_secs;
        let mut last = progress.step((0, 0, 0), at(5));
        let mut is_work = |seen, processor| {
            let step = progress.step(seen, processor);
            std::mem::replace(&mut last, step) != step
        };
        assert!(!is_work((0, 0, 0), at(5)));
        assert!(is_work((1, 0, 0), at(5)));
        assert!(is_work((1, 7, 0), at(5)));
        assert!(is_work((1, 7, 9), at(5)));
        assert!(is_work((1, 7, 8), at(5)));
        assert!(!is_work((1, 7, 8), at(5) + Duration::from_millis(20)));
        assert!(is_work((1, 7, 8), at(6)));
        assert!(!is_work((1, 7, 8), at(6)));
    }

    #[test]
    fn processor_time_grows() {
        let before = processor_time();
        let mut sum = 0_u64;
        while processor_time() < before + Duration::from_millis(20) {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
    }
}
