//! Lowering of shared results: common table expressions, and others that may have several readers.
//!
//! A result is lowered at its first reading, after those that it reads itself, so that a result only reads ones before
//! it. The outer columns that it reads become parameters of its own, whose values each of its scans gives.

use mayfly_types::Result;

use super::lowered::{Lowered, exact};
use super::{Frame, Lowering, internal};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{self, ColumnId, ColumnSet, Computed, Relation, SharedRelation};
use crate::tree::physical::{
    KeptResult, Operator, Purpose, SharedId, SharedResult, SharedSource, TemporaryTable,
};

impl Lowering {
    pub(super) fn shared_scan(
        &mut self,
        shared: usize,
        alias: String,
        columns: Vec<ColumnId>,
        outer: Vec<Computed>,
        working: bool,
    ) -> Result<Lowered> {
        let id = self.lower_shared(shared)?;
        let output = self.shared[shared].types.clone();
        let operator = if working {
            Operator::WorkingTable { shared: id, alias }
        } else {
            let mut arguments = Vec::new();
            for read in self.shared_outer[shared].clone() {
                let value = match outer.iter().find(|value| value.id == read.id) {
                    Some(value) => value.expression.clone(),
                    None => Expression::column(read.id, read.ty, read.nullable),
                };
                arguments.push((read.parameter, self.expression(value, &[])?));
            }
            Operator::SharedScan {
                shared: id,
                alias,
                arguments,
            }
        };
        let rows = self.estimates.shared(shared);
        Ok(self.numbering.lowered(operator, output, rows, columns))
    }

    /// Lowers a shared result at its first reading, after those that it reads itself.
    fn lower_shared(&mut self, shared: usize) -> Result<SharedId> {
        if let Some(id) = self.shared_ids[shared] {
            return Ok(id);
        }
        let definition = &mut self.shared[shared];
        let Some(source) = definition.source.take() else {
            return Err(internal("a common table expression reads itself"));
        };
        let (columns, types) = (definition.columns.clone(), definition.types.clone());
        let name = definition.name.clone();
        let names = definition.names.clone();
        let (readers, select_id) = (definition.readers, definition.select_id);
        let (kept_by, kept) = (definition.kept_by, definition.kept.take());
        let required: ColumnSet = columns.iter().copied().collect();
        self.frames.push(Frame::default());
        let lowered = self.shared_source(source, shared, &columns, &required);
        let frame = self.frames.pop().unwrap_or_default();
        let source = lowered?;
        self.shared_outer[shared] = frame.parameters;
        let cause = if readers > 1 {
            format!("common table expression {name} is read more than once")
        } else if matches!(source, SharedSource::Recursive { .. }) {
            format!("common table expression {name} reads its own rows")
        } else {
            let why = kept_by.unwrap_or("optimizer_switch derived_merge=off");
            format!("common table expression {name} is not merged: {why}")
        };
        let plain = TemporaryTable::new(Purpose::CommonTableExpression, cause);
        let temporary = kept.as_ref().map_or(plain, KeptResult::temporary);
        let temporary = self.sized(temporary, &columns, &types);
        let temporary = self.numbering.temporary(temporary);
        self.results.push(SharedResult {
            source,
            output: types,
            temporary,
            name,
            columns: names,
            select_id,
            kept,
        });
        Ok(SharedId(self.results.len() - 1))
    }

    /// Lowers the source of a shared result. The outer columns that it reads become parameters of its own.
    fn shared_source(
        &mut self,
        source: SharedRelation,
        shared: usize,
        columns: &[ColumnId],
        required: &ColumnSet,
    ) -> Result<SharedSource> {
        Ok(match source {
            SharedRelation::Plain(relation) => {
                let lowered = self.relation(relation, required)?;
                let id = SharedId(self.results.len());
                self.shared_ids[shared] = Some(id);
                SharedSource::Plan(exact(lowered, columns)?)
            }
            SharedRelation::Recursive {
                seed,
                step,
                step_columns,
                distinct,
                enough,
            } => {
                let seed = self.relation(seed, required)?;
                let seed = exact(seed, columns)?;
                // Results that the step reads must come before: its id is only known after that, so they are lowered
                // first.
                self.lower_inner_shared(&step)?;
                self.shared_ids[shared] = Some(SharedId(self.results.len()));
                let wanted = step_columns.iter().copied().collect();
                let step = self.relation(step, &wanted)?;
                let step = exact(step, &step_columns)?;
                SharedSource::Recursive {
                    seed,
                    step,
                    distinct,
                    enough,
                }
            }
        })
    }

    fn lower_inner_shared(&mut self, relation: &Relation) -> Result<()> {
        let mut inner = Vec::new();
        collect_shared(relation, &mut inner);
        for shared in inner {
            self.lower_shared(shared)?;
        }
        Ok(())
    }
}

/// Shared results that a relation reads (except its own working table).
fn collect_shared(relation: &Relation, into: &mut Vec<usize>) {
    if let Relation::SharedScan {
        shared,
        working: false,
        ..
    } = relation
    {
        into.push(*shared);
    }
    relation.for_each_expression(&mut |expression| {
        logical::visit_expression(expression, &mut |inner| {
            if let ExpressionKind::LogicalSubquery(subquery) = &inner.kind {
                collect_shared(&subquery.relation, into);
            }
            true
        });
    });
    for input in relation.inputs() {
        collect_shared(input, into);
    }
}
