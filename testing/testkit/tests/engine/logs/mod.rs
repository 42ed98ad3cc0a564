//! The slow log and the general log in files: whole entries, filters, rotation, and files that cannot be written. The
//! exact formats are tested in the engine; log tables, in golden files.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod entries;
mod faulty_files;
mod files;
mod random_statements;
mod reader;

use std::path::{Path, PathBuf};

use mayfly_engine::DatabaseOptions;
use mayfly_testkit::fixture::{Fixture, variables};

/// A database whose logs are files of a directory.
pub(crate) struct Logged {
    pub(crate) fixture: Fixture,
    directory: tempfile::TempDir,
}

impl Logged {
    /// A fixture with a slow log of every statement.
    pub(crate) fn open(more: &[(&str, &str)]) -> Self {
        Self::with(more, |_| {})
    }

    pub(crate) fn with(more: &[(&str, &str)], change: impl FnOnce(&mut DatabaseOptions)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        let (slow, general) = (path("slow.log"), path("general.log"));
        let mut all = vec![
            ("slow_query_log_file", slow.as_str()),
            ("general_log_file", general.as_str()),
            ("slow_query_log", "1"),
            ("long_query_time", "0"),
            // The logs do not depend on it.
            ("performance_schema", "0"),
        ];
        all.extend_from_slice(more);
        let fixture = Fixture::open(|options| {
            options.variables = variables(&all);
            change(options);
        });
        Self { fixture, directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The content of a file of the directory.
    pub(crate) fn text(&self, name: &str) -> String {
        read(&self.path(name))
    }

    pub(crate) fn slow(&self) -> String {
        self.text("slow.log")
    }

    /// The statements of the slow log.
    pub(crate) fn statements(&self) -> Vec<String> {
        let entries = reader::entries(&self.slow());
        entries.into_iter().map(|entry| entry.statement).collect()
    }
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
