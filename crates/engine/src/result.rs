//! Results of statements: columns and rows, or counts.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mayfly_exec::ExecutionContext;
use mayfly_plan::ColumnTraits;
use mayfly_plan::physical::{ClientType, ColumnOrigin, OutputColumn};
use mayfly_types::{Batch, SqlType, TypeKind, Value};

use crate::spool::Spool;
use crate::{builder, convert};

/// A column of a result.
#[derive(Debug, Clone)]
pub struct ResultColumn {
    /// Its alias or source text.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The origin: database, table, table alias and column that it shows unchanged; `None` when it is computed.
    pub origin: Option<ResultOrigin>,
    /// Further metadata for the protocol.
    pub(crate) client_type: ClientType,
}

/// Origin of a column that shows a column of FROM unchanged.
#[derive(Debug, Clone)]
pub struct ResultOrigin {
    /// Database; empty for a column that is computed in a derived table or a set operation.
    pub database: String,
    /// Table, or the view that shows it; empty for a computed column.
    pub table: String,
    /// The table's alias in the statement.
    pub alias: String,
    /// Column.
    pub column: String,
    /// Further metadata for the protocol.
    pub(crate) traits: ColumnTraits,
    /// Whether the column belongs to a table.
    is_of_table: bool,
    /// Whether the column is computed in a derived table or view that is merged.
    pub(crate) is_merged: bool,
}

impl ResultOrigin {
    fn from_plan(origin: &ColumnOrigin) -> Self {
        let (table, column) = match &origin.view {
            Some(seen) => (&seen.view, &seen.column),
            None => (&origin.table, &origin.column),
        };
        Self {
            database: origin.database.clone(),
            table: table.clone(),
            alias: origin.alias.clone(),
            column: column.clone(),
            traits: origin.traits,
            is_of_table: origin.is_of_table(),
            is_merged: origin.is_merged,
        }
    }

    /// Whether the column belongs to a table.
    #[inline]
    pub(crate) fn is_of_table(&self) -> bool {
        self.is_of_table
    }
}

impl ResultColumn {
    /// A column without an origin.
    pub fn new(name: &str, ty: SqlType) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            nullable: true,
            origin: None,
            client_type: ClientType::Plain,
        }
    }

    /// The columns of a plan.
    pub(crate) fn of_plan(columns: &[OutputColumn]) -> Arc<[Self]> {
        columns.iter().map(Self::from_plan).collect()
    }

    /// The columns of a plan as computed columns: MySQL knows no origins before the statement runs.
    pub(crate) fn computed_by_plan(columns: &[OutputColumn]) -> Arc<[Self]> {
        let columns = columns.iter().cloned();
        let columns = columns.map(|column| OutputColumn {
            buffered: None,
            ..column
        });
        columns.map(|column| Self::from_plan(&column)).collect()
    }

    pub(crate) fn from_plan(column: &OutputColumn) -> Self {
        if column.client_type.chooses_bits() && column.buffered.is_none() {
            return Self {
                name: column.name.clone(),
                ty: SqlType::bit(column.ty.length),
                nullable: column.nullable,
                origin: None,
                client_type: ClientType::Plain,
            };
        }
        if let Some(buffered) = &column.buffered {
            let is_float = matches!(buffered.kind, TypeKind::Float | TypeKind::Double);
            let is_alike = buffered.physical() == column.ty.physical();
            return Self {
                name: column.name.clone(),
                ty: if is_alike { buffered } else { &column.ty }.clone(),
                nullable: column.nullable,
                origin: Some(ResultOrigin::from_plan(&ColumnOrigin::computed(
                    &column.name,
                ))),
                client_type: match is_alike {
                    true if is_float => column.client_type,
                    true => ClientType::Plain,
                    false => ClientType::Choice(buffered.kind),
                },
            };
        }
        Self {
            name: column.name.clone(),
            ty: column.ty.clone(),
            nullable: column.nullable,
            origin: column.origin.as_ref().map(ResultOrigin::from_plan),
            client_type: column.client_type,
        }
    }
}

