//! Results that are kept for other statements: `SELECT /*+ RESULT_CACHE(60s) */ …` in a statement, a derived table, a
//! common table expression or a subquery.
//!
//! The block becomes a shared result ([`Shared`]), as a common table expression is one, which execution looks for
//! among the kept results before it computes it. A block is kept only if its rows follow from its text, the session's
//! settings, the parameters and user variables that it reads, and the rows of base tables: what reads the clock, chance,
//! the session or rows of its own is not, with a warning that says why.

use std::collections::BTreeSet;
use std::sync::Arc;

use mayfly_functions::FunctionRef;
use mayfly_functions::scalar::Fact;
use mayfly_syntax::ast::{Query, SetExpr};
use mayfly_types::Value;
use mayfly_types::error::codes;

use super::index_hints;
use crate::bind::binder::Binder;
use crate::bind::block::{Block, BlockColumn};
use crate::catalog::TableId;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    Relation, Shared, SharedRelation, needs_today, outer_columns, visit_expression, with_stack,
};
use crate::tree::physical::{Freshness, KeptResult};

/// Why a result is not kept.
type Reason = &'static str;

/// The hint of a query expression: that of its first SELECT.
fn hint(query: &Query) -> Option<Freshness> {
    let mut body = &*query.body;
    loop {
        body = match body {
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &query.body,
            SetExpr::Select(select) => return index_hints::result_cache(&select.optimizer_hints),
            SetExpr::Values(_) | SetExpr::Table(_) => return None,
        };
    }
}

/// What a block depends on.
#[derive(Default)]
struct Dependencies {
    tables: BTreeSet<TableId>,
    variables: BTreeSet<String>,
    shared: BTreeSet<usize>,
}

impl Dependencies {
    fn relation(&mut self, relation: &Relation, all: &[Shared]) -> Result<(), Reason> {
        match relation {
            Relation::Scan(scan) if scan.table.temporary => {
                return Err("it reads a temporary table");
            }
            Relation::Scan(scan) => {
                self.tables.insert(scan.table.id);
            }
            Relation::SharedScan {
                shared,
                working: true,
                ..
            } if !self.shared.contains(shared) => {
                return Err("it is a part of a recursive common table expression");
            }
            Relation::SharedScan { shared, .. } => self.shared(*shared, all)?,
            _ => {}
        }
        let mut found = Ok(());
        relation.for_each_expression(&mut |expression| {
            if found.is_ok() {
                found = self.expression(expression, all);
            }
        });
        found?;
        with_stack(|| {
            let mut inputs = relation.inputs().into_iter();
            inputs.try_for_each(|input| self.relation(input, all))
        })
    }

    fn shared(&mut self, shared: usize, all: &[Shared]) -> Result<(), Reason> {
        if !self.shared.insert(shared) {
            return Ok(());
        }
        match all.get(shared).and_then(|shared| shared.source.as_ref()) {
            Some(SharedRelation::Plain(relation)) => self.relation(relation, all),
            Some(SharedRelation::Recursive { seed, step, .. }) => {
                self.relation(seed, all)?;
                self.relation(step, all)
            }
            None => Err("it is a part of a recursive common table expression"),
        }
    }

    fn expression(&mut self, expression: &Expression, all: &[Shared]) -> Result<(), Reason> {
        let mut found = Ok(());
        visit_expression(expression, &mut |inner| {
            if found.is_ok() {
                found = self.part(inner, all);
            }
            found.is_ok()
        });
        found
    }

