//! Cache of a table's statistics for one statement: each question is answered once, however many rules ask it.
//!
//! Rules repeatedly ask for the number of rows that remain of a table, and most of the time nothing has changed in
//! between. The key of a question includes its expressions, so that an answer cannot be returned for another question:
//! a condition that a rule has added or moved makes another key.
//!
//! A scan in the tree holds its table's cache, so the cache is generic over the tree's types: `E` is an expression, `R`
//! the ranges of an index.

use std::fmt::{self, Debug};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::catalog::TableStatistics;
use crate::statistics::ColumnStatistics;

/// Maximum number of answers of a kind; further questions are answered each time.
const ANSWERS_MAX: usize = 32;

/// Expression that questions are about.
pub(crate) trait Computation: Clone {
    /// Whether the two are the same computation.
    fn is_same(&self, other: &Self) -> bool;
}

/// Cached answers to questions about expressions.
pub(crate) struct Answers<E, K, A>(Mutex<Vec<(K, Vec<E>, A)>>);

impl<E, K, A> Default for Answers<E, K, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<E: Computation, K: PartialEq, A: Clone> Answers<E, K, A> {
    /// The cached answer, or that of `find`.
    pub(crate) fn get(&self, key: K, expressions: &[E], find: impl FnOnce() -> A) -> A {
        let is_about = |about: &[E]| {
            let mut pairs = about.iter().zip(expressions);
            about.len() == expressions.len() && pairs.all(|(a, b)| a.is_same(b))
        };
        let known = self.0.lock().iter().find_map(|(known, about, answer)| {
            (*known == key && is_about(about)).then(|| answer.clone())
        });
        known.unwrap_or_else(|| {
            let answer = find();
            let mut answers = self.0.lock();
            if answers.len() < ANSWERS_MAX {
                answers.push((key, expressions.to_vec(), answer.clone()));
            }
            answer
        })
    }
}

/// Ranges of an index that conditions leave.
#[derive(Debug)]
pub(crate) struct IndexRanges<R> {
    pub(crate) analysis: R,
    /// Number of ranges.
    pub(crate) count: f64,
    /// Number of rows in the ranges.
    pub(crate) rows: f64,
}

/// Ranges of a column's values that conditions leave.
#[derive(Debug)]
pub(crate) struct ColumnRanges {
    /// Fraction of the rows.
    pub(crate) fraction: f64,
    /// For each condition whether the fraction accounts for it.
    pub(crate) counted: Vec<bool>,
}

/// Statistics of a table for one statement, with a cache of the answers.
pub(crate) struct AskedStatistics<E, R> {
    statistics: Arc<dyn TableStatistics>,
    columns: Answers<E, usize, Option<Arc<ColumnStatistics>>>,
    /// Ranges by (first column, index position); a copy of the table has another first column.
    pub(crate) index_ranges: Answers<E, (usize, usize), Option<Arc<IndexRanges<R>>>>,
    /// Ranges of values by the column's number in the statement.
    pub(crate) column_ranges: Answers<E, usize, Option<Arc<ColumnRanges>>>,
    /// (matching rows, all rows) of the known example rows, for conditions.
    pub(crate) counts: Answers<E, (), Option<(usize, usize)>>,
    /// (keys that lead to a row which meets the conditions, all keys) of example rows of another table, by their column's
    /// number in the statement and the unique column here.
    pub(crate) key_joins: Answers<E, (usize, usize), Option<(usize, usize)>>,
    /// Number of distinct values of an expression.
    pub(crate) distinct: Answers<E, (), Option<f64>>,
    /// (mean, variance) of the values of a column, by its index in the table.
    pub(crate) moments: Answers<E, usize, Option<(f64, f64)>>,
}

impl<E, R> AskedStatistics<E, R> {
    /// Statistics without cached answers.
    pub(crate) fn new(statistics: Arc<dyn TableStatistics>) -> Self {
        Self {
            statistics,
            columns: Answers::default(),
            index_ranges: Answers::default(),
            column_ranges: Answers::default(),
            counts: Answers::default(),
            key_joins: Answers::default(),
            distinct: Answers::default(),
            moments: Answers::default(),
        }
    }

    /// The underlying statistics.
    pub(crate) fn statistics(&self) -> &Arc<dyn TableStatistics> {
        &self.statistics
    }
}

impl<E: Computation, R> AskedStatistics<E, R> {
    /// Statistics of the values of a column.
    pub(crate) fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        let find = || self.statistics.column(column);
        self.columns.get(column, &[], find)
    }
}

/// Equality by identity, for the comparison of scans: neither statistics nor cached answers are compared.
impl<E, R> PartialEq for AskedStatistics<E, R> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl<E, R> Debug for AskedStatistics<E, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AskedStatistics")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use mayfly_types::{SqlType, TypeKind, Value};

    use super::Answers;
    use crate::tree::expression::Expression;

    /// An answer is returned only for an equal question.
    #[test]
    fn other_expressions_are_other_questions() {
        let literal =
            |value| Expression::literal(Value::Int(value), SqlType::integer(TypeKind::Int));
        let answers: Answers<Expression, usize, i64> = Answers::default();
        let found = Cell::new(0);
        let ask = |key, values: &[i64]| {
            let expressions: Vec<Expression> = values.iter().copied().map(literal).collect();
            answers.get(key, &expressions, || {
                found.set(found.get() + 1);
                found.get()
            })
        };
        let questions: [(usize, &[i64]); 5] =
            [(0, &[]), (1, &[]), (0, &[1]), (0, &[1, 2]), (0, &[2, 1])];
        for _ in 0..2 {
            for (number, (key, values)) in (1..).zip(questions) {
                assert_eq!(ask(key, values), number, "{key}: {values:?}");
            }
        }
    }
}