/// Result of a statement.
#[derive(Debug, Clone, Default)]
pub struct StatementResult {
    /// The columns; empty for a statement without rows.
    pub columns: Arc<[ResultColumn]>,
    /// The rows.
    pub batches: Vec<Batch>,
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first generated AUTO_INCREMENT number, or 0.
    pub last_insert_id: u64,
    /// Number of warnings in SHOW WARNINGS.
    pub warning_count: u64,
    /// "Records: 4  Duplicates: 0  Warnings: 0" and the like; empty otherwise.
    pub info: Cow<'static, str>,
}

impl StatementResult {
    /// The result of a statement that changed `rows` rows.
    pub(crate) fn affected(rows: u64) -> Self {
        Self {
            affected_rows: rows,
            ..Self::default()
        }
    }

    /// The empty result of a statement with rows. It allocates nothing, because every statement passes here.
    #[inline]
    pub(crate) fn of_columns(columns: Arc<[ResultColumn]>) -> Self {
        Self {
            columns,
            batches: Vec::new(),
            affected_rows: 0,
            last_insert_id: 0,
            warning_count: 0,
            info: Cow::Borrowed(""),
        }
    }

    /// Rows made by the engine itself.
    pub(crate) fn of_rows<R: AsRef<[Value]>>(columns: &[(&str, SqlType)], rows: &[R]) -> Self {
        let types: Vec<SqlType> = columns.iter().map(|(_, ty)| ty.clone()).collect();
        let columns = columns.iter();
        Self {
            columns: columns
                .map(|(name, ty)| ResultColumn::new(name, ty.clone()))
                .collect(),
            batches: vec![builder::batch(&types, rows)],
            ..Self::default()
        }
    }

    /// This result with the columns marked NOT NULL for which `is_never_null` holds.
    pub(crate) fn never_null(mut self, is_never_null: impl Fn(&str) -> bool) -> Self {
        let columns = self.columns.iter().cloned().map(|column| ResultColumn {
            nullable: !is_never_null(&column.name),
            ..column
        });
        self.columns = columns.collect();
        self
    }

    /// Whether the statement returns rows (perhaps none).
    #[inline]
    pub fn has_rows(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.batches.iter().map(Batch::row_count).sum()
    }

    /// The display form of each value of a row; `None` is NULL. Empty when the row does not exist.
    pub fn row_bytes(&self, mut row: usize) -> Vec<Option<Vec<u8>>> {
        for batch in &self.batches {
            if row < batch.row_count() {
                return self.row_of(batch, row);
            }
            row -= batch.row_count();
        }
        Vec::new()
    }

    fn row_of(&self, batch: &Batch, row: usize) -> Vec<Option<Vec<u8>>> {
        let columns = batch.columns().iter().zip(&*self.columns);
        columns
            .map(|(array, column)| {
                let mut bytes = Vec::new();
                convert::display_row(array, row, &column.ty, &mut bytes).then_some(bytes)
            })
            .collect()
    }

    /// [`Self::row_bytes`] as text; invalid UTF-8 is replaced.
    pub fn row_text(&self, row: usize) -> Vec<Option<String>> {
        text_of(self.row_bytes(row))
    }

    /// All rows as text.
    pub fn rows_text(&self) -> Vec<Vec<Option<String>>> {
        let rows_of = |batch| (0..Batch::row_count(batch)).map(move |row| (batch, row));
        let rows = self.batches.iter().flat_map(rows_of);
        rows.map(|(batch, row)| text_of(self.row_of(batch, row)))
            .collect()
    }
}

fn text_of(row: Vec<Option<Vec<u8>>>) -> Vec<Option<String>> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    row.into_iter().map(|value| value.map(text)).collect()
}

/// What a statement has found of the results that it asked for, for the slow log and EXPLAIN.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResultUse {
    /// Number of results that were kept.
    pub hits: u64,
    /// Number of results that were computed.
    pub misses: u64,
    /// Age of the oldest result that was read.
    pub age: Duration,
    /// Bytes of the results that were read.
    pub bytes: u64,
}

