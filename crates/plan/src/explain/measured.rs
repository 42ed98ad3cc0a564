//! What the operators and temporary tables of a plan did when it ran: for EXPLAIN ANALYZE and ANALYZE.

use crate::tree::physical::OperatorNumber;

/// What a temporary table may take of memory before it overflows to files, and which setting says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The variable.
    pub setting: String,
    /// Its value, or what is left of it.
    pub bytes: u64,
}

/// What the operators of a plan did.
#[derive(Debug, Clone, Default)]
pub struct Measurements {
    /// Each operator's, by its number.
    pub operators: Vec<Measured>,
    /// The temporary tables that operators made.
    pub tables: Vec<(OperatorNumber, MeasuredTable)>,
    /// How many milliseconds planning took.
    pub planning: f64,
}

/// What an operator did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// How often it ran; 0: never.
    pub loops: u64,
    /// Rows that it gave, of all loops.
    pub rows: u64,
    /// Rows that a scan or a lookup read for them, before its conditions.
    pub rows_read: u64,
    /// Keys that a join has looked up in its right table.
    pub lookups: u64,
    /// Milliseconds until its first row, of all loops together.
    pub first_row: f64,
    /// Milliseconds until its last row, of all loops together.
    pub last_row: f64,
}

/// What the temporary tables of an operator did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeasuredTable {
    /// The engine that held its rows.
    pub engine: &'static str,
    /// How many there were: a subquery makes one each time that it runs.
    pub tables: u64,
    /// Rows, or groups where rows are grouped.
    pub rows: u64,
    /// The most bytes in memory.
    pub memory_peak: u64,
    /// The most bytes in files.
    pub disk_peak: u64,
    /// Bytes that were written to files, and read from them.
    pub bytes_written: u64,
    /// See above.
    pub bytes_read: u64,
    /// Milliseconds that writing took, of all threads together.
    pub writing: f64,
    /// Milliseconds that reading took, of all threads together.
    pub reading: f64,
    /// Partitions or sorted runs.
    pub partitions: u64,
    /// The limit that was reached when it went to disk; none if it did not.
    pub limit: Option<MemoryLimit>,
    /// How many of the tables went to disk.
    pub overflowed: u64,
}

impl Measurements {
    /// What an operator did.
    pub(super) fn of(&self, operator: OperatorNumber) -> Measured {
        let measured = self.operators.get(operator as usize);
        measured.copied().unwrap_or_default()
    }

    /// What an operator's temporary tables did.
    pub(super) fn table(&self, operator: OperatorNumber) -> Option<&MeasuredTable> {
        let mut tables = self.tables.iter();
        let found = tables.find(|(known, _)| *known == operator);
        found.map(|(_, table)| table)
    }
}

/// What a step did, of all its loops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Actual {
    pub(super) loops: u64,
    pub(super) rows: u64,
    pub(super) first_row: f64,
    pub(super) last_row: f64,
}

impl Actual {
    /// As its operator gave rows.
    pub(super) fn given(measured: Measured) -> Self {
        Self {
            loops: measured.loops,
            rows: measured.rows,
            first_row: measured.first_row,
            last_row: measured.last_row,
        }
    }

    /// As it read its table.
    pub(super) fn read(measured: Measured) -> Self {
        Self {
            rows: measured.rows_read,
            ..Self::given(measured)
        }
    }

    /// All of it is there before its first row is read.
    pub(super) fn made(self) -> Self {
        Self {
            last_row: self.first_row,
            ..self
        }
    }

    /// Rows of a loop.
    pub(super) fn rows_of_loop(self) -> f64 {
        self.rows as f64 / self.loops.max(1) as f64
    }

    /// Milliseconds of a loop up to its first and to its last row.
    pub(super) fn times_of_loop(self) -> (f64, f64) {
        let loops = self.loops.max(1) as f64;
        (self.first_row / loops, self.last_row / loops)
    }
}
