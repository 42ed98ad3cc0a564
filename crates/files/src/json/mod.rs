//! JSON files: `read_json('a.json', …)`. Rows are objects that follow each other (NDJSON), or the elements of an array.
//!
//! The columns are the keys of all rows, in the order in which they appear first; a row without a key has NULL. A column of
//! numbers, of truth values or of strings has a type of these; any other has documents. Of two equal keys in a row the last
//! one counts, as in MySQL. As of CSV files, all rows decide the types, so that a file is read twice.

mod infer;
mod rows;
mod scan;

use std::sync::Arc;

use mayfly_engine::{ProvidedColumn, Result, SqlType, TableArguments, TableFunctionContext};

use crate::csv::guess::Kind;
use crate::declared::Declared;
use crate::guard::damaged;
use crate::paths::DataFile;
use crate::table::{COLUMNS_MAX, FileRequest, Format, Pieces};
use crate::text::input::Version;

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonKind {
    /// Numbers, truth values and strings.
    Plain(Kind),
    /// Documents.
    Document,
}

impl JsonKind {
    fn sql_type(self) -> SqlType {
        match self {
            Self::Plain(kind) => kind.sql_type(),
            Self::Document => SqlType::json(),
        }
    }
}

/// The files of a call.
#[derive(Debug)]
struct JsonFiles {
    files: Arc<[(String, Version)]>,
    columns: Vec<ProvidedColumn>,
    kinds: Arc<[JsonKind]>,
    /// The declared types of columns.
    declared: Vec<Option<SqlType>>,
    rows: u64,
    context: TableFunctionContext,
}

/// Reads files for the types of their columns.
pub(crate) fn open(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Box<dyn Format>> {
    let declared = Declared::of(arguments, context)?;
    let mut found = infer::Columns::default();
    let mut opened = Vec::with_capacity(files.len());
    for DataFile { path, .. } in files {
        let (columns, version) = infer::infer(path, context)?;
        found.merge(columns);
        opened.push((path.clone(), version));
    }
    if found.is_empty() {
        return Err(damaged(&files[0].path, "it has no column"));
    }
    let rows = found.rows;
    let columns = found.into_columns();
    if columns.len() > COLUMNS_MAX {
        let why = format!("it has more than {COLUMNS_MAX} keys");
        return Err(damaged(&files[0].path, why));
    }
    let kinds: Arc<[JsonKind]> = columns.iter().map(infer::Column::kind).collect();
    let names = columns.iter().map(|column| column.name.as_str());
    let declared = declared.of_columns(names, arguments)?;
    let columns = columns.into_iter().zip(&*kinds).zip(&declared);
    let columns = columns.map(|((column, kind), declared)| ProvidedColumn {
        nullable: column.has_nulls(rows),
        name: column.name,
        ty: declared.clone().unwrap_or_else(|| kind.sql_type()),
    });
    let columns = columns.collect();
    Ok(Box::new(JsonFiles {
        files: opened.into(),
        columns,
        kinds,
        declared,
        rows,
        context: context.clone(),
    }))
}

impl Format for JsonFiles {
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
