//! Predicates of scans that are pushed down to the table: terms ([`ColumnTerm`]), which compare one column with a value
//! that is the same for all rows, and the rest of the predicate ([`ScanPredicate`]), for values that the table already
//! knows.
//!
//! The rest is still evaluated for each row that comes; terms in it only let a table leave out rows early.

use std::sync::Arc;

use mayfly_functions::Column;
use mayfly_plan::{Expression, ExpressionKind, physical};
use mayfly_storage::{ColumnCondition, ColumnId, ColumnTerm, ScanPredicate};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, Error, Result, TermOperator, TermShape, Value};

use super::scan_filter::conjuncts;
use crate::context::RunContext;
use crate::expression::Program;

/// A term whose values are computed when the statement runs.
struct PushedTerm {
    shape: TermShape,
    condition: PushedCondition,
}

enum PushedCondition {
    Compare(Program),
    Among(Vec<Value>),
    Null,
    NotNull,
}

/// A predicate that is pushed down to a table.
pub(super) struct PushedTerms {
    terms: Vec<PushedTerm>,
    /// Its conjuncts that may be evaluated more than once for a row.
    conjuncts: Vec<Program>,
}

impl PushedTerms {
    /// Terms, and the rest of the predicate of a table that makes use of it.
    pub(super) fn compile(
        terms: &[physical::PushedTerm],
        rest: Option<&Expression>,
    ) -> Result<Self> {
        let conjuncts = conjuncts(rest).iter().map(Program::compile);
        Ok(Self {
            terms: terms
                .iter()
                .map(PushedTerm::compile)
                .collect::<Result<_>>()?,
            conjuncts: conjuncts.filter(|it| !it.is_volatile()).collect(),
        })
    }

    /// The predicate of a scan of these columns.
    pub(super) fn predicate<'r>(
        &'r self,
        columns: &'r [ColumnId],
        run: &'r RunContext,
    ) -> PushedPredicate<'r> {
        PushedPredicate {
            conjuncts: &self.conjuncts,
            columns,
            run,
        }
    }

    /// Terms with their current values; `None` if no row meets all of them.
    ///
    /// # Errors
    /// Errors of computing a value.
    pub(super) fn now(&self, run: &RunContext) -> Result<Option<Vec<ColumnTerm>>> {
        self.terms
            .iter()
            .map(|term| term.now(run))
            .collect::<Result<_>>()
    }
}

/// A predicate within a run.
#[derive(Debug)]
pub(super) struct PushedPredicate<'r> {
    conjuncts: &'r [Program],
    /// Columns of the scan, which the conjuncts read by their indexes.
    columns: &'r [ColumnId],
    run: &'r RunContext,
}

impl ScanPredicate for PushedPredicate<'_> {
    fn select(&self, columns: &[ColumnId], values: &dyn Fn() -> Batch) -> Option<Vec<bool>> {
        let place = |read: usize| {
            columns
                .iter()
                .position(|known| *known == self.columns[read])
        };
        let knows = |it: &&Program| it.columns().all(|read| place(read).is_some());
        let mut conjuncts = self.conjuncts.iter().filter(knows).peekable();
        conjuncts.peek()?;
        let values = values();
        // No conjunct reads the columns that are not known.
        let read = (0..self.columns.len()).map(|read| {
            let place = place(read).unwrap_or_default();
            Arc::clone(values.column(place))
        });
        let batch = Batch::new(read.collect(), values.row_count());
        // Warnings are those of the rows that are made.
        let run = self.run.without_warnings();
        let mut selected = vec![true; batch.row_count()];
        for conjunct in conjuncts {
            // The statement itself raises the error, if it evaluates such a row.
            let kept = conjunct.select(&batch, &run).ok()?;
            for (row, selected) in selected.iter_mut().enumerate() {
                *selected &= kept.contains(row);
            }
        }
        Some(selected)
    }
}

impl PushedTerm {
    fn compile(term: &physical::PushedTerm) -> Result<Self> {
        let condition = match &term.predicate.kind {
            ExpressionKind::IsNull(_) => PushedCondition::Null,
            ExpressionKind::Not(_) => PushedCondition::NotNull,
            ExpressionKind::InList { list, .. } => {
                let values = list.iter().filter(|value| !value.is_null());
                PushedCondition::Among(values.cloned().collect())
            }
            ExpressionKind::Compare { left, right, .. } => {
                let value = match left.kind {
                    ExpressionKind::Column(_) => right,
                    _ => left,
                };
                PushedCondition::Compare(Program::compile(value))
            }
            _ => return Err(Error::internal("a term of another form is pushed down")),
        };
        Ok(Self {
            shape: term.shape,
            condition,
        })
    }

    /// The term with its current value; `None` if no row meets it, such as a comparison with NULL.
    fn now(&self, run: &RunContext) -> Result<Option<ColumnTerm>> {
        let condition = match &self.condition {
            PushedCondition::Among(values) if values.is_empty() => return Ok(None),
            PushedCondition::Among(values) => ColumnCondition::Among(values.clone()),
            PushedCondition::Null => ColumnCondition::Null,
            PushedCondition::NotNull => ColumnCondition::NotNull,
            PushedCondition::Compare(value) => {
                let value = match value.evaluate_rows(&[], 1, run)? {
                    Column::Constant(value) => value,
                    Column::Array(array) => array_value(&array, 0),
                };
                match (value, self.shape.operator) {
                    (Value::Null, _) => return Ok(None),
                    (value, TermOperator::Less) => ColumnCondition::Less(value),
                    (value, TermOperator::AtMost) => ColumnCondition::AtMost(value),
                    (value, TermOperator::Greater) => ColumnCondition::Greater(value),
                    (value, TermOperator::AtLeast) => ColumnCondition::AtLeast(value),
                    (value, _) => ColumnCondition::Equal(value),
                }
            }
        };
        Ok(Some(ColumnTerm {
            column: ColumnId(self.shape.column),
            condition,
            collation: self.shape.collation,
        }))
    }
}
