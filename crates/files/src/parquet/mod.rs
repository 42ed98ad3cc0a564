//! Parquet files: `read_parquet('a.parquet', …)`.
//!
//! The footers of all files are read when a statement is planned. A piece of a scan is a row group: it is left out where
//! the file shows that no row meets the terms ([`prune`]); of the others only the columns of the request are read, and of
//! these no pages that the page index excludes; where few rows meet the terms, these are evaluated first ([`filter`]).

mod bloom;
mod chunk;
mod decimals;
mod filter;
mod prune;
mod schema;
mod source;
mod wide;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatchReader, new_null_array};
use arrow_schema::Field;
use mayfly_engine::{
    Batch, CollationId, ColumnCondition, ColumnTerm, Diagnostics, ProvidedColumn, Reservation,
    Result, Share, StatementFiles, StatementMemory, TableArguments, TableFunctionContext,
    TermOperator, TermShape, TermSupport, TypeKind, arrow_in,
};
use parking_lot::Mutex;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};

use self::filter::{Condition, Convert, Passed};
use self::source::{Source, WINDOW};
use crate::columns::{self, Opened, array_types};
use crate::guard::{damaged, guarded};
use crate::paths::DataFile;
use crate::table::{FileRequest, Format, Piece, Pieces, is_text};
use crate::text::input::{Version, version};

/// A file's footer.
#[derive(Debug)]
struct Footer {
    /// The version of the file when the footer was read.
    version: Version,
    footer: ArrowReaderMetadata,
    /// The footer by which rows are read, where it is another one ([`decimals`]).
    reader: Option<ArrowReaderMetadata>,
}

type ParquetFile = Opened<Footer>;

/// The files of a call.
#[derive(Debug)]
struct ParquetFiles {
    files: Arc<[ParquetFile]>,
    columns: Vec<ProvidedColumn>,
    rows: u64,
    context: TableFunctionContext,
}

