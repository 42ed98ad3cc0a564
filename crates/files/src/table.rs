//! A table whose rows are in files: the provider that the engine reads.
//!
//! The columns are those of the format, then the keys in the names of directories, then the name of the file where it is
//! asked for. A scan is a queue of pieces; each worker takes a piece, reads it to its end, and takes the next, so that one
//! worker alone gives the rows in the order of the files.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow_array::{ArrayRef, BinaryViewArray, Int64Array, new_null_array};
use mayfly_engine::{
    Batch, CallOption, CollationId, ColumnId, ColumnTerm, Interrupt, ProvidedColumn, ProvidedRows,
    Result, ScanRequest, Share, SqlType, TableCall, TableProvider, TermShape, TermSupport,
    TypeKind, Value, shown_path,
};

use crate::guard::damaged;
use crate::paths::DataFile;
use crate::terms::Range;
use crate::text::input::Version;

/// Most columns of a table, as in MySQL.
pub(crate) const COLUMNS_MAX: usize = 4096;

/// The files of a call, as their format reads them.
pub(crate) trait Format: Debug + Send + Sync {
    /// The columns in the files.
    fn columns(&self) -> &[ProvidedColumn];

    /// Estimated number of rows.
    fn row_count(&self) -> u64;

    /// Precision with which scans answer a term on one of these columns.
    fn term(&self, term: &TermShape) -> TermSupport {
        let _ = term;
        TermSupport::Unsupported
    }

    /// Starts a scan.
    fn scan(&self, request: FileRequest) -> Result<Arc<dyn Pieces>>;

    /// Versions of the files, if another process finds the columns and the number of rows without reading them.
    fn versions(&self) -> Option<Vec<Version>> {
        None
    }
}

/// What a scan asks the files for.
#[derive(Debug)]
pub(crate) struct FileRequest {
    /// The columns of the batches, by their indexes among the format's.
    pub(crate) columns: Vec<usize>,
    /// Terms on columns of the format.
    pub(crate) terms: Vec<ColumnTerm>,
    /// The files to be read, by their indexes, in order.
    pub(crate) files: Vec<usize>,
    /// The pieces to be read, of a format that has versions.
    pub(crate) share: Share,
}

/// All pieces.
const ALL: Share = Share { index: 0, of: 1 };

/// The pieces of a scan that no worker has taken yet.
pub(crate) trait Pieces: Send + Sync {
    /// Takes the next piece.
    fn next(&self) -> Result<Option<Box<dyn Piece>>>;
}

/// A piece of a file.
pub(crate) trait Piece: Send {
    /// The index of the file.
    fn file(&self) -> usize;

    /// The next rows; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Batch>>;
}

/// A column that is not in the files.
#[derive(Debug, Clone)]
struct Constant {
    column: ProvidedColumn,
    /// The value for each file.
    values: Arc<[Value]>,
}

impl Constant {
    fn array(&self, file: usize, rows: usize) -> ArrayRef {
        match self.values.get(file) {
            Some(Value::Int(number)) => Arc::new(Int64Array::from_value(*number, rows)),
            Some(Value::Bytes(text)) => {
                let texts = std::iter::repeat_n(Some(text.as_slice()), rows);
                Arc::new(texts.collect::<BinaryViewArray>())
            }
            _ => new_null_array(&self.column.ty.physical().arrow(), rows),
        }
    }
}

/// The table of a call.
#[derive(Debug)]
pub(crate) struct FileTable {
    format: Box<dyn Format>,
    /// The indexes of the format's columns that the table has: not those that are keys too.
    own: Vec<usize>,
    constants: Vec<Constant>,
    columns: Vec<ProvidedColumn>,
    files: Vec<String>,
    call: GivenCall,
    interrupt: Interrupt,
}

/// The call of a table, as far as the table is not found in it again.
#[derive(Debug)]
pub(crate) struct GivenCall {
    pub(crate) function: &'static str,
    /// The options but for those that say which files there are.
    pub(crate) options: Vec<CallOption>,
    /// Whether the paths of the files are values of the table.
    pub(crate) filename: bool,
}

