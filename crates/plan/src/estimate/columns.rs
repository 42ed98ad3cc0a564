//! Facts about columns: from statistics of their values, or else from the keys and indexes of their table.

use std::sync::Arc;

use mayfly_functions::aggregate::Kind;
use mayfly_types::SqlType;

use crate::catalog::TableSource;
use crate::statistics::ColumnStatistics;
use crate::tree::logical::{ColumnId, Scan, ScanStatistics};

/// Facts about the values of a column in its table.
#[derive(Debug, Clone)]
pub(crate) struct ColumnFacts {
    /// Number of distinct values.
    pub(crate) distinct: f64,
    /// Fraction of NULLs.
    pub(crate) null_fraction: f64,
    /// Number of rows of the table.
    pub(crate) rows: f64,
    pub(crate) statistics: Option<Arc<ColumnStatistics>>,
}

/// Facts about an aggregate over each group.
#[derive(Debug, Clone)]
pub(crate) struct AggregateFacts {
    /// COUNT, SUM or AVG.
    pub(crate) kind: Kind,
    /// Aggregated column; `None` for COUNT(*) and for expressions.
    pub(crate) column: Option<(ColumnId, SqlType)>,
    pub(crate) groups: f64,
    /// Average number of rows of a group.
    pub(crate) group_rows: f64,
    /// Distribution of group sizes, if known from the key: (rows per group, fraction of groups).
    pub(crate) sizes: Vec<(f64, f64)>,
}

/// Source of facts about columns.
pub(crate) trait Columns {
    /// Facts about a column of a table.
    fn facts(&self, id: ColumnId) -> Option<ColumnFacts>;

    /// Table that a column comes from, and its index there.
    fn table(&self, id: ColumnId) -> Option<(TableFacts, usize)>;

    /// Maximum number of distinct values of a column.
    fn distinct(&self, id: ColumnId) -> Option<f64> {
        self.facts(id).map(|facts| facts.distinct)
    }

    /// Fraction of the distinct values of a column that conditions on it alone leave.
    fn left_values(&self, id: ColumnId) -> f64 {
        let _ = id;
        1.0
    }

    /// Selectivity of the equality of two columns, cached; `find` computes it.
    fn equality(&self, columns: [ColumnId; 2], find: &dyn Fn() -> f64) -> f64 {
        let _ = columns;
        find()
    }

    /// Column whose values a column has.
    fn origin(&self, id: ColumnId) -> ColumnId {
        id
    }

    /// Facts about a column that is an aggregate over each group.
    fn aggregate(&self, id: ColumnId) -> Option<AggregateFacts> {
        let _ = id;
        None
    }

    /// Whether a column is the least or the greatest value of a group.
    fn is_extreme(&self, id: ColumnId) -> bool {
        let _ = id;
        false
    }
}

/// Source without facts, for the columns of a physical plan.
pub(crate) struct NoColumns;

impl Columns for NoColumns {
    fn facts(&self, _id: ColumnId) -> Option<ColumnFacts> {
        None
    }

    fn table(&self, _id: ColumnId) -> Option<(TableFacts, usize)> {
        None
    }
}

/// A table in a statement, with its statistics.
#[derive(Debug, Clone)]
pub(crate) struct TableFacts {
    pub(crate) source: Arc<TableSource>,
    /// Number of its first column.
    pub(crate) first: ColumnId,
    pub(super) statistics: Option<Arc<ScanStatistics>>,
}

impl TableFacts {
    pub(crate) fn of(scan: &Scan) -> Self {
        Self {
            source: Arc::clone(&scan.table),
            first: scan.first,
            statistics: scan.statistics.clone(),
        }
    }

    pub(crate) fn rows(&self) -> f64 {
        self.source.row_count as f64
    }

    /// Facts about a column, without the values of a unique column.
    pub(crate) fn column(&self, column: usize) -> Option<ColumnFacts> {
        let is_key = self.is_unique(&[column]);
        self.facts_of(column, is_key, !is_key)
    }

    /// Facts about a column and its values.
    pub(crate) fn column_with_values(&self, column: usize) -> Option<ColumnFacts> {
        self.facts_of(column, self.is_unique(&[column]), true)
    }

    fn facts_of(&self, column: usize, is_key: bool, has_values: bool) -> Option<ColumnFacts> {
        let rows = self.rows();
        let source = self.source.columns.get(column)?;
        let known = self.statistics.as_ref().filter(|_| has_values);
        let statistics = known.and_then(|known| known.column(column));
        let (distinct, null_fraction) = match &statistics {
            // The table may have grown since.
            Some(known) if !is_key => (known.distinct.min(rows), known.null_fraction),
            _ if is_key => (rows, 0.0),
            _ => (self.distinct_by_index(column)?, 0.0),
        };
        Some(ColumnFacts {
            distinct: distinct.max(1.0),
            null_fraction: if source.nullable { null_fraction } else { 0.0 },
            rows,
            statistics,
        })
    }

    /// Whether these columns contain a unique key.
    pub(crate) fn is_unique(&self, columns: &[usize]) -> bool {
        let is_within = |key: &Vec<usize>| key.iter().all(|column| columns.contains(column));
        self.source.unique_keys.iter().any(is_within)
    }

    /// Number of distinct combinations of values of columns, if an index has them as a prefix.
    pub(crate) fn distinct_together(&self, columns: &[usize]) -> Option<f64> {
        if self.is_unique(columns) {
            return Some(self.rows());
        }
        let known = self.statistics.as_ref()?;
        self.source.indexes.iter().find_map(|index| {
            let parts = index.parts.get(..columns.len())?;
            let begins = parts
                .iter()
                .all(|part| part.prefix.is_none() && columns.contains(&part.column));
            let id = index.id.filter(|_| begins && index.method.is_ordered())?;
            Some(known.statistics().distinct_keys(id, columns.len()) as f64)
        })
    }

    fn distinct_by_index(&self, column: usize) -> Option<f64> {
        self.distinct_together(&[column])
    }
}

impl Columns for TableFacts {
    fn facts(&self, id: ColumnId) -> Option<ColumnFacts> {
        self.column(id.checked_sub(self.first)?)
    }

    fn table(&self, id: ColumnId) -> Option<(TableFacts, usize)> {
        let column = id.checked_sub(self.first)?;
        (column < self.source.columns.len()).then(|| (self.clone(), column))
    }
}

impl Columns for Scan {
    fn facts(&self, id: ColumnId) -> Option<ColumnFacts> {
        TableFacts::of(self).facts(id)
    }

    fn table(&self, id: ColumnId) -> Option<(TableFacts, usize)> {
        TableFacts::of(self).table(id)
    }
}
