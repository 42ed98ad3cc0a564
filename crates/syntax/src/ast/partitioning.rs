//! `PARTITION BY ...` (the manual, "Partitioning Types").

use super::{Expr, Ident};

use super::TableOption;

/// How a table is divided.
#[derive(Debug, Clone, PartialEq)]
pub struct Partitioning {
    /// What says in which partition a row is.
    pub function: PartitionFunction,
    /// `PARTITIONS n`.
    pub count: Option<u64>,
    /// `SUBPARTITION BY ... [SUBPARTITIONS n]`.
    pub subpartitions: Option<(PartitionFunction, Option<u64>)>,
    /// `(PARTITION ..., ...)`.
    pub definitions: Vec<PartitionDefinition>,
}

/// What says in which partition a row is.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionFunction {
    /// `LINEAR`.
    pub linear: bool,
    /// HASH, KEY, RANGE or LIST.
    pub kind: PartitionKind,
    /// Of what.
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

/// What rows are divided by.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionedBy {
    /// `(expression)`.
    Expression(Box<Expr>),
    /// `COLUMNS (a, b)`, or those of KEY, where none are those of the primary key.
    Columns(Vec<Ident>),
}

/// `PARTITION name ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionDefinition {
    /// Its name.
    pub name: Ident,
    /// `VALUES ...`.
    pub values: Option<PartitionValues>,
    /// Options, as a table has them.
    pub options: Vec<TableOption>,
    /// `(SUBPARTITION name options, ...)`.
    pub subpartitions: Vec<(Ident, Vec<TableOption>)>,
}

/// The values that a partition has.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    /// `LESS THAN (...)`; a bound for each column, `None` for `MAXVALUE`.
    LessThan(Vec<Option<Expr>>),
    /// `IN (...)`; a value for each column.
    In(Vec<Vec<Expr>>),
}
