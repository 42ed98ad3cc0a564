//! Moving rows from one partitioning to another.

use super::rows::HASH_MASK;
use super::store::{Part, PartitionPlan, RowWriter, StoreRef};
use super::table::Written;

/// The parts of each partition of `plan`.
pub(crate) fn assemble(
    store: &StoreRef,
    plan: PartitionPlan,
    written: Vec<Written>,
) -> mayfly_memory::Result<Vec<Vec<Part>>> {
    let mut partitions: Vec<Vec<Part>> = (0..plan.count()).map(|_| Vec::new()).collect();
    for written in written {
        let parts = if written.plan.bits == plan.bits {
            written.parts
        } else {
            repartition(store, plan, written.parts)?.0
        };
        for (partition, part) in partitions.iter_mut().zip(parts) {
            partition.push(part);
        }
    }
    Ok(partitions)
}

/// Moves rows to the partitions of `plan`. Returns whether all have one hash, so that they cannot be split further.
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
pub(crate) fn repartition(
    store: &StoreRef,
    plan: PartitionPlan,
    parts: Vec<Part>,
) -> mayfly_memory::Result<(Vec<Part>, bool)> {
    store
        .record
        .has_partitions(1 << (plan.used_bits + plan.bits).min(40));
    let mut writer = RowWriter::new(store, plan);
    let (mut first, mut differ) = (None, false);
    for part in parts {
        part.drain(store, |rows| {
            // SAFETY: a row begins with its header.
            let hash = |row: &*const u8| unsafe { row.cast::<u64>().read_unaligned() } & HASH_MASK;
            if let Some(row) = rows.first().filter(|_| !differ) {
                let first = *first.get_or_insert_with(|| hash(row));
                differ = rows.iter().any(|row| hash(row) != first);
            }
            // SAFETY: `drain` gives rows of the store whose values are in memory.
            unsafe { writer.append_rows(rows) }
        })?;
    }
    Ok((writer.finish(), !differ))
}
