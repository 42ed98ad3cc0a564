//! A bound query block: its relation and its output columns.

use std::sync::Arc;

use mayfly_functions::Coercibility;
use mayfly_types::{SqlType, TypeKind};

use super::buffered::Buffered;
use super::collation::claimed;
use crate::tree::expression::Expression;
use crate::tree::logical::{Buffering, ColumnId};
use crate::tree::physical::{ClientType, ColumnOrigin};

/// Output column of a query block.
#[derive(Debug, Clone)]
pub(crate) struct BlockColumn {
    pub(crate) id: ColumnId,
    pub(crate) name: String,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) origin: Option<ColumnOrigin>,
    pub(crate) client_type: ClientType,
    /// Column that a temporary table has for it.
    pub(crate) buffered: Buffered,
    /// Coercibility of its collation, if not that of table columns.
    pub(crate) claim: Option<Coercibility>,
    /// Its value, if it has the same one in all rows of the query block.
    pub(crate) constant: Option<Arc<Expression>>,
}

impl BlockColumn {
    /// A column that does not come from a table.
    pub(crate) fn new(id: ColumnId, name: String, ty: SqlType, nullable: bool) -> Self {
        Self {
            id,
            name,
            ty,
            nullable,
            origin: None,
            client_type: ClientType::Plain,
            buffered: Buffered::Unchanged,
            claim: None,
            constant: None,
        }
    }

    /// Makes a choice of BITs the BIT column that a temporary table holds for it; whether it was one.
    pub(crate) fn settle_bits(&mut self) -> bool {
        let is_choice = self.client_type.chooses_bits();
        if is_choice {
            self.ty = SqlType::bit(self.ty.length);
            self.client_type = ClientType::Plain;
        }
        is_choice
    }

    /// Type of the column through which a query block's own result is read, if it differs. A choice of BITs is a BIT there,
    /// but in an aggregate.
    pub(crate) fn buffered_result(&self) -> Option<SqlType> {
        let is_bits = self.client_type.chooses_bits() && self.buffered != Buffered::Aggregate;
        match is_bits {
            true => None,
            false => self.buffered.of_result(&self.ty),
        }
    }

    /// Gives a choice of integers the kind that clients are told, with which a set operation finds its types.
    pub(crate) fn settle_choice(&mut self) {
        let (ClientType::Choice(kind) | ClientType::Kept(kind)) = self.client_type else {
            return;
        };
        let reported = SqlType {
            kind,
            ..self.ty.clone()
        };
        if !self.settle_bits() && reported.is_integer() && reported.physical() == self.ty.physical()
        {
            self.ty = reported;
            self.client_type = ClientType::Plain;
        }
    }

    /// Value of the column, with its coercibility.
    pub(crate) fn value(&self) -> Expression {
        let column = Expression::column(self.id, self.ty.clone(), self.nullable);
        claimed(column, self.claim)
    }

    /// Marks the table as copied into a temporary table, which has no keys.
    pub(super) fn copy(&mut self) {
        self.constant = None;
        if let Some(origin) = &mut self.origin {
            origin.traits = origin.traits.copied();
            origin.is_merged = false;
        }
    }

    /// Gives clients the type of a temporary table's column instead of a choice's.
    pub(super) fn become_column(&mut self) {
        self.client_type = match self.client_type {
            kept @ (ClientType::Computed
            | ClientType::Member(_)
            | ClientType::Choice(TypeKind::VarChar | TypeKind::Bit)
            | ClientType::Kept(TypeKind::Bit)) => kept,
            _ => ClientType::Plain,
        };
    }

    /// Marks a column of a merged derived table. Clients get the metadata of a computed one as of an expression, or,
    /// unless `as_expression`, as of a temporary table's column.
    pub(super) fn merge(&mut self, as_expression: bool) {
        let name = &self.name;
        let origin = self
            .origin
            .get_or_insert_with(|| ColumnOrigin::computed(name));
        origin.is_merged = as_expression && !origin.is_of_table();
        // A table made from it has the BIT.
        if self.client_type.chooses_bits() {
            self.client_type = ClientType::Kept(TypeKind::Bit);
        }
        if !as_expression {
            self.become_column();
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
    /// Whether MySQL may merge the derived table into the outer query: no aggregation, no DISTINCT, no LIMIT, no set
    /// operation, at least one table.
    pub(crate) mergeable: bool,
    /// Whether a subquery among its values depends on its rows: MySQL then does not merge the derived table.
    pub(crate) kept: bool,
    /// Reasons for a temporary table in MySQL, for a single query block.
    pub(crate) buffering: Buffering,
    /// Sets of columns (positions in `columns`) in which no two rows are equal.
    pub(crate) unique_keys: Vec<Vec<usize>>,
}

impl Block {
    /// Gives the columns of a query block that is not merged the types that table columns have.
    pub(crate) fn settle_types(&mut self) {
        if self.mergeable && !self.kept {
            return;
        }
        for column in &mut self.columns {
            column.constant = None;
            if !self.mergeable {
                column.ty.temporal_text = false;
            }
            let own = std::mem::take(&mut column.buffered);
            if own != Buffered::Aggregate && column.settle_bits() {
                continue;
            }
            let ty = own.of_derived(&column.ty);
            let Some(ty) =
                ty.filter(|_| !matches!(column.ty.kind, TypeKind::Float | TypeKind::Double))
            else {
                continue;
            };
            if ty.physical() == column.ty.physical() {
                column.ty = ty;
                column.client_type = ClientType::Plain;
            } else if ty.kind == TypeKind::VarChar {
                column.client_type = ClientType::Choice(ty.kind);
            }
        }
    }
}

/// Whether two column identifiers are equal, ignoring case.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
        || (!a.is_ascii() && !b.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
