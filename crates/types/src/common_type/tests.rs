//! Common types, compared with MySQL's.

use super::*;
use crate::convert::testing::check_table;

fn column_type(text: &str) -> SqlType {
    let utf8 = CollationId::UTF8MB4_0900_AI_CI;
    let (name, rest) = text.split_once(['(', ' ']).unwrap_or((text, ""));
    let numbers: Vec<u8> = rest
        .trim_end_matches(')')
        .split(',')
        .filter_map(|number| number.parse().ok())
        .collect();
    let first = numbers.first().copied().unwrap_or(0);
    let integer = |kind, signed_width: u32, width: u32| {
        let unsigned = text.ends_with("unsigned");
        SqlType {
            unsigned,
            length: if unsigned { width } else { signed_width },
            ..SqlType::integer(kind)
        }
    };
    let members = || vec!["a".to_owned(), "bcd".to_owned()];
    match name {
        "tinyint" => integer(TypeKind::TinyInt, 4, 3),
        "smallint" => integer(TypeKind::SmallInt, 6, 5),
        "mediumint" => integer(TypeKind::MediumInt, 9, 8),
        "int" => integer(TypeKind::Int, 11, 10),
        "bigint" => integer(TypeKind::BigInt, 20, 20),
        "decimal" => SqlType::decimal(first, numbers[1]),
        "float" => SqlType {
            kind: TypeKind::Float,
            length: 12,
            ..SqlType::double()
        },
        "double" => SqlType::double(),
        "year" => SqlType {
            unsigned: true,
            ..SqlType::temporal(TypeKind::Year, 0)
        },
        "bit" => SqlType::bit(first.into()),
        "date" => SqlType::temporal(TypeKind::Date, 0),
        "time" => SqlType::temporal(TypeKind::Time, first),
        "datetime" => SqlType::temporal(TypeKind::DateTime, first),
        "timestamp" => SqlType::temporal(TypeKind::Timestamp, first),
        "char" => SqlType::char(first.into(), utf8),
        "varchar" => SqlType::varchar(first.into(), utf8),
        "binary" => SqlType::char(first.into(), CollationId::BINARY),
        "varbinary" => SqlType::varchar(first.into(), CollationId::BINARY),
        "tinytext" => SqlType::text(TypeKind::TinyText, utf8),
        "text" => SqlType::text(TypeKind::Text, utf8),
        "mediumtext" => SqlType::text(TypeKind::MediumText, utf8),
        "longtext" => SqlType::text(TypeKind::LongText, utf8),
        "tinyblob" => SqlType::text(TypeKind::TinyText, CollationId::BINARY),
        "blob" => SqlType::text(TypeKind::Text, CollationId::BINARY),
        "mediumblob" => SqlType::text(TypeKind::MediumText, CollationId::BINARY),
        "longblob" => SqlType::text(TypeKind::LongText, CollationId::BINARY),
        "enum" => SqlType::members(TypeKind::Enum, members(), utf8),
        "set" => SqlType::members(TypeKind::Set, members(), utf8),
        "json" => SqlType::json(),
        other => panic!("column type {other}"),
    }
}

#[test]
fn types_of_alternatives_are_those_of_mysql() {
    check_table(include_str!("mysql.txt"), |line| {
        let mut differences = Vec::new();
        let mut fields = line.split(" ~ ");
        let mut next = || fields.next().unwrap();
        let (a, b) = (column_type(next()), column_type(next()));
        let function = next();
        let union = fields.next().and_then(|text| text.strip_prefix("union "));
        let expected = [
            (Alternatives::Function, function),
            (Alternatives::SetOperation, union.unwrap_or(function)),
        ];
        for (alternatives, expected) in expected {
            let mut expected = column_type(expected);
            let mixed_sign = a.unsigned != b.unsigned && expected.kind == TypeKind::Int;
            let has_int = |ty: &SqlType| ty.kind == TypeKind::Int && ty.unsigned;
            if mixed_sign && (has_int(&a) || has_int(&b)) {
                // The rule that is not MySQL's.
                expected.kind = TypeKind::BigInt;
            }
            for (a, b) in [(&a, &b), (&b, &a)] {
                // The one pair whose order matters has its own test.
                if a.kind == TypeKind::Float && b.kind == TypeKind::BigInt {
                    continue;
                }
                let mut actual = common_type(a, b, alternatives);
                if actual.is_integer() && actual.kind != TypeKind::Bit {
                    actual.length = expected.length;
                }
                // The length of a TEXT type is that of its metadata only.
                if actual.is_blob() {
                    actual.length = expected.length;
                }
                if a.kind == TypeKind::Json || b.kind == TypeKind::Json {
                    actual.collation = expected.collation;
                }
                if actual != expected {
                    differences.push(format!("{alternatives:?}: {actual:?}"));
                }
            }
        }
        differences
    });
}

