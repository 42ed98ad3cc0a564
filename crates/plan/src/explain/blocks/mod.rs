//! Query blocks of a plan, with the tables that each reads, in their order: the rows of the traditional format, and the
//! objects of FORMAT=JSON version 1.

mod walk;

use self::walk::Explainer;
use super::access::KeyColumns;
use super::facts::{Facts, TableFacts};
use super::measured::{Actual, Measurements};
use super::outline::{ROW_COST, SCAN_COST, used_columns};
use crate::catalog::TableSource;
use crate::tree::physical::{QueryPlan, SetOperationKind};

/// A query block, or a set operation of several.
#[derive(Debug)]
pub(super) struct QueryBlock {
    pub(super) id: u64,
    pub(super) select_type: &'static str,
    pub(super) body: Body,
    /// Query blocks nested in it, in order.
    pub(super) children: Vec<Child>,
    /// The query block is evaluated for each outer row (DEPENDENT).
    pub(super) dependent: bool,
    /// Whether its result is cached.
    pub(super) cacheable: bool,
    /// The query block reads the rows of the previous round of a recursion.
    pub(super) recursive: bool,
    /// Its measurements.
    pub(super) actual: Option<Actual>,
}

#[derive(Debug)]
pub(super) enum Body {
    Tables {
        tables: Vec<TableUse>,
        /// Operations on the rows, the last first.
        operations: Vec<Operation>,
    },
    SetOperation {
        kind: SetOperationKind,
        arms: Vec<QueryBlock>,
        temporary: bool,
        table: Option<TableFacts>,
        filesort: bool,
        /// Number of its row in the traditional format.
        result_id: u64,
    },
}

/// A nested query block.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) place: Place,
    pub(super) block: QueryBlock,
}

/// Place of a nested query block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The table at that position.
    Table(usize),
    /// In a condition on the table at that position.
    Condition(usize),
    SelectList,
    Having,
    GroupBy,
    OrderBy,
}

/// An operation on the rows of a query block.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) kind: OperationKind,
    /// Whether it needs a temporary table.
    pub(super) temporary: bool,
    pub(super) table: Option<TableFacts>,
    pub(super) filesort: bool,
    /// Whether all rows are sorted, and not only the first few.
    pub(super) sorts_all: bool,
    /// Sort keys.
    pub(super) sort_key: String,
    /// Maximum number of rows that a sort returns.
    pub(super) limit: Option<u64>,
    /// Its measurements.
    pub(super) actual: Option<Actual>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperationKind {
    Ordering,
    Grouping,
    DuplicatesRemoval,
    BufferResult,
}

/// A table that a query block reads.
#[derive(Debug)]
pub(super) struct TableUse {
    /// Alias in the statement; `None` if there is no table.
    pub(super) alias: Option<String>,
    /// Name in the traditional format.
    pub(super) name: Option<String>,
    pub(super) rows: Option<u64>,
    /// Selectivity of its conditions.
    pub(super) filtered: f64,
    pub(super) has_conditions: bool,
    /// Conditions that are checked for its rows.
    pub(super) conditions: Vec<String>,
    /// Notes for the column Extra.
    pub(super) notes: Vec<Note>,
    pub(super) key: KeyColumns,
    pub(super) possible: Vec<String>,
    pub(super) covering: bool,
    pub(super) reverse: bool,
    /// Whether its ranges are known to be empty.
    impossible: bool,
    /// Whether a single row is read, at an end of an index.
    is_end: bool,
    /// Whether its rows must come in the order of an index.
    pub(super) ordered: bool,
    /// Cost of reading it once.
    pub(super) cost: f64,
    /// Whether it is read by key for each row before it.
    pub(super) is_read_by_key: bool,
    pub(super) used_columns: Vec<String>,
    pub(super) record_bytes: u64,
    /// Hash table of one side of its join.
    pub(super) hash: Option<TableFacts>,
    /// Temporary table of a derived table.
    pub(super) materialized: Option<TableFacts>,
    /// Number of the query block that also reads the result, which is materialized once.
    pub(super) shared_with: Option<u64>,
    /// (measurements of reading it, rows that its conditions left).
    pub(super) actual: Option<(Actual, u64)>,
}

