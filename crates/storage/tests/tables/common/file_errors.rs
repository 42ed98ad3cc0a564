//! Errors that a statement reports for a file that failed.

use mayfly_memory::io::Fault;
use mayfly_types::Error;
use mayfly_types::error::codes;

/// Asserts that the error is the one of the fault.
pub(crate) fn assert_is_of(error: &Error, fault: Fault, label: &str) {
    let expected: &[_] = match fault {
        Fault::DiskFull | Fault::ShortWrite => &[&codes::ER_DISK_FULL],
        Fault::ReadError | Fault::CorruptRead => &[&codes::ER_ERROR_ON_READ],
        Fault::OpenError => &[&codes::ER_ERROR_ON_WRITE],
        Fault::DeviceError => &[&codes::ER_ERROR_ON_READ, &codes::ER_ERROR_ON_WRITE],
        Fault::ShortMove | Fault::Signal => &[],
    };
    let is_expected = expected.iter().any(|code| error.is(code));
    assert!(is_expected, "{label}: {error:?}");
}