impl FileTable {
    pub(crate) fn new(
        format: Box<dyn Format>,
        files: Vec<DataFile>,
        keys: Vec<String>,
        call: GivenCall,
        interrupt: Interrupt,
    ) -> Result<Self> {
        let mut constants: Vec<Constant> = keys
            .into_iter()
            .enumerate()
            .map(|(at, name)| key_column(name, files.iter().map(|file| &file.keys[at])))
            .collect();
        if call.filename {
            let paths = files
                .iter()
                .map(|file| Value::from(&*shown_path(&file.path)));
            constants.push(Constant {
                column: ProvidedColumn {
                    name: "filename".to_owned(),
                    ty: SqlType::varchar(4096, CollationId::default()),
                    nullable: false,
                },
                values: paths.collect(),
            });
        }
        let is_constant = |column: &ProvidedColumn| {
            let mut constants = constants.iter();
            constants.any(|it| it.column.name.eq_ignore_ascii_case(&column.name))
        };
        let all = format.columns().iter().enumerate();
        let own = all.filter(|(_, column)| !is_constant(column));
        let own: Vec<usize> = own.map(|(at, _)| at).collect();
        let mut columns: Vec<ProvidedColumn> =
            own.iter().map(|at| format.columns()[*at].clone()).collect();
        columns.extend(constants.iter().map(|it| it.column.clone()));
        if columns.is_empty() {
            let path = files.first().map_or("", |file| &file.path);
            return Err(damaged(path, "it has no column"));
        }
        make_distinct(&mut columns);
        Ok(Self {
            files: files.into_iter().map(|file| file.path).collect(),
            call,
            interrupt,
            format,
            own,
            constants,
            columns,
        })
    }
}

/// The column of a key: numbers where all values are such and begin with no zero, otherwise texts.
fn key_column<'k>(name: String, values: impl Iterator<Item = &'k Option<String>>) -> Constant {
    let values: Vec<Option<&str>> = values.map(|value| value.as_deref()).collect();
    let number = |text: &str| {
        let number: i64 = text.parse().ok()?;
        (number.to_string() == text).then_some(number)
    };
    let known = || values.iter().flatten();
    let is_numeric = known().next().is_some() && known().all(|text| number(text).is_some());
    let value = |text: &Option<&str>| match text {
        None => Value::Null,
        Some(text) => match number(text).filter(|_| is_numeric) {
            Some(number) => Value::Int(number),
            None => Value::from(*text),
        },
    };
    let length = known().map(|text| text.chars().count()).max().unwrap_or(1);
    let length = u32::try_from(length.max(1)).unwrap_or(u32::MAX);
    Constant {
        column: ProvidedColumn {
            name,
            ty: if is_numeric {
                SqlType::bigint()
            } else {
                SqlType::varchar(length, CollationId::default())
            },
            nullable: values.contains(&None),
        },
        values: values.iter().map(value).collect(),
    }
}

/// Greatest number of characters of a column's name, as in MySQL.
const NAME_CHARACTERS: usize = 64;

/// Gives columns names of their own that are not too long: `column2` for none, `name_2` for one that another column has.
fn make_distinct(columns: &mut [ProvidedColumn]) {
    let mut known: HashSet<String> = HashSet::new();
    for (at, column) in columns.iter_mut().enumerate() {
        if column.name.trim().is_empty() {
            column.name = format!("column{}", at + 1);
        }
        let first = std::mem::take(&mut column.name);
        column.name = shortened(&first, "");
        let mut number = 1;
        while !known.insert(column.name.to_lowercase()) {
            number += 1;
            column.name = shortened(&first, &format!("_{number}"));
        }
    }
}

/// A name with an ending, cut to the greatest length.
fn shortened(name: &str, ending: &str) -> String {
    let kept: String = name.chars().take(NAME_CHARACTERS - ending.len()).collect();
    kept.trim_end().to_owned() + ending
}

impl TableProvider for FileTable {
    fn columns(&self) -> Vec<ProvidedColumn> {
        self.columns.clone()
    }

    fn term(&self, term: &TermShape) -> TermSupport {
        match self.own.get(term.column) {
            Some(column) => self.format.term(&TermShape {
                column: *column,
                ..*term
            }),
            // Files whose value does not meet it are not read.
            None => TermSupport::Exact,
        }
    }

    fn row_count(&self) -> u64 {
        self.format.row_count()
    }

    fn call(&self) -> Option<TableCall> {
        let versions = self.format.versions()?;
        if self.call.filename {
            return None;
        }
        let version = |it: &Version| {
            let since = it
                .modified
                .and_then(|it| it.duration_since(UNIX_EPOCH).ok());
            let modified = since.map_or(0, |it| it.as_micros());
            format!(
                "{} {modified} {}",
                it.length,
                it.tag.as_deref().unwrap_or("")
            )
        };
        let versions: Vec<String> = versions.iter().map(version).collect();
        let mut options = self.call.options.clone();
        options.push(CallOption {
            name: "hive_partitioning".to_owned(),
            value: Value::Int(i64::from(!self.constants.is_empty())),
            ty: SqlType::bigint(),
        });
        Some(TableCall {
            function: self.call.function.to_owned(),
            files: self.files.clone(),
            options,
            version: versions.join("\n"),
            rows: self.format.row_count(),
        })
    }