/// Summary of a statement's use of temporary tables, and of its duration.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatementSummary {
    /// Duration of the statement.
    pub elapsed: Duration,
    /// Time spent waiting for locks of tables and rows.
    pub lock_time: Duration,
    /// Whether operators ran: the counts of temporary tables, sorts and scans are 0 where none did.
    pub(crate) has_worked: bool,
    /// Temporary tables made.
    pub temporary_tables: u64,
    /// Temporary tables that overflowed to disk.
    pub disk_tables: u64,
    /// Temporary tables that overflowed at `tmp_table_size`.
    pub hit_tmp_table_size: u64,
    /// Temporary tables that overflowed at `temptable_max_ram`.
    pub hit_max_ram: u64,
    /// Rows sent to the client.
    pub rows_sent: u64,
    /// Rows inserted, changed or deleted.
    pub rows_affected: u64,
    /// Warnings, notes and errors raised.
    pub warnings: u64,
    /// Joins without an index.
    pub select_full_join: u64,
    /// Joins that read ranges of a later table.
    pub select_full_range_join: u64,
    /// Whether ranges of the first table were read.
    pub select_range: u64,
    /// Whether the first table was scanned.
    pub select_scan: u64,
    /// Merges of sorted runs.
    pub sort_merge_passes: u64,
    /// Sorts over ranges.
    pub sort_range: u64,
    /// Sorted rows.
    pub sort_rows: u64,
    /// Sorts over scans.
    pub sort_scan: u64,
    /// Sorts limited to the rows of LIMIT (priority queue).
    pub sort_priority_queue: u64,
    /// Bytes written to temporary files.
    pub bytes_overflowed: u64,
    /// Bytes of rows that the processes of a secondary engine sent each other.
    pub bytes_exchanged: u64,
    /// Whether a secondary engine computed rows of it.
    pub on_secondary: bool,
    /// Peak of memory of its temporary tables.
    pub memory_peak: u64,
    /// Peak of their temporary space.
    pub disk_peak: u64,
    /// Rows put into temporary tables.
    pub rows_written: u64,
    /// Rows read from tables, from results of derived tables and set operations, and from sorted rows.
    pub rows_examined: u64,
    /// Whether a table was read without an index.
    pub no_index_used: bool,
    /// Kept results that it has asked for.
    pub results: ResultUse,
}

impl std::fmt::Display for StatementSummary {
    /// One line on the temporary tables; empty when there were none.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tables = match self.temporary_tables {
            0 => return Ok(()),
            1 => "1 temporary table".to_owned(),
            n => format!("{n} temporary tables"),
        };
        write!(
            f,
            "{tables}, {} rows, {} in memory",
            self.rows_written,
            Bytes(self.memory_peak)
        )?;
        match self.disk_tables {
            0 => Ok(()),
            n => write!(
                f,
                ", {n} overflowed ({} written)",
                Bytes(self.bytes_overflowed)
            ),
        }
    }
}

/// A number of bytes in human-readable form.
struct Bytes(u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let units = ["KiB", "MiB", "GiB", "TiB"];
        let power = (self.0.ilog2() / 10).min(units.len() as u32);
        let amount = self.0 as f64 / (1_u64 << (10 * power)) as f64;
        write!(f, "{amount:.1} {}", units[power as usize - 1])
    }
}

/// Outcome of a statement.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A complete result.
    Done(StatementResult),
    /// Rows of a running plan.
    Rows {
        columns: Arc<[ResultColumn]>,
        rows: Box<mayfly_exec::ResultStream>,
        execution: Arc<ExecutionContext>,
    },
    /// Rows that were found and buffered.
    Found {
        columns: Arc<[ResultColumn]>,
        rows: Box<Spool>,
    },
    /// Sets of rows that statements inside the statement gave, and its own result, which has none.
    Several {
        sets: Vec<(Arc<[ResultColumn]>, Spool)>,
        last: StatementResult,
    },
    /// At most one row, which is in the session's buffer for it.
    Row {
        columns: Arc<[ResultColumn]>,
        found: bool,
    },
}

impl Outcome {
    /// The columns of its rows.
    pub(crate) fn columns(&self) -> Arc<[ResultColumn]> {
        Arc::clone(match self {
            Self::Done(result) | Self::Several { last: result, .. } => &result.columns,
            Self::Rows { columns, .. }
            | Self::Found { columns, .. }
            | Self::Row { columns, .. } => columns,
        })
    }
}

impl From<StatementResult> for Outcome {
    #[inline]
    fn from(result: StatementResult) -> Self {
        Self::Done(result)
    }
}
