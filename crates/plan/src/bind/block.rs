//! What a bound query block is: its relation and the columns that it gives.

use mayfly_functions::Coercibility;
use mayfly_types::SqlType;

use super::collation::claimed;
use crate::tree::expression::Expression;
use crate::tree::logical::ColumnId;
use crate::tree::physical::{ClientType, ColumnOrigin};

/// A column that a query block gives.
#[derive(Debug, Clone)]
pub(crate) struct BlockColumn {
    pub(crate) id: ColumnId,
    pub(crate) name: String,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) origin: Option<ColumnOrigin>,
    pub(crate) client_type: ClientType,
    /// What its collation claims, if not what columns of tables claim.
    pub(crate) claim: Option<Coercibility>,
}

impl BlockColumn {
    /// A column that is none of a table.
    pub(crate) fn new(id: ColumnId, name: String, ty: SqlType, nullable: bool) -> Self {
        Self {
            id,
            name,
            ty,
            nullable,
            origin: None,
            client_type: ClientType::Plain,
            claim: None,
        }
    }

    /// Its value, with its claim.
    pub(crate) fn value(&self) -> Expression {
        let column = Expression::column(self.id, self.ty.clone(), self.nullable);
        claimed(column, self.claim)
    }

    /// It is copied into a temporary table, where there are no keys.
    pub(super) fn copy(&mut self) {
        if let Some(origin) = &mut self.origin {
            origin.traits = origin.traits.copied();
        }
    }
}

/// A bound query expression.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) relation: crate::tree::logical::Relation,
    pub(crate) columns: Vec<BlockColumn>,
    /// `select#` of its first query block.
    pub(crate) select_id: usize,
    /// What MySQL asks of a derived table that becomes part of the outer query: no aggregation, no
    /// DISTINCT, no LIMIT, no set operation, at least one table.
    pub(crate) mergeable: bool,
    /// Sets of columns (positions in `columns`) in which no two rows are equal.
    pub(crate) unique_keys: Vec<Vec<usize>>,
}

impl Block {
    /// Makes the texts of dates mere texts in what does not become a part of the outer query.
    pub(crate) fn settle_types(&mut self) {
        if !self.mergeable {
            for column in &mut self.columns {
                column.ty.temporal_text = false;
            }
        }
    }
}

/// Whether two identifiers of columns are the same; their case does not matter.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
        || (!a.is_ascii() && !b.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
