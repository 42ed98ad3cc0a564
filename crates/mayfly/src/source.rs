//! Tables whose rows a program provides.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use mayfly_engine::{
    Batch, ColumnCondition, Error, ProvidedColumn, ProvidedRows, Result, ScanRequest, SqlType,
    TableProvider,
};

use crate::arrow_in;
use crate::value::Value;

/// A table whose rows a program provides as record batches of Arrow: a file, a directory of files, another server.
/// [`Database::register`](crate::Database::register) puts it into a database, where statements read it as any other table.
pub trait TableSource: Debug + Send + Sync {
    /// The columns, always the same ones. The module `arrow_in` of the documentation has the SQL type of each Arrow type.
    fn schema(&self) -> SchemaRef;

    /// How many rows there are, about, for whoever orders joins.
    fn row_count(&self) -> Option<u64> {
        None
    }

    /// Begins to read rows, perhaps for several statements at once. Each batch has the columns of the request, in its order.
    ///
    /// # Errors
    /// Whatever keeps the rows from being read; the statement ends with it.
    fn scan(&self, request: &Request) -> Result<RecordBatches>;
}

/// Rows of a [`TableSource`].
pub type RecordBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What a statement asks a [`TableSource`] for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The columns that it reads, by their places in the schema.
    pub columns: Vec<usize>,
    /// What every row meets that it wants: all of these. Rows that do not may be left out, and need not be.
    pub terms: Vec<Term>,
}

/// A condition on a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The column, by its place in the schema.
    pub column: usize,
    /// What its values meet.
    pub condition: Condition,
}

/// What values of a column meet. Texts are compared without regard to case and accents, as MySQL does by default.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// =
    Equal(Value<'static>),
    /// <
    Less(Value<'static>),
    /// <=
    AtMost(Value<'static>),
    /// \>
    Greater(Value<'static>),
    /// \>=
    AtLeast(Value<'static>),
    /// IN
    Among(Vec<Value<'static>>),
    /// IS NULL
    Null,
    /// IS NOT NULL
    NotNull,
    /// No value meets it: the statement wants no row.
    Never,
}

impl Condition {
    fn of(condition: &ColumnCondition, ty: &SqlType) -> Self {
        let value = |value: &mayfly_engine::Value| Value::of(value, ty);
        match condition {
            ColumnCondition::Equal(it) => Self::Equal(value(it)),
            ColumnCondition::Less(it) => Self::Less(value(it)),
            ColumnCondition::AtMost(it) => Self::AtMost(value(it)),
            ColumnCondition::Greater(it) => Self::Greater(value(it)),
            ColumnCondition::AtLeast(it) => Self::AtLeast(value(it)),
            ColumnCondition::Among(list) => Self::Among(list.iter().map(value).collect()),
            ColumnCondition::Null => Self::Null,
            ColumnCondition::NotNull => Self::NotNull,
            ColumnCondition::Never => Self::Never,
        }
    }
}

/// A source as the engine's provider.
#[derive(Debug)]
pub(crate) struct Provider<S> {
    source: S,
    columns: Vec<ProvidedColumn>,
}

impl<S: TableSource> Provider<S> {
    /// # Errors
    /// 1235 for a column of a type that no SQL type stands for.
    pub(crate) fn new(source: S) -> Result<Self> {
        let schema = source.schema();
        let columns = schema.fields().iter().map(|field| arrow_in::column(field));
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            source,
        })
    }
}

impl<S: TableSource> TableProvider for Provider<S> {
    fn columns(&self) -> Vec<ProvidedColumn> {
        self.columns.clone()
    }

    fn row_count(&self) -> u64 {
        self.source.row_count().unwrap_or(10_000)
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        let terms = request.terms.iter().map(|term| Term {
            column: term.column.0,
            condition: Condition::of(&term.condition, &self.columns[term.column.0].ty),
        });
        let columns = request.columns.iter().map(|column| column.0);
        let request = Request {
            columns: columns.collect(),
            terms: terms.collect(),
        };
        Ok(Box::new(Reading {
            batches: self.source.scan(&request)?,
            width: request.columns.len(),
        }))
    }
}

struct Reading {
    batches: RecordBatches,
    width: usize,
}

impl ProvidedRows for Reading {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let Some(record) = self.batches.next().transpose()? else {
            return Ok(None);
        };
        if record.num_columns() != self.width {
            let (given, wanted) = (record.num_columns(), self.width);
            let what =
                format!("a table source has given {given} columns where {wanted} were asked for");
            return Err(mayfly_engine::codes::ER_UNKNOWN_ERROR.with(&[&what]));
        }
        arrow_in::batch(&record).map(Some)
    }
}

/// Record batches that are there already, as a table: to be queried, or to fill another one by INSERT … SELECT.
#[derive(Debug, Clone)]
pub struct Batches {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

impl Batches {
    /// Batches of a schema.
    pub fn new(schema: SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
        Self {
            schema,
            batches: batches.into_iter().collect(),
        }
    }
}

impl TableSource for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Option<u64> {
        let rows = self.batches.iter().map(|batch| batch.num_rows() as u64);
        Some(rows.sum())
    }

    fn scan(&self, request: &Request) -> Result<RecordBatches> {
        let (batches, columns) = (Arc::clone(&self.batches), request.columns.clone());
        let project = move |batch| RecordBatch::project(&batches[batch], &columns);
        let batches = (0..self.batches.len()).map(move |batch| project(batch).map_err(defect));
        Ok(Box::new(batches))
    }
}

fn defect(error: ArrowError) -> Error {
    Error::internal(error)
}
