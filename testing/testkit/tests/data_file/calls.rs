//! The C library's calls that write files, as far as they concern a data directory: counted, and failing
//! when they are told to.
//!
//! What is linked into a program comes before the C library, so the functions here are those that
//! LMDB's code calls. They hand everything to the kernel.
#![expect(
    unsafe_code,
    reason = "takes the place of functions of the C library, which have raw arguments"
)]

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::SeqCst};

use crate::disk;

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

/// Which calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Where {
    /// All of the files of a data directory.
    Files = 0,
    /// The syncs of them, and of directories.
    Syncs,
    /// The syncs of the data file.
    DataSyncs,
    /// The syncs of the redo log.
    LogSyncs,
}

static WHERE: AtomicU8 = AtomicU8::new(0);
/// How many calls fail, from the first one on.
static TIMES: AtomicU64 = AtomicU64::new(1);
static SPARES_SYNC_THREAD: AtomicBool = AtomicBool::new(true);
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
    WHERE.store(Where::Files as u8, SeqCst);
    let times = if fault == Fault::DiskStaysFull {
        u64::MAX
    } else {
        1
    };
    TIMES.store(times, SeqCst);
    SPARES_SYNC_THREAD.store(true, SeqCst);
    DUE.store(i64::try_from(call).unwrap_or(0), SeqCst);
}

/// The same of so many calls, those of the thread that syncs once a second too.
pub(crate) fn arm_for(fault: Fault, place: Where, call: u64, times: u64) {
    arm(fault, 0);
    WHERE.store(place as u8, SeqCst);
    TIMES.store(times, SeqCst);
    SPARES_SYNC_THREAD.store(false, SeqCst);
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
fn concerns(file: c_int, is_sync: bool) -> bool {
    if DUE.load(SeqCst) < 0 {
        return false;
    }
    let Some(path) = disk::path_of(file) else {
        return false;
    };
    let name = path.file_name().unwrap_or_default();
    let is_directory = is_sync && disk::is_simulated(Some(&path)) && path.is_dir();
    name == "data.mdb" || name == "redo.log" || is_directory
}

/// What a call on this file shall do instead, if anything.
fn due(file: c_int, is_sync: bool) -> Option<Fault> {
    // What the thread that syncs once a second cannot do, it does a second later.
    let is_spared =
        || SPARES_SYNC_THREAD.load(SeqCst) && std::thread::current().name() == Some("sync");
    if !concerns(file, is_sync) || is_spared() {
        return None;
    }
    let place = WHERE.load(SeqCst);
    let is_of = |name: &str| disk::path_of(file).is_some_and(|path| path.ends_with(name));
    if (place != Where::Files as u8 && !is_sync)
        || (place == Where::DataSyncs as u8 && !is_of("data.mdb"))
        || (place == Where::LogSyncs as u8 && !is_of("redo.log"))
    {
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
    let is_due = due > 0 && (due..due.saturating_add(TIMES.load(SeqCst))).contains(&call);
    is_due.then_some(fault)
}

fn fail(number: c_int) -> isize {
    FAILED.fetch_add(1, SeqCst);
    // SAFETY: the address of this thread's error number is always valid.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// What is done after a call leaves its error number alone.
fn keeping_error<T>(then: impl FnOnce() -> T) -> T {
    // SAFETY: the address of this thread's error number is always valid.
    let error = unsafe { libc::__errno_location() };
    let number = unsafe { *error };
    let done = then();
    unsafe { *error = number };
    done
}

/// A write of so many bytes, which `run` asks of the kernel.
fn write_at(file: c_int, at: u64, length: usize, run: impl Fn(usize) -> c_long) -> isize {
    let change = disk::begin(file);
    let result = faulty_write(file, length, &run);
    if let Some(change) = change {
        // What a write that fails has written nevertheless is in the page cache too.
        keeping_error(|| change.written(file, at, length as u64));
    }
    result
}

fn faulty_write(file: c_int, length: usize, run: &impl Fn(usize) -> c_long) -> isize {
    let whole = || run(length) as isize;
    match due(file, false) {
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
fn plain(file: c_int, is_sync: bool, run: impl Fn() -> c_long) -> c_int {
    match due(file, is_sync) {
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
    let is_counted = concerns(file, true) && disk::path_of(file).is_some_and(|path| path.is_file());
    SYNCS.fetch_add(u64::from(is_counted), SeqCst);
    let mut change = disk::begin(file);
    if let Some(change) = &mut change {
        change.before_sync();
    }
    let is_simulated = disk::is_simulated(disk::path_of(file).as_ref());
    let is_run = Cell::new(false);
    let result = plain(file, true, || {
        is_run.set(true);
        match is_simulated {
            true => 0,
            false => run(),
        }
    });
    if let Some(change) = change {
        keeping_error(|| change.synced(file, is_run.get() && result == 0));
    }
    result
}

// SAFETY (of all below): the kernel gets what the caller gave, and checks it.

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(file: c_int, bytes: *const c_void, length: usize, at: i64) -> isize {
    write_at(file, at.cast_unsigned(), length, |length| unsafe {
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
    let bytes = (0..count).map(|part| unsafe { (*parts.add(part)).iov_len });
    let all = bytes.sum::<usize>().max(2);
    write_at(file, at.cast_unsigned(), all, |wanted| {
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
    let change = disk::begin(file);
    let result = plain(file, false, || unsafe {
        libc::syscall(libc::SYS_ftruncate, file, length)
    });
    if let Some(change) = change {
        keeping_error(|| change.resized(file));
    }
    result
}

/// LMDB writes several pages so.
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    let at = unsafe { libc::lseek(file, 0, libc::SEEK_CUR) };
    let count = usize::try_from(count).unwrap_or(0);
    let bytes = (0..count).map(|part| unsafe { (*parts.add(part)).iov_len });
    let all = bytes.sum::<usize>().max(2);
    write_at(file, at.max(0).cast_unsigned(), all, |wanted| {
        // Half of the parts is a short write of several.
        let count = if wanted == all { count } else { count / 2 };
        unsafe { libc::syscall(libc::SYS_writev, file, parts, count) }
    })
}

/// A copy of the data file is written so.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, bytes: *const c_void, length: usize) -> isize {
    let at = unsafe { libc::lseek(file, 0, libc::SEEK_CUR) };
    write_at(file, at.max(0).cast_unsigned(), length, |length| unsafe {
        libc::syscall(libc::SYS_write, file, bytes, length)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(file: c_int, length: i64) -> c_int {
    unsafe { ftruncate(file, length) }
}
