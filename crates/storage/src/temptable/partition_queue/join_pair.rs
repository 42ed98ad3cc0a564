//! Pair of partitions of two tables whose rows may match, and the indexes of its build side.
//!
//! The build side is indexed as a whole when it fits in memory. When it does not, because its rows have one key that
//! nothing can split, it is indexed in pieces and the probe side is read once for each: a block nested-loop join.

use mayfly_types::{Batch, Result};

use crate::temptable::partition::Partition;
use crate::temptable::partition::join_index::JoinIndex;
use crate::temptable::partition_queue::Taken;

/// Pair of a build and a probe partition.
pub struct JoinPair {
    build: Build,
    probe: Partition,
}

enum Build {
    /// The whole build side in memory; `None` when its index was returned.
    Whole(Option<Partition>),
    InPieces(Partition),
}

impl JoinPair {
    pub(crate) fn new(build: Taken, probe: Partition) -> Self {
        let build = match build {
            Taken::Loaded(build) => Build::Whole(Some(build)),
            Taken::Large(build) => Build::InPieces(build),
        };
        Self { build, probe }
    }

    /// Whether the build side comes as more than one index, so that a probed row may find matches in several.
    pub fn is_in_pieces(&self) -> bool {
        matches!(self.build, Build::InPieces(_))
    }

    /// The index of the build side, or of its next piece; `None` after the last. The probe side then restarts at its
    /// first row. Drop the former index before: the next one is made in its memory.
    pub fn next_index(&mut self) -> Result<Option<JoinIndex>> {
        self.rewind();
        match &mut self.build {
            Build::Whole(build) => build.take().map(Partition::into_join_index).transpose(),
            Build::InPieces(build) => build.next_piece(),
        }
    }

    /// Restarts [`Self::next_probed`] at the first row. The order of rows is stable.
    pub fn rewind(&mut self) {
        self.probe.rewind();
    }

    /// Number of rows of the build side.
    pub fn build_rows(&self) -> usize {
        match &self.build {
            Build::Whole(build) => build.as_ref().map_or(0, Partition::row_count),
            Build::InPieces(build) => build.row_count(),
        }
    }

    /// Number of rows of the probe side.
    pub fn probe_rows(&self) -> usize {
        self.probe.row_count()
    }

    /// The next rows of the probe side, and the hashes of their keys for [`JoinIndex::probe_hashed`].
    pub fn next_probed(&mut self, hashes: &mut Vec<u64>) -> Result<Option<Batch>> {
        self.probe.read_next_hashed(hashes)
    }
}
