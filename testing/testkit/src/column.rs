//! Type families of result columns, each a letter in golden files.

use sqllogictest::ColumnType;

/// The family of a result column's type, one letter of the `query` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// `I`: integers, BIT and YEAR.
    Integer,
    /// `D`: DECIMAL.
    Decimal,
    /// `R`: FLOAT and DOUBLE.
    Real,
    /// `M`: DATE, TIME, DATETIME, TIMESTAMP.
    Temporal,
    /// `T`: character and binary strings, ENUM, SET and JSON.
    Text,
    /// `?`: not compared.
    Any,
}

impl ColumnType for ColumnKind {
    fn from_char(value: char) -> Option<Self> {
        Some(match value {
            'I' => Self::Integer,
            'D' => Self::Decimal,
            'R' => Self::Real,
            'M' => Self::Temporal,
            'T' => Self::Text,
            '?' => Self::Any,
            _ => return None,
        })
    }

    fn to_char(&self) -> char {
        match self {
            Self::Integer => 'I',
            Self::Decimal => 'D',
            Self::Real => 'R',
            Self::Temporal => 'M',
            Self::Text => 'T',
            Self::Any => '?',
        }
    }
}

/// Whether the result has the columns that the file expects.
#[expect(clippy::ptr_arg, reason = "the signature is the runner's")]
#[must_use]
pub fn same_kinds(actual: &Vec<ColumnKind>, expected: &Vec<ColumnKind>) -> bool {
    actual.len() == expected.len()
        && actual
            .iter()
            .zip(expected)
            .all(|(a, e)| a == e || *a == ColumnKind::Any || *e == ColumnKind::Any)
}
