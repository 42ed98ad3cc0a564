//! Results of casts, compared with MySQL's.

use super::testing::{self, literal};
use super::text::format_value;
use super::*;
use crate::collation::CollationId;
use crate::sql_type::{SqlType, TypeKind};
use crate::temporal::{DateRules, parse_datetime};

fn target_type(text: &str) -> SqlType {
    let utf8 = CollationId::UTF8MB4_0900_AI_CI;
    match text {
        "signed" => SqlType::bigint(),
        "unsigned" => SqlType::bigint_unsigned(),
        "decimal(10,2)" => SqlType::decimal(10, 2),
        "decimal(4,1)" => SqlType::decimal(4, 1),
        "double" => SqlType::double(),
        "float" => SqlType {
            kind: TypeKind::Float,
            ..SqlType::double()
        },
        "char" => SqlType::varchar(1000, utf8),
        "char(3)" => SqlType::varchar(3, utf8),
        "binary" => SqlType::varchar(1000, CollationId::BINARY),
        "binary(3)" => SqlType::char(3, CollationId::BINARY),
        "date" => SqlType::temporal(TypeKind::Date, 0),
        "datetime" => SqlType::temporal(TypeKind::DateTime, 0),
        "datetime(3)" => SqlType::temporal(TypeKind::DateTime, 3),
        "time" => SqlType::temporal(TypeKind::Time, 0),
        "time(2)" => SqlType::temporal(TypeKind::Time, 2),
        "year" => SqlType::temporal(TypeKind::Year, 0),
        "json" => SqlType::json(),
        other => panic!("cast to {other}"),
    }
}

fn cast_line(line: &str) -> Vec<String> {
    let fields: Vec<&str> = line.split(" ~ ").collect();
    let operand = format!("cast({} as {})", fields[1], fields[0]);
    let to = target_type(fields[0]);
    let diagnostics = Diagnostics::new(10);
    let now = parse_datetime(b"2023-11-14 22:13:20", DateRules::default(), false).unwrap();
    let context = CastContext {
        sql_mode: SqlMode::DEFAULT,
        diagnostics: &diagnostics,
        time_zone: &TimeZone::UTC,
        now: now.value,
        operand: &operand,
        room: None,
    };
    let (value, from) = literal(fields[1]);
    let result = cast_value(&value, &from, &to, &context);
    let mut conditions = testing::conditions(&diagnostics);
    // The cast of an array gives the same.
    let array = array_of_values(&[value], from.physical());
    let array = cast_array(&array, &from, &to, &context).map(|array| array_value(&array, 0));
    assert_eq!(array, result, "{line}");
    let shown = match result {
        Ok(value) => match format_value(&value, &to) {
            None => "NULL".to_owned(),
            Some(bytes) if to.is_binary_string() => testing::shown_hexadecimal(&bytes),
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        },
        Err(error) => {
            conditions.push(format!("Error {} {}", error.errno(), error.message()));
            "-".to_owned()
        }
    };
    let actual = format!("{} ~ {shown}", conditions.join("; "));
    let is_same = actual == format!("{} ~ {}", fields[2], fields[3]);
    if is_same { Vec::new() } else { vec![actual] }
}

#[test]
fn casts_as_mysql() {
    testing::check_table(include_str!("casts.txt"), cast_line);
}
