//! Reads tables of MySQL's results, and compares with them.

use crate::collation::CollationId;
use crate::decimal::parse_decimal;
use crate::diagnostics::Diagnostics;
use crate::sql_type::{SqlType, TypeKind};
use crate::temporal::{DateRules, parse_datetime, parse_time};
use crate::value::Value;

/// Compares each line of a table except comments; `differences` gives Mayfly's result.
pub(crate) fn check_table(table: &str, mut differences: impl FnMut(&str) -> Vec<String>) {
    let mut all = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let found = differences(line).into_iter();
        all.extend(found.map(|actual| format!("{line}\n    here: {actual}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The conditions of a statement as the tables write them.
pub(super) fn conditions(diagnostics: &Diagnostics) -> Vec<String> {
    let conditions = diagnostics.conditions().into_iter();
    let shown = conditions.map(|condition| {
        let (level, error) = (condition.level, condition.error);
        format!("{level:?} {} {}", error.errno(), error.message())
    });
    shown.collect()
}

/// Bytes as the tables write them.
pub(crate) fn shown_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn hexadecimal(digits: &str) -> Vec<u8> {
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// The value and type of a literal or of a cast of one.
pub(super) fn literal(text: &str) -> (Value, SqlType) {
    if text == "true" {
        return (Value::Int(1), SqlType::boolean());
    }
    if text == "null" {
        return (Value::Null, SqlType::null());
    }
    if text == "cast(2024 as year)" {
        return (Value::UInt(2024), SqlType::temporal(TypeKind::Year, 0));
    }
    if let Some(text) = text.strip_prefix("cast('") {
        let (text, ty) = text.split_once("' as ").unwrap();
        let rules = DateRules::default();
        let decimals = |digits| SqlType::temporal(TypeKind::DateTime, digits);
        let datetime = || {
            parse_datetime(text.as_bytes(), rules, false)
                .unwrap()
                .value
                .pack()
        };
        let time = || parse_time(text.as_bytes(), false).unwrap().micros;
        let (value, ty) = match ty {
            "date)" => (datetime(), SqlType::temporal(TypeKind::Date, 0)),
            "datetime)" => (datetime(), decimals(0)),
            "datetime(3))" => (datetime(), decimals(3)),
            "json)" => return (Value::from(text), SqlType::json()),
            "time)" => (time(), SqlType::temporal(TypeKind::Time, 0)),
            "time(1))" => (time(), SqlType::temporal(TypeKind::Time, 1)),
            other => panic!("cast to {other}"),
        };
        return (Value::Int(value), ty);
    }
    let quoted = |text: &str| text.strip_suffix('\'').map(str::to_owned);
    let bytes = |bytes: Vec<u8>, collation| {
        let length = u32::try_from(bytes.len()).unwrap();
        (Value::Bytes(bytes), SqlType::varchar(length, collation))
    };
    if let Some(text) = text.strip_prefix('\'').and_then(quoted) {
        return bytes(text.into_bytes(), CollationId::UTF8MB4_0900_AI_CI);
    }
    if let Some(digits) = text.strip_prefix("x'").and_then(quoted) {
        return bytes(hexadecimal(&digits), CollationId::BINARY);
    }
    if let Some(digits) = text.strip_prefix("b'").and_then(quoted) {
        let value = u8::from_str_radix(&digits, 2).unwrap();
        return bytes(vec![value], CollationId::BINARY);
    }
    if text.contains('e') {
        return (Value::Float(text.parse().unwrap()), SqlType::double());
    }
    if text.contains('.') {
        let value = parse_decimal(text.as_bytes()).value;
        return (
            value.into(),
            SqlType::decimal(value.precision(), value.scale),
        );
    }
    match text.parse() {
        Ok(value) => (Value::Int(value), SqlType::bigint()),
        Err(_) => (
            Value::UInt(text.parse().unwrap()),
            SqlType::bigint_unsigned(),
        ),
    }
}
