//! What a source of tables can be asked for beside rows: terms of a predicate, and orders ("pushdown").
//!
//! The planner asks once, when it makes a plan, so a question has no values: a plan is kept for other values of its
//! parameters. A comparison that the small form cannot express (a conversion of the column, another collation, a value
//! that may fail or warn) is not asked for.

use crate::collation::CollationId;
use crate::sql_type::{PhysicalType, SqlType, TypeKind};

/// Operator of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermOperator {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `IN`
    Among,
    /// `IS NULL`
    Null,
    /// `IS NOT NULL`
    NotNull,
}

/// A term without its values: `column operator …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TermShape {
    /// The column, by its index in the table.
    pub column: usize,
    /// The operator.
    pub operator: TermOperator,
    /// The collation of the comparison, if it is one of strings.
    pub collation: Option<CollationId>,
}

/// Precision with which a source answers a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TermSupport {
    /// The source makes no use of the term, and is not asked for it.
    Unsupported,
    /// The source leaves out no row that meets the term; the rows that it gives are filtered again.
    Inexact,
    /// The source gives just the rows that meet the term, which is not evaluated again.
    Exact,
}

/// A column of an order. NULL comes before all values, and behind them in descending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrderColumn {
    /// The column, by its index in the table.
    pub column: usize,
    /// DESC
    pub descending: bool,
    /// The collation of the order, if it is one of strings.
    pub collation: Option<CollationId>,
}

impl OrderColumn {
    /// A column in the order of its type.
    pub fn of(column: usize, ty: &SqlType, descending: bool) -> Self {
        Self {
            column,
            descending,
            collation: string_collation(ty),
        }
    }

    /// Whether it is in the order of the column's type. The order of JSON documents is not one that a source has.
    pub fn is_of(&self, ty: &SqlType) -> bool {
        ty.kind != TypeKind::Json && self.collation == string_collation(ty)
    }
}

/// The collation by which strings of a type compare; `None` for other types.
pub fn string_collation(ty: &SqlType) -> Option<CollationId> {
    (ty.physical() == PhysicalType::Bytes && ty.kind != TypeKind::Json).then_some(ty.collation)
}
