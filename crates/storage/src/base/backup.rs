//! A copy of the store while it is used.

use std::path::Path;

use heed::CompactionOption;
use mayfly_memory::io::{DataDirectory, sync_entries};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::data_file::{DATA_FILE, io_error};
use super::environment::Environment;

/// Copies the file, as one read transaction sees it, into a directory.
pub(super) fn backup(environment: &Environment, directory: &Path) -> Result<()> {
    let failed = |error: std::io::Error| io_error(&error, directory, "write");
    if !DataDirectory::make_empty(directory).map_err(failed)? {
        return Err(codes::ER_UNKNOWN_ERROR.with(&[&format!(
            "the directory {} is not empty: a backup is written into a new one",
            directory.display()
        )]));
    }
    let path = directory.join(DATA_FILE);
    environment.flush_now()?;
    let open = environment.file()?;
    let copied = open.env.copy_to_path(&path, CompactionOption::Enabled);
    let file = copied.map_err(|error| environment.error(&error))?;
    file.sync_all().map_err(failed)?;
    sync_entries(directory).map_err(failed)
}
