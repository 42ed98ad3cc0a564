//! `PARTITION BY ...` (the manual, "Partitioning Types").

use super::{Expr, Ident};

use super::TableOption;

/// Partitioning of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Partitioning {
    /// The partitioning function.
    pub function: PartitionFunction,
    /// `PARTITIONS n`.
    pub count: Option<u64>,
    /// `SUBPARTITION BY ... [SUBPARTITIONS n]`.
    pub subpartitions: Option<(PartitionFunction, Option<u64>)>,
    /// `(PARTITION ..., ...)`.
    pub definitions: Vec<PartitionDefinition>,
}

/// A partitioning function: it gives the partition of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionFunction {
    /// `LINEAR`.
    pub linear: bool,
    /// HASH, KEY, RANGE or LIST.
    pub kind: PartitionKind,
    /// The columns or the expression.
    pub of: PartitionedBy,
}

/// The kinds of partitioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionKind {
    /// `HASH (expression)`.
    Hash,
    /// `KEY [ALGORITHM = n] (columns)`.
    Key {
        /// `ALGORITHM`.
        algorithm: Option<u64>,
    },
    /// `RANGE`.
    Range,
    /// `LIST`.
    List,
}

/// The argument of a partitioning function.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionedBy {
    /// `(expression)`.
    Expression(Box<Expr>),
    /// `COLUMNS (a, b)`, or the columns of KEY; for KEY, empty means the primary key.
    Columns(Vec<Ident>),
}

/// `PARTITION name ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionDefinition {
    /// Its name.
    pub name: Ident,
    /// `VALUES ...`.
    pub values: Option<PartitionValues>,
    /// Options of the partition, as of a table.
    pub options: Vec<TableOption>,
    /// `(SUBPARTITION name options, ...)`.
    pub subpartitions: Vec<(Ident, Vec<TableOption>)>,
}

/// The values of the rows of a partition.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    /// `LESS THAN (...)`; a bound for each column, `None` for `MAXVALUE`.
    LessThan(Vec<Option<Expr>>),
    /// `IN (...)`; a value for each column.
    In(Vec<Vec<Expr>>),
}
