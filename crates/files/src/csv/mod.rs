//! CSV files and their like: `read_csv('a.csv', delimiter => ';', …)`.
//!
//! All rows decide the types of the columns ([`guess`]): no value is changed because the rows before it were of another kind.
//! They are found in one of two ways. A pass over the file before the scan sees all rows. Where the statement may be run
//! again ([`TypeSampling`](mayfly_engine::TypeSampling)), the first blocks show types that the scan proves: a value that would change one is an error that
//! ends the attempt, and the next one makes the pass.
//!
//! A piece of a scan is a block of rows. Both passes are divided among the workers of the statement.

mod checks;
mod cut;
mod dialect;
mod fields;
pub(crate) mod guess;
mod infer;
mod literals;
mod options;
mod reject;
pub(crate) mod rejects;
mod rows;
mod scan;
mod separators;
mod sniff;
pub(crate) mod values;

use std::sync::Arc;

use mayfly_engine::{
    Error, ProvidedColumn, Result, SqlType, TableArguments, TableFunctionContext, codes,
};

use self::guess::Kind;
use self::options::Options;
use crate::guard::damaged;
use crate::paths::DataFile;
use crate::table::{COLUMNS_MAX, FileRequest, Format, Pieces};
use crate::text::input::Version;

/// A file, and where it has the columns of the table.
#[derive(Debug)]
struct CsvFile {
    path: String,
    /// Length and time of the last change when its types were found.
    version: Version,
    /// Number of fields of a row.
    width: usize,
    /// For each column of the table its index among the file's; `None` if the file has none.
    places: Vec<Option<usize>>,
}

/// The files of a call.
#[derive(Debug)]
struct CsvFiles {
    files: Arc<[CsvFile]>,
    columns: Vec<ProvidedColumn>,
    kinds: Arc<[Kind]>,
    /// The declared types of columns.
    declared: Arc<[Option<SqlType>]>,
    options: Arc<Options>,
    rows: u64,
    /// Whether the kinds are those of the first rows.
    is_sampled: bool,
    context: TableFunctionContext,
}

