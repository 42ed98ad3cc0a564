//! Format version of a data directory.
//!
//! The version is a record of the store, beside the named ones ([`super::environment`]), and is read before anything
//! else is done with the directory, even recovery. So later versions must not change: LMDB's file with tree 0 in it,
//! this record, and the header of the redo log, whose pages say where the record is.

use std::path::Path;

use mayfly_types::Result;
use mayfly_types::error::codes;

use super::environment::file_writer::FileWriter;
use super::record_key::{META, record_key};
use super::snapshot::Snapshot;

/// Name of the record: four bytes, the least significant first.
const NAME: &[u8] = b"\0format";

/// Format version written by this program. Version 1 has no such record, and its redo log has row counts as records;
/// since version 2 they follow from the rows, which an older log does not contradict. Since version 3, separators that
/// are too long for a key have ordinals ([`super::block_key`]). Since version 4, the lowest bits of numbers may be
/// left out ([`super::block`]).
const VERSION: u32 = 4;

/// Refuses a directory of a newer version; returns whether it has the current one.
pub(super) fn check(snapshot: &Snapshot, directory: &Path) -> Result<bool> {
    let Some(record) = snapshot.record(NAME)? else {
        return Ok(false);
    };
    // A version of another length is a newer one too.
    let version = record.try_into().map_or(u32::MAX, u32::from_le_bytes);
    if version > VERSION {
        return Err(codes::ER_UNKNOWN_ERROR.with(&[&format!(
            "the data directory {} has format {version}, of a newer version of this program, which knows formats \
             up to {VERSION}",
            directory.display()
        )]));
    }
    Ok(version == VERSION)
}

/// Writes the version record.
pub(super) fn note(writer: &mut FileWriter<'_>) -> Result<()> {
    writer.put(&record_key(META, NAME), &VERSION.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use mayfly_memory::{Budget, BudgetKind};

    use super::*;
    use crate::base::{ChangeStorage, DurableStore, StoreOptions};

    fn open(directory: &Path) -> Result<DurableStore> {
        DurableStore::open(StoreOptions::of_directory(directory))
    }

    fn set(store: &DurableStore, value: Option<&[u8]>) {
        let memory = Budget::unlimited(BudgetKind::Memory);
        let session = store.session(ChangeStorage::for_tests(&memory));
        session.set_record(NAME, value).unwrap();
        session.commit().unwrap();
    }

    #[test]
    fn a_directory_says_its_version_and_newer_ones_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path()).unwrap();
        assert_eq!(
            store.record(NAME).unwrap(),
            Some(VERSION.to_le_bytes().to_vec())
        );
        set(&store, Some(&(VERSION + 1).to_le_bytes()));
        store.checkpoint().unwrap();
        drop(store);
        for _ in 0..2 {
            let error = open(directory.path()).unwrap_err();
            assert!(
                error.message().contains("has format 5, of a newer"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_version_in_another_form_is_a_newer_one() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path()).unwrap();
        set(&store, Some(b"2.0 or so"));
        drop(store);
        let error = open(directory.path()).unwrap_err();
        assert!(error.message().contains("of a newer"), "{error}");
    }

    #[test]
    fn a_directory_of_before_gets_its_version() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path()).unwrap();
        set(&store, None);
        drop(store);
        let store = open(directory.path()).unwrap();
        assert_eq!(
            store.record(NAME).unwrap(),
            Some(VERSION.to_le_bytes().to_vec())
        );
    }

    #[test]
    fn a_backup_says_its_version() {
        let directory = tempfile::tempdir().unwrap();
        let (original, copy) = (directory.path().join("a"), directory.path().join("b"));
        open(&original).unwrap().backup(&copy).unwrap();
        let copy = open(&copy).unwrap();
        assert!(copy.record(NAME).unwrap().is_some());
    }
}
