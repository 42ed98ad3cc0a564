//! Conversion of values to columns' types for storage.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::convert::{self, CastContext, StoreContext};
use mayfly_types::temporal::{DateTime, TimeZone};
use mayfly_types::{Diagnostics, Result, SessionParameters, SqlMode, SqlType, Value};

use crate::catalog::definition::ColumnDefinition;
use crate::convert::{ZERO_DATE, datetime_of_unix};
use crate::statement_options::StatementOptions;

/// Session variables and statement start for conversions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementClock<'s> {
    pub(crate) options: &'s StatementOptions,
    /// Microseconds since 1970 UTC.
    pub(crate) now: i64,
}

impl StatementClock<'_> {
    /// CURRENT_TIMESTAMP in a column's type.
    pub(crate) fn current_timestamp(self, ty: &SqlType) -> Value {
        let unit = 10_i64.pow(6 - u32::from(ty.decimals.min(6)));
        let rounded = self.now - self.now.rem_euclid(unit);
        datetime_of_unix(rounded, &self.options.session.time_zone)
    }
}

/// Conversion of a statement's values for storage.
#[derive(Debug)]
pub(crate) struct Storing {
    /// `sql_mode` of the session, or a stricter one.
    sql_mode: SqlMode,
    ignore: bool,
    session: Arc<SessionParameters>,
    now: DateTime,
    table: String,
}

impl Storing {
    /// Conversion under the session's variables. `ignore`: invalid values are adjusted with a warning even in strict
    /// mode.
    pub(crate) fn new(clock: StatementClock<'_>, table: &str, ignore: bool) -> Self {
        let session = Arc::clone(&clock.options.session);
        let now = session.time_zone.local_of_unix(clock.now);
        Self {
            table: table.to_owned(),
            sql_mode: session.sql_mode,
            ignore,
            now: now.unwrap_or(ZERO_DATE),
            session,
        }
    }

    /// Strict conversion, whatever the session's mode.
    pub(crate) fn strict(clock: StatementClock<'_>, table: &str) -> Self {
        let mut storing = Self::new(clock, table, false);
        storing.sql_mode = SqlMode(storing.sql_mode.0 | SqlMode::STRICT_ALL_TABLES.0);
        storing
    }

    /// The session's time zone.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.session.time_zone
    }

    /// `sql_mode` of the statement.
    pub(crate) fn sql_mode(&self) -> SqlMode {
        self.sql_mode
    }

    /// Whether invalid values are errors.
    pub(crate) fn is_strict(&self) -> bool {
        self.sql_mode.is_strict()
    }

    /// A non-NULL value converted to its column's type.
    pub(crate) fn value(
        &self,
        value: &Value,
        from: &SqlType,
        column: &ColumnDefinition,
        row: u64,
        diagnostics: &Diagnostics,
    ) -> Result<Value> {
        let context = self.context(column, row, diagnostics);
        convert::store_value(value, from, &column.ty, &context)
    }

    /// Converts a value in place; false when there is a warning or an error.
    #[inline]
    pub(crate) fn quietly_in(
        &self,
        stored: &mut Value,
        value: &Value,
        from: &SqlType,
        column: &ColumnDefinition,
    ) -> bool {
        let quiet = Diagnostics::new(0);
        let context = self.context(column, 1, &quiet);
        convert::store_value_in(stored, value, from, &column.ty, &context).is_ok()
            && quiet.count() == 0
    }

    /// Values converted to their column's type.
    pub(crate) fn column(
        &self,
        values: &ArrayRef,
        from: &SqlType,
        column: &ColumnDefinition,
        diagnostics: &Diagnostics,
    ) -> Result<ArrayRef> {
        let context = self.context(column, 1, diagnostics);
        convert::store_array(values, from, &column.ty, &context)
    }

    fn context<'a>(
        &'a self,
        column: &'a ColumnDefinition,
        row: u64,
        diagnostics: &'a Diagnostics,
    ) -> StoreContext<'a> {
        StoreContext {
            cast: CastContext {
                sql_mode: self.sql_mode,
                diagnostics,
                time_zone: &self.session.time_zone,
                now: self.now,
                operand: "",
                room: None,
            },
            ignore: self.ignore,
            table: &self.table,
            column: &column.name,
            row,
        }
    }
}