/// Reads files for the types of their columns.
pub(crate) fn open(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Box<dyn Format>> {
    let mut options = options_of(files, arguments, context)?;
    let Read {
        columns,
        files: opened,
        rows,
        is_whole,
        warnings,
        ..
    } = read_or_sample(files, &mut options, context)?;
    for warning in warnings {
        context.diagnostics.warn(warning);
    }
    let Some((first, ..)) = opened.first() else {
        return Err(damaged(&files[0].path, "it is empty"));
    };
    if columns.len() > COLUMNS_MAX {
        let why = format!("it has more than {COLUMNS_MAX} columns");
        return Err(damaged(first, why));
    }
    let opened = opened
        .into_iter()
        .map(|(path, version, width, mut places)| {
            places.resize(columns.len(), None);
            CsvFile {
                path,
                version,
                width,
                places,
            }
        });
    let names = columns.iter().map(|column| column.name.as_str());
    let declared = options.declared.of_columns(names, arguments)?;
    let kinds: Arc<[Kind]> = columns.iter().map(|column| column.guess.kind()).collect();
    Ok(Box::new(CsvFiles {
        files: opened.collect(),
        columns: columns
            .iter()
            .zip(&*kinds)
            .zip(&declared)
            .map(|((column, kind), declared)| ProvidedColumn {
                name: column.name.clone(),
                ty: declared.clone().unwrap_or_else(|| kind.sql_type()),
                // A table that is made of the file is to have room for other rows.
                nullable: true,
            })
            .collect(),
        kinds,
        declared: declared.into(),
        options: Arc::new(options),
        rows,
        is_sampled: !is_whole,
        context: context.clone(),
    }))
}

/// The options of a call, with the delimiter that the names of its files tell.
fn options_of(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Options> {
    let mut options = Options::of(arguments, context)?;
    if files.iter().all(|file| is_tab_separated(&file.path)) {
        options.delimiter.get_or_insert(b'\t');
    }
    Ok(options)
}

/// Whether a file's name says that tabs divide its fields.
fn is_tab_separated(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path
        .strip_suffix(".gz")
        .or_else(|| path.strip_suffix(".zst"));
    let name = name.unwrap_or(&path);
    name.ends_with(".tsv") || name.ends_with(".tab")
}

/// What was read of all files.
struct Read {
    columns: Vec<infer::Column>,
    files: Vec<Opened>,
    rows: u64,
    /// Whether all rows were read.
    is_whole: bool,
    warnings: Vec<Error>,
    /// The rows of each file that are left out, where they are kept.
    rejects: Vec<(String, Vec<reject::Reject>)>,
}

/// Reads the first rows of files, where these may decide the types, else all rows.
fn read_or_sample(
    files: &[DataFile],
    options: &mut Options,
    context: &TableFunctionContext,
) -> Result<Read> {
    // Rows that are left out are counted.
    if context.sampling.is_allowed() && !options.ignore_errors {
        let mut settled = options.clone();
        let sample = read(files, &mut settled, true, context)?;
        let mut columns = sample.columns.iter();
        if sample.is_whole || columns.all(|column| column.guess.is_final()) {
            if !sample.is_whole {
                context.sampling.note_use();
            }
            *options = settled;
            return Ok(sample);
        }
    }
    read(files, options, false, context)
}

fn read(
    files: &[DataFile],
    options: &mut Options,
    sampled: bool,
    context: &TableFunctionContext,
) -> Result<Read> {
    let mut read = Read {
        is_whole: true,
        columns: Vec::new(),
        files: Vec::with_capacity(files.len()),
        rows: 0,
        warnings: Vec::new(),
        rejects: Vec::new(),
    };
    for DataFile { path, .. } in files {
        let Some(mut found) = infer::infer(path, options, sampled, context)? else {
            continue;
        };
        read.rows += found.rows;
        read.is_whole &= found.is_whole;
        let first = read.files.first();
        let places = unite(&mut read.columns, &mut found.columns, path, first, options)?;
        read.rejects.push((path.clone(), found.rejects));
        let opened = (path.clone(), found.version, found.columns.len(), places);
        read.files.push(opened);
        if found.ignored > 0 {
            let what = format!("file '{path}': {} rows are left out", found.ignored);
            read.warnings.push(codes::ER_UNKNOWN_ERROR.with(&[&what]));
        }
    }
    for column in &read.columns {
        if let (Some(why), Some((path, ..))) = (column.guess.unclear(), read.files.first()) {
            let what = format!("file '{path}': column '{}' is a text: {why}", column.name);
            read.warnings.push(codes::ER_UNKNOWN_ERROR.with(&[&what]));
        }
    }
    Ok(read)
}

/// A file that was read for its types: path, version, number of fields, places of the columns.
type Opened = (String, Version, usize, Vec<Option<usize>>);

/// Adds the columns of a file to those of the table; returns the place of each of the table's columns in the file.
fn unite(
    columns: &mut Vec<infer::Column>,
    own: &mut [infer::Column],
    path: &str,
    first: Option<&Opened>,
    options: &Options,
) -> Result<Vec<Option<usize>>> {
    let mut places = vec![None; columns.len()];
    for (at, column) in own.iter_mut().enumerate() {
        let mut known = columns.iter().zip(&places);
        // Without a header fields are columns by their position.
        let same = known.position(|(known, place)| place.is_none() && known.name == column.name);
        let Some(same) = same else {
            if let (Some((first, ..)), false) = (first, options.union_by_name) {
                let name = &column.name;
                let why = format!(
                    "it has a column '{name}' that '{first}' has not; union_by_name => true unites the columns"
                );
                return Err(damaged(path, why));
            }
            columns.push(column.clone());
            places.push(Some(at));
            continue;
        };
        columns[same].guess.merge(&column.guess);
        places[same] = Some(at);
    }
    let mut missing = columns
        .iter()
        .zip(&places)
        .filter(|(_, place)| place.is_none());
    if let (Some((column, _)), false) = (missing.next(), options.union_by_name) {
        let name = &column.name;
        let why = format!("it has no column '{name}'; union_by_name => true gives NULL for it");
        return Err(damaged(path, why));
    }
    Ok(places)
}

impl Format for CsvFiles {
    fn columns(&self) -> &[ProvidedColumn] {
        &self.columns
    }

    fn row_count(&self) -> u64 {
        self.rows
    }

    fn scan(&self, request: FileRequest) -> Result<Arc<dyn Pieces>> {
        Ok(Arc::new(scan::Blocks::new(self, request)))
    }
}
