//! Binding: from names and MySQL's types to a logical plan.
//!
//! The binder walks the AST once. What it needs of the surroundings of an expression (visible
//! tables, the clause it stands in, the aggregates of its query block) lies in a stack of
//! [`scope::Scope`]s, one for each query block that is being bound, the innermost last; a name that
//! is not found in the innermost one is looked for further out, which makes a correlated subquery.
//!
//! Aggregates: an aggregate call becomes a new column of its query block. After the whole block is
//! bound, [`group`] puts an Aggregate below the expressions that stand above it and decides which
//! columns they may read.

mod change;
mod collation;
mod comparison;
mod expression;
mod from;
mod group;
mod index_hints;
mod locking;
mod own_reads;
mod parameters;
mod query;
mod rights;
mod scalar;
mod scope;
mod select;
mod types;
mod variables;
mod view_target;
mod with;

use std::sync::Arc;

use mayfly_functions::{Coercibility, SignatureContext};
use mayfly_syntax::ast;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType};

use crate::catalog::DefaultSource;
use crate::catalog::{Catalog, TableSource, Usage};
use crate::date_parameter::DateParameter;
use crate::expression::Expression;
use crate::logical::{ColumnId, Query, Shared};
use crate::options::PlanOptions;
use crate::physical::{ClientType, ColumnOrigin, OutputColumn, StatementLimit};

pub(crate) use change::{bind_delete, bind_update};
use collation::{claimed, dissolve_claims};
pub use expression::literal::as_number;
pub(crate) use expression::mirrored;
pub use expression::{LENGTH_CASTS, has_aggregates};
pub(crate) use from::{conjunction, conjuncts};
use index_hints::IndexHint;
pub use locking::RowLock;
pub(crate) use locking::{BoundLocks, bind_locking};
pub use parameters::parameter_type;
pub use scalar::{ChangedTable, ScalarColumn, ScalarNames, bind_returning, bind_scalar};
use scope::Scope;
pub(crate) use types::compare as compare_expression;
pub use view_target::{ViewTarget, bind_view_target};
use with::VisibleCte;

/// Binds a query to a logical plan; see [`crate::bind_query`] for the way to a physical one.
pub fn bind(query: &ast::Query, catalog: &dyn Catalog, options: &PlanOptions) -> Result<Query> {
    let mut binder = Binder::new(catalog, options);
    let mut block = binder.bind_query_expression(query, true)?;
    binder.show_variables(&mut block);
    Ok(binder.finish(block))
}

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
    /// Its value, with its claim.
    pub(crate) fn value(&self) -> Expression {
        let column = Expression::column(self.id, self.ty.clone(), self.nullable);
        claimed(column, self.claim)
    }

    /// It is copied into a temporary table, where there are no keys.
    fn copy(&mut self) {
        if let Some(origin) = &mut self.origin {
            origin.traits = origin.traits.copied();
        }
    }
}

/// A bound query expression.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) relation: crate::logical::Relation,
    pub(crate) columns: Vec<BlockColumn>,
    /// `select#` of its first query block.
    pub(crate) select_id: usize,
    /// What MySQL asks of a derived table that becomes part of the outer query: no aggregation, no
    /// DISTINCT, no LIMIT, no set operation, at least one table.
    pub(crate) mergeable: bool,
    /// Sets of columns (positions in `columns`) in which no two rows are equal.
    pub(crate) unique_keys: Vec<Vec<usize>>,
}

/// The state of binding one statement.
pub(crate) struct Binder<'a> {
    catalog: &'a dyn Catalog,
    options: &'a PlanOptions,
    context: SignatureContext,
    scopes: Vec<Scope>,
    ctes: Vec<VisibleCte>,
    shared: Vec<Shared>,
    tables: Vec<Arc<TableSource>>,
    /// The LIMIT of the whole statement.
    limit: Option<StatementLimit>,
    next_column: ColumnId,
    /// Outside of a query: the defaults of the columns, whose numbers are their positions.
    scalar_defaults: Vec<DefaultSource>,
    next_select: usize,
    /// The number of the query block that WITH stands before, until that is bound.
    reserved_select: Option<usize>,
    parameter_count: usize,
    /// The `?` that are compared with dates.
    date_parameters: Vec<DateParameter>,
    /// The innermost scope in which a name was found since this was last set to `None`.
    deepest: Option<usize>,
    /// What is bound is a value to be kept: variables have the scale of theirs.
    keeps_value: bool,
    /// How many `?` without a number were bound.
    placeholders_seen: usize,
    /// Outside of a query: where the row to be inserted begins among the columns.
    inserted: Option<usize>,
    /// The tables that the statement reads and changes.
    own_reads: own_reads::OwnReads,
    /// The views that are being bound, the innermost last.
    views: Vec<(String, String)>,
    /// What WITH CHECK OPTION asks of them.
    view_checks: view_target::ViewChecks,
    /// A statement that changes rows: views are merged whatever the optimizer is told.
    merges_views: bool,
    /// Index hints about query blocks that are named in them.
    block_hints: Vec<IndexHint>,
    /// How the tables of FROM are named.
    table_usage: Usage,
    /// The rights that tables below views are asked for with, by their positions.
    rights_below: Vec<(ColumnId, usize)>,
    /// A column of a query block claims something else for its collation than columns of tables do.
    has_claims: bool,
    /// DISTINCT of the query block that is begun next changes nothing: what is asked is whether a value
    /// is among its rows.
    ignores_distinct: bool,
    /// How many chains of operators are open around the expression that is being bound.
    open_chains: usize,
}

impl<'a> Binder<'a> {
    fn new(catalog: &'a dyn Catalog, options: &'a PlanOptions) -> Self {
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
            date_parameters: Vec::new(),
            deepest: None,
            keeps_value: false,
            placeholders_seen: 0,
            inserted: None,
            own_reads: own_reads::OwnReads::default(),
            views: Vec::new(),
            view_checks: view_target::ViewChecks::default(),
            merges_views: false,
            block_hints: Vec::new(),
            table_usage: Usage::Read,
            rights_below: Vec::new(),
            has_claims: false,
            ignores_distinct: false,
            open_chains: 0,
        }
    }

    fn finish(mut self, mut block: Block) -> Query {
        if self.has_claims {
            dissolve_claims(&mut block.relation, &mut self.shared);
        }
        let mut columns = Vec::with_capacity(block.columns.len());
        let mut output = Vec::with_capacity(block.columns.len());
        for column in block.columns {
            columns.push(column.id);
            output.push(OutputColumn {
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
            date_parameters: self.date_parameters,
            tables: self.tables,
            limit: self.limit,
        }
    }

    /// The number of the query block that is begun.
    fn new_select(&mut self) -> usize {
        if let Some(reserved) = self.reserved_select.take() {
            return reserved;
        }
        self.next_select += 1;
        self.next_select - 1
    }

    /// A fresh column number.
    fn new_column(&mut self) -> ColumnId {
        self.next_column += 1;
        self.next_column - 1
    }

    /// The first of `count` fresh column numbers.
    fn new_columns(&mut self, count: usize) -> ColumnId {
        self.next_column += count;
        self.next_column - count
    }

    /// The scope of the query block that is being bound.
    fn scope(&mut self) -> &mut Scope {
        self.scopes
            .last_mut()
            .expect("expressions are bound inside a scope")
    }
}

/// What this planner does not do yet: error 1235.
pub(crate) fn not_supported(what: &str) -> Error {
    codes::ER_NOT_SUPPORTED_YET.with(&[&what])
}

/// Whether two identifiers of columns are the same; their case does not matter.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
        || (!a.is_ascii() && !b.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
