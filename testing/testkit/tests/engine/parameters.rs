//! Meaning of the values of `?` by their types and positions, compared with MySQL 9.7 in the binary protocol.
//!
//! `parameters.txt` has the statements that create the table `t`, and behind an empty line expressions (`#`) with a
//! line for each value of their `?`: the value, type and text of the result, and the first warning; or the value and an
//! error. A line that begins with `~` is MySQL's result where Mayfly's is in the line after it.

use mayfly_engine::{
    CollationId, DateTime, FieldFlags, ResultStream, Session, SqlType, StatementResult, TypeKind,
    Value, parse_decimal,
};
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mysql::consts::ColumnType;

const EXPECTED: &str = include_str!("parameters.txt");

fn text(text: &str, collation: CollationId) -> (Value, SqlType) {
    let length = u32::try_from(text.len()).expect("a short text");
    (Value::from(text), SqlType::varchar(length, collation))
}

/// The value of a line of the table.
fn value(name: &str) -> (Value, SqlType) {
    let moment = DateTime {
        hour: 7,
        minute: 8,
        second: 9,
        ..DateTime::date(2024, 5, 6)
    };
    match name {
        "int" => (Value::Int(7), SqlType::bigint()),
        "neg" => (Value::Int(-7), SqlType::bigint()),
        "uint" => (Value::UInt(7), SqlType::bigint_unsigned()),
        "dec" => {
            let number = parse_decimal(b"1.15").value;
            let value = Value::Decimal {
                unscaled: number.unscaled,
                scale: number.scale,
            };
            (value, SqlType::decimal(3, 2))
        }
        "dbl" => (Value::Float(1.5), SqlType::double()),
        "bytes7" => text("7", CollationId::BINARY),
        "bytesABC" => text("ABC", CollationId::BINARY),
        "date" => {
            let day = Value::Int(moment.at_midnight().pack());
            (day, SqlType::temporal(TypeKind::Date, 0))
        }
        "datetime" => {
            let ty = SqlType::temporal(TypeKind::DateTime, 0);
            (Value::Int(moment.pack()), ty)
        }
        "time" => {
            let micros = (3600 + 2 * 60 + 3) * 1_000_000;
            (Value::Int(micros), SqlType::temporal(TypeKind::Time, 0))
        }
        "null" => (Value::Null, SqlType::null()),
        "''" => text("", CollationId::default()),
        written => text(written, CollationId::default()),
    }
}

fn line(session: &mut Session, expression: &str, name: &str) -> String {
    let prepared = session.prepare(&format!("SELECT {expression}, 1 FROM t"));
    let prepared = prepared.unwrap_or_else(|error| panic!("{expression}: {error}"));
    let values = vec![value(name); prepared.parameter_count()];
    let stream = match session.execute_prepared(&prepared, &values) {
        Ok(stream) => stream,
        Err(error) => return format!("{name}\tE{}", error.errno()),
    };
    let encoder = stream.encoder();
    let field = encoder.field(&stream.columns()[0]);
    let known = ColumnType::try_from(field.field_type as u8).expect("a type of the protocol");
    let mut ty = format!("{known:?}").replace("MYSQL_TYPE_", "");
    if ty == "LONGLONG" && field.flags.0 & FieldFlags::UNSIGNED.0 != 0 {
        ty += " UNSIGNED";
    }
    let result = match stream.into_result() {
        Ok(result) => result,
        Err(error) => return format!("{name}\tE{}", error.errno()),
    };
    let shown = first_value(&result);
    let warnings = session.warnings();
    let first = warnings.first().map_or_else(String::new, |warning| {
        format!("{} {}", warning.error.errno(), warning.error.message())
    });
    format!("{name}\t{ty}\t{shown}\t{first}")
}

fn first_value(result: &StatementResult) -> String {
    let bytes = result.row_bytes(0)[0].clone();
    bytes.map_or_else(
        || "NULL".to_owned(),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// A DOUBLE of the protocol may be no number: an error in strict mode, and else 0 or the largest one.
#[test]
fn what_is_no_number_is_not_stored() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE n (d DOUBLE, v VARCHAR(20))");
    for (mode, is_strict) in [("STRICT_ALL_TABLES", true), ("", false)] {
        session.must(&format!("SET sql_mode = '{mode}'"));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (column, number) in [("d", 1264), ("v", 1406)] {
                let prepared = session
                    .prepare(&format!("INSERT INTO n ({column}) VALUES (?)"))
                    .expect("a statement");
                let values = [(Value::Float(value), SqlType::double())];
                let outcome = session
                    .execute_prepared(&prepared, &values)
                    .and_then(ResultStream::into_result);
                match outcome {
                    Ok(_) => assert!(!is_strict, "{value} in {column}"),
                    Err(error) => assert!(is_strict && error.errno() == number, "{error}"),
                }
            }
        }
    }
    let stored = session.must("SELECT COUNT(*) FROM n WHERE d = 0 OR ABS(d) > 1e308 OR v = '0'");
    assert_eq!(stored, ["6"]);
}

#[test]
fn parameters_mean_what_they_mean_in_mysql() {
    let (_fixture, mut session) = Fixture::with_session();
    let (tables, expressions) = EXPECTED.split_once("\n\n").expect("tables and expressions");
    session.must_all(tables.lines());
    let mut wrong = Vec::new();
    for block in expressions.split("# ").skip(1) {
        let (expression, lines) = block
            .split_once('\n')
            .expect("an expression and its values");
        for expected in lines
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('~'))
        {
            let name = expected.split('\t').next().expect("a value");
            let found = line(&mut session, expression, name);
            if expected != found {
                wrong.push(format!("# {expression}\n~{expected}\n{found}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
