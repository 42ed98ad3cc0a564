//! Texts that are compared with dates: a text that is not a date is an error (1525), as in MySQL since 8.0, whether it
//! is a literal, the value of a `?`, or computed from such values.

use mayfly_types::error::codes;
use mayfly_types::temporal::{DateRules, parse_datetime};
use mayfly_types::{Error, Result, SqlMode, TypeKind, Value};

/// Checks a text that is compared with a date: error 1525, and the warning before it, if it is not one.
pub fn check_date_text(
    kind: TypeKind,
    value: &Value,
    sql_mode: SqlMode,
    warn: impl FnOnce(Error),
) -> Result<()> {
    let Value::Bytes(text) = value else {
        return Ok(());
    };
    if parse_datetime(text, DateRules::of(sql_mode), false).is_ok() {
        return Ok(());
    }
    let (named, name) = match kind {
        TypeKind::Date => ("DATE", "date"),
        TypeKind::Timestamp => ("TIMESTAMP", "datetime"),
        _ => ("DATETIME", "datetime"),
    };
    let text = String::from_utf8_lossy(text);
    warn(codes::ER_TRUNCATED_WRONG_VALUE.with(&[&name, &text]));
    Err(codes::ER_WRONG_VALUE.with(&[&named, &text]))
}
