//! Result columns as clients see them: names, types, and the table columns that they show.

use mayfly_types::{SqlType, TypeKind};

use crate::catalog::ColumnTraits;

/// A column of a result, as clients see it.
#[derive(Debug, Clone)]
pub struct OutputColumn {
    /// Alias or source text.
    pub name: String,
    /// Column type.
    pub ty: SqlType,
    /// Whether the column may be NULL.
    pub nullable: bool,
    /// Table column that it shows unchanged, if it does.
    pub origin: Option<ColumnOrigin>,
    /// Difference between the reported type and `ty`.
    pub client_type: ClientType,
    /// Type of the column from which MySQL reads it, where it reads the result from a temporary table that has a column
    /// of its own for it.
    pub buffered: Option<SqlType>,
}

/// Reason for a reported type that differs from that of a table column created from the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientType {
    /// No difference.
    #[default]
    Plain,
    /// A computed value: MySQL computes integers as BIGINT, FLOAT and DOUBLE with room for a sign.
    Computed,
    /// A choice between values of the kind, where a table column would have another kind.
    Choice(TypeKind),
    /// A choice by IFNULL() between values of the kind, which a table column has, too.
    Kept(TypeKind),
    /// Result of GROUP_CONCAT(): of maximum length, whatever a table column would have.
    Collected,
    /// A DECIMAL in a variable: of the maximum number of digits, shown as it was assigned.
    Variable,
    /// A literal like `X'41'`: a string that is an unsigned number where a number is wanted.
    Hexadecimal,
    /// A literal like `b'101'`: a string that is a number where a number is wanted.
    Bits,
    /// MIN() or MAX() of an ENUM or SET: a string, where a table column would be the ENUM or SET.
    Member(TypeKind),
}

impl ClientType {
    /// Whether the value is a choice of BITs, which is computed as a number.
    pub const fn chooses_bits(self) -> bool {
        matches!(
            self,
            Self::Choice(TypeKind::Bit) | Self::Kept(TypeKind::Bit)
        )
    }
}

/// Origin of an unchanged column.
#[derive(Debug, Clone)]
pub struct ColumnOrigin {
    /// Database; empty if the column is not of a table.
    pub database: String,
    /// Table name; empty if the column is not of a table: it is computed in a derived table or a set operation.
    pub table: String,
    /// Table alias.
    pub alias: String,
    /// Column name.
    pub column: String,
    /// Attributes of the column that are reported to clients.
    pub traits: ColumnTraits,
    /// View through which it is read and its name there.
    pub view: Option<ViewColumn>,
    /// Whether the column is computed in a derived table or view that is merged: the outer query computes it.
    pub is_merged: bool,
}

/// A column of a view.
#[derive(Debug, Clone)]
pub struct ViewColumn {
    /// View name.
    pub view: String,
    /// Column name.
    pub column: String,
}

impl ColumnOrigin {
    /// Origin of a column that is not of a table.
    pub fn computed(column: &str) -> Self {
        Self {
            database: String::new(),
            table: String::new(),
            alias: String::new(),
            column: column.to_owned(),
            traits: ColumnTraits::default(),
            view: None,
            is_merged: false,
        }
    }

    /// Whether the column is of a table.
    pub fn is_of_table(&self) -> bool {
        !self.table.is_empty()
    }
}
