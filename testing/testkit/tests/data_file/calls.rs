//! The C library's calls that write files, as far as they concern a data directory: counted, and failing where a test
//! asks for it.
//!
//! Functions linked into a program precede those of the C library, so LMDB's code calls the functions here. They pass
//! all calls on to the kernel.
#![expect(
    unsafe_code,
    reason = "takes the place of functions of the C library, which have raw arguments"
)]

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::disk;

/// Kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// ENOSPC from one write, which has written nothing.
    DiskFull,
    /// ENOSPC from that call and every later one.
    DiskStaysFull,
    /// [`Self::DiskStaysFull`] until the directory gives back its reserve for a full disk.
    DiskFullToReserve,
    /// A write that writes only half of its bytes.
    ShortWrite,
    /// EIO from a write or a sync.
    DeviceError,
    /// EIO from a write that has written its bytes.
    LateError,
    /// A call that is delayed until [`let_go`] is called.
    Held,
}

/// Calls that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// All calls on the files of a data directory.
    Files,
    /// Syncs of the files and of directories.
    Syncs,
    /// The syncs of the data file.
    DataSyncs,
    /// The syncs of the redo log.
    LogSyncs,
}

/// State of the failures: what fails, and the counts since it was set.
struct Armed {
    fault: Fault,
    place: Where,
    /// The first call that fails; 0: none.
    due: u64,
    /// Number of calls that fail, from the first one on.
    times: u64,
    spares_sync_thread: bool,
    calls: u64,
    failed: u64,
    syncs: u64,
    /// Whether the reserve was given back.
    is_released: bool,
}

/// Failures and counts; `None` while nothing is counted.
static ARMED: Mutex<Option<Armed>> = Mutex::new(None);

fn armed() -> MutexGuard<'static, Option<Armed>> {
    ARMED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn arm_calls(fault: Fault, place: Where, call: u64, times: u64, spares_sync_thread: bool) {
    *armed() = Some(Armed {
        fault,
        place,
        due: call,
        times,
        spares_sync_thread,
        calls: 0,
        failed: 0,
        syncs: 0,
        is_released: false,
    });
}

/// Makes the n-th call from here on fail, counted from 1; 0: none.
pub(crate) fn arm(fault: Fault, call: u64) {
    let stays = matches!(fault, Fault::DiskStaysFull | Fault::DiskFullToReserve);
    let times = if stays { u64::MAX } else { 1 };
    arm_calls(fault, Where::Files, call, times, true);
}

/// [`arm`] for `times` calls of a kind, including those of the thread that syncs once a second.
pub(crate) fn arm_for(fault: Fault, place: Where, call: u64, times: u64) {
    arm_calls(fault, place, call, times, false);
}

/// Whether calls are held, and the number of waiting ones.
static HELD: (Mutex<(bool, usize)>, Condvar) = (Mutex::new((false, 0)), Condvar::new());

fn held() -> MutexGuard<'static, (bool, usize)> {
    HELD.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds all syncs from here on.
pub(crate) fn hold_syncs() {
    held().0 = true;
    arm_calls(Fault::Held, Where::Syncs, 1, u64::MAX, true);
}

/// Waits until a sync is held; false after a minute without one.
pub(crate) fn is_one_held() -> bool {
    let minute = Duration::from_secs(60);
    let wait = HELD
        .1
        .wait_timeout_while(held(), minute, |held| held.1 == 0);
    !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
}

/// Lets held calls continue, and holds no more.
pub(crate) fn let_go() {
    disarm();
    held().0 = false;
    HELD.1.notify_all();
}

fn wait_while_held() {
    let mut state = held();
    state.1 += 1;
    HELD.1.notify_all();
    let waiting = HELD.1.wait_while(state, |held| held.0);
    waiting.unwrap_or_else(PoisonError::into_inner).1 -= 1;
}

/// Ends failures and counting; returns the number of failed calls.
pub(crate) fn disarm() -> u64 {
    armed().take().map_or(0, |armed| armed.failed)
}

/// Number of calls.
pub(crate) fn calls() -> u64 {
    armed().as_ref().map_or(0, |armed| armed.calls)
}

/// Number of syncs among them.
pub(crate) fn syncs() -> u64 {
    armed().as_ref().map_or(0, |armed| armed.syncs)
}

/// The path of a file, if calls are counted and it belongs to a data directory.
fn concerned(file: c_int, is_sync: bool) -> Option<PathBuf> {
    armed().as_ref()?;
    let path = disk::path_of(file)?;
    let name = path.file_name().unwrap_or_default();
    let is_directory = is_sync && disk::is_simulated(Some(&path)) && path.is_dir();
    (name == "data.mdb" || name == "redo.log" || is_directory).then_some(path)
}

/// The failure that is due for a call on this file, if any.
fn due(file: c_int, is_sync: bool) -> Option<Fault> {
    let path = concerned(file, is_sync)?;
    let mut armed = armed();
    let armed = armed.as_mut()?;
    // A sync that fails on the thread that syncs once a second is repeated a second later.
    if armed.spares_sync_thread && std::thread::current().name() == Some("sync") {
        return None;
    }
    // A full disk still writes pages that have their space.
    if is_sync && armed.fault == Fault::DiskFullToReserve {
        return None;
    }
    let is_meant = match armed.place {
        Where::Files => true,
        Where::Syncs => is_sync,
        Where::DataSyncs => is_sync && path.ends_with("data.mdb"),
        Where::LogSyncs => is_sync && path.ends_with("redo.log"),
    };
    armed.calls += u64::from(is_meant);
    let failing = armed.due..armed.due.saturating_add(armed.times);
    let has_room = armed.is_released && armed.fault == Fault::DiskFullToReserve;
    let is_due = is_meant && armed.due > 0 && failing.contains(&armed.calls) && !has_room;
    is_due.then_some(armed.fault)
}

