//! Types of columns, each with values that it takes.

/// A type of columns with values that it takes.
pub(crate) struct Kind {
    pub(crate) sql: &'static str,
    pub(crate) values: &'static [&'static str],
    /// The whole column cannot be a key part.
    pub(crate) prefix_only: bool,
    /// Prefixes of so many characters and more can be one.
    pub(crate) prefix: Option<u32>,
}

const SMALL: &[&str] = &["-1", "0", "1", "2", "3", "5", "9", "10", "-128", "127"];
const SMALL_UNSIGNED: &[&str] = &["0", "1", "2", "3", "5", "9", "10", "127", "255"];
const LARGE: &[&str] = &[
    "-1",
    "0",
    "1",
    "2",
    "9007199254740992",
    "9007199254740993",
    "9007199254740994",
    "9223372036854775807",
    "9223372036854775806",
    "-9223372036854775808",
    "-9223372036854775807",
    "10",
];
const LARGE_UNSIGNED: &[&str] = &[
    "0",
    "1",
    "2",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551614",
    "10",
];
const DECIMALS: &[&str] = &[
    "0", "1", "-1", "1.5", "1.50", "-1.25", "9.99", "2", "10", "999.99", "-999.99", "0.01",
];
const DOUBLES: &[&str] = &[
    "0", "-0e0", "1", "0.1", "1.5", "-1.5", "1e10", "-1e10", "2", "3e-5", "10", "16777216",
];
const DATES: &[&str] = &[
    "'2024-01-01'",
    "'2024-02-29'",
    "'2023-12-31'",
    "'1999-01-01'",
    "'2024-01-02'",
    "'1000-01-01'",
    "'9999-12-31'",
];
const MOMENTS: &[&str] = &[
    "'2024-01-01'",
    "'2024-01-01 00:00:00.5'",
    "'2024-01-01 00:00:01'",
    "'2024-02-29 23:59:59.999'",
    "'2024-01-01 10:11:12'",
    "'2023-12-31 23:59:59.123456'",
    "'2024-01-02'",
];
const TIMES: &[&str] = &[
    "'12:00:00.000001'",
    "'-838:59:58'",
    "'00:00:00.5'",
    "'00:00:00'",
    "'10:11:12'",
    "'-10:11:12'",
    "'838:59:59'",
    "'-838:59:59'",
    "'10:11:12.5'",
    "'10:11:13'",
    "'00:00:10'",
];
const YEARS: &[&str] = &["1901", "1999", "2000", "2024", "2025", "2155", "0"];
const BITS: &[&str] = &["b'0'", "b'1'", "b'10'", "b'11'", "b'1010'", "b'1100001'"];
const WORDS: &[&str] = &[
    "'a'",
    "'A'",
    "'ä'",
    "'Ä'",
    "'a '",
    "'b'",
    "'B'",
    "'ab'",
    "'aB'",
    "'abc'",
    "'ABD'",
    "''",
    "' '",
    "'a\\tb'",
    "'a\\t'",
    "'10'",
    "'1e1'",
    "'1'",
    "'ß'",
    "'ss'",
    "'SS'",
    "'ñ'",
    "'n'",
    "'z'",
    "'Z '",
    "'zz'",
    "'o'",
    "'ö'",
    "'😀'",
    "'2024-01-01'",
    "'a%'",
    "'a_b'",
    "'~'",
    "'é'",
    "'e'",
    "'ab '",
    "'-1'",
    "'2.0'",
];
/// Characters with no weight and with several, letters of several characters, and the ends of the
/// order: what is cut off may matter.
const HOSTILE: &[&str] = &[
    "'aß'",
    "'ass'",
    "'as'",
    "'a'",
    "'ßa'",
    "'ssa'",
    "'\\0a'",
    "'\\0\\0a'",
    "'a\\0b'",
    "'ab'",
    "'e\u{301}x'",
    "'éx'",
    "'ex'",
    "'Ex '",
    "'ch'",
    "'cz'",
    "'c'",
    "'d'",
    "'llx'",
    "'lx'",
    "'l·x'",
    "'lz'",
    "'ij'",
    "'ĳ'",
    "'ﬁx'",
    "'fix'",
    "'㍿'",
    "'株式会社'",
    "'株'",
    "'เก'",
    "'กเ'",
    "'ก'",
    "'й'",
    "'и\u{306}'",
    "'и'",
    "'к'",
    "'각'",
    "'가'",
    "''",
    "' '",
    "' a'",
    "'a '",
    "'a\\t'",
    "'a\\tb'",
    "'a  b'",
    "'\\t'",
    "'\u{10FFFF}'",
    "'\u{FFFD}'",
    "'😀'",
    "'z'",
    "'Æ'",
    "'ae'",
    "'ä'",
    "'10'",
    "'000001'",
    "'\\0\\0\\0001'",
];
const ASCII_WORDS: &[&str] = &[
    "'a'",
    "'A'",
    "'a '",
    "'b'",
    "'B'",
    "'ab'",
    "'aB'",
    "'abc'",
    "''",
    "' '",
    "'a\\tb'",
    "'10'",
    "'1e1'",
    "'1'",
    "'ß'",
    "'ä'",
    "'é'",
    "'z'",
    "'Z '",
    "'2024-01-01'",
    "'ÿ'",
    "'~'",
];
const BYTES: &[&str] = &[
    "'a'", "'A'", "X'6100'", "X'61'", "X'00'", "''", "X'FF'", "X'FFFF'", "'ab'", "'a '", "'10'",
    "X'C3A4'", "'abcd'",
];

