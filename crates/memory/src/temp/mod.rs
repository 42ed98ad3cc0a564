//! Temporary space: the files of tables that outgrow their memory.
//!
//! A process has one directory under each of its `tmpdir`s, made when the first byte is written there, and in it a few
//! files, the *lanes*. A table's [`TempFile`] is a set of [`Extent`]s in one lane; there are several lanes because the
//! kernel lets one thread at a time write a file.
//!
//! The directories are *tiers*, fastest first: an extent goes to the first that has room for it, by its capacity and
//! its device, so that space which is given back in an earlier one is used again. The error is raised only when all are
//! full.
//!
//! Space is recycled: an extent that is dropped can be taken by the next statement, which then overwrites pages that
//! are still in the page cache. That is several times cheaper than growing a file. Idle space is bounded by
//! [`TempSpaceOptions::idle_limit`], charged to no budget, and returned by [`TempSpace::trim`]. All files together,
//! with their idle space, never take more than [`TempSpaceOptions::limit`]: where a file would have to grow beyond,
//! idle space is returned first.
//!
//! Extents may be compressed and encrypted (`codec`). Every extent has a checksum, or the tag of its encryption, held
//! in memory with its offset: a file that was changed or a faulty device gives a clear error, never a wrong result.
//!
//! Ownership of directories: before a process makes its directory `mayfly-<name>` it makes and locks
//! `mayfly-<name>.lock`. The lock ends with the process, however it ends, so [`TempSpace::remove_orphans`] may remove
//! exactly those whose lock it can take.

mod codec;
mod disk_space;
mod extent;
mod home;
mod injected;
mod lane;
mod options;
mod shared;
mod sizes;
mod tier;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::budget::Budget;
use crate::counters::TempCounters;
use crate::error::{IoFailure, Result};
use crate::io::IoBackend;
use codec::Codec;
pub use codec::{Compression, EncryptionKey};
use disk_space::DiskSpace;
pub use extent::{Extent, TempFile};
use home::Home;
pub use injected::{FaultInjection, TempFaults};
pub use options::{TempSpaceOptions, TierOptions};
use shared::Inner;
use tier::Tier;

/// The temporary space of one process. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct TempSpace(Arc<Inner>, Option<Arc<FaultInjection>>);

impl TempSpace {
    /// A temporary space; touches no file.
    ///
    /// # Panics
    /// When the options name no directory.
    pub fn new(io: Arc<dyn IoBackend>, mut options: TempSpaceOptions) -> Self {
        assert!(!options.tiers.is_empty(), "a directory");
        let key = options.encryption.take();
        let memory = options.working_memory.take();
        let disk = DiskSpace::total(options.limit);
        let tiers = 0..options.tiers.len();
        let inner = Inner {
            tiers: tiers
                .map(|number| Tier::new(number, &options, &disk))
                .collect(),
            codec: Codec::new(options.compression, key.as_ref(), options.lanes, memory),
            io,
            options,
            counters: TempCounters::default(),
            disk,
            next_lane: AtomicUsize::new(0),
        };
        Self(Arc::new(inner), None)
    }

    /// A handle whose files have these faults.
    #[must_use]
    pub fn with_faults(&self, faults: Arc<FaultInjection>) -> Self {
        Self(Arc::clone(&self.0), Some(faults))
    }

    /// Checks that files can be made in every directory: makes and removes one's own.
    pub fn check_directories(&self) -> Result<(), IoFailure> {
        let io = &*self.0.io;
        for tier in &self.0.options.tiers {
            Home::create(io, &tier.directory)?.remove(io);
        }
        Ok(())
    }

    /// Sets the compression of later extents.
    pub fn set_compression(&self, compression: Compression) {
        self.0.codec.set_compression(compression);
    }

    /// The compression of later extents.
    pub fn compression(&self) -> Compression {
        self.0.codec.compression()
    }

