//! TIMESTAMP columns of one row: the table holds UTC, the statement shows the session's time zone, as
//! [`zoned_table`](crate::catalog) does for many rows.

use mayfly_types::Value;
use mayfly_types::temporal::ZoneClock;

use crate::catalog::BaseTable;
use crate::session::StatementContext;

/// The TIMESTAMP columns of a table, if the session's time zone is not UTC.
pub(super) fn zoned_columns(context: &StatementContext<'_>, table: &BaseTable) -> Vec<usize> {
    let has_any = !table.timestamps.is_empty();
    if has_any && !ZoneClock::new(&context.options().session.time_zone).is_utc() {
        table.timestamps.clone()
    } else {
        Vec::new()
    }
}

/// Converter of TIMESTAMP columns for one statement.
pub(super) struct ZonedColumns<'p> {
    columns: &'p [usize],
    /// `None` without such columns.
    clock: Option<ZoneClock>,
}

impl<'p> ZonedColumns<'p> {
    /// The converter for the running statement.
    #[inline]
    pub(super) fn new(context: &StatementContext<'_>, columns: &'p [usize]) -> Self {
        let clock = || ZoneClock::new(&context.options().session.time_zone);
        Self {
            columns,
            clock: (!columns.is_empty()).then(clock),
        }
    }

    /// Converts stored values of columns to the session's time zone.
    #[inline]
    pub(super) fn show(&mut self, columns: &[usize], values: &mut [Value]) {
        self.convert(columns.iter().copied(), values, ZoneClock::local_of_utc);
    }

    /// Converts values of columns from the session's time zone to UTC.
    #[inline]
    pub(super) fn to_utc(&mut self, columns: impl Iterator<Item = usize>, values: &mut [Value]) {
        self.convert(columns, values, ZoneClock::utc_of_local);
    }

    fn convert(
        &mut self,
        columns: impl Iterator<Item = usize>,
        values: &mut [Value],
        convert: impl Fn(&mut ZoneClock, i64) -> i64,
    ) {
        let Some(clock) = &mut self.clock else {
            return;
        };
        for (column, value) in columns.zip(values) {
            if let Value::Int(packed) = value
                && self.columns.contains(&column)
            {
                *packed = convert(clock, *packed);
            }
        }
    }
}
