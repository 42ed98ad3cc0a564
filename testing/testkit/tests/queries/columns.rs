//! The types of columns, with what is at the ends of each.

use crate::tree::Kind;

/// A type that a column may have.
#[derive(Debug)]
pub(crate) struct ColumnType {
    pub(crate) sql: &'static str,
    pub(crate) kind: Kind,
    /// How much of a value is in an index; `None` if there is none.
    pub(crate) prefix: Option<&'static str>,
    /// Values that are odd.
    pub(crate) values: &'static [&'static str],
}

const fn column(
    sql: &'static str,
    kind: Kind,
    prefix: Option<&'static str>,
    values: &'static [&'static str],
) -> ColumnType {
    ColumnType {
        sql,
        kind,
        prefix,
        values,
    }
}

/// The types that all servers take alike.
pub(crate) const PORTABLE: &[ColumnType] = &[
    column("INT", Kind::Number, Some(""), &["5"]),
    column("BIGINT", Kind::Number, Some(""), &["5"]),
    column("SMALLINT", Kind::Number, Some(""), &["5"]),
    column("DECIMAL(8,2)", Kind::Number, Some(""), &["2.5"]),
    column("TINYINT", Kind::Number, Some(""), &["5"]),
    column(
        "VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        Kind::Text,
        Some(""),
        &["'A'"],
    ),
    column(
        "VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        Kind::Loose,
        Some(""),
        &["'A'"],
    ),
    column("DATE", Kind::Date, Some(""), &["'2024-02-28'"]),
];

/// All types; the collation of texts that are [`Kind::Loose`] is the schema's.
pub(crate) const ALL: &[ColumnType] = &[
    column("TINYINT", Kind::Number, Some(""), &["-128", "127"]),
    column("TINYINT UNSIGNED", Kind::Number, Some(""), &["255", "0"]),
    column("SMALLINT", Kind::Number, Some(""), &["-32768", "32767"]),
    column(
        "MEDIUMINT UNSIGNED",
        Kind::Number,
        Some(""),
        &["16777215", "0"],
    ),
    column(
        "INT",
        Kind::Number,
        Some(""),
        &["-2147483648", "2147483647", "20240131"],
    ),
    column("INT UNSIGNED", Kind::Number, Some(""), &["4294967295", "1"]),
    column(
        "BIGINT",
        Kind::Number,
        Some(""),
        &[
            "-9223372036854775808",
            "9223372036854775807",
            "9007199254740993",
        ],
    ),
    column(
        "BIGINT UNSIGNED",
        Kind::Number,
        Some(""),
        &[
            "18446744073709551615",
            "9223372036854775808",
            "9007199254740993",
        ],
    ),
    column(
        "DECIMAL(8,2)",
        Kind::Number,
        Some(""),
        &["-999999.99", "0.01", "1.50"],
    ),
    column(
        "DECIMAL(20,6) UNSIGNED",
        Kind::Number,
        Some(""),
        &["99999999999999.999999", "0.5"],
    ),
    column(
        "DECIMAL(65,30)",
        Kind::Number,
        Some(""),
        &[
            "99999999999999999999999999999999999.999999999999999999999999999999",
            "-0.000000000000000000000000000001",
        ],
    ),
    column(
        "DECIMAL(30)",
        Kind::Number,
        Some(""),
        &["18446744073709551616", "-1"],
    ),
    column(
        "YEAR",
        Kind::Number,
        Some(""),
        &["1901", "2155", "0", "2024"],
    ),
    column("BIT(7)", Kind::Number, Some(""), &["b'1111111'", "b'0'"]),
    column(
        "BIT(64)",
        Kind::Number,
        Some(""),
        &["18446744073709551615", "1"],
    ),
    column(
        "DOUBLE",
        Kind::Float,
        Some(""),
        &["1.7976931348623157e308", "-1e-300", "0.1", "1e15"],
    ),
    column(
        "FLOAT",
        Kind::Float,
        Some(""),
        &["3.4e38", "0.1", "-16777216", "1e10"],
    ),
    column(
        "VARCHAR(12) COLLATE utf8mb4_0900_bin",
        Kind::Text,
        Some(""),
        &["'12:30:00'", "'é'"],
    ),
    column(
        "CHAR(5) COLLATE utf8mb4_0900_bin",
        Kind::Text,
        Some(""),
        &["'😀'", "'2024'"],
    ),
    column(
        "TEXT COLLATE utf8mb4_0900_bin",
        Kind::Text,
        Some("(3)"),
        &["'2024-01-31 10:11:12'"],
    ),
    column(
        "VARCHAR(9)",
        Kind::Loose,
        Some(""),
        &["'É'", "'ß'", "'a '", "'1.5e1'"],
    ),
    column("CHAR(4)", Kind::Loose, Some(""), &["'AB'", "'aé'"]),
    column(
        "MEDIUMTEXT",
        Kind::Loose,
        Some("(2)"),
        &["'ABC'", "'2024-1-31'"],
    ),
    column(
        "ENUM('a','B','ab','1')",
        Kind::Loose,
        Some(""),
        &["'B'", "4"],
    ),
    column(
        "SET('a','b','2')",
        Kind::Loose,
        Some(""),
        &["'a,b'", "7", "''"],
    ),
    column("BINARY(3)", Kind::Binary, Some(""), &["x'00ff'", "'a'"]),
    column(
        "VARBINARY(8)",
        Kind::Binary,
        Some(""),
        &["x'c3a9'", "x''", "'A '"],
    ),
    column(
        "BLOB",
        Kind::Binary,
        Some("(2)"),
        &["x'00'", "'abc'", "x'ffffffffffffffff'"],
    ),
    column(
        "DATE",
        Kind::Date,
        Some(""),
        &["'9999-12-31'", "'0000-00-00'", "'2024-00-10'"],
    ),
    column(
        "TIME",
        Kind::Time,
        Some(""),
        &["'838:59:59'", "'-838:59:59'", "'00:00:00'"],
    ),
    column(
        "TIME(3)",
        Kind::Time,
        Some(""),
        &["'-00:00:00.001'", "'23:59:59.999'"],
    ),
    column(
        "DATETIME",
        Kind::Moment,
        Some(""),
        &[
            "'9999-12-31 23:59:59'",
            "'0000-00-00 00:00:00'",
            "'2024-01-31'",
        ],
    ),
    column(
        "DATETIME(6)",
        Kind::Moment,
        Some(""),
        &["'2024-01-31 10:11:12.999999'", "'1000-01-01'"],
    ),
    column(
        "TIMESTAMP",
        Kind::Moment,
        Some(""),
        &["'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"],
    ),
    column(
        "TIMESTAMP(3)",
        Kind::Moment,
        Some(""),
        &["'2024-02-29 23:59:59.999'"],
    ),
    column(
        "JSON",
        Kind::Json,
        None,
        &["'1.5'", "'\"a\"'", "'null'", "'[1, {\"b\": [2, 3]}]'"],
    ),
];

