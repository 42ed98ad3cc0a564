//! Answers of queries, and their comparison.

use mayfly_testkit::cell::line;
use mayfly_testkit::client::{Answer as Packets, ServerError};

/// Rows, or an error's number and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Rows(Vec<String>),
    Error(u16, String),
}

/// Errors of names, types and syntax, which a query has with any rows. Others depend on which rows an expression is
/// evaluated for, and so on the plan.
const OF_THE_QUERY: [u16; 25] = [
    1052, 1054, 1055, 1056, 1060, 1064, 1066, 1103, 1109, 1111, 1140, 1146, 1176, 1221, 1222, 1235,
    1241, 1247, 1253, 1267, 1270, 1271, 1305, 1582, 1583,
];

impl Answer {
    /// Mayfly's answer.
    pub(crate) fn of_mayfly(found: Result<Vec<String>, mayfly_engine::Error>) -> Self {
        match found {
            Ok(rows) => Self::Rows(rows),
            Err(error) => Self::Error(error.errno(), error.to_string()),
        }
    }

    /// Another server's answer.
    pub(crate) fn of_peer(found: Result<Packets, ServerError>) -> Self {
        match found {
            Ok(Packets::Rows { rows, .. }) => {
                Self::Rows(rows.iter().map(|row| line(row)).collect())
            }
            Ok(Packets::Done(_)) => Self::Rows(Vec::new()),
            Err(error) => Self::Error(error.code, error.to_string()),
        }
    }

    /// The answer with sorted rows.
    pub(crate) fn sorted(mut self) -> Self {
        if let Self::Rows(rows) = &mut self {
            rows.sort();
        }
        self
    }

    /// Whether it is an internal error of Mayfly.
    pub(crate) fn is_internal(&self) -> bool {
        matches!(self, Self::Error(_, text)
            if text.contains("internal error") || text.contains("planner: "))
    }

    /// Whether it is an error that depends on the rows evaluated.
    pub(crate) fn depends_on_rows(&self) -> bool {
        matches!(self, Self::Error(errno, _) if !OF_THE_QUERY.contains(errno))
            && !self.is_internal()
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Error(..) => 0,
        }
    }

    /// Class of the answer: rows, or the error number.
    pub(crate) fn class(&self) -> u16 {
        match self {
            Self::Rows(_) => 0,
            Self::Error(errno, _) => *errno,
        }
    }

    /// Whether two answers are equal; two errors are, whatever their texts.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rows(a), Self::Rows(b)) => a == b || with_short_years(a) == with_short_years(b),
            (Self::Error(..), Self::Error(..)) => !self.is_internal() && !other.is_internal(),
            _ => false,
        }
    }
}

/// Rows in which a YEAR of 0 is `0`: a computed one is a number where it is read through a temporary table, as in MySQL,
/// and shown as `0000` elsewhere.
fn with_short_years(rows: &[String]) -> Vec<String> {
    fn short(field: &str) -> &str {
        if field == "0000" { "0" } else { field }
    }
    let row = |row: &String| row.split('\t').map(short).collect::<Vec<_>>().join("\t");
    rows.iter().map(row).collect()
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rows(rows) => write!(f, "{rows:?}"),
            Self::Error(_, text) => f.write_str(text),
        }
    }
}
