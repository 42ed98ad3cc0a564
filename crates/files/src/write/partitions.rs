//! Rows divided into directories by the values of columns ("Hive partitioning"): `year=2026/town=Bern/part-0.parquet`.
//!
//! The rows come sorted by the columns, but in the order of their collations: rows of `a` and `A` may alternate. Some
//! files are therefore open at a time; beyond [`OPEN_MAX`] the one that was not written for the longest time ends, and its
//! directory gets another part later. The names are those that `paths` reads: `__HIVE_DEFAULT_PARTITION__` for NULL,
//! nothing for an empty text, and `%2F` and the like for characters that names of directories cannot have.

use std::fmt::Write as _;

use arrow_array::ArrayRef;
use mayfly_engine::{
    Batch, NewDirectory, Result, ResultColumn, RowsToWrite, RowsWriter, StatementFiles, TimeZone,
    codes, url_scheme,
};

use super::encoder::{Charge, Encoder, Rows, Settings};
use super::text::{Form, Texts};
use crate::paths::NULL_KEY;

/// Most files that are open at a time.
const OPEN_MAX: usize = 16;

/// Begins a directory.
pub(super) fn begin(
    rows: RowsToWrite,
    zone: TimeZone,
    settings: Box<dyn Settings>,
    charge: Charge,
    replaces: bool,
    files: &StatementFiles,
) -> Result<Box<dyn RowsWriter>> {
    let RowsToWrite {
        path,
        columns,
        partition_by,
    } = rows;
    let keys: Vec<ResultColumn> = partition_by.iter().map(|at| columns[*at].clone()).collect();
    let is_divisible =
        |column: &&ResultColumn| matches!(Form::of(column), Form::Bytes | Form::Json);
    if let Some(column) = keys.iter().find(is_divisible) {
        let why = format!(
            "COPY: PARTITION_BY '{}', whose values are no names",
            column.name
        );
        return Err(codes::ER_WRONG_ARGUMENTS.with(&[&why]));
    }
    let mut kept = (0..columns.len())
        .filter(|at| !partition_by.contains(at))
        .peekable();
    if kept.peek().is_none() {
        let why = "COPY: PARTITION_BY leaves no column for the files";
        return Err(codes::ER_WRONG_ARGUMENTS.with(&[&why]));
    }
    let kept: Vec<usize> = kept.collect();
    if replaces {
        refuse_others(&path, &keys[0], files)?;
    }
    Ok(Box::new(Partitions {
        directory: files.create_directory(&path, replaces)?,
        rows: Rows {
            columns: kept.iter().map(|at| columns[*at].clone()).collect(),
            zone,
        },
        partition_by,
        keys,
        kept,
        settings,
        open: Vec::new(),
        charge,
        written: 0,
    }))
}

/// 1086 for a directory with anything but partitions by a key: to replace it would remove what nobody meant.
fn refuse_others(path: &str, key: &ResultColumn, files: &StatementFiles) -> Result<()> {
    let begin = format!("{}=", encoded_key(&key.name));
    if url_scheme(path).is_some() {
        let directory = format!("{}/", path.trim_end_matches('/'));
        let objects = files.objects(&directory, false, usize::MAX)?;
        let is_part = |url: &String| {
            let key = url.strip_prefix(&directory).unwrap_or_default();
            key.starts_with(&begin) && key.contains('/')
        };
        return match objects.iter().all(is_part) {
            true => Ok(()),
            false => Err(codes::ER_FILE_EXISTS_ERROR.with(&[&path])),
        };
    }
    if files.is_directory(path)? != Some(true) {
        return Ok(());
    }
    let entries = files.entries(path)?;
    match entries
        .iter()
        .all(|entry| entry.is_directory && entry.name.starts_with(&begin))
    {
        true => Ok(()),
        false => Err(codes::ER_FILE_EXISTS_ERROR.with(&[&path])),
    }
}

/// The writer of a directory.
struct Partitions {
    directory: NewDirectory,
    rows: Rows,
    partition_by: Vec<usize>,
    keys: Vec<ResultColumn>,
    /// The columns that the files have, by their indexes.
    kept: Vec<usize>,
    settings: Box<dyn Settings>,
    /// The open files with their directories; the one written last is the last one.
    open: Vec<(String, Box<dyn Encoder>)>,
    charge: Charge,
    written: u64,
}

