//! What clients get: rows of the traditional format, and documents.

use mayfly_functions::derive;
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

/// The columns up to `rows`, without `partitions`.
fn first_columns() -> [(&'static str, SqlType); 9] {
    [
        ("id", number(4)),
        ("select_type", characters(19)),
        ("table", characters(64)),
        ("type", characters(10)),
        ("possible_keys", characters(4096)),
        ("key", characters(64)),
        ("key_len", characters(4096)),
        ("ref", characters(1024)),
        ("rows", number(11)),
    ]
}

fn first_values(row: &ExplainRow) -> [Value; 9] {
    [
        Value::UInt(row.id),
        Value::from(row.select_type),
        text(row.table.as_deref()),
        text(row.access),
        text(row.possible_keys.as_deref()),
        text(row.key.as_deref()),
        text(row.key_length.as_deref()),
        text(row.reference.as_deref()),
        row.rows.map_or(Value::Null, Value::UInt),
    ]
}

fn listed<const N: usize>(columns: &[(&str, SqlType); N], rows: &[[Value; N]]) -> Outcome {
    let result = StatementResult::of_rows(columns, rows);
    let never_null = |name: &str| ["id", "select_type", "Extra"].contains(&name);
    result.never_null(never_null).into()
}

/// The traditional format.
pub(super) fn traditional(subject: &Subject<'_>) -> Outcome {
    let [
        id,
        select_type,
        table,
        access,
        possible,
        key,
        length,
        reference,
        rows,
    ] = first_columns();
    let columns = [
        id,
        select_type,
        table,
        ("partitions", characters(1_579_008)),
        access,
        possible,
        key,
        length,
        reference,
        rows,
        ("filtered", decimal(4)),
        ("Extra", characters(255)),
    ];
    let values = |row: &ExplainRow| {
        let [
            id,
            select_type,
            table,
            access,
            possible,
            key,
            length,
            reference,
            rows,
        ] = first_values(row);
        [
            id,
            select_type,
            table,
            Value::Null,
            access,
            possible,
            key,
            length,
            reference,
            rows,
            row.filtered.map_or(Value::Null, Value::Float),
            text(row.extra.as_deref()),
        ]
    };
    let rows: Vec<[Value; 12]> = explain::traditional(subject).iter().map(values).collect();
    listed(&columns, &rows)
}

/// MariaDB's ANALYZE: the traditional format with what was measured.
pub(super) fn analyzed(subject: &Subject<'_>) -> Outcome {
    let [
        id,
        select_type,
        table,
        access,
        possible,
        key,
        length,
        reference,
        rows,
    ] = first_columns();
    let columns = [
        id,
        select_type,
        table,
        access,
        possible,
        key,
        length,
        reference,
        rows,
        ("r_rows", decimal(10)),
        ("filtered", decimal(4)),
        ("r_filtered", decimal(4)),
        ("Extra", characters(255)),
    ];
    let values = |row: &ExplainRow| {
        let [
            id,
            select_type,
            table,
            access,
            possible,
            key,
            length,
            reference,
            rows,
        ] = first_values(row);
        let (read, kept) = row.actual.unzip();
        let float = |value: Option<f64>| value.map_or(Value::Null, Value::Float);
        [
            id,
            select_type,
            table,
            access,
            possible,
            key,
            length,
            reference,
            rows,
            float(read),
            float(row.filtered),
            float(kept),
            text(row.extra.as_deref()),
        ]
    };
    let rows: Vec<[Value; 13]> = explain::traditional(subject).iter().map(values).collect();
    listed(&columns, &rows)
}