#[test]
fn a_float_before_a_bigint_is_a_float() {
    // Types of COALESCE and UNION in MySQL 9.7.
    for alternatives in [Alternatives::Function, Alternatives::SetOperation] {
        for bigint in ["bigint", "bigint unsigned"] {
            let (float, bigint) = (column_type("float"), column_type(bigint));
            let kind = |a, b| common_type(a, b, alternatives).kind;
            assert_eq!(kind(&float, &bigint), TypeKind::Float);
            assert_eq!(kind(&bigint, &float), TypeKind::Double);
        }
    }
}

#[test]
fn null_has_no_say() {
    let null = SqlType::null();
    let date = SqlType::temporal(TypeKind::Date, 0);
    let function = Alternatives::Function;
    assert_eq!(aggregate_types([&null, &date, &null], function), date);
    assert_eq!(aggregate_types([&null], function), null);
    let truth = aggregate_types([&SqlType::boolean()], function);
    assert_eq!((truth.kind, truth.length), (TypeKind::BigInt, 1));
}

#[test]
fn beside_null_a_type_is_what_it_is_beside_itself() {
    // Types of columns that MySQL 9.7 makes of IF() and UNION.
    let null = SqlType::null();
    let kinds = [
        ("tinyint", TypeKind::Int, TypeKind::TinyInt),
        ("bigint", TypeKind::BigInt, TypeKind::BigInt),
        ("bit(20)", TypeKind::Bit, TypeKind::Bit),
        ("char(5)", TypeKind::VarChar, TypeKind::Char),
        ("tinytext", TypeKind::LongText, TypeKind::Text),
        ("enum", TypeKind::Enum, TypeKind::Enum),
        ("year", TypeKind::Year, TypeKind::Year),
    ];
    for (ty, of_function, of_union) in kinds {
        let ty = column_type(ty);
        let kind = |alternatives| aggregate_types([&ty, &null], alternatives).kind;
        assert_eq!(kind(Alternatives::Function), of_function);
        assert_eq!(kind(Alternatives::SetOperation), of_union);
    }
    let unsigned = SqlType {
        unsigned: true,
        ..SqlType::decimal(20, 0)
    };
    let beside_null = aggregate_types([&null, &unsigned], Alternatives::Function);
    assert_eq!(beside_null, SqlType::decimal(20, 0));
}

#[test]
fn a_short_literal_is_no_bigint_beside_an_int() {
    let literal = SqlType {
        length: 2,
        ..SqlType::bigint()
    };
    let kind = |a, b| common_type(a, b, Alternatives::Function).kind;
    let (int, bigint) = (column_type("int"), column_type("bigint"));
    assert_eq!(kind(&int, &literal), TypeKind::Int);
    assert_eq!(kind(&literal, &bigint), TypeKind::BigInt);
    let bits = [column_type("bit(9)"), column_type("bit(10)")];
    assert_eq!(kind(&bits[0], &bits[0]), TypeKind::Int);
    assert_eq!(kind(&bits[1], &bits[1]), TypeKind::BigInt);
}

#[test]
fn computed_integers_of_both_signs_are_a_decimal() {
    // COALESCE() of INT UNSIGNED and TINYINT is a BIGINT, of INT UNSIGNED + 1 and TINYINT a DECIMAL.
    let sum = SqlType {
        length: 11,
        ..column_type("int unsigned")
    };
    let tiny = column_type("tinyint");
    let of = |unsigned: &SqlType, is_computed| {
        let alternatives = [(unsigned, is_computed), (&tiny, false)].into_iter();
        assert!(has_both_signs(alternatives.clone().map(|(ty, _)| ty)));
        decimal_of_both_signs(alternatives)
    };
    assert_eq!(of(&column_type("int unsigned"), false), None);
    assert_eq!(of(&sum, true), Some(SqlType::decimal(11, 0)));
    let bigint = column_type("bigint unsigned");
    assert_eq!(of(&bigint, false), Some(SqlType::decimal(20, 0)));
    assert!(!has_both_signs([&tiny, &SqlType::null()].into_iter()));
}