impl Partitions {
    /// Writes rows of one directory.
    fn write_part(&mut self, directory: &str, batch: &Batch, before: u64) -> Result<()> {
        match self.open.iter().position(|(open, _)| open == directory) {
            Some(at) => {
                let open = self.open.remove(at);
                self.open.push(open);
            }
            None => {
                if self.open.len() >= OPEN_MAX {
                    let (_, encoder) = self.open.remove(0);
                    encoder.finish()?.keep()?;
                }
                let mut part = 0;
                let file = loop {
                    let name = format!("part-{part}.{}", self.settings.ending());
                    if let Some(file) = self.directory.file(directory, &name)? {
                        break file;
                    }
                    part += 1;
                };
                let encoder = self.settings.encoder(file, &self.rows)?;
                self.open.push((directory.to_owned(), encoder));
            }
        }
        if let Some((_, encoder)) = self.open.last_mut() {
            encoder.write(batch, before)?;
        }
        let mut encoders: Vec<_> = self.open.iter_mut().map(|(_, encoder)| encoder).collect();
        self.charge.update(&mut encoders)
    }

    fn write_batch(&mut self, batch: &Batch) -> Result<()> {
        let directories = self.directories(batch)?;
        let mut start = 0;
        while let Some(directory) = directories.get(start) {
            let same = directories[start..]
                .iter()
                .take_while(|it| *it == directory);
            let rows = same.count();
            let columns = self
                .kept
                .iter()
                .map(|at| batch.column(*at).slice(start, rows));
            let columns: Vec<ArrayRef> = columns.collect();
            let part = Batch::new(columns, rows);
            self.write_part(directory, &part, self.written + start as u64)?;
            start += rows;
        }
        Ok(())
    }

    /// The directory of each row.
    fn directories(&self, batch: &Batch) -> Result<Vec<String>> {
        let columns = self.partition_by.iter().zip(&self.keys);
        let columns = columns.map(|(at, column)| {
            let texts = Texts::new(batch.column(*at), column, &self.rows.zone);
            (encoded_key(&column.name), texts)
        });
        let columns: Vec<_> = columns.collect();
        let mut directories = Vec::with_capacity(batch.row_count());
        let mut text = Vec::new();
        for row in 0..batch.row_count() {
            let mut directory = String::new();
            for (key, texts) in &columns {
                if !directory.is_empty() {
                    directory.push('/');
                }
                directory += key;
                directory.push('=');
                text.clear();
                match texts.append(row, self.written, &mut text)? {
                    true => directory += &encoded_value(&String::from_utf8_lossy(&text)),
                    false => directory += NULL_KEY,
                }
            }
            directories.push(directory);
        }
        Ok(directories)
    }
}

impl RowsWriter for Partitions {
    fn write(&mut self, batch: &Batch) -> Result<()> {
        self.write_batch(batch)?;
        self.written += batch.row_count() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        for (_, encoder) in self.open {
            encoder.finish()?.keep()?;
        }
        self.directory.keep()
    }
}

/// The name of a key; names that begin with a point or a line are hidden from readers.
fn encoded_key(name: &str) -> String {
    let mut text = String::new();
    for (at, character) in name.chars().enumerate() {
        encode(
            character,
            at == 0 && matches!(character, '.' | '_'),
            &mut text,
        );
    }
    text
}

/// A value, of which none is like the name of NULL.
fn encoded_value(value: &str) -> String {
    let mut text = String::new();
    for (at, character) in value.chars().enumerate() {
        encode(character, at == 0 && value == NULL_KEY, &mut text);
    }
    text
}

/// Appends a character, as Hive escapes it where names of directories cannot have it.
fn encode(character: char, is_special: bool, text: &mut String) {
    const ESCAPED: &str = "\"#%'*/:=?\\\u{7F}{}[]^";
    if is_special || character < ' ' || ESCAPED.contains(character) {
        let _ = write!(text, "%{:02X}", u32::from(character));
    } else {
        text.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_directories() {
        for (value, name) in [
            ("Bern", "Bern"),
            ("", ""),
            ("a/b=c%", "a%2Fb%3Dc%25"),
            ("é ü", "é ü"),
            ("..", ".."),
            (NULL_KEY, "%5F_HIVE_DEFAULT_PARTITION__"),
            ("\n", "%0A"),
        ] {
            assert_eq!(encoded_value(value), name, "{value}");
        }
        assert_eq!(encoded_key("_a=b"), "%5Fa%3Db");
    }
}
