//! TIMESTAMP columns of one row: the table holds moments, the statement shows what a clock of the
//! session's time zone showed at them, as [`zoned_table`](crate::catalog) does for many rows.

use mayfly_types::Value;
use mayfly_types::temporal::ZoneClock;

use crate::catalog::BaseTable;
use crate::session::Session;

/// The moments of a table's rows.
#[derive(Debug)]
pub(super) struct Moments {
    /// Of the columns that hold moments, which are no local time.
    columns: Vec<usize>,
    clock: ZoneClock,
}

impl Moments {
    /// As a session sees a table's.
    pub(super) fn new(session: &Session, table: &BaseTable) -> Self {
        let clock = ZoneClock::new(&session.options().time_zone);
        let columns = match clock.is_utc() {
            true => Vec::new(),
            false => table.timestamps.clone(),
        };
        Self { columns, clock }
    }

    /// Whether a column holds other values than are shown.
    pub(super) fn is_of(&self, column: usize) -> bool {
        self.columns.contains(&column)
    }

    /// Makes values of columns as the table holds them those that are shown.
    pub(super) fn show(&mut self, columns: &[usize], values: &mut [Value]) {
        self.convert(columns.iter().copied(), values, ZoneClock::local_of_utc);
    }

    /// Makes values of columns as they are shown those that the table holds.
    pub(super) fn keep(&mut self, columns: impl Iterator<Item = usize>, values: &mut [Value]) {
        self.convert(columns, values, ZoneClock::utc_of_local);
    }

    fn convert(
        &mut self,
        columns: impl Iterator<Item = usize>,
        values: &mut [Value],
        convert: impl Fn(&mut ZoneClock, i64) -> i64,
    ) {
        if self.columns.is_empty() {
            return;
        }
        for (column, value) in columns.zip(values) {
            if let Value::Int(packed) = value
                && self.columns.contains(&column)
            {
                *packed = convert(&mut self.clock, *packed);
            }
        }
    }
}
