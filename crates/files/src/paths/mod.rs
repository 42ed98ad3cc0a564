//! The files that the arguments of a call name: paths, globs, directories, and the keys in the names of directories.
//!
//! A path is a file, or a directory with all data files in it and below it, or a pattern: `*` and `?` match within a
//! name, `[a-z]` and `[!a-z]` one character, `**` any number of directories. Files come in the order of their paths, so
//! that a table has the same rows in the same order each time. Names that begin with `.` or `_` are not data.
//!
//! URLs name objects of a store, whose keys are such paths: those that begin as the pattern does are listed, and matched here.
//! HTTP has no lists, so that its URLs stand for themselves.
//!
//! Directories called `key=value` ("Hive partitioning") give their files the column `key`. `__HIVE_DEFAULT_PARTITION__`
//! is NULL, and `%2F` and the like stand for characters that names of directories cannot have.

mod patterns;

use mayfly_engine::{Result, StatementFiles, codes, shown_path, url_scheme};

use self::patterns::{WILD, matches, matches_all};
use crate::guard::damaged;

/// The name that stands for NULL.
pub(crate) const NULL_KEY: &str = "__HIVE_DEFAULT_PARTITION__";

/// Most files of a call.
const FILES_MAX: usize = 1_000_000;

/// Deepest directories that are searched: links can make circles.
const DEPTH_MAX: usize = 64;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataFile {
    /// Its path.
    pub(crate) path: String,
    /// The values of the keys in its path; `None` is NULL.
    pub(crate) keys: Vec<Option<String>>,
}

/// The files of a call.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<DataFile>,
    /// The names of the keys that all files have.
    pub(crate) keys: Vec<String>,
}

/// A search for files.
pub(crate) struct Search<'s> {
    pub(crate) files: &'s StatementFiles,
    /// Whether directories are keys; `None` if they are where all files have the same ones.
    pub(crate) hive: Option<bool>,
    /// Whether a file of a directory is data.
    pub(crate) is_data: &'s dyn Fn(&str) -> bool,
}

