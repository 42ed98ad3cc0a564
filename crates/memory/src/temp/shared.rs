//! The state of a temporary space, which its handles, files and extents share.
//!
//! The last of them removes all files and directories: an extent can outlive every handle.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::codec::Codec;
use super::disk_space::{DiskSpace, NoRoom};
use super::options::TempSpaceOptions;
use super::tier::{Refused, Tier};
use crate::budget::BudgetKind;
use crate::counters::TempCounters;
use crate::error::{LimitError, MemoryError, NoRoomError};
use crate::io::IoBackend;

/// State of a temporary space.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) io: Arc<dyn IoBackend>,
    pub(super) options: TempSpaceOptions,
    pub(super) counters: TempCounters,
    pub(super) codec: Codec,
    pub(super) tiers: Vec<Tier>,
    pub(super) disk: Arc<DiskSpace>,
    pub(super) next_lane: AtomicUsize,
}

impl Inner {
    /// The error of a request that every directory has refused.
    pub(super) fn full(&self, requested: u64, refusals: Vec<Refused>) -> MemoryError {
        let is_total = |refused: &Refused| matches!(refused, Refused::NoRoom(NoRoom::Total));
        if refusals.iter().any(is_total) {
            let limit = LimitError {
                setting: self.options.limit_setting,
                kind: BudgetKind::TempSpace,
                limit: self.disk.limit(),
                used: self.tiers.iter().map(|tier| tier.usage().0).sum(),
                requested,
                share: None,
            };
            return limit.into();
        }
        let described = self.tiers.iter().zip(refusals);
        let mut directories: Vec<_> = described
            .map(|(tier, refused)| tier.describe(refused))
            .collect();
        // If it is the only one, a full device reports its own error.
        if let [only] = directories.as_mut_slice()
            && let Some(failure) = only.failure.take()
        {
            return failure.into();
        }
        MemoryError::NoRoom(Box::new(NoRoomError {
            requested,
            directories,
        }))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for tier in &mut self.tiers {
            tier.close(&*self.io);
        }
    }
}
