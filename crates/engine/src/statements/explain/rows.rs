//! Result sets of EXPLAIN: rows of the traditional format, and documents.

use mayfly_functions::derive;
use mayfly_plan::eras::Prediction;
use mayfly_plan::explain::{self, ExplainRow, Subject};
use mayfly_types::{CollationId, SqlType, Value};

use crate::result::{Outcome, StatementResult};

pub(super) fn document_type(text: &str) -> SqlType {
    derive::string_type(text.chars().count() as u64, CollationId::default())
}

pub(super) fn document(name: &str, text: &str) -> Outcome {
    let columns = [(name, document_type(text))];
    let result = StatementResult::of_rows(&columns, &[[Value::from(text)]]);
    result.never_null(|_| true).into()
}

fn number(length: u32) -> SqlType {
    SqlType {
        length,
        ..SqlType::bigint_unsigned()
    }
}

fn characters(count: u64) -> SqlType {
    derive::string_type(count, CollationId::default())
}

fn decimal(length: u32) -> SqlType {
    SqlType {
        length,
        decimals: 2,
        ..SqlType::double()
    }
}

fn text(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}

fn unsigned(number: Option<u64>) -> Value {
    number.map_or(Value::Null, Value::UInt)
}

fn float(number: Option<f64>) -> Value {
    number.map_or(Value::Null, Value::Float)
}

/// A column: its name, its type, and its value in a row.
type Column = (&'static str, SqlType, fn(&ExplainRow) -> Value);

/// The columns up to `rows`, without `partitions`.
fn first_columns() -> Vec<Column> {
    vec![
        ("id", number(4), |row| Value::UInt(row.id)),
        ("select_type", characters(19), |row| {
            Value::from(row.select_type)
        }),
        ("table", characters(64), |row| text(row.table.as_deref())),
        ("type", characters(10), |row| text(row.access)),
        ("possible_keys", characters(4096), |row| {
            text(row.possible_keys.as_deref())
        }),
        ("key", characters(64), |row| text(row.key.as_deref())),
        ("key_len", characters(4096), |row| {
            text(row.key_length.as_deref())
        }),
        ("ref", characters(1024), |row| {
            text(row.reference.as_deref())
        }),
        ("rows", number(11), |row| unsigned(row.rows)),
    ]
}

fn filtered() -> Column {
    ("filtered", decimal(4), |row| float(row.filtered))
}

fn extra() -> Column {
    ("Extra", characters(255), |row| text(row.extra.as_deref()))
}

fn listed(columns: &[Column], subject: &Subject<'_>, prediction: Option<&Prediction>) -> Outcome {
    let values = |row: &ExplainRow| columns.iter().map(|(.., value)| value(row)).collect();
    let mut rows = explain::traditional(subject);
    if let Some(prediction) = prediction {
        explain::note_prediction(&mut rows, prediction);
    }
    let rows: Vec<Vec<Value>> = rows.iter().map(values).collect();
    let columns = columns.iter().map(|(name, ty, _)| (*name, ty.clone()));
    let result = StatementResult::of_rows(&columns.collect::<Vec<_>>(), &rows);
    let never_null = |name: &str| ["id", "select_type", "Extra"].contains(&name);
    result.never_null(never_null).into()
}

/// The traditional format.
pub(super) fn traditional(subject: &Subject<'_>, prediction: Option<&Prediction>) -> Outcome {
    let mut columns = first_columns();
    columns.insert(3, ("partitions", characters(1_579_008), |_| Value::Null));
    columns.extend([filtered(), extra()]);
    listed(&columns, subject, prediction)
}

/// MariaDB's ANALYZE: the traditional format with measurements.
pub(super) fn analyzed(subject: &Subject<'_>) -> Outcome {
    let mut columns = first_columns();
    let measured: [Column; 4] = [
        ("r_rows", decimal(10), |row| float(row.actual.unzip().0)),
        filtered(),
        ("r_filtered", decimal(4), |row| float(row.actual.unzip().1)),
        extra(),
    ];
    columns.extend(measured);
    listed(&columns, subject, None)
}
