//! Options of temporary space: its directories, their limits, and the form of the bytes in them.

use std::path::PathBuf;

use super::codec::{Compression, EncryptionKey};
use crate::budget::{Budget, UNLIMITED};

/// One of the directories for temporary files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierOptions {
    /// The directory under which this process makes its own.
    pub directory: PathBuf,
    /// Greatest size of the files in it; [`UNLIMITED`] for no limit of its own.
    pub capacity: u64,
}

impl TierOptions {
    /// A directory without a capacity.
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            capacity: UNLIMITED,
        }
    }
}

/// Options of temporary space.
#[derive(Debug, Clone)]
pub struct TempSpaceOptions {
    /// The directories, in the order in which they are filled; at least one.
    pub tiers: Vec<TierOptions>,
    /// Number of files of a directory that are written in parallel: the number of worker threads.
    pub lanes: usize,
    /// Bytes of file space that may be idle in each directory.
    pub idle_limit: u64,
    /// Initial size of the files of the first directory.
    pub initial: u64,
    /// Greatest size of all files together.
    pub limit: u64,
    /// The setting that gives `initial` and `limit`.
    pub limit_setting: &'static str,
    /// Names of the files; further files have the last name with a number.
    pub names: Vec<String>,
    /// Compression of extents; see [`TempSpace::set_compression`](super::TempSpace::set_compression).
    pub compression: Compression,
    /// The key of the encryption of extents; `None`: they are not encrypted.
    pub encryption: Option<EncryptionKey>,
    /// Budget of the memory in which extents are compressed and encrypted, charged while that is done.
    pub working_memory: Option<Budget>,
}

impl TempSpaceOptions {
    /// Options of files under `tmpdir` that take what they need.
    pub fn new(tmpdir: PathBuf, lanes: usize, idle_limit: u64) -> Self {
        Self {
            tiers: vec![TierOptions::new(tmpdir)],
            lanes,
            idle_limit,
            initial: 0,
            limit: UNLIMITED,
            limit_setting: "none",
            names: Vec::new(),
            compression: Compression::default(),
            encryption: None,
            working_memory: None,
        }
    }

    /// The name of the file of a lane.
    pub(super) fn name(&self, lane: usize) -> String {
        match (self.names.get(lane), self.names.last()) {
            (Some(name), _) => name.clone(),
            (None, Some(last)) => format!("{last}.{lane}"),
            (None, None) => format!("lane-{lane}.tmp"),
        }
    }
}