impl Search<'_> {
    /// The files of paths and patterns: 1017 for one that leads to none.
    pub(crate) fn run(&self, patterns: &[String]) -> Result<Found> {
        let mut paths = Vec::new();
        for pattern in patterns {
            let before = paths.len();
            self.add(pattern, &mut paths)?;
            if paths.len() == before {
                let pattern = shown_path(pattern);
                return Err(codes::ER_FILE_NOT_FOUND.with(&[&pattern, &"2 - No file matches"]));
            }
            paths[before..].sort_unstable();
        }
        self.with_keys(paths)
    }

    fn add(&self, pattern: &str, paths: &mut Vec<String>) -> Result<()> {
        if let Some(scheme) = url_scheme(pattern) {
            return self.add_objects(scheme, pattern, paths);
        }
        let is_pattern = pattern.contains(WILD);
        // A name may have these characters itself. Outside of the allowed directory nothing is looked for.
        match self.files.is_directory(pattern) {
            Ok(Some(true)) => return self.add_directory(pattern, paths, 0),
            Ok(Some(false)) => paths.push(pattern.to_owned()),
            Ok(None) if !is_pattern => {
                // The error has the system's message.
                self.files.open(pattern)?;
            }
            Err(error) if !is_pattern => return Err(error),
            Ok(None) | Err(_) => {
                let (base, rest) = match pattern.strip_prefix('/') {
                    Some(rest) => ("/", rest),
                    None => ("", pattern),
                };
                let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
                self.add_matches(base, &parts, paths, 0)?;
            }
        }
        Ok(())
    }

    /// Adds the objects of a URL: one, those of a pattern, or all data in a directory and below it.
    fn add_objects(&self, scheme: &str, url: &str, paths: &mut Vec<String>) -> Result<()> {
        if matches!(scheme, "http" | "https") {
            // The error has the server's answer.
            self.files.open(url)?;
            return push(paths, url.to_owned());
        }
        let authority = url.find("://").map_or(0, |at| at + 3);
        let key = url[authority..].find('/').map(|at| authority + at + 1);
        let Some(wild) = url.find(WILD) else {
            let is_whole = !url.ends_with('/') && key.is_some();
            if is_whole && self.files.is_object(url)? {
                return push(paths, url.to_owned());
            }
            let directory = format!("{}/", url.trim_end_matches('/'));
            for found in self.files.objects(&directory, false, FILES_MAX + 1)? {
                // A key that stands for the directory itself.
                let Some(names) = found.strip_prefix(&directory) else {
                    continue;
                };
                let mut names = names.split('/');
                let is_hidden = names.clone().any(|name| name.starts_with(['.', '_']));
                if !is_hidden && names.next_back().is_some_and(|name| (self.is_data)(name)) {
                    push(paths, found)?;
                }
            }
            return Ok(());
        };
        if key.is_none_or(|key| wild < key) {
            return Err(damaged(url, "the name of a bucket is no pattern"));
        }
        let directory = url[..wild].rfind('/').map_or(wild, |slash| slash + 1);
        let parts: Vec<&str> = url[directory..].split('/').collect();
        let in_directory = parts.len() == 1;
        for found in self
            .files
            .objects(&url[..wild], in_directory, FILES_MAX + 1)?
        {
            let names = found.get(directory..).unwrap_or_default();
            let names: Vec<&str> = names.split('/').collect();
            if matches_all(&parts, &names) {
                push(paths, found)?;
            }
        }
        Ok(())
    }

    /// Adds the data files in a directory and below it.
    fn add_directory(&self, directory: &str, paths: &mut Vec<String>, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Ok(());
        }
        for entry in self.files.entries(directory)? {
            if entry.name.starts_with(['.', '_']) {
                continue;
            }
            let path = joined(directory, &entry.name);
            if entry.is_directory {
                self.add_directory(&path, paths, depth + 1)?;
            } else if (self.is_data)(&entry.name) {
                push(paths, path)?;
            }
        }
        Ok(())
    }

    /// Adds the files below a directory that match the parts of a pattern.
    fn add_matches(
        &self,
        base: &str,
        parts: &[&str],
        paths: &mut Vec<String>,
        depth: usize,
    ) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else {
            return Ok(());
        };
        if depth > DEPTH_MAX {
            return Ok(());
        }
        if !part.contains(WILD) {
            let path = joined(base, part);
            return match (self.files.is_directory(&path)?, rest.is_empty()) {
                (Some(false), true) => push(paths, path),
                (Some(true), false) => self.add_matches(&path, rest, paths, depth + 1),
                _ => Ok(()),
            };
        }
        let directory = if base.is_empty() { "." } else { base };
        if *part == "**" {
            self.add_matches(base, rest, paths, depth + 1)?;
        }
        for entry in self.files.entries(directory)? {
            let is_hidden = entry.name.starts_with('.') && !part.starts_with('.');
            let path = joined(base, &entry.name);
            if is_hidden {
                continue;
            }
            if *part == "**" {
                if entry.is_directory {
                    self.add_matches(&path, parts, paths, depth + 1)?;
                } else if rest.is_empty() {
                    push(paths, path)?;
                }
            } else if matches(part.as_bytes(), entry.name.as_bytes()) {
                match (entry.is_directory, rest.is_empty()) {
                    (false, true) => push(paths, path)?,
                    (true, false) => self.add_matches(&path, rest, paths, depth + 1)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The files with the keys of their paths.
    fn with_keys(&self, paths: Vec<String>) -> Result<Found> {
        let mut found = Found::default();
        for path in paths {
            let (keys, values): (Vec<String>, Vec<Option<String>>) = match self.hive {
                Some(false) => (Vec::new(), Vec::new()),
                _ => keys_of(&path).into_iter().unzip(),
            };
            if found.files.is_empty() {
                found.keys = keys;
            } else if found.keys != keys {
                if self.hive == Some(true) {
                    let what = format!(
                        "file '{path}' has not the keys of '{}'",
                        found.files[0].path
                    );
                    return Err(codes::ER_UNKNOWN_ERROR.with(&[&what]));
                }
                found.keys.clear();
            }
            found.files.push(DataFile { path, keys: values });
        }
        Ok(found)
    }
}

fn push(paths: &mut Vec<String>, path: String) -> Result<()> {
    if paths.len() >= FILES_MAX {
        let what = format!("more than {FILES_MAX} files in one table");
        return Err(codes::ER_UNKNOWN_ERROR.with(&[&what]));
    }
    paths.push(path);
    Ok(())
}

fn joined(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ if directory.ends_with('/') => format!("{directory}{name}"),
        _ => format!("{directory}/{name}"),
    }
}

/// The keys and values in the names of a path's directories.
fn keys_of(path: &str) -> Vec<(String, Option<String>)> {
    let path = shown_path(path);
    let Some((directories, _)) = path.rsplit_once('/') else {
        return Vec::new();
    };
    let pairs = directories
        .split('/')
        .filter_map(|part| part.split_once('='));
    let pairs = pairs.filter(|(key, _)| !key.is_empty());
    pairs
        .map(|(key, value)| {
            let value = (value != NULL_KEY).then(|| decoded(value));
            (decoded(key), value)
        })
        .collect()
}

/// A text in which `%XX` stands for a byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = (first == b'%').then(|| text_of(behind.get(..2)?)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn text_of(digits: &[u8]) -> Option<&str> {
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(digits).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_digits() {
        let key = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
        assert_eq!(
            keys_of("/d/year=007/town=a%2Fb%zz/x=__HIVE_DEFAULT_PARTITION__/part=1.parquet"),
            [
                key("year", Some("007")),
                key("town", Some("a/b%zz")),
                key("x", None)
            ]
        );
    }
}
