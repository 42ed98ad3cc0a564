//! Resource usage of the process, for profiles.

use std::time::Duration;

use mayfly_types::stage::ResourceUsage;

/// Resource usage of the process so far; zero where the system does not report it.
pub(crate) fn measure_usage() -> ResourceUsage {
    let Some(usage) = mayfly_memory::process_usage() else {
        return ResourceUsage::default();
    };
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    let time = |seconds: i64, microseconds: i64| {
        Duration::from_secs(number(seconds)) + Duration::from_micros(number(microseconds))
    };
    ResourceUsage {
        user: time(usage.ru_utime.tv_sec, usage.ru_utime.tv_usec),
        system: time(usage.ru_stime.tv_sec, usage.ru_stime.tv_usec),
        voluntary_switches: number(usage.ru_nvcsw),
        involuntary_switches: number(usage.ru_nivcsw),
        blocks_in: number(usage.ru_inblock),
        blocks_out: number(usage.ru_oublock),
        messages_sent: number(usage.ru_msgsnd),
        messages_received: number(usage.ru_msgrcv),
        major_faults: number(usage.ru_majflt),
        minor_faults: number(usage.ru_minflt),
        swaps: number(usage.ru_nswap),
    }
}
