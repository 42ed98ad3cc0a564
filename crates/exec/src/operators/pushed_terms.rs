//! Predicates of scans that are pushed down to the table: terms ([`ColumnTerm`]), which compare one column with a value
//! that is the same for all rows, and the whole predicate ([`ScanPredicate`]), for values that the table already knows.
//!
//! The predicate is still evaluated for each row that comes: both only let a table leave out rows early.

use std::sync::Arc;

use mayfly_functions::Column;
use mayfly_plan::{Comparison, Expression, ExpressionKind};
use mayfly_storage::{ColumnCondition, ColumnId, ColumnTerm, ScanPredicate};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, PhysicalType, Result, TypeKind, Value};

use super::scan_filter::conjuncts;
use crate::context::RunContext;
use crate::expression::Program;

/// A term whose values are computed when the statement runs.
struct PushedTerm {
    /// Index of the column in the scan.
    place: usize,
    condition: PushedCondition,
}

enum PushedCondition {
    Compare(Comparison, Program),
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
    pub(super) fn compile(predicate: Option<&Expression>) -> Self {
        let terms = conjuncts(predicate).iter();
        let conjuncts = terms.clone().map(Program::compile);
        Self {
            terms: terms.filter_map(PushedTerm::compile).collect(),
            conjuncts: conjuncts.filter(|it| !it.is_volatile()).collect(),
        }
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

    /// Terms with their current values, of a scan of these columns.
    ///
    /// # Errors
    /// Errors of computing a value.
    pub(super) fn now(&self, columns: &[ColumnId], run: &RunContext) -> Result<Vec<ColumnTerm>> {
        let term = |term: &PushedTerm| {
            Ok(ColumnTerm {
                column: columns[term.place],
                condition: term.condition.now(run)?,
            })
        };
        self.terms.iter().map(term).collect()
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
    fn compile(term: &Expression) -> Option<Self> {
        let column = |expression: &Expression| match expression.kind {
            ExpressionKind::Column(place) => Some(place),
            _ => None,
        };
        let (place, condition) = match &term.kind {
            ExpressionKind::IsNull(operand) => (column(operand)?, PushedCondition::Null),
            ExpressionKind::Not(inner) => match &inner.kind {
                ExpressionKind::IsNull(operand) => (column(operand)?, PushedCondition::NotNull),
                _ => return None,
            },
            ExpressionKind::InList {
                operand,
                list,
                negated: false,
            } => {
                let values = list.iter().filter(|value| !value.is_null());
                let values = values.cloned().collect();
                (column(operand)?, PushedCondition::Among(values))
            }
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => {
                let (place, value, other, comparison) = match (&left.kind, &right.kind) {
                    (ExpressionKind::Column(place), _) => (*place, right, left, *comparison),
                    (_, ExpressionKind::Column(place)) => {
                        (*place, left, right, comparison.mirrored())
                    }
                    _ => return None,
                };
                // The collation of the comparison is that of its left side.
                let is_of_column = match other.ty.physical() {
                    PhysicalType::Bytes => {
                        other.ty.kind != TypeKind::Json && left.ty.collation == other.ty.collation
                    }
                    physical => value.ty.physical() == physical,
                };
                let is_range =
                    !matches!(comparison, Comparison::NotEqual | Comparison::NullSafeEqual);
                let value = Program::compile(value);
                // A value that fails or warns does so where a row is evaluated, or not at all.
                let is_constant =
                    value.is_alike() && value.is_total() && value.columns().next().is_none();
                if !is_of_column || !is_range || !is_constant {
                    return None;
                }
                (place, PushedCondition::Compare(comparison, value))
            }
            _ => return None,
        };
        Some(Self { place, condition })
    }
}

impl PushedCondition {
    fn now(&self, run: &RunContext) -> Result<ColumnCondition> {
        let (comparison, value) = match self {
            Self::Compare(comparison, value) => (comparison, value),
            Self::Among(values) if values.is_empty() => return Ok(ColumnCondition::Never),
            Self::Among(values) => return Ok(ColumnCondition::Among(values.clone())),
            Self::Null => return Ok(ColumnCondition::Null),
            Self::NotNull => return Ok(ColumnCondition::NotNull),
        };
        let value = match value.evaluate_rows(&[], 1, run)? {
            Column::Constant(value) => value,
            Column::Array(array) => array_value(&array, 0),
        };
        Ok(match (value, comparison) {
            (Value::Null, _) => ColumnCondition::Never,
            (value, Comparison::Less) => ColumnCondition::Less(value),
            (value, Comparison::LessOrEqual) => ColumnCondition::AtMost(value),
            (value, Comparison::Greater) => ColumnCondition::Greater(value),
            (value, Comparison::GreaterOrEqual) => ColumnCondition::AtLeast(value),
            (value, _) => ColumnCondition::Equal(value),
        })
    }
}
