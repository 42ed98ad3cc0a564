//! `ALTER TABLE`.

use super::{Expr, OrderByExpr};

use super::{ColumnDefinition, Partitioning, TableElement, TableName, TableOption};

/// `ALTER TABLE name action, ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub table: TableName,
    /// The actions, in order.
    pub actions: Vec<AlterAction>,
}

/// One action of `ALTER TABLE`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the manual's grammar")]
pub enum AlterAction {
    AddColumn {
        column: ColumnDefinition,
        position: ColumnPosition,
    },
    /// A key, foreign key or check.
    Add(TableElement),
    /// `CHANGE old new ...`.
    ChangeColumn {
        old_name: String,
        column: ColumnDefinition,
        position: ColumnPosition,
    },
    ModifyColumn {
        column: ColumnDefinition,
        position: ColumnPosition,
    },
    /// `ALTER column SET DEFAULT value`; `None` is `DROP DEFAULT`.
    SetDefault {
        column: String,
        default: Option<Expr>,
    },
    SetColumnVisible {
        column: String,
        visible: bool,
    },
    DropColumn(String),
    DropPrimaryKey,
    DropKey(String),
    DropForeignKey(String),
    DropCheck(String),
    /// `DROP CONSTRAINT name`: a check, key or foreign key.
    DropConstraint(String),
    SetCheckEnforced {
        name: String,
        enforced: bool,
        /// Whether it was written `ALTER CONSTRAINT`.
        any_constraint: bool,
    },
    SetIndexVisible {
        name: String,
        visible: bool,
    },
    RenameTo(TableName),
    RenameColumn {
        old_name: String,
        new_name: String,
    },
    RenameKey {
        old_name: String,
        new_name: String,
    },
    /// `CONVERT TO CHARACTER SET name [COLLATE name]`; `None` is `DEFAULT`.
    ConvertToCharset {
        charset: Option<String>,
        collation: Option<String>,
    },
    OrderBy(Vec<OrderByExpr>),
    DisableKeys,
    EnableKeys,
    /// A table option, also `ALGORITHM` and `LOCK`.
    Option(TableOption),
    /// `FORCE`.
    Force,
    /// `PARTITION BY ...`.
    Partition(Box<Partitioning>),
    RemovePartitioning,
    /// `WITH VALIDATION` or `WITHOUT VALIDATION`.
    Validation,
    /// `SECONDARY_LOAD` or `SECONDARY_UNLOAD`, the only action of its statement.
    Secondary(SecondaryAction),
    /// Other partition and tablespace actions, as written.
    Other(String),
}

/// `SECONDARY_LOAD [PARTITION (names)] [GUIDED {ON | OFF}]` or `SECONDARY_UNLOAD [PARTITION (names)]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondaryAction {
    /// Whether the table is loaded rather than unloaded.
    pub is_load: bool,
    /// The named partitions; empty for the whole table.
    pub partitions: Vec<String>,
}

/// Position of an added or changed column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    /// Unchanged, or last when new.
    Unspecified,
    /// `FIRST`.
    First,
    /// `AFTER column`.
    After(String),
}
