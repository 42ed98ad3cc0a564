//! Persisted global variables: SET PERSIST writes them into `mysqld-auto.cnf` in the data directory, as MySQL does,
//! and they are set when the directory is opened, after all other options. Without a data directory they last as long
//! as the process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use mayfly_memory::io::{create_private_directory, private_file};
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject, parse};
use mayfly_types::{Error, Result};
use parking_lot::Mutex;

/// The file's name.
const FILE: &str = "mysqld-auto.cnf";
/// The format version that MySQL writes since 8.0.29.
const VERSION: i64 = 2;

/// Groups of variables in the file: dynamic ones, and read-only ones.
const DYNAMIC: &str = "mysql_dynamic_variables";
const STATIC: &str = "mysql_static_variables";
/// Further groups that MySQL writes.
const OTHERS: &[&str] = &[
    "mysql_dynamic_parse_early_variables",
    "mysql_static_parse_early_variables",
    "mysql_sensitive_dynamic_variables",
    "mysql_sensitive_static_variables",
];

/// Value of a variable, and who set it when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PersistedVariable {
    pub(crate) value: String,
    /// Whether the variable is dynamic.
    pub(crate) dynamic: bool,
    pub(crate) user: String,
    pub(crate) host: String,
    /// Microseconds since 1970 UTC.
    pub(crate) timestamp: i64,
}

type Variables = BTreeMap<String, PersistedVariable>;

/// Variables set by SET PERSIST, and the data directory whose `mysqld-auto.cnf` holds them.
#[derive(Debug, Default)]
pub(crate) struct PersistedVariables {
    directory: Option<PathBuf>,
    variables: Mutex<Variables>,
}

impl PersistedVariables {
    /// Reads the variables of a data directory.
    pub(crate) fn open(directory: Option<&Path>) -> Result<Self> {
        let mut variables = Variables::new();
        if let Some(directory) = directory {
            match fs::read(directory.join(FILE)) {
                Ok(text) => variables = read(&text).ok_or_else(corrupt)?,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed("Can't read", &error)),
            }
        }
        Ok(Self {
            directory: directory.map(Path::to_owned),
            variables: Mutex::new(variables),
        })
    }

    /// All persisted variables, by name.
    pub(crate) fn all(&self) -> Variables {
        self.variables.lock().clone()
    }

    /// SET PERSIST
    pub(crate) fn set(&self, changes: Vec<(String, PersistedVariable)>) -> Result<()> {
        self.change(|variables| variables.extend(changes))
    }

    /// RESET PERSIST of one variable; false when it is not persisted.
    pub(crate) fn remove(&self, name: &str) -> Result<bool> {
        let mut found = false;
        self.change(|variables| found = variables.remove(name).is_some())?;
        Ok(found)
    }

    /// RESET PERSIST
    pub(crate) fn clear(&self) -> Result<()> {
        self.change(Variables::clear)
    }

    /// Changes the file first, which is authoritative.
    fn change(&self, change: impl FnOnce(&mut Variables)) -> Result<()> {
        let mut variables = self.variables.lock();
        let mut changed = variables.clone();
        change(&mut changed);
        if changed == *variables {
            return Ok(());
        }
        if let Some(directory) = &self.directory {
            write(directory, &changed).map_err(|error| failed("Can't write", &error))?;
        }
        *variables = changed;
        Ok(())
    }
}

/// Replaces the file atomically: the old one exists until the new one is complete.
fn write(directory: &Path, variables: &Variables) -> std::io::Result<()> {
    create_private_directory(directory)?;
    let path = directory.join(FILE);
    let new = directory.join(format!("{FILE}.new"));
    let mut file = private_file()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&new)?;
    file.write_all(&text_of(variables))?;
    file.sync_all()?;
    fs::rename(&new, &path)?;
    File::open(directory)?.sync_all()
}

