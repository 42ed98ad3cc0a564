//! Column types, with the extreme values of each.

use std::sync::LazyLock;

use mayfly_testkit::groups::Groups;

use crate::queries::tree::Kind;

/// A type that a column may have.
#[derive(Debug)]
pub(crate) struct ColumnType {
    pub(crate) sql: &'static str,
    pub(crate) kind: Kind,
    /// Prefix length in an index; `None` if it cannot be indexed.
    pub(crate) prefix: Option<&'static str>,
    /// Unusual values.
    pub(crate) values: Vec<&'static str>,
}

/// The types of a file.
fn columns(text: &'static str) -> Vec<ColumnType> {
    let column = |(head, values): (&'static str, &[&'static str])| {
        let mut fields = head.split(" | ");
        let mut next = || fields.next().expect("a type, its kind and its prefix");
        let (sql, name, prefix) = (next(), next(), next());
        let is_named = |kind: &Kind| format!("{kind:?}") == name;
        ColumnType {
            sql,
            kind: Kind::VALUES
                .into_iter()
                .find(is_named)
                .expect("a kind of values"),
            prefix: match prefix {
                "none" => None,
                "whole" => Some(""),
                _ => Some(prefix),
            },
            values: values.to_vec(),
        }
    };
    Groups::read(text).iter().map(column).collect()
}

/// The types that all servers treat alike.
pub(crate) static PORTABLE: LazyLock<Vec<ColumnType>> =
    LazyLock::new(|| columns(include_str!("portable_columns.txt")));

/// All types; the collation of texts of [`Kind::Loose`] is the schema's.
pub(crate) static ALL: LazyLock<Vec<ColumnType>> =
    LazyLock::new(|| columns(include_str!("columns.txt")));

/// The collations of a schema's texts, one of which is its own.
pub(crate) const COLLATIONS: [&str; 6] = [
    "utf8mb4_general_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_as_cs",
    "utf8mb4_unicode_ci",
    "latin1_swedish_ci",
    "utf8mb4_0900_as_ci",
];

static CONSTANTS: LazyLock<Groups> = LazyLock::new(|| Groups::read(include_str!("constants.txt")));

fn constants(which: &str, kind: Kind) -> &'static [&'static str] {
    let kind = match kind {
        Kind::Loose => Kind::Text,
        Kind::Condition | Kind::Query | Kind::Fixed => Kind::Json,
        _ => kind,
    };
    CONSTANTS.items(&format!("{which} {kind:?}"))
}

/// Frequent constants of a kind: many rows have the same.
pub(crate) fn common(kind: Kind) -> &'static [&'static str] {
    constants("common", kind)
}

/// Unusual constants of a kind.
pub(crate) fn odd(kind: Kind) -> &'static [&'static str] {
    constants("odd", kind)
}
