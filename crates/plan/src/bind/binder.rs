//! The state of binding one statement, which every part of the binder reads and adds to.

use std::sync::Arc;

use mayfly_functions::SignatureContext;

use super::block::{Block, BlockColumn};
use super::collation::dissolve_claims;
use super::scope::{IndexHint, Scope};
use crate::catalog::{Catalog, DefaultSource, TableId, TableSource, Usage};
use crate::options::PlanOptions;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Computed, JoinHint, Query, Shared};
use crate::tree::physical::{DateOperand, OutputColumn, StatementLimit};

/// The state of binding one statement.
pub(crate) struct Binder<'a> {
    pub(super) catalog: &'a dyn Catalog,
    pub(super) options: &'a PlanOptions,
    pub(super) context: SignatureContext,
    pub(super) scopes: Vec<Scope>,
    pub(super) ctes: Vec<VisibleCte>,
    pub(super) shared: Vec<Shared>,
    pub(super) tables: Vec<Arc<TableSource>>,
    /// The LIMIT of the whole statement.
    pub(super) limit: Option<StatementLimit>,
    pub(super) next_column: ColumnId,
    /// Outside of a query: the defaults of the columns, whose numbers are their positions.
    pub(super) scalar_defaults: Vec<DefaultSource>,
    pub(super) next_select: usize,
    /// The number of the query block that WITH stands before, until that is bound.
    pub(super) reserved_select: Option<usize>,
    pub(super) parameter_count: usize,
    /// The `?` that are compared with dates.
    pub(super) date_operands: Vec<DateOperand>,
    /// The innermost scope in which a name was found since this was last set to `None`.
    pub(super) deepest: Option<usize>,
    /// The innermost scope that an aggregate was given to since this was last set to `None`.
    pub(super) deepest_aggregate: Option<usize>,
    /// What is bound is a value to be kept: variables have the scale of theirs.
    pub(super) keeps_value: bool,
    /// How many `?` without a number were bound.
    pub(super) placeholders_seen: usize,
    /// Outside of a query: where the row to be inserted begins among the columns.
    pub(super) inserted: Option<usize>,
    /// The tables that the statement reads and changes.
    pub(super) own_reads: OwnReads,
    /// The views that are being bound, the innermost last.
    pub(super) views: Vec<(String, String)>,
    /// What WITH CHECK OPTION asks of them.
    pub(super) view_checks: ViewChecks,
    /// A statement that changes rows: views are merged whatever `optimizer_switch` says.
    pub(super) merges_views: bool,
    /// Index hints about query blocks that are named in them.
    pub(super) block_hints: Vec<IndexHint>,
    /// Hints about the order of joins.
    pub(super) join_hints: Vec<JoinHint>,
    /// The query block that is bound next keeps its joins in order.
    pub(super) fixed_order: bool,
    /// How the tables of FROM are named.
    pub(super) table_usage: Usage,
    /// The rights that tables below views are asked for with, by their positions.
    pub(super) rights_below: Vec<(ColumnId, usize)>,
    /// A column of a query block claims something else for its collation than columns of tables do.
    pub(super) has_claims: bool,
    /// DISTINCT of the query block that is begun next changes nothing: what is asked is whether a value
    /// is among its rows.
    pub(super) ignores_distinct: bool,
    /// How many chains of operators are open around the expression that is being bound.
    pub(super) open_chains: usize,
}

/// A common table expression that names can mean.
#[derive(Debug)]
pub(crate) struct VisibleCte {
    pub(super) name: String,
    /// Its index among the statement's shared results.
    pub(super) shared: usize,
    pub(super) columns: Vec<BlockColumn>,
    /// While its own recursive part is bound.
    pub(super) recursive_part: Option<RecursivePart>,
    /// The columns of outer queries that it reads.
    pub(super) outer: Vec<Computed>,
    pub(super) unique_keys: Vec<Vec<usize>>,
    /// LIMIT of a recursive one: its table may hold more rows than it gives.
    pub(super) limit: Option<(u64, u64)>,
    /// How many query blocks were open around it.
    pub(super) depth: usize,
}

/// What the recursive part did so far.
#[derive(Debug, Default)]
pub(super) struct RecursivePart {
    /// `select#` of the last query block that read it.
    pub(super) reader: Option<usize>,
}

/// A table or view, as the statement names it.
#[derive(Debug, Clone)]
pub(super) struct NamedTable {
    pub(super) alias: String,
    /// The database and the name of a view.
    pub(super) view: Option<(String, String)>,
}

/// A table that the statement reads.
#[derive(Debug)]
pub(super) struct TableRead {
    pub(super) table: TableId,
    pub(super) named: NamedTable,
    pub(super) in_subquery: bool,
}

/// What the statement reads and changes.
#[derive(Debug)]
pub(super) struct OwnReads {
    pub(super) reads: Vec<TableRead>,
    /// The tables that are changed, and what errors call each.
    pub(super) changed: Vec<(TableId, NamedTable)>,
    /// The outermost view that is being bound.
    pub(super) view: Option<NamedTable>,
    /// Number of scopes of a query block that is in no subquery.
    pub(super) plain_depth: usize,
}

impl Default for OwnReads {
    fn default() -> Self {
        Self {
            reads: Vec::new(),
            changed: Vec::new(),
            view: None,
            plain_depth: 1,
        }
    }
}

/// While views are bound: what WITH CHECK OPTION asks, and what cannot be changed through them.
#[derive(Debug, Default)]
pub(super) struct ViewChecks {
    /// How many scopes there are inside the innermost view's own query block.
    pub(super) depth: usize,
    /// A view around has WITH CASCADED CHECK OPTION.
    pub(super) cascades: bool,
    /// The WHERE and the ON of the innermost view.
    pub(super) selection: Vec<Expression>,
    /// The conditions of the views that were bound in the innermost one's FROM.
    pub(super) below: Vec<Expression>,
    /// The positions of tables of those views that have outer joins.
    pub(super) fixed: Vec<ColumnId>,
}

impl<'a> Binder<'a> {
    pub(super) fn new(catalog: &'a dyn Catalog, options: &'a PlanOptions) -> Self {
        Self {
            catalog,
            options,
            context: options.signature_context(),
            scopes: Vec::new(),
            ctes: Vec::new(),
            shared: Vec::new(),
            tables: Vec::new(),
            limit: None,
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
                buffered: column.buffered.of_result(&column.ty),
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
        }
    }

    /// The number of the query block that is begun.
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

    /// The number of a value's column, which is computed if the value is none yet.
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

    /// The first of `count` fresh column numbers.
    pub(super) fn new_columns(&mut self, count: usize) -> ColumnId {
        self.next_column += count;
        self.next_column - count
    }

    /// The scope of the query block that is being bound.
    pub(super) fn innermost(&self) -> &Scope {
        self.scopes
            .last()
            .expect("expressions are bound inside a scope")
    }

    /// The scope of the query block that is being bound, to be changed.
    pub(super) fn scope(&mut self) -> &mut Scope {
        self.scopes
            .last_mut()
            .expect("expressions are bound inside a scope")
    }
}