    /// Whether extents are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.codec.is_encrypted()
    }

    /// Removes the directories of dead processes; returns how many there were. Directories of living processes are left
    /// alone.
    pub fn remove_orphans(&self) -> std::io::Result<usize> {
        let tiers = self.0.options.tiers.iter();
        let removed = tiers.map(|tier| home::remove_orphans(&tier.directory));
        // All of them, even if one fails.
        removed.collect::<Vec<_>>().into_iter().sum()
    }

    /// A temporary file whose bytes are charged to `budget`. Touches no file until it is written.
    pub fn file(&self, budget: &Budget) -> TempFile {
        let lanes = self.0.options.lanes.max(1);
        let lane = self.0.next_lane.fetch_add(1, Ordering::Relaxed) % lanes;
        TempFile::new(Arc::clone(&self.0), lane, budget.clone(), self.1.clone())
    }

    /// Makes a separate directory for files that other code writes: in the first directory in which that is possible.
    /// Its content does not count as temporary space, and is neither compressed nor encrypted.
    pub fn make_directory(&self) -> Result<TempDirectory> {
        let io = &*self.0.io;
        let mut tiers = self.0.options.tiers.iter();
        let mut made = Home::create(io, &tiers.next().expect("at least one").directory);
        for tier in tiers {
            made = made.or_else(|_| Home::create(io, &tier.directory));
        }
        Ok(TempDirectory {
            io: Arc::clone(&self.0.io),
            home: Some(made?),
        })
    }

    /// The counters.
    pub fn counters(&self) -> &TempCounters {
        &self.0.counters
    }

    /// Bytes of extents in use.
    pub fn used_bytes(&self) -> u64 {
        self.0.tiers.iter().map(|tier| tier.usage().0).sum()
    }

    /// Bytes that the files take, and the limit.
    pub fn disk_bytes(&self) -> (u64, u64) {
        (self.0.disk.used(), self.0.disk.limit())
    }

    /// The options that it was made with, without the key.
    pub fn options(&self) -> &TempSpaceOptions {
        &self.0.options
    }

    /// Bytes of idle file space.
    #[cfg(test)]
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.0.tiers.iter().map(|tier| tier.usage().1).sum()
    }

    /// The directories of this process that exist.
    pub fn directories(&self) -> Vec<PathBuf> {
        self.0.tiers.iter().filter_map(Tier::directory).collect()
    }

    /// Use of each directory, in order.
    pub fn tiers(&self) -> Vec<TierUsage> {
        let usage = |tier: &Tier| TierUsage {
            options: tier.options().clone(),
            directory: tier.directory(),
            disk_bytes: tier.disk.used(),
            used_bytes: tier.usage().0,
        };
        self.0.tiers.iter().map(usage).collect()
    }

    /// Returns idle space to the file system: removes the files that hold no extent, and the
    /// directories when none is left. The next overflow makes them again.
    pub fn trim(&self) {
        for tier in &self.0.tiers {
            tier.trim(&*self.0.io);
        }
        self.0.codec.trim();
    }
}

/// Use of a directory.
#[derive(Debug, Clone)]
pub struct TierUsage {
    /// The options of the directory.
    pub options: TierOptions,
    /// The directory of this process, once it exists.
    pub directory: Option<PathBuf>,
    /// Bytes that its files take.
    pub disk_bytes: u64,
    /// Bytes of extents in use.
    pub used_bytes: u64,
}

/// A directory under `tmpdir`, removed with its files when this is dropped, or, after a crash, by the
/// next start.
#[derive(Debug)]
pub struct TempDirectory {
    io: Arc<dyn IoBackend>,
    home: Option<Home>,
}

impl TempDirectory {
    /// Its path.
    pub fn path(&self) -> &Path {
        let home = self.home.as_ref();
        home.map_or(Path::new(""), Home::directory)
    }
}

impl Drop for TempDirectory {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            home.remove(&*self.io);
        }
    }
}

#[cfg(test)]
mod tests;
