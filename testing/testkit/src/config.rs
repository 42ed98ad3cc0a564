//! The configurations that every golden file runs under: `tests/configs/*.toml`.
//!
//! A configuration changes how the engine works and never a statement's result, so all of them share the expected
//! results. A file that needs a feature which a configuration lacks says so (see [`crate::corpus::needs`]), and is
//! skipped there.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// The need of a file with RESTART.
const DATA_DIRECTORY: &str = "data-directory";

/// One configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name, taken from the file's name.
    #[serde(skip)]
    pub name: String,
    /// Purpose of the configuration.
    pub description: String,
    /// Whether tables are durable, in a separate data directory per file.
    #[serde(default)]
    pub data_directory: bool,
    /// Options of the database, by name.
    #[serde(default)]
    pub options: BTreeMap<String, toml::Value>,
    /// Whether every CREATE TABLE of a file makes a temporary table.
    #[serde(default)]
    pub temporary_tables: bool,
    /// Whether every CREATE TABLE without an engine makes a MEMORY table, unless MEMORY cannot store one of the
    /// columns.
    #[serde(default)]
    pub memory_tables: bool,
    /// Whether statements run prepared, with their literals as values of `?`, and queries twice.
    #[serde(default)]
    pub prepared: bool,
    /// Whether statements are sent over the wire.
    #[serde(default)]
    pub wire: bool,
    /// Whether there is a secondary engine in this process.
    #[serde(default)]
    pub secondary_engine: bool,
    /// Statements run at the start of every session.
    #[serde(default)]
    pub statements: Vec<String>,
    /// Needs of golden files that this configuration does not meet, with the reason: such a file is skipped.
    #[serde(default)]
    pub lacks: BTreeMap<String, String>,
    /// Needs of golden files that other options of the database meet.
    #[serde(default, rename = "change")]
    pub changes: BTreeMap<String, Change>,
}

/// Options of the database for the golden files with one need, instead of the configuration's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Reason for the options.
    pub reason: String,
    /// The options.
    pub options: BTreeMap<String, toml::Value>,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// A text that names the file and its error.
    pub fn read(path: &Path) -> Result<Self, String> {
        let show = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| show(&error))?;
        let mut config: Self = toml::from_str(&text).map_err(|error| show(&error))?;
        config.name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let reasons = config.changes.values().map(|change| &change.reason);
        if config
            .lacks
            .values()
            .chain(reasons)
            .any(|reason| reason.trim().is_empty())
        {
            return Err(show(&"what is lacking or changed needs a reason"));
        }
        Ok(config)
    }

    fn is_lacking(&self, need: &str) -> bool {
        self.lacks.contains_key(need) || need == DATA_DIRECTORY && !self.data_directory
    }

    /// Whether this configuration mentions a need of golden files.
    #[must_use]
    pub fn knows(&self, need: &str) -> bool {
        self.is_lacking(need) || self.changes.contains_key(need)
    }

    /// This configuration for a file with these needs; `None` when it lacks one of them.
    #[must_use]
    pub fn for_needs(&self, needs: &[String]) -> Option<Self> {
        if needs.iter().any(|need| self.is_lacking(need)) {
            return None;
        }
        let mut config = self.clone();
        for change in needs.iter().filter_map(|need| self.changes.get(need)) {
            config.options.extend(change.options.clone());
        }
        Some(config)
    }
}
