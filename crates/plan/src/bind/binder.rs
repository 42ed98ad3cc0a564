//! State of binding one statement, which all parts of the binder share.

use std::sync::Arc;

use mayfly_syntax::ast::Cte;

use super::block::{Block, BlockColumn};
use super::collation::dissolve_claims;
use super::scope::{IndexHint, Scope};
use crate::catalog::{Catalog, DefaultSource, TableId, TableSource, Usage};
use crate::options::PlanOptions;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Computed, JoinHint, Query, Shared};
use crate::tree::physical::{DateOperand, KeptResult, OutputColumn, StatementLimit};

/// State of binding one statement.
pub(crate) struct Binder<'a> {
    pub(super) catalog: &'a dyn Catalog,
    pub(super) options: &'a PlanOptions,
    pub(super) scopes: Vec<Scope>,
    pub(super) ctes: Vec<VisibleCte>,
    pub(super) shared: Vec<Shared>,
    pub(super) tables: Vec<Arc<TableSource>>,
    /// LIMIT of the whole statement.
    pub(super) limit: Option<StatementLimit>,
    /// What the statement's result is kept for other statements by, if it is.
    pub(super) kept: Option<KeptResult>,
    pub(super) next_column: ColumnId,
    /// Outside of a query: defaults of the columns, whose numbers are their positions.
    pub(super) scalar_defaults: Vec<DefaultSource>,
    pub(super) next_select: usize,
    /// Number reserved for the query block behind WITH, until that is bound.
    pub(super) reserved_select: Option<usize>,
    pub(super) parameter_count: usize,
    /// The `?` that are compared with dates.
    pub(super) date_operands: Vec<DateOperand>,
    /// Innermost scope in which a name was found since this was last reset to `None`.
    pub(super) deepest: Option<usize>,
    /// Innermost scope that received an aggregate since this was last reset to `None`.
    pub(super) deepest_aggregate: Option<usize>,
    /// Whether the bound value is stored: variables then keep their scale.
    pub(super) keeps_value: bool,
    /// Number of `?` without a number that were bound.
    pub(super) placeholders_seen: usize,
    /// Outside of a query: index of the first column of the row to be inserted.
    pub(super) inserted: Option<usize>,
    /// Tables that the statement reads and changes.
    pub(super) own_reads: OwnReads,
    /// (database, name) of the views that are being bound, the innermost last.
    pub(super) views: Vec<(String, String)>,
    /// WITH CHECK OPTION conditions of these views.
    pub(super) view_checks: ViewChecks,
    /// Whether the statement changes rows: views are then merged whatever `optimizer_switch` says.
    pub(super) merges_views: bool,
    /// Index hints that name another query block.
    pub(super) block_hints: Vec<IndexHint>,
    /// Join order hints.
    pub(super) join_hints: Vec<JoinHint>,
    /// Whether the next query block keeps its joins in order.
    pub(super) fixed_order: bool,
    /// Usage of the tables of FROM, for the check of rights.
    pub(super) table_usage: Usage,
    /// (position column, rights number) of the tables below views.
    pub(super) rights_below: Vec<(ColumnId, usize)>,
    /// Whether a column of a query block has another coercibility than table columns have.
    pub(super) has_claims: bool,
    /// Whether DISTINCT of the next query block has no effect: only membership among its rows matters.
    pub(super) ignores_distinct: bool,
    /// Number of open operator chains around the expression that is being bound.
    pub(super) open_chains: usize,
}

/// A common table expression in scope.
#[derive(Debug)]
pub(crate) struct VisibleCte {
    pub(super) name: String,
    /// Its definition in the statement's text, once it is bound.
    pub(super) text: String,
    /// Index among the statement's shared results.
    pub(super) shared: usize,
    pub(super) columns: Vec<BlockColumn>,
    /// State of its recursive part while that is bound.
    pub(super) recursive_part: Option<RecursivePart>,
    /// Columns of outer queries that it reads.
    pub(super) outer: Vec<Computed>,
    pub(super) unique_keys: Vec<Vec<usize>>,
    /// (offset, count) of a recursive one's LIMIT: its table may hold more rows than it gives.
    pub(super) limit: Option<(u64, u64)>,
    /// Number of query blocks that were open around its definition.
    pub(super) depth: usize,
    /// Its definition, to bind it again where a reference is merged; `None` if no reference can be.
    pub(super) again: Option<Definition>,
    /// Whether `AS MATERIALIZED` or `AS NOT MATERIALIZED` was written; `None` for a recursive one.
    pub(super) materialized: Option<bool>,
}

/// The definition of a common table expression, to be bound for each reference.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub(super) cte: Arc<Cte>,
    /// Number of `?` before it.
    pub(super) placeholders: usize,
}

/// State of a recursive part.
#[derive(Debug, Default)]
pub(super) struct RecursivePart {
    /// `select#` of the last query block that read the recursive table.
    pub(super) reader: Option<usize>,
}

/// A table or view under the statement's name for it.
#[derive(Debug, Clone)]
pub(super) struct NamedTable {
    pub(super) alias: String,
    /// (database, name) of a view.
    pub(super) view: Option<(String, String)>,
}

