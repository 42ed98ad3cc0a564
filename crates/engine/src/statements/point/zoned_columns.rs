//! TIMESTAMP columns of one row: the table holds UTC, the statement shows what a clock of the session's time
//! zone showed, as [`zoned_table`](crate::catalog) does for many rows.

use mayfly_types::Value;
use mayfly_types::temporal::ZoneClock;

use crate::catalog::BaseTable;
use crate::session::StatementContext;

/// The TIMESTAMP columns of a table whose values are shown in another time zone than UTC.
pub(super) fn zoned_columns(context: &StatementContext<'_>, table: &BaseTable) -> Vec<usize> {
    let has_any = !table.timestamps.is_empty();
    if has_any && !ZoneClock::new(&context.options().time_zone).is_utc() {
        table.timestamps.clone()
    } else {
        Vec::new()
    }
}

/// Converts such columns for one statement.
pub(super) struct ZonedColumns<'p> {
    columns: &'p [usize],
    /// None where there are no such columns.
    clock: Option<ZoneClock>,
}

impl<'p> ZonedColumns<'p> {
    /// For the running statement.
    #[inline]
    pub(super) fn new(context: &StatementContext<'_>, columns: &'p [usize]) -> Self {
        let clock = || ZoneClock::new(&context.options().time_zone);
        Self {
            columns,
            clock: (!columns.is_empty()).then(clock),
        }
    }

    /// Makes values of columns as the table holds them those that are shown.
    #[inline]
    pub(super) fn show(&mut self, columns: &[usize], values: &mut [Value]) {
        self.convert(columns.iter().copied(), values, ZoneClock::local_of_utc);
    }

    /// Makes values of columns as they are shown those that the table holds.
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
