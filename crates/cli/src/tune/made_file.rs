//! A data file that is created for the measurement.

use std::path::{Path, PathBuf};

use mayfly_tuning::{ROW_BYTES, SystemIo, make_table};

use super::machine;
use crate::units;

/// Size of the data file, unless the user chooses it or space is short.
const SIZE: u64 = 1 << 30;
/// Least size of the data file: several rows for each of many scanners.
const SIZE_MIN: u64 = 1 << 20;

/// A data file created for the measurement, and removed with it.
pub(crate) struct MadeFile {
    pub(crate) path: PathBuf,
}

impl MadeFile {
    /// Creates one in a directory, of 1 GiB or a quarter of the free space where no size is given.
    pub(crate) fn make(
        directory: &Path,
        size: Option<u64>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, String> {
        if !directory.is_dir() {
            return Err(format!("{}: no such directory", directory.display()));
        }
        let free = machine::free_space(directory).unwrap_or(u64::MAX);
        let size = size.unwrap_or(SIZE.min(free / 4));
        if size < SIZE_MIN {
            return Err(format!(
                "a data file of {} is too small: {} are free in {}, and --size is {} at least",
                units::bytes(size),
                units::bytes(free),
                directory.display(),
                units::bytes(SIZE_MIN)
            ));
        }
        if size > free {
            return Err(format!(
                "--size is {}, but only {} are free in {}",
                units::bytes(size),
                units::bytes(free),
                directory.display()
            ));
        }
        let path = directory.join(format!("mayfly-tune-{}", std::process::id()));
        let rows = size / ROW_BYTES as u64;
        eprintln!(
            "mayfly: making a table of {rows} rows, {} …",
            units::bytes(size)
        );
        match make_table(&SystemIo, &path, rows, stop) {
            Ok(true) => Ok(Self { path }),
            Ok(false) => Err("interrupted before anything was measured".to_owned()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }
}

impl Drop for MadeFile {
    fn drop(&mut self) {
        // A failure of the removal is ignored.
        let _ = std::fs::remove_file(&self.path);
    }
}
