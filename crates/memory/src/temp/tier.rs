//! A tier: one directory of the temporary space, with its files and their use of its capacity and device.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::disk_space::{DiskSpace, NoRoom};
use super::home::Home;
use super::lane::{Allocation, Lane, Taken};
use super::options::{TempSpaceOptions, TierOptions};
use super::sizes::EXTENT_UNIT;
use crate::error::{DirectoryFull, IoFailure};
use crate::io::IoBackend;
use crate::sync::lock;

/// Reason why a directory takes no bytes.
#[derive(Debug)]
pub(super) enum Refused {
    NoRoom(NoRoom),
    /// The device is full.
    Full(IoFailure),
    /// A file could not be created.
    Failed(IoFailure),
}

impl From<IoFailure> for Refused {
    fn from(failure: IoFailure) -> Self {
        if failure.is_disk_full() {
            Self::Full(failure)
        } else {
            Self::Failed(failure)
        }
    }
}

/// A directory of the temporary space, with its lanes.
#[derive(Debug)]
pub(super) struct Tier {
    options: TierOptions,
    home: Mutex<Option<Home>>,
    pub(super) lanes: Vec<Lane>,
    pub(super) disk: DiskSpace,
    /// Initial size of each file.
    initial: u64,
    idle_limit: u64,
}

impl Tier {
    /// The tier of this number; touches no file.
    pub(super) fn new(number: usize, options: &TempSpaceOptions, total: &Arc<DiskSpace>) -> Self {
        let lanes = options.lanes.max(1) as u64;
        let tier = options.tiers[number].clone();
        // The files of the first directory are made large: the others may never be needed.
        let initial = if number == 0 { options.initial } else { 0 };
        let share = |bytes: u64| bytes / lanes / EXTENT_UNIT * EXTENT_UNIT;
        Self {
            disk: DiskSpace::part(tier.capacity, total),
            options: tier,
            home: Mutex::default(),
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            initial: share(initial),
            idle_limit: share(options.idle_limit),
        }
    }

    pub(super) fn options(&self) -> &TierOptions {
        &self.options
    }

    /// The directory of this process in it, once it exists.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        let home = lock(&self.home);
        home.as_ref().map(|home| home.directory().to_owned())
    }

    /// Bytes of its files in use, and idle.
    pub(super) fn usage(&self) -> (u64, u64) {
        let usages = self.lanes.iter().map(Lane::usage);
        usages.fold((0, 0), |sum, usage| (sum.0 + usage.0, sum.1 + usage.1))
    }

    /// Allocates `size` bytes of a lane, making its file and the directory if need be. Where there is no space, idle
    /// space is returned: of all `tiers` where it is the limit of all.
    pub(super) fn allocate(
        &self,
        lane_index: usize,
        size: u64,
        tiers: &[Self],
        space: (&dyn IoBackend, &TempSpaceOptions),
    ) -> Result<Allocation, Refused> {
        let lane = &self.lanes[lane_index];
        loop {
            let (missing, no_room) = match lane.take(size, &self.disk) {
                Taken::Allocation(allocation) => return Ok(allocation),
                Taken::NoSpace(missing, no_room) => (missing, no_room),
                Taken::NoFile => {
                    // When others have grown in between, the file starts empty.
                    let _ = self.open(lane_index, self.initial, space)?
                        || self.open(lane_index, 0, space)?;
                    continue;
                }
            };
            let given = match no_room {
                NoRoom::Total => {
                    let missing = missing.max(space.1.limit / 16);
                    tiers.iter().fold(0, |given, tier| {
                        given + tier.give_idle(missing - given.min(missing))
                    })
                }
                NoRoom::Capacity => self.give_idle(missing.max(self.disk.limit() / 16)),
                NoRoom::Device => self.give_idle(missing),
            };
            if given == 0 {
                return Err(Refused::NoRoom(no_room));
            }
        }
    }

    /// Returns up to about `wanted` idle bytes to the file system; returns how many.
    fn give_idle(&self, wanted: u64) -> u64 {
        self.lanes.iter().fold(0, |given, lane| {
            if given < wanted {
                given + lane.give_idle(wanted - given, &self.disk)
            } else {
                given
            }
        })
    }

    /// Makes a lane's file; false when there is no space for it.
    fn open(
        &self,
        lane_index: usize,
        initial: u64,
        (io, options): (&dyn IoBackend, &TempSpaceOptions),
    ) -> Result<bool, IoFailure> {
        // The directory's lock is taken before a lane's, as in `trim`.
        let mut home = lock(&self.home);
        let home = match &mut *home {
            Some(home) => home,
            none => none.insert(Home::create(io, &self.options.directory)?),
        };
        let path = home.directory().join(options.name(lane_index));
        self.lanes[lane_index].open(io, path, initial, &self.disk)
    }

    /// Takes an allocation back.
    pub(super) fn give_back(&self, lane_index: usize, allocation: Allocation) {
        let lane = &self.lanes[lane_index];
        lane.give_back(allocation, self.idle_limit, self.initial, &self.disk);
    }

    /// Takes an allocation back that could not be written because the device is full.
    pub(super) fn give_back_unwritten(&self, lane_index: usize, allocation: &Allocation) {
        self.lanes[lane_index].give_back_unwritten(allocation, &self.disk);
        self.disk.note_full_device();
    }

    /// The report of a tier that takes no more.
    pub(super) fn describe(&self, refused: Refused) -> DirectoryFull {
        DirectoryFull {
            directory: self.options.directory.clone(),
            capacity: self.options.capacity,
            used: self.usage().0,
            failure: match refused {
                Refused::Full(failure) | Refused::Failed(failure) => Some(failure),
                Refused::NoRoom(_) => None,
            },
        }
    }

    /// Removes the files that are not in use, and the directory when none is left.
    pub(super) fn trim(&self, io: &dyn IoBackend) {
        let mut home = lock(&self.home);
        self.disk.forget_full_device();
        let mut all_gone = true;
        for lane in &self.lanes {
            all_gone &= lane.remove_if_idle(io, &self.disk);
        }
        if all_gone && let Some(home) = home.take() {
            home.remove(io);
        }
    }

    /// Removes all files and the directory.
    pub(super) fn close(&mut self, io: &dyn IoBackend) {
        for lane in &self.lanes {
            lane.remove_if_idle(io, &self.disk);
        }
        let home = self.home.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = home.take() {
            home.remove(io);
        }
    }
}
