//! Values into columns, and out to text: the engine's few calls into the conversions of crate
//! `types`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use arrow_schema::DataType;
use mayfly_types::convert::{self, CastContext, StoreContext};
use mayfly_types::temporal::{DateTime, TimeZone};
use mayfly_types::{Diagnostics, Result, SqlMode, SqlType, Value};

use crate::catalog::definition::ColumnDefinition;
use crate::session::Session;

const ZERO_DATE: DateTime = DateTime::date(0, 0, 0);

/// How a statement stores values in columns.
#[derive(Debug)]
pub(crate) struct Storing {
    sql_mode: SqlMode,
    ignore: bool,
    time_zone: TimeZone,
    current_date: DateTime,
    table: String,
}

impl Storing {
    /// As the session's variables say. `ignore`: wrong values are adjusted with a warning even in
    /// strict mode.
    pub(crate) fn new(session: &Session, table: &str, ignore: bool) -> Self {
        let time_zone = session.options().time_zone.clone();
        Self {
            table: table.to_owned(),
            sql_mode: session.options().sql_mode,
            ignore,
            current_date: time_zone.local_of_unix(session.now()).unwrap_or(ZERO_DATE),
            time_zone,
        }
    }

    /// With strict rules, whatever the session's.
    pub(crate) fn strict(session: &Session, table: &str) -> Self {
        let mut storing = Self::new(session, table, false);
        storing.sql_mode = SqlMode(storing.sql_mode.0 | SqlMode::STRICT_ALL_TABLES.0);
        storing
    }

    /// The session's time zone.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.time_zone
    }

    /// The mode.
    pub(crate) fn sql_mode(&self) -> SqlMode {
        self.sql_mode
    }

    /// Whether wrong values are errors.
    pub(crate) fn is_strict(&self) -> bool {
        self.sql_mode.is_strict()
    }

    /// A value, that is not NULL, as its column holds it.
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

    /// A value as its column holds it, in the place of another; false when anything is to be said
    /// about it.
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

    /// Values as their column holds them.
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
                time_zone: &self.time_zone,
                current_date: self.current_date,
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

/// The value of a row.
pub(crate) fn value_at(array: &ArrayRef, row: usize) -> Value {
    convert::array_value(array, row)
}

/// A value as clients see it; empty for NULL.
pub(crate) fn display(value: &Value, ty: &SqlType) -> Vec<u8> {
    convert::text::format_value(value, ty).unwrap_or_default()
}

/// Appends a row's value as clients see it. False, and nothing is appended, for NULL.
pub(crate) fn display_row(array: &ArrayRef, row: usize, ty: &SqlType, out: &mut Vec<u8>) -> bool {
    convert::ColumnFormatter::new(array.as_ref(), ty).append(row, out)
}

/// The rows at which a condition is false, not true or unknown.
pub(crate) fn false_rows(values: &ArrayRef) -> Vec<usize> {
    let is_false = |row: usize| match values.data_type() {
        DataType::Boolean => !values.as_boolean().value(row),
        DataType::Int64 => values.as_primitive::<Int64Type>().value(row) == 0,
        DataType::UInt64 => values.as_primitive::<UInt64Type>().value(row) == 0,
        DataType::Float64 => values.as_primitive::<Float64Type>().value(row) == 0.0,
        _ => match convert::array_value(values, row) {
            Value::Decimal { unscaled, .. } => unscaled == i256::ZERO,
            Value::Bytes(text) => convert::number::parse_double(&text).value == 0.0,
            _ => false,
        },
    };
    (0..values.len())
        .filter(|row| values.is_valid(*row) && is_false(*row))
        .collect()
}

/// A moment as a DATETIME of a time zone.
pub(crate) fn datetime_of_unix(microseconds: i64, zone: &TimeZone) -> Value {
    let local = zone.local_of_unix(microseconds).unwrap_or(ZERO_DATE);
    Value::Int(local.pack())
}

/// CURRENT_TIMESTAMP as a column of this type holds it.
pub(crate) fn now(session: &Session, ty: &SqlType) -> Value {
    let unit = 10_i64.pow(6 - u32::from(ty.decimals.min(6)));
    let moment = session.now();
    datetime_of_unix(
        moment - moment.rem_euclid(unit),
        &session.options().time_zone,
    )
}
