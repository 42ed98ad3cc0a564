//! Pin of a statement's handle: the state of a table that the handle sees.
//!
//! A pin begins without a snapshot and sees the current content. The table gives it one before the first change that
//! the handle must not see, and it keeps that one until its end.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::content::Content;

/// Origin of a change to a table with open handles.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChangeBy<'a> {
    /// The statement whose handle has this pin.
    Handle(&'a Arc<Pin>),
    /// A transaction that undoes changes of its handles.
    Undo,
    /// No handle.
    Nobody,
}

/// Fixed state that a handle sees.
#[derive(Debug)]
pub(super) struct Pin {
    /// The handle's snapshot; unset until the table is first changed after the handle was opened.
    snapshot: OnceLock<Arc<Content>>,
    /// Number of row lookups: more than one by a statement that reads while it writes.
    lookups: AtomicU32,
    /// Whether the handle has written: its statement does not read what it undoes.
    has_written: AtomicBool,
    /// Version of the table when the handle was opened.
    pub(super) version: u64,
}

impl Pin {
    /// A pin without a snapshot, of a table at this version.
    pub(super) fn new(version: u64) -> Self {
        Self {
            snapshot: OnceLock::new(),
            lookups: AtomicU32::new(0),
            has_written: AtomicBool::new(false),
            version,
        }
    }

    /// The handle's snapshot, if it needed one.
    pub(super) fn snapshot(&self) -> Option<&Arc<Content>> {
        self.snapshot.get()
    }

    /// The content that the handle sees of a table with this content.
    pub(super) fn content<'a>(&'a self, current: &'a Content) -> &'a Content {
        match self.snapshot() {
            Some(snapshot) => snapshot,
            None => current,
        }
    }

    /// Counts row lookups of the handle.
    pub(super) fn count_lookups(&self, lookups: u32) {
        self.lookups.fetch_add(lookups, Ordering::Relaxed);
    }

    /// Whether the handle needs a snapshot before `change`.
    pub(super) fn needs_snapshot(self: &Arc<Self>, change: ChangeBy<'_>) -> bool {
        let reads_on = match change {
            ChangeBy::Handle(own) => {
                !Arc::ptr_eq(self, own) || self.lookups.load(Ordering::Relaxed) > 1
            }
            ChangeBy::Undo => !self.has_written.load(Ordering::Relaxed),
            ChangeBy::Nobody => true,
        };
        reads_on && self.snapshot.get().is_none()
    }

    /// Notes that the handle is about to write.
    pub(super) fn set_written(&self) {
        self.has_written.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_snapshot(&self, snapshot: &Arc<Content>) {
        // Only one thread has the table's write lock.
        let _ = self.snapshot.set(Arc::clone(snapshot));
    }
}