const fn kind(sql: &'static str, values: &'static [&'static str]) -> Kind {
    Kind {
        sql,
        values,
        prefix_only: false,
        prefix: None,
    }
}

const fn text(sql: &'static str, values: &'static [&'static str]) -> Kind {
    Kind {
        prefix: Some(1),
        ..kind(sql, values)
    }
}

const fn blob(sql: &'static str, values: &'static [&'static str]) -> Kind {
    Kind {
        prefix_only: true,
        prefix: Some(1),
        ..kind(sql, values)
    }
}

impl Kind {
    fn is_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.sql.starts_with(name))
    }

    /// Expressions over a value, for `{}`, that a key part can be over.
    pub(crate) fn expressions(&self) -> &'static [&'static str] {
        if self.prefix_only {
            &["LENGTH({})"]
        } else if self.is_any(&["BINARY", "VARBINARY"]) {
            &["HEX({})", "LENGTH({})"]
        } else if self.is_any(&["CHAR", "VARCHAR", "ENUM", "SET"]) {
            &["LOWER({})", "CONCAT({},'x')", "LEFT({},1)", "LENGTH({})"]
        } else if self.is_any(&["DATE", "TIMESTAMP"]) {
            &["YEAR({})", "DATE({})", "MONTH({})"]
        } else if self.is_any(&["TIME"]) {
            &["HOUR({})"]
        } else if self.is_any(&["BIT"]) {
            &["({} & 3)"]
        } else {
            &["({} + 1)", "ABS({})", "({} * 2)", "({} % 3)"]
        }
    }

    /// A generated column over a value, for `{}`: its type and what it is computed of.
    pub(crate) fn generated(&self) -> Option<(&'static str, &'static str)> {
        let text = self.is_any(&["CHAR", "VARCHAR", "TEXT", "BLOB", "BINARY", "VARBINARY"]);
        match text {
            true => Some(("INT", "LENGTH({})")),
            false if self.is_any(&["TINYINT", "MEDIUMINT"]) => Some(("BIGINT", "({} + 1)")),
            false if self.is_any(&["DATE"]) => Some(("INT", "MONTH({})")),
            false => None,
        }
    }
}

