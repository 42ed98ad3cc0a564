//! Format of a file on the command line: a table, a script, or a format that Mayfly does not read, which is reported
//! and never run as SQL.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// Rows, which the engine reads: a file, a directory or a pattern.
    Data,
    /// Statements.
    Script,
}

/// File name extensions of text with rows, perhaps before those of its compression.
const TEXT: [&str; 6] = ["csv", "tsv", "tab", "json", "ndjson", "jsonl"];

/// File name extensions of columnar data.
const COLUMNAR: [&str; 5] = ["parquet", "pq", "arrow", "arrows", "feather"];

/// File name extensions of formats that cannot be read yet, and the names of the formats.
const UNREADABLE: [(&str, &str); 16] = [
    ("geojson", "JSON"),
    ("avro", "Avro"),
    ("orc", "ORC"),
    ("xls", "a spreadsheet"),
    ("xlsx", "a spreadsheet"),
    ("ods", "a spreadsheet"),
    ("xml", "XML"),
    ("gz", "compressed by gzip"),
    ("tgz", "compressed by gzip"),
    ("bz2", "compressed by bzip2"),
    ("xz", "compressed by xz"),
    ("zst", "compressed by zstd"),
    ("lz4", "compressed by lz4"),
    ("zip", "a ZIP archive"),
    ("sqlite", "a database of SQLite"),
    ("duckdb", "a database of DuckDB"),
];

/// Signatures of files that are not text.
const SIGNATURES: [(&[u8], &str); 9] = [
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ\0", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PAR1", "Parquet"),
    (b"Obj\x01", "Avro"),
    (b"SQLite format 3\0", "a database of SQLite"),
    (b"ARROW1", "Arrow"),
];

/// Number of bytes of a file that are examined.
const HEAD_BYTES: u64 = 4096;

/// The format of what a path names; `None` where there is nothing.
///
/// # Errors
/// A format that is not read.
pub(crate) fn of(path: &str) -> Result<Option<FileFormat>, String> {
    if Path::new(path).is_dir() {
        return Ok(Some(FileFormat::Data));
    }
    if !Path::new(path).is_file() {
        let is_pattern = is_pattern(path) && !path.contains(char::is_whitespace);
        return Ok(is_pattern.then_some(FileFormat::Data));
    }
    if is_data(path) {
        return Ok(Some(FileFormat::Data));
    }
    require_script(path)?;
    Ok(Some(FileFormat::Script))
}

/// Whether a path is a pattern of names.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether a file's name says that it has rows as text, perhaps compressed.
pub(crate) fn is_text(path: &str) -> bool {
    let mut ending = ending(path);
    if matches!(ending.as_str(), "gz" | "zst") {
        let inner = Path::new(path).file_stem().unwrap_or_default();
        ending = self::ending(&inner.to_string_lossy());
    }
    Path::new(path).is_file() && TEXT.contains(&ending.as_str())
}

/// Whether a file's name says that the engine reads it.
fn is_data(path: &str) -> bool {
    is_text(path) || COLUMNAR.contains(&ending(path).as_str())
}

/// The extension of a name, in lower case.
fn ending(path: &str) -> String {
    let ending = Path::new(path).extension().unwrap_or_default();
    ending.to_string_lossy().to_ascii_lowercase()
}

/// Refuses a file that is not a script.
///
/// # Errors
/// A table, or a format that is not read.
pub(crate) fn require_script(path: &str) -> Result<(), String> {
    let ending = ending(path);
    if is_data(path) {
        return Err(format!(
            "{path}: this is a table and no script: mayfly {path} opens it"
        ));
    }
    let by_name = UNREADABLE.iter().find(|(it, _)| *it == ending);
    match by_name.map(|(_, what)| *what).or_else(|| by_content(path)) {
        Some(what) => Err(format!(
            "{path}: this file is {what}, which Mayfly does not read yet; make it a CSV file, or a script of SQL"
        )),
        None => Ok(()),
    }
}

/// The format of a file by a signature that no script has; pipes are not examined, because bytes read from them are
/// lost.
fn by_content(path: &str) -> Option<&'static str> {
    if !Path::new(path).is_file() {
        return None;
    }
    let mut head = Vec::new();
    // An error of reading is reported when the file is read.
    let file = File::open(path).ok()?;
    file.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let signature = SIGNATURES.iter().find(|(it, _)| head.starts_with(it));
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match (signature, first) {
        (Some((_, what)), _) => Some(what),
        (None, Some(b'{' | b'[')) => Some("JSON"),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn files_by_their_names_and_contents() {
        let directory = tempfile::tempdir().unwrap();
        let of = |name: &str, content: &[u8]| {
            let path = directory.path().join(name);
            std::fs::write(&path, content).unwrap();
            of(path.to_str().unwrap())
        };
        for name in [
            "a.csv",
            "a.TSV",
            "a.parquet",
            "a.JSON",
            "a.csv.gz",
            "a.ndjson.zst",
        ] {
            assert_eq!(of(name, b"SELECT 1;"), Ok(Some(FileFormat::Data)), "{name}");
        }
        assert_eq!(of("a.sql", b"SELECT 1;"), Ok(Some(FileFormat::Script)));
        assert_eq!(of("a", b"SELECT '\xff\0';"), Ok(Some(FileFormat::Script)));
        for (name, content, what) in [
            ("a.sql.gz", &b"anything"[..], "gzip"),
            ("a.avro", b"SELECT 1;", "Avro"),
            ("a.xlsx", b"{}", "spreadsheet"),
            ("b", b"\x1f\x8b\x08", "gzip"),
            ("c", b"\n [1, 2]", "JSON"),
        ] {
            let error = of(name, content).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
        assert_eq!(super::of("/nowhere/a.csv"), Ok(None));
        for path in [directory.path().to_str().unwrap(), "/nowhere/*.parquet"] {
            assert_eq!(super::of(path), Ok(Some(FileFormat::Data)));
        }
        assert_eq!(super::of("SELECT 2 * 3"), Ok(None));
    }
}
