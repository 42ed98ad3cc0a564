//! Online backup: a copy of the store while it is in use.

use std::path::Path;

use heed::CompactionOption;
use mayfly_memory::io::{DataDirectory, IoBackend as _, SystemIo, private_file, sync_entries};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::data_file::{DATA_FILE, io_error};
use super::environment::Environment;

/// Copies the data file, as one read transaction sees it, into a directory.
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
    let mut options = private_file();
    let options = options.read(true).write(true).create_new(true);
    let mut file = options.open(&path).map_err(failed)?;
    if let Err(error) = open.env.copy_to_file(&mut file, CompactionOption::Enabled) {
        // An incomplete file is no backup; without it the directory can be used for another attempt.
        let _ = SystemIo.remove_file(&path);
        return Err(environment.error(&error));
    }
    file.sync_all().map_err(failed)?;
    sync_entries(directory).map_err(failed)
}
