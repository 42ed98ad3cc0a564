//! The configurations that every golden file runs under: `tests/configs/*.toml`.
//!
//! A configuration changes how the engine works and never what a statement returns, so all of
//! them share the same expected results.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// One configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name, taken from the file's name.
    #[serde(skip)]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether tables are durable, in a data directory of the file's own.
    #[serde(default)]
    pub data_directory: bool,
    /// Options of the database, by name.
    #[serde(default)]
    pub options: BTreeMap<String, toml::Value>,
    /// Whether every CREATE TABLE of a file makes a temporary table.
    #[serde(default)]
    pub temporary_tables: bool,
    /// Whether every CREATE TABLE that names no engine makes a MEMORY table, unless that engine has no
    /// place for a column.
    #[serde(default)]
    pub memory_tables: bool,
    /// Whether statements run prepared, with their literals as values of `?`.
    #[serde(default)]
    pub prepared: bool,
    /// Whether queries run three times, so that the last one is known by its text.
    #[serde(default)]
    pub repeated: bool,
    /// Whether statements come over the wire.
    #[serde(default)]
    pub wire: bool,
    /// A configuration whose skips are this one's too.
    #[serde(default)]
    pub skips_of: Option<String>,
    /// Statements run at the start of every session.
    #[serde(default)]
    pub statements: Vec<String>,
    /// Files not run under this configuration.
    #[serde(default, rename = "skip")]
    pub skips: Vec<Skip>,
    /// Files with options of their own.
    #[serde(default, rename = "change")]
    pub changes: Vec<Change>,
}

/// Options of the database for one golden file, instead of the configuration's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// `area/topic`.
    pub file: String,
    /// Why.
    pub reason: String,
    /// The options.
    pub options: BTreeMap<String, toml::Value>,
}

/// A golden file that a configuration leaves out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// `area/topic`.
    pub file: String,
    /// Why.
    pub reason: String,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// A text that names the file and what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, String> {
        let show = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| show(&error))?;
        let mut config: Self = toml::from_str(&text).map_err(|error| show(&error))?;
        config.name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(other) = &config.skips_of {
            let other = Self::read(&path.with_file_name(format!("{other}.toml")))?;
            config.skips.extend(other.skips);
        }
        if config
            .skips
            .iter()
            .map(|skip| &skip.reason)
            .chain(config.changes.iter().map(|change| &change.reason))
            .any(|reason| reason.trim().is_empty())
        {
            return Err(show(&"a skip or change needs a reason"));
        }
        Ok(config)
    }

    /// This configuration with the options that a file has.
    #[must_use]
    pub fn for_file(&self, file: &str) -> Self {
        let mut config = self.clone();
        let changes = self.changes.iter().filter(|change| change.file == file);
        for change in changes {
            config.options.extend(change.options.clone());
        }
        config
    }

    /// Why `file` is not run under this configuration, if it is not.
    #[must_use]
    pub fn skip_reason(&self, file: &str) -> Option<&str> {
        self.skips
            .iter()
            .find(|skip| skip.file == file)
            .map(|skip| skip.reason.as_str())
    }
}