pub(crate) const KINDS: &[Kind] = &[
    kind("TINYINT", SMALL),
    kind("SMALLINT UNSIGNED", SMALL_UNSIGNED),
    kind("MEDIUMINT", SMALL),
    kind("INT", SMALL),
    kind("INT UNSIGNED", SMALL_UNSIGNED),
    kind("BIGINT", LARGE),
    kind("BIGINT UNSIGNED", LARGE_UNSIGNED),
    kind("DECIMAL(5,2)", DECIMALS),
    kind("DECIMAL(20,0)", DECIMALS),
    kind("DECIMAL(30,10)", DECIMALS),
    kind("DECIMAL(60,20)", DECIMALS),
    kind("FLOAT", DOUBLES),
    kind("DOUBLE", DOUBLES),
    kind("DATE", DATES),
    kind("DATETIME", MOMENTS),
    kind("DATETIME(3)", MOMENTS),
    kind("TIMESTAMP NULL", MOMENTS),
    kind("TIMESTAMP(6) NULL", MOMENTS),
    kind("TIME", TIMES),
    kind("TIME(2)", TIMES),
    kind("YEAR", YEARS),
    kind("BIT(8)", BITS),
    kind("BIT(64)", BITS),
    kind(
        "ENUM('b', 'a', 'C', '10', '1')",
        &["'a'", "'b'", "'C'", "'10'", "'1'", "1", "2"],
    ),
    kind(
        "SET('x', 'y', 'z')",
        &["'x'", "'y'", "'x,z'", "''", "'x,y,z'", "'z'"],
    ),
    kind(
        "SET('r', 'p', 'x') NOT NULL DEFAULT ''",
        &["'r,p'", "'r'", "'p'", "''", "3", "1"],
    ),
    kind("YEAR NOT NULL DEFAULT 0", YEARS),
    kind("BIT(1)", &["b'0'", "b'1'"]),
    kind("TIME(6)", TIMES),
    kind("DATETIME(6)", MOMENTS),
    kind("DECIMAL(65,30)", DECIMALS),
    kind(
        "DECIMAL(10,3) UNSIGNED",
        &["0", "0.001", "1.5", "9999999.999", "2", "10"],
    ),
    text("CHAR(5)", WORDS_SHORT),
    text("VARCHAR(10)", WORDS),
    text("VARCHAR(12)", HOSTILE),
    text("VARCHAR(12) NOT NULL DEFAULT ''", HOSTILE),
    text("CHAR(12)", HOSTILE),
    text("CHAR(1) COLLATE utf8mb4_0900_as_ci", WORDS_SHORT),
    text("VARCHAR(10) COLLATE utf8mb4_bin", WORDS),
    text("VARCHAR(10) COLLATE utf8mb4_general_ci", WORDS),
    text("VARCHAR(12) COLLATE utf8mb4_general_ci", HOSTILE),
    text("VARCHAR(10) COLLATE utf8mb4_unicode_ci", WORDS),
    text("VARCHAR(12) COLLATE utf8mb4_unicode_ci", HOSTILE),
    text("VARCHAR(12) COLLATE utf8mb4_unicode_520_ci", HOSTILE),
    text("VARCHAR(12) COLLATE utf8mb4_spanish2_ci", HOSTILE),
    text("VARCHAR(12) COLLATE utf8mb4_danish_ci", HOSTILE),
    text("VARCHAR(12) COLLATE utf8mb4_german2_ci", HOSTILE),
    text("VARCHAR(10) COLLATE utf8mb4_0900_as_cs", WORDS),
    text("VARCHAR(12) COLLATE utf8mb4_0900_as_cs", HOSTILE),
    text("VARCHAR(12) COLLATE utf8mb4_0900_as_ci", HOSTILE),
    text("VARCHAR(10) COLLATE utf8mb4_0900_bin", WORDS),
    text("VARCHAR(12) COLLATE utf8mb4_0900_bin", HOSTILE),
    text("CHAR(10) COLLATE utf8mb4_general_ci", WORDS),
    text("VARCHAR(10) CHARACTER SET latin1", ASCII_WORDS),
    text(
        "VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_german2_ci",
        ASCII_WORDS,
    ),
    text(
        "CHAR(10) CHARACTER SET latin1 COLLATE latin1_bin",
        ASCII_WORDS,
    ),
    blob("TEXT", HOSTILE),
    blob("TEXT COLLATE utf8mb4_0900_as_cs", HOSTILE),
    blob("TEXT COLLATE utf8mb4_bin", WORDS),
    text("BINARY(4)", BYTES),
    text("VARBINARY(6)", BYTES),
    blob("BLOB", BYTES),
];

const WORDS_SHORT: &[&str] = &[
    "'a'", "'A'", "'ä'", "'a '", "'b'", "'B'", "'ab'", "'aB'", "'abc'", "''", "'a\\tb'", "'10'",
    "'ß'", "'ss'", "'z'",
];