/// Reads the footers of files.
pub(crate) fn open(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Box<dyn Format>> {
    let (columns, opened) = columns::open(files, arguments, context, |path, file| {
        let version = version(path, &file)?;
        let source = Source::of_footer(file).map_err(|error| damaged(path, error))?;
        let (footer, fields) = schema::footer(path, &source)?;
        let reader = guarded(path, || Ok(decimals::as_bytes(&footer)))?;
        let content = Footer {
            version,
            footer,
            reader,
        };
        Ok((fields, content))
    })?;
    let rows = opened.iter().map(|file| {
        let rows = file.content.footer.metadata().file_metadata().num_rows();
        u64::try_from(rows).unwrap_or(0)
    });
    Ok(Box::new(ParquetFiles {
        rows: rows.fold(0, u64::saturating_add),
        files: opened.into(),
        columns,
        context: context.clone(),
    }))
}

impl Format for ParquetFiles {
    fn columns(&self) -> &[ProvidedColumn] {
        &self.columns
    }

    fn row_count(&self) -> u64 {
        self.rows
    }

    fn term(&self, term: &TermShape) -> TermSupport {
        let of_null = matches!(term.operator, TermOperator::Null | TermOperator::NotNull);
        let of_equality = matches!(term.operator, TermOperator::Equal | TermOperator::Among);
        let is_ordered = self.columns.get(term.column).is_some_and(|column| {
            // Writers leave NaN out of the statistics, and order texts by their bytes.
            let is_float = matches!(column.ty.kind, TypeKind::Float | TypeKind::Double);
            !is_float && (of_equality || !is_text(&column.ty))
        });
        if of_null || is_ordered {
            TermSupport::Inexact
        } else {
            TermSupport::Unsupported
        }
    }

    fn versions(&self) -> Option<Vec<Version>> {
        let files = self.files.iter();
        Some(files.map(|file| file.content.version.clone()).collect())
    }

    fn scan(&self, request: FileRequest) -> Result<Arc<dyn Pieces>> {
        let groups = self.files.iter();
        let groups = groups.map(|file| file.content.footer.metadata().num_row_groups());
        let first = groups.scan(0, |next, groups| {
            *next += groups;
            Some(*next - groups)
        });
        Ok(Arc::new(RowGroups {
            files: Arc::clone(&self.files),
            access: self.context.files.clone(),
            memory: self.context.memory.clone(),
            batch_rows: self.context.batch_rows,
            terms: request.terms,
            passed: Arc::default(),
            reading: Arc::new(Reading {
                types: array_types(&self.columns).collect(),
                columns: request.columns,
                diagnostics: Arc::clone(&self.context.diagnostics),
            }),
            queue: request.files,
            share: request.share,
            first: first.collect(),
            next: Mutex::new(Next::default()),
        }))
    }
}

/// The row groups that no worker has taken yet.
struct RowGroups {
    files: Arc<[ParquetFile]>,
    access: StatementFiles,
    memory: StatementMemory,
    batch_rows: usize,
    terms: Vec<ColumnTerm>,
    passed: Arc<Passed>,
    reading: Arc<Reading>,
    /// The indexes of the files to be read.
    queue: Vec<usize>,
    /// The row groups to be read, by their numbers among those of all files.
    share: Share,
    /// The number of the first row group of each file.
    first: Vec<usize>,
    next: Mutex<Next>,
}

/// The next row group.
#[derive(Default)]
struct Next {
    /// Position of its file in the queue.
    file: usize,
    /// Its index in the file.
    group: usize,
}

/// What is read of each row group.
struct Reading {
    /// The arrays of the table's columns.
    types: Vec<arrow_schema::DataType>,
    /// The requested columns.
    columns: Vec<usize>,
    diagnostics: Arc<Diagnostics>,
}

impl Pieces for RowGroups {
    fn next(&self) -> Result<Option<Box<dyn Piece>>> {
        loop {
            let (at, group) = {
                let mut next = self.next.lock();
                let Some(&at) = self.queue.get(next.file) else {
                    return Ok(None);
                };
                let groups = self.files[at].content.footer.metadata().num_row_groups();
                if next.group >= groups {
                    (next.file, next.group) = (next.file + 1, 0);
                    continue;
                }
                next.group += 1;
                if !self.share.has(self.first[at] + next.group - 1) {
                    continue;
                }
                (at, next.group - 1)
            };
            if let Some(piece) = self.open(at, group)? {
                return Ok(Some(piece));
            }
        }
    }
}

impl RowGroups {
    /// A row group that is to be read; `None` if no row of it meets the terms.
    fn open(&self, at: usize, index: usize) -> Result<Option<Box<dyn Piece>>> {
        let file = &self.files[at];
        let group = prune::Group {
            path: &file.path,
            footer: &file.content.footer,
            fields: &file.fields,
            index,
        };
        let all_terms = self.terms.iter().map(|term| {
            let place = file.places.get(term.column.0).copied().flatten();
            (place, term)
        });
        // What is known of texts is by the order of their bytes.
        let is_known = |term: &ColumnTerm| {
            let of_null = matches!(
                term.condition,
                ColumnCondition::Null | ColumnCondition::NotNull
            );
            of_null || term.collation.is_none_or(|it| it == CollationId::BINARY)
        };
        let terms = all_terms.clone().filter(|(_, term)| is_known(term));
        if !terms
            .clone()
            .all(|(place, term)| group.may_meet(place, term))
        {
            return Ok(None);
        }
        let metadata = file.content.footer.metadata().row_group(index);
        let mut roots: Vec<usize> = self
            .reading
            .columns
            .iter()
            .filter_map(|column| file.places[*column])
            .collect();
        roots.sort_unstable();
        roots.dedup();
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        let mut new = RowGroup {
            at,
            files: Arc::clone(&self.files),
            reading: Arc::clone(&self.reading),
            memory: None,
            left: rows,
            batch_rows: self.batch_rows,
            reader: None,
            roots,
        };
        if new.roots.is_empty() {
            return Ok(Some(Box::new(new)));
        }
        let opened = self.access.open(&file.path)?;
        if version(&file.path, &opened)? != file.content.version {
            return Err(damaged(&file.path, "it has changed while it is read"));
        }
        let mut selection: Option<RowSelection> = None;
        for (place, term) in terms {
            let Some(place) = place else { continue };
            let memory = &self.memory;
            if !group.may_contain(&opened, memory, place, term)? {
                return Ok(None);
            }
            let Some(pages) = group.pages(&opened, memory, place, term)? else {
                continue;
            };
            let both = selection.as_ref().map(|rows| rows.intersection(&pages));
            selection = Some(both.unwrap_or(pages));
        }
        if selection.as_ref().is_some_and(|rows| !rows.selects_any()) {
            return Ok(None);
        }
        let schema = file.content.footer.parquet_schema();
        let mask = ProjectionMask::roots(schema, new.roots.iter().copied());
        // A reader holds a page of each column and its dictionary.
        let chunks = metadata.columns().iter().enumerate();
        let held = chunks.filter(|(leaf, _)| mask.leaf_included(*leaf));
        let bytes = |size: i64| u64::try_from(size).unwrap_or(0);
        let held = held.map(|(_, chunk)| {
            let ahead = match opened.is_remote() {
                true => bytes(chunk.compressed_size()).min(WINDOW),
                false => 0,
            };
            ahead + bytes(chunk.uncompressed_size()).min(PAGES)
        });
        new.memory = Some(self.memory.reserve(held.sum())?);
        new.reader = Some(guarded(&file.path, || {
            let Footer { footer, reader, .. } = &file.content;
            let footer = reader.as_ref().unwrap_or(footer).clone();
            let chunks = metadata.columns().iter().enumerate();
            let chunks = chunks.filter(|(leaf, _)| mask.leaf_included(*leaf));
            let parts = chunks.map(|(_, chunk)| {
                let (start, length) = chunk.byte_range();
                start..start.saturating_add(length)
            });
            let source = Source::ahead(opened, parts.collect());
            let source = source.map_err(|error| damaged(&file.path, error))?;
            let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(source, footer)
                .with_projection(mask)
                .with_row_groups(vec![index])
                .with_batch_size(self.batch_rows);
            if let Some(rows) = selection {
                reader = reader.with_row_selection(rows);
            }
            let conditions = self.conditions(file, all_terms, &new.roots);
            if !conditions.is_empty() {
                reader = reader.with_row_filter(filter::filter(conditions, &self.passed));
            }
            reader.build().map_err(|error| damaged(&file.path, error))
        })?);
        Ok(Some(Box::new(new)))
    }
}

impl RowGroups {
    /// The conditions to be evaluated before the columns of some roots are read, those on numbers first.
    fn conditions<'t>(
        &self,
        file: &ParquetFile,
        terms: impl Iterator<Item = (Option<usize>, &'t ColumnTerm)>,
        roots: &[usize],
    ) -> Vec<(ProjectionMask, Condition, Convert)> {
        if !self.passed.are_few() {
            return Vec::new();
        }
        let schema = file.content.footer.parquet_schema();
        let conditions = terms.filter_map(|(place, term)| Some((place?, Condition::of(term)?)));
        let mut conditions: Vec<(usize, Condition)> = conditions.collect();
        // Nothing else is read.
        if roots
            .iter()
            .all(|root| conditions.iter().any(|it| it.0 == *root))
        {
            return Vec::new();
        }
        conditions.sort_by_key(|(_, condition)| matches!(condition, Condition::Texts(..)));
        let conditions = conditions.into_iter().map(|(root, condition)| {
            let field = file.fields[root].clone();
            let convert = move |array: &ArrayRef| {
                arrow_in::values(&of_field(array, &field), &field, &Err).ok()
            };
            let mask = ProjectionMask::roots(schema, [root]);
            (mask, condition, Arc::new(convert) as Convert)
        });
        conditions.collect()
    }
}

/// An array that was read, in the type of its field: the reader gives some numbers as bytes.
fn of_field(array: &ArrayRef, field: &Field) -> ArrayRef {
    wide::numbers(&decimals::decoded(array, field), field)
}

/// Bytes of a column that a reader holds: a page, and a dictionary.
const PAGES: u64 = 2 << 20;

/// A row group that is being read.
struct RowGroup {
    at: usize,
    files: Arc<[ParquetFile]>,
    reading: Arc<Reading>,
    /// The memory of the pages.
    memory: Option<Reservation>,
    /// Rows that are still to come, where no column of the file is read.
    left: usize,
    batch_rows: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// The columns of the file that are read, in order.
    roots: Vec<usize>,
}

impl Piece for RowGroup {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let file = &self.files[self.at];
        let Some(reader) = &mut self.reader else {
            let rows = self.left.min(self.batch_rows);
            self.left -= rows;
            let columns = self.reading.columns.iter();
            let columns = columns.map(|column| new_null_array(&self.reading.types[*column], rows));
            return Ok((rows > 0).then(|| Batch::new(columns.collect(), rows)));
        };
        let record = guarded(&file.path, || {
            let record = reader.next().transpose();
            record.map_err(|error| damaged(&file.path, error))
        })?;
        let Some(record) = record else {
            self.memory = None;
            return Ok(None);
        };
        debug_assert_eq!(reader.schema().fields().len(), self.roots.len());
        let rows = record.num_rows();
        let column = |column: &usize| -> Result<ArrayRef> {
            let place = file.places[*column].and_then(|root| {
                let position = self.roots.binary_search(&root).ok()?;
                Some((record.columns().get(position)?, root))
            });
            match place {
                Some((array, root)) => {
                    let diagnostics = &self.reading.diagnostics;
                    guarded(&file.path, || {
                        let array = of_field(array, &file.fields[root]);
                        file.values(&array, root, diagnostics)
                    })
                }
                None => Ok(new_null_array(&self.reading.types[*column], rows)),
            }
        };
        let columns = self.reading.columns.iter().map(column);
        Ok(Some(Batch::new(columns.collect::<Result<_>>()?, rows)))
    }
}