fn text_of(variables: &Variables) -> Vec<u8> {
    let text = |text: &str| Json::String(text.to_owned());
    let object = |members: Vec<(&str, Json)>| {
        let members = members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        Json::Object(JsonObject::of(members.collect()))
    };
    let group = |dynamic: bool| {
        let of_group = variables
            .iter()
            .filter(|(_, variable)| variable.dynamic == dynamic);
        let members = of_group.map(|(name, variable)| {
            let metadata = object(vec![
                ("Host", text(&variable.host)),
                ("User", text(&variable.user)),
                ("Timestamp", Json::Int(variable.timestamp)),
            ]);
            let value = text(&variable.value);
            (
                name.as_str(),
                object(vec![("Value", value), ("Metadata", metadata)]),
            )
        });
        object(members.collect())
    };
    let document = object(vec![
        ("Version", Json::Int(VERSION)),
        (DYNAMIC, group(true)),
        (STATIC, group(false)),
    ]);
    document.to_text()
}

/// Parses a file; `None` when it is in neither our nor MySQL's format.
fn read(text: &[u8]) -> Option<Variables> {
    let Json::Object(document) = parse(text).ok()? else {
        return None;
    };
    let mut variables = Variables::new();
    for name in [DYNAMIC, STATIC].iter().chain(OTHERS) {
        let group = match document.get(name) {
            None => continue,
            Some(Json::Object(group)) => group,
            Some(_) => return None,
        };
        for (variable, entry) in group.members() {
            let Json::Object(entry) = entry else {
                return None;
            };
            let Some(Json::String(value)) = entry.get("Value") else {
                return None;
            };
            let metadata = |name: &str| match entry.get("Metadata") {
                Some(Json::Object(metadata)) => metadata.get(name),
                _ => None,
            };
            let text = |name: &str| match metadata(name) {
                Some(Json::String(text)) => text.clone(),
                _ => String::new(),
            };
            let timestamp = match metadata("Timestamp") {
                Some(Json::Int(timestamp)) => *timestamp,
                _ => 0,
            };
            let persisted = PersistedVariable {
                value: value.clone(),
                dynamic: name.contains("dynamic"),
                user: text("User"),
                host: text("Host"),
                timestamp,
            };
            variables.insert(variable.clone(), persisted);
        }
    }
    Some(variables)
}

fn corrupt() -> Error {
    let message = format!(
        "{FILE} in the data directory is no file of persisted variables; mend or remove it, or start with \
         persisted_globals_load=OFF"
    );
    codes::ER_UNKNOWN_ERROR.with(&[&message])
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    codes::ER_UNKNOWN_ERROR.with(&[&format!("{what} {FILE} in the data directory: {error}")])
}

#[cfg(test)]
mod tests {
    use super::{PersistedVariable, Variables, read, text_of};

    #[test]
    fn files_read_back() {
        let variable = |dynamic| PersistedVariable {
            value: "a\"b\\".to_owned(),
            dynamic,
            user: "root".to_owned(),
            host: "localhost".to_owned(),
            timestamp: 1_519_921_356_531_997,
        };
        let names = [
            ("max_connections", true),
            ("innodb_temp_data_file_path", false),
        ];
        let variables: Variables = names
            .into_iter()
            .map(|(name, dynamic)| (name.to_owned(), variable(dynamic)))
            .collect();
        assert_eq!(read(&text_of(&variables)), Some(variables));
    }

    #[test]
    fn files_of_mysql() {
        let text = br#"{ "Version" : 2 , "mysql_dynamic_parse_early_variables" : { "max_connections" :
            { "Value" : "152" , "Metadata" : { "Timestamp" : 5 , "User" : "root" , "Host" : "" } } } }"#;
        let variables = read(text).expect("it is such a file");
        assert_eq!(variables["max_connections"].value, "152");
        assert!(variables["max_connections"].dynamic);
        assert_eq!(read(b"x"), None);
        assert_eq!(read(b"[1]"), None);
        assert_eq!(read(br#"{"mysql_static_variables": 1}"#), None);
    }
}
