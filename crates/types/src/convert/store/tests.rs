//! What is stored, compared with what MySQL stores.

use super::*;
use crate::collation::CollationId;
use crate::convert::testing::{self, literal};
use crate::convert::text::format_value;
use crate::diagnostics::Diagnostics;
use crate::sql_mode::SqlMode;
use crate::temporal::{TimeZone, parse_datetime};

fn column_type(text: &str) -> SqlType {
    let utf8 = CollationId::UTF8MB4_0900_AI_CI;
    let unsigned = |ty: SqlType| SqlType {
        unsigned: true,
        ..ty
    };
    let members = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match text {
        "tinyint" => SqlType::integer(TypeKind::TinyInt),
        "tinyint unsigned" => unsigned(SqlType::integer(TypeKind::TinyInt)),
        "bigint" => SqlType::bigint(),
        "bigint unsigned" => SqlType::bigint_unsigned(),
        "decimal(5,2)" => SqlType::decimal(5, 2),
        "decimal(5,2) unsigned" => unsigned(SqlType::decimal(5, 2)),
        "float" => SqlType {
            kind: TypeKind::Float,
            ..SqlType::double()
        },
        "double" => SqlType::double(),
        "double(5,2)" => SqlType {
            length: 5,
            decimals: 2,
            ..SqlType::double()
        },
        "year" => SqlType {
            unsigned: true,
            zerofill: true,
            ..SqlType::temporal(TypeKind::Year, 0)
        },
        "bit(4)" => SqlType::bit(4),
        "date" => SqlType::temporal(TypeKind::Date, 0),
        "datetime" => SqlType::temporal(TypeKind::DateTime, 0),
        "timestamp" => SqlType::temporal(TypeKind::Timestamp, 0),
        "time" => SqlType::temporal(TypeKind::Time, 0),
        "char(3)" => SqlType::char(3, utf8),
        "varchar(3)" => SqlType::varchar(3, utf8),
        "binary(3)" => SqlType::char(3, CollationId::BINARY),
        "varbinary(3)" => SqlType::varchar(3, CollationId::BINARY),
        "varchar(3) character set latin1" => SqlType::varchar(3, CollationId::LATIN1_SWEDISH_CI),
        "enum('a','b','3')" => SqlType::members(TypeKind::Enum, members(&["a", "b", "3"]), utf8),
        "set('a','b','c')" => SqlType::members(TypeKind::Set, members(&["a", "b", "c"]), utf8),
        "json" => SqlType::json(),
        other => panic!("column type {other}"),
    }
}

fn store_line(line: &str) -> Vec<String> {
    let fields: Vec<&str> = line.split(" ~ ").collect();
    let (mode, ty, text) = (fields[0], column_type(fields[1]), fields[2]);
    let zero_dates = SqlMode::NO_ZERO_DATE.0 | SqlMode::NO_ZERO_IN_DATE.0;
    let diagnostics = Diagnostics::new(10);
    let now = parse_datetime(b"2023-11-14 22:13:20", DateRules::default(), false).unwrap();
    let context = StoreContext {
        cast: CastContext {
            sql_mode: match mode {
                "loose" => SqlMode::default(),
                "zero" => SqlMode(zero_dates),
                _ => SqlMode::DEFAULT,
            },
            diagnostics: &diagnostics,
            time_zone: &TimeZone::UTC,
            now: now.value,
            operand: "",
            room: None,
        },
        ignore: mode == "ignore",
        table: "t",
        column: "c",
        row: 1,
    };
    let (value, from) = literal(text);
    let stored = store_value(&value, &from, &ty, &context);
    // Storing as an array gives the same.
    let array = super::super::array_of_values(&[value], from.physical());
    let array =
        store_array(&array, &from, &ty, &context).map(|array| super::super::array_value(&array, 0));
    assert_eq!(array, stored, "{line}");
    let mut conditions = testing::conditions(&diagnostics);
    conditions.truncate(conditions.len() / 2);
    let shown = match stored {
        Ok(value) => {
            let bytes = format_value(&value, &ty).unwrap();
            match ty.kind {
                TypeKind::Bit => format!("={:X}", bytes[0]),
                _ if ty.is_binary_string() => {
                    format!("={}", testing::shown_hexadecimal(&bytes))
                }
                _ => format!("={}", String::from_utf8_lossy(&bytes)),
            }
        }
        Err(error) => {
            conditions.push(format!("Error {} {}", error.errno(), error.message()));
            "-".to_owned()
        }
    };
    let actual = format!("{} ~ {shown}", conditions.join("; "));
    let is_same = actual == format!("{} ~ {}", fields[3], fields[4]);
    if is_same { Vec::new() } else { vec![actual] }
}

#[test]
fn stores_as_mysql() {
    testing::check_table(include_str!("mysql.txt"), store_line);
}
