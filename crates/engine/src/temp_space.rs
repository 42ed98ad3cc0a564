//! Temporary space configured by variables: the directories of temporary files (`tmpdir`, `tmpdir_capacity`), their
//! compression and encryption (`tmp_files_compression`, `encrypt_tmp_files`).
//!
//! `tmpdir` is a list of directories as in MySQL, separated by colons (semicolons on Windows). MySQL uses them in
//! turn; here the first with free space is used. `tmpdir_capacity` limits each, in the same order: `2G:100G`. An
//! element that is empty, 0 or missing is no limit.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::{Budget, Compression, EncryptionKey, TempSpace, TempSpaceOptions, TierOptions};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::files::system_text;
use crate::options::DatabaseOptions;
use crate::temp_data_files::{self, bytes};
use crate::variables::{Settings, typed};

/// The variables.
const DIRECTORIES: &str = "tmpdir";
const CAPACITIES: &str = "tmpdir_capacity";

/// The value of `tmp_files_compression`.
pub(crate) fn compression(globals: &Settings) -> Compression {
    match globals.get(typed::TMP_FILES_COMPRESSION) {
        0 => Compression::None,
        _ => Compression::Lz4,
    }
}

/// Opens the temporary space of a database and removes the leftovers of dead processes. Buffers for writing files are
/// charged to `working_memory`.
pub(crate) fn open(
    options: &DatabaseOptions,
    globals: &Settings,
    idle_limit: u64,
    working_memory: Budget,
) -> Result<TempSpace> {
    // A set variable takes precedence over the option, whose bytes need not be text.
    let of_option = options.tmpdir.to_string_lossy();
    let directories = match globals.text(typed::TMPDIR) {
        text if text == of_option => options.tmpdir.clone().into_os_string(),
        text => OsString::from(text),
    };
    let tiers = tiers(&directories, globals.text(typed::TMPDIR_CAPACITY))?;
    let is_default = tiers[0].directory == std::env::temp_dir() && tiers.len() == 1;
    let files = globals.text(typed::INNODB_TEMP_DATA_FILE_PATH);
    let files = temp_data_files::options(files, tiers, options.threads.max(1), idle_limit)?;
    let space = TempSpace::new(
        Arc::clone(&options.temp_io),
        TempSpaceOptions {
            compression: compression(globals),
            encryption: globals.get(typed::ENCRYPT_TMP_FILES).then(|| {
                let mut key = [0; 32];
                options.randomness.fill(&mut key);
                EncryptionKey::new(key)
            }),
            working_memory: Some(working_memory),
            ..files
        },
    );
    // The system's default need not exist: a process that never overflows may run without it.
    if !is_default {
        space.check_directories().map_err(|failure| {
            let text = system_text(&failure.source);
            codes::EE_CANTCREATEFILE.with(&[&failure.path.display(), &failure.errno(), &text])
        })?;
    }
    // An unreadable directory is reported by the first overflow.
    let _ = space.remove_orphans();
    Ok(space)
}

/// The directories of the two lists.
fn tiers(directories: &OsStr, capacities: &str) -> Result<Vec<TierOptions>> {
    let wrong =
        |name: &str, text: &str| -> Error { codes::ER_WRONG_VALUE_FOR_VAR.with(&[&name, &text]) };
    let paths = std::env::split_paths(directories).filter(|path| !path.as_os_str().is_empty());
    let mut tiers: Vec<_> = paths.map(TierOptions::new).collect();
    if tiers.is_empty() {
        return Err(wrong(DIRECTORIES, &directories.to_string_lossy()));
    }
    for (number, text) in capacities.split(':').map(str::trim).enumerate() {
        let capacity = match text {
            "" | "0" => Some(UNLIMITED),
            size => bytes(size),
        };
        let capacity = capacity.ok_or_else(|| wrong(CAPACITIES, capacities))?;
        match tiers.get_mut(number) {
            Some(tier) => tier.capacity = capacity,
            None if capacity == UNLIMITED => {}
            None => return Err(wrong(CAPACITIES, capacities)),
        }
    }
    Ok(tiers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parsed(directories: &str, capacities: &str) -> Option<Vec<(String, u64)>> {
        let tiers = tiers(OsStr::new(directories), capacities).ok()?;
        let pair = |tier: TierOptions| (tier.directory.display().to_string(), tier.capacity);
        Some(tiers.into_iter().map(pair).collect())
    }

    #[test]
    fn each_directory_has_its_capacity() {
        let list = std::env::join_paths([Path::new("/a"), Path::new("/b c")]).expect("a list");
        let list = list.to_str().expect("of text");
        for (text, first, second) in [
            ("", UNLIMITED, UNLIMITED),
            ("2G", 2 << 30, UNLIMITED),
            ("1M:100g", 1 << 20, 100 << 30),
            ("0:4096", UNLIMITED, 4096),
            (":4k", UNLIMITED, 4096),
            ("2T:", 2 << 40, UNLIMITED),
            ("1K:1K:0", 1 << 10, 1 << 10),
        ] {
            let expected = vec![("/a".to_owned(), first), ("/b c".to_owned(), second)];
            assert_eq!(parsed(list, text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (directories, text) in [
            ("", ""),
            (":", ""),
            ("/a", "1Q"),
            ("/a", "-1"),
            ("/a", "1G,2G"),
            ("/a", "1G:1G"),
            ("/a", "99999999999999T"),
        ] {
            assert_eq!(parsed(directories, text), None, "{directories} {text}");
        }
    }
}