    fn scan_share(&self, request: &ScanRequest<'_>, share: Share) -> Result<Box<dyn ProvidedRows>> {
        self.start(request, share)
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        self.start(request, ALL)
    }
}

impl FileTable {
    fn start(&self, request: &ScanRequest<'_>, share: Share) -> Result<Box<dyn ProvidedRows>> {
        let mut files: Vec<usize> = (0..self.files.len()).collect();
        let mut terms = Vec::new();
        for term in request.terms {
            match self.own.get(term.column.0) {
                Some(column) => terms.push(ColumnTerm {
                    column: ColumnId(*column),
                    ..term.clone()
                }),
                None => {
                    let constant = &self.constants[term.column.0 - self.own.len()];
                    files.retain(|file| {
                        let range = Range::one(&constant.values[*file]);
                        range.may_meet(&term.condition, term.collation)
                    });
                }
            }
        }
        let mut columns = Vec::new();
        let places = request
            .columns
            .iter()
            .map(|column| match self.own.get(column.0) {
                Some(own) => {
                    columns.push(*own);
                    Place::Own
                }
                None => Place::Constant(column.0 - self.own.len()),
            });
        let places = places.collect();
        let request = FileRequest {
            columns,
            terms,
            files,
            share,
        };
        Ok(Box::new(Part {
            pieces: self.format.scan(request)?,
            current: None,
            places,
            constants: self.constants.clone().into(),
            interrupt: self.interrupt.clone(),
        }))
    }
}

/// Where the values of a requested column come from.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The next column of the piece.
    Own,
    Constant(usize),
}

/// A worker's part of a scan.
struct Part {
    pieces: Arc<dyn Pieces>,
    current: Option<Box<dyn Piece>>,
    places: Arc<[Place]>,
    constants: Arc<[Constant]>,
    interrupt: Interrupt,
}

impl Part {
    fn read(&mut self) -> Result<Option<Batch>> {
        loop {
            let piece = match &mut self.current {
                Some(piece) => piece,
                None => match self.pieces.next()? {
                    Some(piece) => self.current.insert(piece),
                    None => return Ok(None),
                },
            };
            let Some(batch) = piece.next_batch()? else {
                self.current = None;
                continue;
            };
            let (file, rows) = (piece.file(), batch.row_count());
            let mut own = batch.into_columns().into_iter();
            let columns = self.places.iter().filter_map(|place| match place {
                Place::Own => own.next(),
                Place::Constant(at) => Some(self.constants[*at].array(file, rows)),
            });
            return Ok(Some(Batch::new(columns.collect(), rows)));
        }
    }
}

impl ProvidedRows for Part {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let read = self.read();
        ended(&self.interrupt, read)
    }

    fn for_another_worker(&self) -> Option<Box<dyn ProvidedRows>> {
        Some(Box::new(Self {
            pieces: Arc::clone(&self.pieces),
            current: None,
            places: Arc::clone(&self.places),
            constants: Arc::clone(&self.constants),
            interrupt: self.interrupt.clone(),
        }))
    }
}

/// A result of reading, in which the end of the statement comes before the error that it became on its way through a library.
pub(crate) fn ended<T>(interrupt: &Interrupt, read: Result<T>) -> Result<T> {
    read.map_err(|error| interrupt.check().err().unwrap_or(error))
}

/// Whether a column holds texts that compare by a collation.
pub(crate) fn is_text(ty: &SqlType) -> bool {
    ty.is_string() || ty.kind == TypeKind::Json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let names = |names: &[&str]| {
            let column = |name: &&str| ProvidedColumn {
                name: (*name).to_owned(),
                ty: SqlType::bigint(),
                nullable: true,
            };
            let mut columns: Vec<_> = names.iter().map(column).collect();
            make_distinct(&mut columns);
            columns.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&["id", "", "ID", "2024", "id_2"]),
            ["id", "column2", "ID_2", "2024", "id_2_2"]
        );
        let long = "x".repeat(70);
        assert_eq!(
            names(&[&long, &long]),
            ["x".repeat(64), "x".repeat(62) + "_2"]
        );
    }

    #[test]
    fn keys_with_leading_zeros_are_texts() {
        let values = |texts: &[Option<&str>]| {
            let texts: Vec<Option<String>> =
                texts.iter().map(|text| text.map(str::to_owned)).collect();
            key_column("k".to_owned(), texts.iter())
        };
        let numbers = values(&[Some("7"), None, Some("-12")]);
        assert_eq!(
            *numbers.values,
            [Value::Int(7), Value::Null, Value::Int(-12)]
        );
        assert!(numbers.column.nullable);
        let texts = values(&[Some("007"), Some("12")]);
        assert_eq!(*texts.values, [Value::from("007"), Value::from("12")]);
        assert_eq!(texts.column.ty.length, 3);
    }
}
