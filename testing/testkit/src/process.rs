//! Test programs that start themselves again, as a process to be killed, traced or measured.

use std::io::Write as _;
use std::process::Command;

/// This program again, for one of its tests.
///
/// # Panics
/// When the program's file is not known.
#[must_use]
pub fn again(test: &str) -> Command {
    let program = std::env::current_exe().expect("a test program has a file");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]);
    command
}

/// Memory that this process has taken from the system, in bytes, without pages that the kernel could drop and read
/// again, such as those of base tables' files.
///
/// # Panics
/// When the system does not report it.
#[cfg(target_os = "linux")]
#[must_use]
pub fn anonymous_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.expect("a number of KiB") << 10
}

/// Writes a line to standard output at once, uninterrupted by other threads. The process ends when the output is
/// closed.
pub fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(format!("{line}\n").as_bytes());
    if written.and_then(|()| out.flush()).is_err() {
        std::process::abort();
    }
}