    fn part(&mut self, expression: &Expression, all: &[Shared]) -> Result<(), Reason> {
        if needs_today(expression) {
            return Err("it depends on the time of the statement");
        }
        match &expression.kind {
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => {
                if function.has(Fact::SetsVariable) {
                    return Err("it sets a user variable");
                }
                if function.has(Fact::NotInDefinitions) || function.has(Fact::OnlyInDefaults) {
                    return Err("a function in it depends on more than its arguments");
                }
                if matches!(function, FunctionRef::Stored(_)) {
                    return Err("it calls a stored function");
                }
                if function.has(Fact::ReadsVariable) {
                    let name = arguments.first().map(|name| &name.kind);
                    let Some(ExpressionKind::Literal(Value::Bytes(name))) = name else {
                        return Err("it reads a user variable");
                    };
                    let name = String::from_utf8_lossy(name).into_owned();
                    self.variables.insert(name);
                }
                Ok(())
            }
            ExpressionKind::LogicalSubquery(subquery) => self.relation(&subquery.relation, all),
            ExpressionKind::Subquery(_) => Err("a subquery in it is planned already"),
            _ => Ok(()),
        }
    }
}

impl Binder<'_> {
    /// The result to keep of a bound query expression; `None` without the hint, and, with a warning, where it cannot be
    /// kept.
    pub(super) fn kept_result(&mut self, query: &Query, block: &Block) -> Option<KeptResult> {
        let freshness = hint(query)?;
        match self.dependencies(query, block) {
            Ok((text, dependencies)) => Some(KeptResult {
                text: Arc::from(text),
                freshness,
                tables: dependencies.tables.into_iter().collect(),
                variables: dependencies.variables.into_iter().collect(),
            }),
            Err(reason) => {
                let text = format!("Hint RESULT_CACHE is ignored: {reason}");
                self.catalog.warn(codes::ER_UNKNOWN_ERROR.with(&[&text]));
                None
            }
        }
    }

    fn dependencies(&self, query: &Query, block: &Block) -> Result<(String, Dependencies), Reason> {
        if self.options.sets_variables {
            return Err("the statement sets user variables");
        }
        if !outer_columns(&[&block.relation]).is_empty() {
            return Err("it depends on rows of an outer query");
        }
        let mut dependencies = Dependencies::default();
        dependencies.relation(&block.relation, &self.shared)?;
        let mut text = query.to_string();
        if text.contains("@@") {
            return Err("it reads a system variable");
        }
        // Names in the text may mean common table expressions around it.
        for cte in &self.ctes {
            text += "\0";
            text += &cte.text;
        }
        Ok((text, dependencies))
    }

    /// Puts a shared result in the place of a block's relation. `readers_before` are the readers of the shared results
    /// before the block was bound.
    pub(super) fn keep(&mut self, block: &mut Block, kept: KeptResult, readers_before: &[usize]) {
        block.settle_types();
        let now = self.shared.iter().map(|known| known.readers).enumerate();
        let before = |known: usize| readers_before.get(known).copied().unwrap_or(0);
        let reads = now.map(|(known, now)| (known, now.saturating_sub(before(known))));
        let reads = reads.filter(|(_, count)| *count > 0).collect();
        let columns = block.columns.iter();
        let shared = self.shared.len();
        self.shared.push(Shared {
            name: format!("select#{}", block.select_id),
            names: columns.clone().map(|column| column.name.clone()).collect(),
            columns: columns.clone().map(|column| column.id).collect(),
            types: columns.map(|column| column.ty.clone()).collect(),
            source: Some(SharedRelation::Plain(
                block.relation.take().block_of(block.select_id),
            )),
            readers: 1,
            reads,
            mergeable: false,
            kept_by: Some("hint RESULT_CACHE"),
            kept: Some(kept),
            select_id: block.select_id,
        });
        let first = self.new_columns(block.columns.len());
        block.columns.iter_mut().for_each(BlockColumn::copy);
        for (index, column) in block.columns.iter_mut().enumerate() {
            column.id = first + index;
        }
        block.relation = Relation::SharedScan {
            shared,
            alias: format!("select#{}", block.select_id),
            columns: block.columns.iter().map(|column| column.id).collect(),
            outer: Vec::new(),
            working: false,
        };
        block.mergeable = false;
    }

    /// The number of readers of each shared result.
    pub(super) fn readers(&self) -> Vec<usize> {
        self.shared.iter().map(|known| known.readers).collect()
    }
}
