//! Measurements of the operators and temporary tables of a plan, for EXPLAIN ANALYZE and ANALYZE.

use crate::tree::physical::{OperatorNumber, Purpose, TemporaryTable};

/// Memory limit at which a temporary table spills to files, and its setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Name of the variable.
    pub setting: String,
    /// Value of the variable, or what remains of it.
    pub bytes: u64,
}

/// Measurements of a plan.
#[derive(Debug, Clone, Default)]
pub struct Measurements {
    /// Measurements of each operator, by its number.
    pub operators: Vec<Measured>,
    /// Temporary tables of operators.
    pub tables: Vec<(OperatorNumber, MeasuredTable)>,
    /// Milliseconds of planning.
    pub planning: f64,
}

/// Measurements of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// Number of runs (loops); 0: never.
    pub loops: u64,
    /// Rows given, over all loops.
    pub rows: u64,
    /// Rows read by a scan or lookup, before its conditions.
    pub rows_read: u64,
    /// Keys that a join has looked up in its right table.
    pub lookups: u64,
    /// Milliseconds until the first row, over all loops.
    pub first_row: f64,
    /// Milliseconds until the last row, over all loops.
    pub last_row: f64,
}

/// Measurements of the temporary tables of an operator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeasuredTable {
    /// Storage engine of the rows.
    pub engine: &'static str,
    /// Number of tables: a subquery creates one each time that it runs.
    pub tables: u64,
    /// Rows, or groups where rows are grouped.
    pub rows: u64,
    /// Peak bytes in memory.
    pub memory_peak: u64,
    /// Peak bytes in files.
    pub disk_peak: u64,
    /// Bytes written to files.
    pub bytes_written: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Milliseconds of writing, over all threads.
    pub writing: f64,
    /// Milliseconds of reading, over all threads.
    pub reading: f64,
    /// Partitions or sorted runs.
    pub partitions: u64,
    /// Limit that was reached when it spilled to disk; `None` if it did not.
    pub limit: Option<MemoryLimit>,
    /// Number of tables that spilled to disk.
    pub overflowed: u64,
    /// Of an exchange, the bytes sent and the number of processes that sent them.
    pub exchanged: Option<(u64, u64)>,
}

impl Measurements {
    /// Measurements of an operator.
    pub(super) fn of(&self, operator: OperatorNumber) -> Measured {
        let measured = self.operators.get(operator as usize);
        measured.copied().unwrap_or_default()
    }

    /// Measurements of a temporary table of the plan. An operator and the exchange that it reads may have one number.
    pub(super) fn table(&self, planned: &TemporaryTable) -> Option<&MeasuredTable> {
        let is_exchange = planned.purpose == Purpose::Exchange;
        let mut tables = self.tables.iter();
        let found = tables.find(|(known, table)| {
            planned.operator == Some(*known) && table.exchanged.is_some() == is_exchange
        });
        found.map(|(_, table)| table)
    }
}

/// Measurements of a step, over all its loops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Actual {
    pub(super) loops: u64,
    pub(super) rows: u64,
    pub(super) first_row: f64,
    pub(super) last_row: f64,
}

impl Actual {
    /// Measurements of the rows that an operator gave.
    pub(super) fn given(measured: Measured) -> Self {
        Self {
            loops: measured.loops,
            rows: measured.rows,
            first_row: measured.first_row,
            last_row: measured.last_row,
        }
    }

    /// Measurements of the rows that an operator read.
    pub(super) fn read(measured: Measured) -> Self {
        Self {
            rows: measured.rows_read,
            ..Self::given(measured)
        }
    }

    /// These measurements for a step whose rows all exist before its first is read.
    pub(super) fn made(self) -> Self {
        Self {
            last_row: self.first_row,
            ..self
        }
    }

    /// Rows per loop.
    pub(super) fn rows_of_loop(self) -> f64 {
        self.rows as f64 / self.loops.max(1) as f64
    }

    /// Milliseconds per loop until the first and the last row.
    pub(super) fn times_of_loop(self) -> (f64, f64) {
        let loops = self.loops.max(1) as f64;
        (self.first_row / loops, self.last_row / loops)
    }
}
