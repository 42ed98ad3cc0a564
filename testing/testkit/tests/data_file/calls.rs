//! The C library's calls that write files, as far as they concern a data directory: counted, and failing
//! when they are told to.
//!
//! What is linked into a program comes before the C library, so the functions here are those that
//! LMDB's code calls. They hand everything to the kernel.
#![expect(
    unsafe_code,
    reason = "takes the place of functions of the C library, which have raw arguments"
)]

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering::SeqCst};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// ENOSPC from one write, which has written nothing.
    DiskFull = 1,
    /// ENOSPC from every call from that one on.
    DiskStaysFull,
    /// A write that writes only half of its bytes.
    ShortWrite,
    /// EIO from a write or a sync.
    DeviceError,
    /// EIO from a write that has written its bytes.
    LateError,
}

static FAULT: AtomicU8 = AtomicU8::new(0);
/// The call that is to fail; none if negative.
static DUE: AtomicI64 = AtomicI64::new(-1);
static CALLS: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
static SYNCS: AtomicU64 = AtomicU64::new(0);

/// Lets the n-th call from here on fail, counted from 1; with 0, none.
pub(crate) fn arm(fault: Fault, call: u64) {
    DUE.store(-1, SeqCst);
    CALLS.store(0, SeqCst);
    FAILED.store(0, SeqCst);
    SYNCS.store(0, SeqCst);
    FAULT.store(fault as u8, SeqCst);
    DUE.store(i64::try_from(call).unwrap_or(0), SeqCst);
}

/// Nothing fails and nothing is counted; how many calls failed.
pub(crate) fn disarm() -> u64 {
    DUE.store(-1, SeqCst);
    FAILED.load(SeqCst)
}

/// How many calls there were.
pub(crate) fn calls() -> u64 {
    CALLS.load(SeqCst)
}

/// How many of them were syncs.
pub(crate) fn syncs() -> u64 {
    SYNCS.load(SeqCst)
}

/// Whether calls are counted, and a file is of a data directory.
fn concerns(file: c_int) -> bool {
    if DUE.load(SeqCst) < 0 {
        return false;
    }
    let path = std::fs::read_link(format!("/proc/self/fd/{file}"));
    let name = path
        .ok()
        .and_then(|path| Some(path.file_name()?.to_owned()));
    name.is_some_and(|name| name == "data.mdb" || name == "redo.log")
}

/// What a call on this file shall do instead, if anything.
fn due(file: c_int) -> Option<Fault> {
    // What the thread that syncs once a second cannot do, it does a second later.
    if !concerns(file) || std::thread::current().name() == Some("sync") {
        return None;
    }
    let due = u64::try_from(DUE.load(SeqCst)).ok()?;
    let call = CALLS.fetch_add(1, SeqCst) + 1;
    let fault = match FAULT.load(SeqCst) {
        1 => Fault::DiskFull,
        2 => Fault::DiskStaysFull,
        3 => Fault::ShortWrite,
        4 => Fault::DeviceError,
        _ => Fault::LateError,
    };
    let is_due = due > 0 && (call == due || (fault == Fault::DiskStaysFull && call > due));
    is_due.then_some(fault)
}

fn fail(number: c_int) -> isize {
    FAILED.fetch_add(1, SeqCst);
    // SAFETY: the address of this thread's error number is always valid.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// A write of so many bytes, which `run` asks of the kernel.
fn write(file: c_int, length: usize, run: impl Fn(usize) -> c_long) -> isize {
    let whole = || run(length) as isize;
    match due(file) {
        None => whole(),
        Some(Fault::DiskFull | Fault::DiskStaysFull) => fail(libc::ENOSPC),
        Some(Fault::DeviceError) => fail(libc::EIO),
        Some(Fault::ShortWrite) => {
            FAILED.fetch_add(1, SeqCst);
            run(length / 2) as isize
        }
        Some(Fault::LateError) => {
            let _ = whole();
            fail(libc::EIO)
        }
    }
}

/// A call without bytes: a sync, or another length for the file.
fn plain(file: c_int, run: impl Fn() -> c_long) -> c_int {
    match due(file) {
        Some(Fault::DiskFull | Fault::DiskStaysFull) => fail(libc::ENOSPC) as c_int,
        Some(Fault::DeviceError) => fail(libc::EIO) as c_int,
        Some(Fault::LateError) => {
            let _ = run();
            fail(libc::EIO) as c_int
        }
        _ => run() as c_int,
    }
}

fn sync(file: c_int, run: impl Fn() -> c_long) -> c_int {
    SYNCS.fetch_add(u64::from(concerns(file)), SeqCst);
    plain(file, run)
}

// SAFETY (of all below): the kernel gets what the caller gave, and checks it.

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(file: c_int, bytes: *const c_void, length: usize, at: i64) -> isize {
    write(file, length, |length| unsafe {
        libc::syscall(libc::SYS_pwrite64, file, bytes, length, at)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(file: c_int, bytes: *const c_void, length: usize, at: i64) -> isize {
    unsafe { pwrite(file, bytes, length, at) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    at: i64,
) -> isize {
    // Half of the parts is a short write of several.
    let count = usize::try_from(count).unwrap_or(0);
    let all = count.max(2);
    write(file, all, |wanted| {
        let count = if wanted == all { count } else { count / 2 };
        unsafe { libc::syscall(libc::SYS_pwritev, file, parts, count, at, 0_i64) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev64(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    at: i64,
) -> isize {
    unsafe { pwritev(file, parts, count, at) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdatasync(file: c_int) -> c_int {
    sync(file, || unsafe { libc::syscall(libc::SYS_fdatasync, file) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fsync(file: c_int) -> c_int {
    sync(file, || unsafe { libc::syscall(libc::SYS_fsync, file) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate(file: c_int, length: i64) -> c_int {
    plain(file, || unsafe {
        libc::syscall(libc::SYS_ftruncate, file, length)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(file: c_int, length: i64) -> c_int {
    unsafe { ftruncate(file, length) }
}
