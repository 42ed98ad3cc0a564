//! What the columns of a result say of themselves to clients: names, types, and the columns of tables that they show.

use mayfly_types::{SqlType, TypeKind};

use crate::catalog::ColumnTraits;

/// A column of a result, as clients see it.
#[derive(Debug, Clone)]
pub struct OutputColumn {
    /// Its alias or source text.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The column of a table that it shows unchanged, if it does.
    pub origin: Option<ColumnOrigin>,
    /// What is reported to clients beside its type.
    pub client_type: ClientType,
    /// The type of the column that MySQL reads it from, where it reads the result from a temporary table that
    /// has a column of its own for it.
    pub buffered: Option<SqlType>,
}

/// Where the type that is reported to clients is not that of a column of a table made of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientType {
    /// Nowhere.
    #[default]
    Plain,
    /// A value that is computed: MySQL computes whole numbers as BIGINT, FLOAT and DOUBLE with room for
    /// a sign.
    Computed,
    /// A choice between values of the kind, of which a table would have another.
    Choice(TypeKind),
    /// A choice by IFNULL() between values of the kind, which a table made of it has, too.
    Kept(TypeKind),
    /// What GROUP_CONCAT() collects: as long as may be, whatever a table would have.
    Collected,
    /// A DECIMAL in a variable: of as many digits as there may be, shown as it was assigned.
    Variable,
    /// A literal like `X'41'`: a string that is an unsigned number where a number is wanted.
    Hexadecimal,
    /// A literal like `b'101'`: a string that is a number where a number is wanted.
    Bits,
    /// MIN() or MAX() of an ENUM or SET: a string, of which a table would have the ENUM or SET.
    Member(TypeKind),
}

/// Where an unchanged column comes from.
#[derive(Debug, Clone)]
pub struct ColumnOrigin {
    /// Database; empty when no table has the column.
    pub database: String,
    /// Table name; empty when no table has the column: it is computed in a derived table or a set
    /// operation.
    pub table: String,
    /// Table alias.
    pub alias: String,
    /// Column name.
    pub column: String,
    /// What else is reported to clients.
    pub traits: ColumnTraits,
    /// The view through which it is seen and its name there.
    pub view: Option<ViewColumn>,
}

/// A column of a view.
#[derive(Debug, Clone)]
pub struct ViewColumn {
    /// The view.
    pub view: String,
    /// The column.
    pub column: String,
}

impl ColumnOrigin {
    /// A column that no table has.
    pub fn computed(column: &str) -> Self {
        Self {
            database: String::new(),
            table: String::new(),
            alias: String::new(),
            column: column.to_owned(),
            traits: ColumnTraits::default(),
            view: None,
        }
    }

    /// Whether a table has the column.
    pub fn is_of_table(&self) -> bool {
        !self.table.is_empty()
    }
}