/// A note on a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Note {
    /// Merged indexes: `Using union(a,b)`.
    Merge(String),
    /// Terms that the table answers: `Using pushed condition (…)`.
    PushedCondition(String),
    /// Message in place of a table.
    Message(&'static str),
    FirstMatch(String),
    NotExists,
    HashJoin,
    Rematerialize(String),
    Recursive,
    GroupsByIndex,
    /// Name of the secondary engine that reads the table.
    SecondaryEngine(String),
}

impl Note {
    /// Text in the traditional format.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Merge(text) => text.clone(),
            Self::PushedCondition(text) => format!("Using pushed condition {text}"),
            Self::Message(text) => (*text).to_owned(),
            Self::FirstMatch(table) => format!("FirstMatch({table})"),
            Self::NotExists => "Not exists".to_owned(),
            Self::HashJoin => "Using join buffer (hash join)".to_owned(),
            Self::Rematerialize(tables) => format!("Rematerialize ({tables})"),
            Self::Recursive => "Recursive".to_owned(),
            Self::GroupsByIndex => "Using index for group-by".to_owned(),
            Self::SecondaryEngine(name) => format!("Using secondary engine {name}"),
        }
    }
}

impl TableUse {
    fn scanned(alias: Option<&str>, rows: Option<u64>) -> Self {
        Self {
            alias: alias.map(str::to_owned),
            name: alias.map(str::to_owned),
            rows,
            filtered: 1.0,
            has_conditions: false,
            conditions: Vec::new(),
            notes: Vec::new(),
            key: KeyColumns {
                access: "ALL",
                ..KeyColumns::default()
            },
            possible: Vec::new(),
            covering: false,
            reverse: false,
            impossible: false,
            is_end: false,
            ordered: false,
            cost: 0.0,
            is_read_by_key: false,
            used_columns: Vec::new(),
            record_bytes: 0,
            hash: None,
            materialized: None,
            shared_with: None,
            actual: None,
        }
    }

    /// A table of which an index lookup finds about `rows` rows.
    fn found(alias: &str, rows: f64) -> Self {
        Self::scanned(Some(alias), Some((rows.round() as u64).max(1)))
    }

    /// Sets the base table, some columns of which are read at this cost.
    fn of(self, table: &TableSource, columns: &[usize], cost: f64) -> Self {
        Self {
            used_columns: used_columns(table, columns),
            record_bytes: record_bytes(table),
            cost,
            ..self
        }
    }

    /// A derived table or common table expression of a query block.
    fn derived(alias: &str, id: u64, estimate: f64, columns: &[String]) -> Self {
        let rows = whole(estimate);
        Self {
            name: Some(format!("<derived{id}>")),
            used_columns: columns.to_vec(),
            cost: SCAN_COST + rows as f64 * ROW_COST,
            ..Self::scanned(Some(alias), Some(rows))
        }
    }

    fn message(text: &'static str) -> Self {
        Self {
            notes: vec![Note::Message(text)],
            ..Self::scanned(None, None)
        }
    }
}

/// Bytes of a row as MySQL counts them for `data_read_per_join`.
fn record_bytes(table: &TableSource) -> u64 {
    let visible = table.columns.iter().filter(|column| !column.hidden);
    let nulls = visible.clone().filter(|column| column.nullable).count();
    let bytes: u64 = visible
        .map(|column| match column.ty.declared_bytes(None) {
            // The length of a short string takes one byte, and a large string is stored elsewhere.
            bytes if column.ty.kind == mayfly_types::TypeKind::VarChar && bytes < 258 => bytes - 1,
            bytes => bytes.min(65_535),
        })
        .sum();
    (bytes + (nulls as u64).div_ceil(8)).next_multiple_of(8)
}

/// Query blocks of a plan.
pub(super) fn query_blocks(
    plan: &QueryPlan,
    facts: Option<&Facts<'_>>,
    measured: Option<&Measurements>,
) -> QueryBlock {
    Explainer::new(plan, facts, measured).query(&plan.root, 1, "PRIMARY")
}

/// Rounded number of rows; MySQL never shows fewer than two for a table without statistics.
fn whole(rows: f64) -> u64 {
    (rows.round() as u64).max(2)
}
