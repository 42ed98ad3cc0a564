//! Cache of a table's statistics for one statement: each question is answered once, however many rules ask it.
//!
//! Rules repeatedly ask for the number of rows that remain of a table, and most of the time nothing has changed in
//! between. The key of a question includes its expressions, so that an answer cannot be returned for another question:
//! a condition that a rule has added or moved makes another key.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::access::analysis::Analysis;
use crate::catalog::AskedStatistics;
use crate::statistics::ColumnStatistics;
use crate::tree::expression::{Expression, same_expressions};
use crate::tree::logical::ColumnId;

/// Maximum number of answers of a kind; further questions are answered each time.
const ANSWERS_MAX: usize = 32;

/// Cached answers to questions about expressions.
#[derive(Debug)]
pub(crate) struct Answers<K, A>(Mutex<Vec<(K, Vec<Expression>, A)>>);

impl<K, A> Default for Answers<K, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, A: Clone> Answers<K, A> {
    /// The cached answer, or that of `find`.
    pub(crate) fn get(&self, key: K, expressions: &[Expression], find: impl FnOnce() -> A) -> A {
        let known = self.0.lock().iter().find_map(|(known, about, answer)| {
            (*known == key && same_expressions(about, expressions)).then(|| answer.clone())
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
pub(crate) struct IndexRanges {
    pub(crate) analysis: Analysis,
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

/// Cached answers about a table.
#[derive(Debug, Default)]
pub(crate) struct TableAnswers {
    columns: Answers<usize, Option<Arc<ColumnStatistics>>>,
    /// Ranges by (first column, index position); a copy of the table has another first column.
    pub(crate) index_ranges: Answers<(ColumnId, usize), Option<Arc<IndexRanges>>>,
    pub(crate) column_ranges: Answers<ColumnId, Option<Arc<ColumnRanges>>>,
    /// (matching rows, all rows) of the known example rows, for conditions.
    pub(crate) counts: Answers<(), Option<(usize, usize)>>,
    /// Number of distinct values of an expression.
    pub(crate) distinct: Answers<(), Option<f64>>,
    /// (mean, variance) of the values of a column, by its index in the table.
    pub(crate) moments: Answers<usize, Option<(f64, f64)>>,
}

impl AskedStatistics {
    /// The cached answers.
    pub(crate) fn table(&self) -> &TableAnswers {
        self.answers()
    }

    /// Statistics of the values of a column.
    pub(crate) fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        let find = || self.statistics().column(column);
        self.table().columns.get(column, &[], find)
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
        let answers: Answers<usize, i64> = Answers::default();
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