/// The collations of a schema's texts, one of which is its own.
pub(crate) const COLLATIONS: [&str; 6] = [
    "utf8mb4_general_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_as_cs",
    "utf8mb4_unicode_ci",
    "latin1_swedish_ci",
    "utf8mb4_0900_as_ci",
];

/// Constants of a kind that are met often: many rows have the same.
pub(crate) fn common(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Number => &["0", "1", "2", "3", "-1", "7", "100"],
        Kind::Float => &["0e0", "1e0", "1.5e0", "-2e0", "1e2"],
        Kind::Text | Kind::Loose => &["''", "'a'", "'ab'", "'b'", "'B'", "'1'", "'abc'"],
        Kind::Binary => &["x''", "x'61'", "x'6162'", "x'41'", "x'31'"],
        Kind::Date => &[
            "DATE'2024-01-31'",
            "DATE'2024-02-29'",
            "DATE'2023-12-31'",
            "DATE'2024-03-01'",
            "DATE'1999-01-01'",
            "DATE'2024-01-01'",
            "DATE'2000-02-29'",
        ],
        Kind::Time => &[
            "TIME'10:11:12'",
            "TIME'00:00:00'",
            "TIME'-01:00:00'",
            "TIME'23:59:59'",
        ],
        Kind::Moment => &[
            "TIMESTAMP'2024-01-31 10:11:12'",
            "TIMESTAMP'2024-01-31 00:00:00'",
            "TIMESTAMP'2024-02-29 23:59:59'",
            "TIMESTAMP'1999-01-01 00:00:00'",
        ],
        _ => &[
            "'{\"a\": 1, \"b\": [1, 2]}'",
            "'[1, \"a\", null]'",
            "'1'",
            "'true'",
            "'{}'",
        ],
    }
}

/// Constants of a kind that are odd.
pub(crate) fn odd(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Number => &[
            "18446744073709551615",
            "-9223372036854775808",
            "9223372036854775807",
            "0.5",
            "-1.5",
            "12345678901234567890.125",
            "TRUE",
            "20240131",
            "20240131101112",
            "64",
            "255",
            "0.0",
        ],
        Kind::Float => &["1e308", "-1e-10", "1e19", "2.5e0", "-0.5e0"],
        Kind::Text | Kind::Loose => &[
            "'1.5'",
            "'-2'",
            "'1e3'",
            "' 1'",
            "'12x'",
            "'2024-01-31'",
            "'12:30:00'",
            "'2024-02-30'",
            "'2024-01-31 10:11:12.5'",
            "'é'",
            "'😀'",
            "'%'",
            "'a,b'",
            "'abcabc'",
            "'127.0.0.1'",
            "'x y'",
        ],
        Kind::Binary => &["x'ff'", "x'00'", "x'c3a9'", "x'e2'", "0x313233"],
        Kind::Date => &["DATE'9999-12-31'", "DATE'1000-01-01'", "DATE'1970-01-01'"],
        Kind::Time => &[
            "TIME'838:59:59'",
            "TIME'-838:59:59'",
            "TIME'10:11:12.345'",
            "TIME'24:00:00'",
        ],
        Kind::Moment => &[
            "TIMESTAMP'9999-12-31 23:59:59'",
            "TIMESTAMP'1970-01-01 00:00:00'",
            "TIMESTAMP'2024-01-31 10:11:12.345'",
        ],
        _ => &[
            "'[]'",
            "'null'",
            "'\"a\"'",
            "'1.5'",
            "'[[1], {\"a\": \"2024-01-31\"}]'",
        ],
    }
}