fn count_failed() {
    if let Some(armed) = armed().as_mut() {
        armed.failed += 1;
    }
}

fn fail(number: c_int) -> isize {
    count_failed();
    // SAFETY: the address of this thread's error number is always valid.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// Runs `then` with the error number of the thread preserved.
fn keeping_error<T>(then: impl FnOnce() -> T) -> T {
    // SAFETY: the address of this thread's error number is always valid.
    let error = unsafe { libc::__errno_location() };
    let number = unsafe { *error };
    let done = then();
    unsafe { *error = number };
    done
}

/// A write of `length` bytes, which `run` passes to the kernel.
fn write_at(file: c_int, at: u64, length: usize, run: impl Fn(usize) -> c_long) -> isize {
    let change = disk::begin(file);
    let result = faulty_write(file, length, &run);
    if let Some(change) = change {
        // Bytes that a failing write has written are in the page cache too.
        keeping_error(|| change.written(file, at, length as u64));
    }
    result
}

/// A write of `count` parts.
fn write_parts(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    at: i64,
    run: impl Fn(usize) -> c_long,
) -> isize {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller of the call states the number of parts.
    let bytes = (0..count).map(|part| unsafe { (*parts.add(part)).iov_len });
    let all = bytes.sum::<usize>().max(2);
    write_at(file, at.max(0).cast_unsigned(), all, |wanted| {
        // For several parts, a short write writes half of them.
        run(if wanted == all { count } else { count / 2 })
    })
}

fn faulty_write(file: c_int, length: usize, run: &impl Fn(usize) -> c_long) -> isize {
    let whole = || run(length) as isize;
    match due(file, false) {
        None => whole(),
        Some(Fault::DiskFull | Fault::DiskStaysFull | Fault::DiskFullToReserve) => {
            fail(libc::ENOSPC)
        }
        Some(Fault::DeviceError) => fail(libc::EIO),
        Some(Fault::Held) => {
            wait_while_held();
            whole()
        }
        Some(Fault::ShortWrite) => {
            count_failed();
            run(length / 2) as isize
        }
        Some(Fault::LateError) => {
            let _ = whole();
            fail(libc::EIO)
        }
    }
}

/// A call without bytes: a sync, or a change of the file's length.
fn plain(file: c_int, is_sync: bool, run: impl Fn() -> c_long) -> c_int {
    match due(file, is_sync) {
        Some(Fault::DiskFull | Fault::DiskStaysFull | Fault::DiskFullToReserve) => {
            fail(libc::ENOSPC) as c_int
        }
        Some(Fault::DeviceError) => fail(libc::EIO) as c_int,
        Some(Fault::LateError) => {
            let _ = run();
            fail(libc::EIO) as c_int
        }
        Some(Fault::Held) => {
            wait_while_held();
            run() as c_int
        }
        Some(Fault::ShortWrite) | None => run() as c_int,
    }
}

fn sync(file: c_int, run: impl Fn() -> c_long) -> c_int {
    let is_counted = concerned(file, true).is_some_and(|path| path.is_file());
    if let Some(armed) = armed().as_mut() {
        armed.syncs += u64::from(is_counted);
    }
    let mut change = disk::begin(file);
    if let Some(change) = &mut change {
        change.before_sync();
    }
    let is_simulated = disk::is_simulated(disk::path_of(file).as_ref());
    let is_run = Cell::new(false);
    let result = plain(file, true, || {
        is_run.set(true);
        if is_simulated { 0 } else { run() }
    });
    if let Some(change) = change {
        keeping_error(|| change.synced(file, is_run.get() && result == 0));
    }
    result
}

/// Notes that the directory gives back its reserve for a full disk, or has taken it again.
fn note_reserve(file: c_int, length: i64) {
    let is_reserve = || disk::path_of(file).is_some_and(|path| path.ends_with("reserve"));
    let is_counted = armed().is_some();
    if is_counted
        && is_reserve()
        && let Some(armed) = armed().as_mut()
    {
        armed.is_released = length == 0;
    }
}

// SAFETY (of all below): the kernel gets the caller's arguments, and checks them.

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
    write_parts(file, parts, count, at, |count| unsafe {
        libc::syscall(libc::SYS_pwritev, file, parts, count, at, 0_i64)
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
    note_reserve(file, length);
    let change = disk::begin(file);
    let result = plain(file, false, || unsafe {
        libc::syscall(libc::SYS_ftruncate, file, length)
    });
    if let Some(change) = change {
        keeping_error(|| change.resized(file));
    }
    result
}

/// LMDB writes several pages with it.
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    let at = unsafe { libc::lseek(file, 0, libc::SEEK_CUR) };
    write_parts(file, parts, count, at, |count| unsafe {
        libc::syscall(libc::SYS_writev, file, parts, count)
    })
}

/// LMDB writes a copy of the data file with it.
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