/// A table that the statement reads.
#[derive(Debug)]
pub(super) struct TableRead {
    pub(super) table: TableId,
    pub(super) named: NamedTable,
    pub(super) in_subquery: bool,
}

/// Tables that the statement reads and changes.
#[derive(Debug)]
pub(super) struct OwnReads {
    pub(super) reads: Vec<TableRead>,
    /// Changed tables, with the names that errors use for them.
    pub(super) changed: Vec<(TableId, NamedTable)>,
    /// Outermost view that is being bound.
    pub(super) view: Option<NamedTable>,
    /// Number of scopes of a query block that is in no subquery.
    pub(super) plain_depth: usize,
    /// Derived tables whose reads count.
    pub(super) derived: CountedDerived,
}

/// Derived tables whose reads count as those of the query block around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedDerived {
    /// Those that a hint merges: any other is computed before the first change.
    ByHint,
    /// Those of the FROM that is bound, where they are merged, too.
    Merged,
    /// All.
    All,
}

impl Default for OwnReads {
    fn default() -> Self {
        Self {
            reads: Vec::new(),
            changed: Vec::new(),
            view: None,
            plain_depth: 1,
            derived: CountedDerived::ByHint,
        }
    }
}

/// State of bound views: WITH CHECK OPTION conditions, and tables that cannot be changed through them.
#[derive(Debug, Default)]
pub(super) struct ViewChecks {
    /// Number of scopes inside the innermost view's own query block.
    pub(super) depth: usize,
    /// Whether an enclosing view has WITH CASCADED CHECK OPTION.
    pub(super) cascades: bool,
    /// WHERE and ON conditions of the innermost view.
    pub(super) selection: Vec<Expression>,
    /// Conditions of the views bound in the innermost one's FROM.
    pub(super) below: Vec<Expression>,
    /// Position columns of tables of those views that have outer joins.
    pub(super) fixed: Vec<ColumnId>,
}

impl<'a> Binder<'a> {
    pub(super) fn new(catalog: &'a dyn Catalog, options: &'a PlanOptions) -> Self {
        Self {
            catalog,
            options,
            scopes: Vec::new(),
            ctes: Vec::new(),
            shared: Vec::new(),
            tables: Vec::new(),
            limit: None,
            kept: None,
            next_column: 0,
            scalar_defaults: Vec::new(),
            next_select: 1,
            reserved_select: None,
            parameter_count: options.parameters.len(),
            date_operands: Vec::new(),
            deepest: None,
            deepest_aggregate: None,
            keeps_value: false,
            placeholders_seen: 0,
            inserted: None,
            own_reads: OwnReads::default(),
            views: Vec::new(),
            view_checks: ViewChecks::default(),
            merges_views: false,
            block_hints: Vec::new(),
            join_hints: Vec::new(),
            fixed_order: false,
            table_usage: Usage::Read,
            rights_below: Vec::new(),
            has_claims: false,
            ignores_distinct: false,
            open_chains: 0,
        }
    }

    pub(super) fn finish(mut self, mut block: Block) -> Query {
        if self.has_claims {
            dissolve_claims(&mut block.relation, &mut self.shared);
        }
        let mut columns = Vec::with_capacity(block.columns.len());
        let mut output = Vec::with_capacity(block.columns.len());
        for column in block.columns {
            columns.push(column.id);
            output.push(OutputColumn {
                buffered: column.buffered_result(),
                name: column.name,
                ty: column.ty,
                nullable: column.nullable,
                origin: column.origin,
                client_type: column.client_type,
            });
        }
        Query {
            relation: block.relation,
            columns,
            output,
            shared: self.shared,
            next_column: self.next_column,
            parameter_count: self.parameter_count,
            date_operands: self.date_operands,
            tables: self.tables,
            join_hints: self.join_hints,
            limit: self.limit,
            buffering: block.buffering,
            kept: self.kept,
        }
    }

    /// Number for a new query block.
    pub(super) fn new_select(&mut self) -> usize {
        if let Some(reserved) = self.reserved_select.take() {
            return reserved;
        }
        self.next_select += 1;
        self.next_select - 1
    }

    /// A fresh column number.
    pub(super) fn new_column(&mut self) -> ColumnId {
        self.next_column += 1;
        self.next_column - 1
    }

    /// Column number of a value; adds a computed column if the value is not a column.
    pub(super) fn column_of(
        &mut self,
        expression: Expression,
        computed: &mut Vec<Computed>,
    ) -> ColumnId {
        if let ExpressionKind::Column(id) = expression.kind {
            return id;
        }
        let id = self.new_column();
        computed.push(Computed { id, expression });
        id
    }

    /// First of `count` fresh column numbers.
    pub(super) fn new_columns(&mut self, count: usize) -> ColumnId {
        self.next_column += count;
        self.next_column - count
    }

    /// Scope of the query block that is being bound.
    pub(super) fn innermost(&self) -> &Scope {
        self.scopes
            .last()
            .expect("expressions are bound inside a scope")
    }

    /// Mutable scope of the query block that is being bound.
    pub(super) fn scope(&mut self) -> &mut Scope {
        self.scopes
            .last_mut()
            .expect("expressions are bound inside a scope")
    }
}
