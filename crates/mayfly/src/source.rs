//! Tables whose rows a program provides.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use mayfly_engine::{
    Batch, CollationId, ColumnCondition, Error, MissingTables, OrderColumn, ProvidedColumn,
    ProvidedRows, Result, ScanRequest, SqlType, TableProvider, TermOperator, TermSupport, arrow_in,
};

use crate::value::Value;

/// A table whose rows a program provides as record batches of Arrow: a file, a directory of files, another server.
/// [`Database::register`](crate::Database::register) puts it into a database, where statements read it as any other table.
///
/// A source that can filter or order its rows says so with [`supports`](Self::supports) and [`orders`](Self::orders).
/// Then a statement leaves that work to it, as EXPLAIN shows: `with pushed condition` in place of a filter, and no sort.
/// The answers must always be the same ones: the plans of statements are kept.
pub trait TableSource: Debug + Send + Sync {
    /// The columns, always the same ones. The module `arrow_in` of the documentation has the SQL type of each Arrow type.
    fn schema(&self) -> SchemaRef;

    /// How many rows there are, about, for whoever orders joins.
    fn row_count(&self) -> Option<u64> {
        None
    }

    /// How precisely the source answers a term. [`TermSupport::Exact`] is a promise: rows that do not meet the term are
    /// not left out by anybody else.
    fn supports(&self, term: &TermShape) -> TermSupport {
        let _ = term;
        TermSupport::Inexact
    }

    /// Orders in which the source can give its rows. A request has one of them, or the first columns of one.
    fn orders(&self) -> Vec<Vec<Order>> {
        Vec::new()
    }

    /// Begins to read rows, perhaps for several statements at once. Each batch has the columns of the request, in its order.
    ///
    /// # Errors
    /// Whatever keeps the rows from being read; the statement ends with it.
    fn scan(&self, request: &Request) -> Result<RecordBatches>;
}

impl<S: TableSource + ?Sized> TableSource for Arc<S> {
    fn schema(&self) -> SchemaRef {
        (**self).schema()
    }

    fn row_count(&self) -> Option<u64> {
        (**self).row_count()
    }

    fn supports(&self, term: &TermShape) -> TermSupport {
        (**self).supports(term)
    }

    fn orders(&self) -> Vec<Vec<Order>> {
        (**self).orders()
    }

    fn scan(&self, request: &Request) -> Result<RecordBatches> {
        (**self).scan(request)
    }
}

/// Source of tables for names that lead to no table, by a closure.
pub(crate) struct MissingBy<F>(pub(crate) F);

impl<F> Debug for MissingBy<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MissingBy")
    }
}

impl<F> MissingTables for MissingBy<F>
where
    F: Fn(&str) -> Result<Option<Arc<dyn TableSource>>> + Send + Sync,
{
    fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let provider = |source| Ok(Arc::new(Provider::new(source)?) as Arc<dyn TableProvider>);
        (self.0)(name)?.map(provider).transpose()
    }
}

/// Rows of a [`TableSource`].
pub type RecordBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What a statement asks a [`TableSource`] for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The columns that it reads, by their places in the schema.
    pub columns: Vec<usize>,
    /// What every row meets that it wants: all of these. Rows that do not meet a term that the source has called exact
    /// must be left out; other rows may be left out, and need not be.
    pub terms: Vec<Term>,
    /// The order in which rows must come; empty: any order.
    pub order: Vec<Order>,
    /// How many rows are read at most: the source may stop there, and need not. Every term is an exact one then.
    pub limit: Option<u64>,
}

/// A condition on a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The column, by its place in the schema.
    pub column: usize,
    /// What its values meet.
    pub condition: Condition,
    /// How texts and bytes are compared: `utf8mb4_0900_ai_ci` (without regard to case and accents), or `binary`.
    pub collation: Option<&'static str>,
}

/// A term before its values are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermShape {
    /// The column, by its place in the schema.
    pub column: usize,
    /// The operator.
    pub operator: TermOperator,
    /// How texts and bytes are compared, as in [`Term`].
    pub collation: Option<&'static str>,
}

/// A column of an order. NULL comes before all values, and behind them in descending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The column, by its place in the schema.
    pub column: usize,
    /// DESC
    pub descending: bool,
    /// The order of texts and bytes, as in [`Term`]; an order that is not that of its column is not made use of.
    pub collation: Option<&'static str>,
}

impl Order {
    /// Ascending numbers, or times.
    pub fn ascending(column: usize) -> Self {
        Self {
            column,
            descending: false,
            collation: None,
        }
    }

    /// Descending numbers, or times.
    pub fn descending(column: usize) -> Self {
        Self {
            descending: true,
            ..Self::ascending(column)
        }
    }

    /// Texts or bytes in the order of a collation.
    #[must_use]
    pub fn by(self, collation: &'static str) -> Self {
        Self {
            collation: Some(collation),
            ..self
        }
    }

    /// `None` for a collation that is not known.
    fn to_engine(self) -> Option<OrderColumn> {
        let collation = self.collation.map(CollationId::by_name);
        Some(OrderColumn {
            column: self.column,
            descending: self.descending,
            collation: match collation {
                Some(known) => Some(known?),
                None => None,
            },
        })
    }
}

/// What values of a column meet.
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

    fn term(&self, term: &mayfly_engine::TermShape) -> TermSupport {
        self.source.supports(&TermShape {
            column: term.column,
            operator: term.operator,
            collation: term.collation.map(CollationId::name),
        })
    }

    fn orders(&self) -> Vec<Vec<OrderColumn>> {
        let orders = self.source.orders().into_iter();
        let known = |order: Vec<Order>| order.into_iter().map_while(Order::to_engine).collect();
        orders.map(known).collect()
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        let terms = request.terms.iter().map(|term| Term {
            column: term.column.0,
            condition: Condition::of(&term.condition, &self.columns[term.column.0].ty),
            collation: term.collation.map(CollationId::name),
        });
        let columns = request.columns.iter().map(|column| column.0);
        let order = request.order.iter().map(|order| Order {
            column: order.column,
            descending: order.descending,
            collation: order.collation.map(CollationId::name),
        });
        let request = Request {
            columns: columns.collect(),
            terms: terms.collect(),
            order: order.collect(),
            limit: request.limit,
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
