//! File descriptors: each connection takes one, and the usual soft limit, 1024, is meant for
//! programs that use `select`.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Number of descriptors that the server needs besides its connections.
const OWN: u64 = 64;

/// Raises the soft limit of descriptors to the hard one. Reports when that is too low for
/// `max_connections`.
pub(super) fn raise_limit(max_connections: u64) -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let got = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(_) => limit.current,
    };
    match got {
        Some(got) if got < max_connections.saturating_add(OWN) => Err(format!(
            "max_connections is {max_connections}, but this process may have {got} open files (ulimit -n): connections beyond that fail"
        )),
        _ => Ok(()),
    }
}
