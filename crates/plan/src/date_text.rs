//! Texts that are compared with dates: one that is no date is an error (1525), as MySQL has it since
//! 8.0, whether it is written, the value of a `?`, or computed of such values.

use mayfly_types::error::codes;
use mayfly_types::temporal::{DateRules, parse_datetime};
use mayfly_types::{Error, Result, SqlMode, TypeKind, Value};

/// Error 1525, and the warning before it, when a value is a text that is no date.
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
