//! Column types, each with sample values.

use std::sync::LazyLock;

use mayfly_testkit::groups::Groups;

/// Values of columns, and the values they are compared with.
pub(crate) static LISTS: LazyLock<Groups> =
    LazyLock::new(|| Groups::read(include_str!("values.txt")));

/// A column type with sample values.
pub(crate) struct Kind {
    pub(crate) sql: &'static str,
    /// The name of the list of its values.
    list: &'static str,
    /// Whether the whole column cannot be a key part.
    pub(crate) prefix_only: bool,
    /// Least number of characters of a prefix that can be a key part.
    pub(crate) prefix: Option<u32>,
}

const fn kind(sql: &'static str, list: &'static str) -> Kind {
    Kind {
        sql,
        list,
        prefix_only: false,
        prefix: None,
    }
}

const fn text(sql: &'static str, list: &'static str) -> Kind {
    Kind {
        prefix: Some(1),
        ..kind(sql, list)
    }
}

const fn blob(sql: &'static str, list: &'static str) -> Kind {
    Kind {
        prefix_only: true,
        prefix: Some(1),
        ..kind(sql, list)
    }
}

impl Kind {
    pub(crate) fn values(&self) -> &'static [&'static str] {
        LISTS.items(self.list)
    }

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

    /// A generated column over a value, for `{}`: its type and its expression.
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
    kind("TINYINT", "small"),
    kind("SMALLINT UNSIGNED", "small unsigned"),
    kind("MEDIUMINT", "small"),
    kind("INT", "small"),
    kind("INT UNSIGNED", "small unsigned"),
    kind("BIGINT", "large"),
    kind("BIGINT UNSIGNED", "large unsigned"),
    kind("DECIMAL(5,2)", "decimals"),
    kind("DECIMAL(20,0)", "decimals"),
    kind("DECIMAL(30,10)", "decimals"),
    kind("DECIMAL(60,20)", "decimals"),
    kind("FLOAT", "doubles"),
    kind("DOUBLE", "doubles"),
    kind("DATE", "dates"),
    kind("DATETIME", "moments"),
    kind("DATETIME(3)", "moments"),
    kind("TIMESTAMP NULL", "moments"),
    kind("TIMESTAMP(6) NULL", "moments"),
    kind("TIME", "times"),
    kind("TIME(2)", "times"),
    kind("YEAR", "years"),
    kind("BIT(8)", "bits"),
    kind("BIT(64)", "bits"),
    kind("ENUM('b', 'a', 'C', '10', '1')", "enum values"),
    kind("SET('x', 'y', 'z')", "set values"),
    kind("SET('r', 'p', 'x') NOT NULL DEFAULT ''", "set numbers"),
    kind("YEAR NOT NULL DEFAULT 0", "years"),
    kind("BIT(1)", "one bit"),
    kind("TIME(6)", "times"),
    kind("DATETIME(6)", "moments"),
    kind("DECIMAL(65,30)", "decimals"),
    kind("DECIMAL(10,3) UNSIGNED", "unsigned decimals"),
    text("CHAR(5)", "words short"),
    text("VARCHAR(10)", "words"),
    text("VARCHAR(12)", "hostile"),
    text("VARCHAR(12) NOT NULL DEFAULT ''", "hostile"),
    text("CHAR(12)", "hostile"),
    text("CHAR(1) COLLATE utf8mb4_0900_as_ci", "words short"),
    text("VARCHAR(10) COLLATE utf8mb4_bin", "words"),
    text("VARCHAR(10) COLLATE utf8mb4_general_ci", "words"),
    text("VARCHAR(12) COLLATE utf8mb4_general_ci", "hostile"),
    text("VARCHAR(10) COLLATE utf8mb4_unicode_ci", "words"),
    text("VARCHAR(12) COLLATE utf8mb4_unicode_ci", "hostile"),
    text("VARCHAR(12) COLLATE utf8mb4_unicode_520_ci", "hostile"),
    text("VARCHAR(12) COLLATE utf8mb4_spanish2_ci", "hostile"),
    text("VARCHAR(12) COLLATE utf8mb4_danish_ci", "hostile"),
    text("VARCHAR(12) COLLATE utf8mb4_german2_ci", "hostile"),
    text("VARCHAR(10) COLLATE utf8mb4_0900_as_cs", "words"),
    text("VARCHAR(12) COLLATE utf8mb4_0900_as_cs", "hostile"),
    text("VARCHAR(12) COLLATE utf8mb4_0900_as_ci", "hostile"),
    text("VARCHAR(10) COLLATE utf8mb4_0900_bin", "words"),
    text("VARCHAR(12) COLLATE utf8mb4_0900_bin", "hostile"),
    text("CHAR(10) COLLATE utf8mb4_general_ci", "words"),
    text("VARCHAR(10) CHARACTER SET latin1", "ascii words"),
    text(
        "VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_german2_ci",
        "ascii words",
    ),
    text(
        "CHAR(10) CHARACTER SET latin1 COLLATE latin1_bin",
        "ascii words",
    ),
    blob("TEXT", "hostile"),
    blob("TEXT COLLATE utf8mb4_0900_as_cs", "hostile"),
    blob("TEXT COLLATE utf8mb4_bin", "words"),
    text("BINARY(4)", "bytes"),
    text("VARBINARY(6)", "bytes"),
    blob("BLOB", "bytes"),
];
