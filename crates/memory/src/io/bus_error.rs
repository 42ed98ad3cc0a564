//! Handler of SIGBUS that names the mapped file that cannot be read.
//!
//! The kernel has no error for a load from memory: where a page of a mapped file cannot be read, because the device
//! fails or the file was truncated, the process gets SIGBUS. It cannot continue, but writes the name of the file before
//! it ends.

use crate::sync::lock;
use std::ffi::c_void;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};

/// Greatest number of registered files; further ones are mapped without a message.
const FILES: usize = 64;

/// A mapped file, readable by a signal handler.
struct Mapped {
    start: AtomicUsize,
    /// End of the mapped range; 0 where there is none.
    end: AtomicUsize,
    /// The message; it is never freed, since a handler may be reading it.
    text: AtomicPtr<Vec<u8>>,
}

static MAPPED: [Mapped; FILES] = [const {
    Mapped {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        text: AtomicPtr::new(std::ptr::null_mut()),
    }
}; FILES];

/// Held while the list changes.
static CHANGING: Mutex<()> = Mutex::new(());

/// The action for the signal before ours.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Registration of a mapped file, until it is dropped: a failing load from the range reports the file.
#[derive(Debug)]
pub struct MappedFile(Option<usize>);

impl MappedFile {
    /// Registers a file that is mapped at a range.
    pub fn new(range: &Range<usize>, file: &Path) -> Self {
        if range.is_empty() {
            return Self(None);
        }
        static ONCE: Once = Once::new();
        ONCE.call_once(install);
        let _changing = lock(&CHANGING);
        let is_free = |mapped: &Mapped| mapped.end.load(Ordering::Relaxed) == 0;
        let Some(slot) = MAPPED.iter().position(is_free) else {
            return Self(None);
        };
        let mapped = &MAPPED[slot];
        let text = format!(
            "mayfly: [ERROR] the file {} cannot be read: the device has failed, or the file was cut off while it was \
             in use. The process ends; what was committed is in the file and its log as far as they can be read.\n",
            file.display()
        );
        let old = mapped.text.load(Ordering::Relaxed);
        if !is_text(old, text.as_bytes()) {
            let text = Box::into_raw(Box::new(text.into_bytes()));
            mapped.text.store(text, Ordering::Release);
        }
        mapped.start.store(range.start, Ordering::Release);
        mapped.end.store(range.end, Ordering::Release);
        Self(Some(slot))
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            MAPPED[slot].end.store(0, Ordering::Release);
        }
    }
}

/// Whether a text equals the one wanted, as when a file is opened again and again.
#[expect(unsafe_code, reason = "a text that is never given back")]
fn is_text(text: *mut Vec<u8>, wanted: &[u8]) -> bool {
    // SAFETY: it is null, or was made by `Box::into_raw` and is never freed or changed.
    unsafe { text.as_ref() }.is_some_and(|text| text == wanted)
}

#[expect(unsafe_code, reason = "a signal handler")]
fn install() {
    // SAFETY: both structs are plain data, for which zeros are valid; the handler has the signature that
    // SA_SIGINFO asks for, and does what a handler may do.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
            return;
        }
        let _ = BEFORE.set(before);
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

#[expect(unsafe_code, reason = "a signal handler")]
extern "C" fn on_bus_error(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut c_void,
) {
    // SAFETY: the kernel gives a valid `info` with the address that failed. What is read here is atomic, and
    // texts are never given back; write(2) and sigaction(2) may be called in a handler.
    unsafe {
        let address = (*info).si_addr() as usize;
        for mapped in &MAPPED {
            let end = mapped.end.load(Ordering::Acquire);
            if address < mapped.start.load(Ordering::Acquire) || address >= end {
                continue;
            }
            if let Some(text) = mapped.text.load(Ordering::Acquire).as_ref() {
                libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
            }
        }
        // The load is repeated when this returns, and the previous handler gets the signal: in the end the kernel,
        // which ends the process.
        if let Some(before) = BEFORE.get()
            && libc::sigaction(libc::SIGBUS, &raw const *before, std::ptr::null_mut()) == 0
        {
            return;
        }
        libc::_exit(128 + libc::SIGBUS);
    }
}
