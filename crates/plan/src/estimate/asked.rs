//! The statistics of a table as one statement asks them: each question once, however many rules need the answer.
//!
//! Rules ask again and again how many rows of a table remain, and most of the time nothing has changed since the last
//! one asked. A question is known by the expressions that it is about, so that an answer cannot be one to something
//! else: a condition that a rule has added or moved makes another question.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::access::analysis::Analysis;
use crate::catalog::AskedStatistics;
use crate::statistics::ColumnStatistics;
use crate::tree::expression::{Expression, same_expressions};
use crate::tree::logical::ColumnId;

/// So many answers of a kind are kept; a statement with more questions has the others answered each time.
const ANSWERS_MAX: usize = 32;

/// Answers to questions about expressions.
#[derive(Debug)]
pub(crate) struct Answers<K, A>(Mutex<Vec<(K, Vec<Expression>, A)>>);

impl<K, A> Default for Answers<K, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, A: Clone> Answers<K, A> {
    /// The answer of before, or that of `find`.
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

/// What conditions leave of an index.
#[derive(Debug)]
pub(crate) struct IndexRanges {
    pub(crate) analysis: Analysis,
    /// How many ranges.
    pub(crate) count: f64,
    /// How many rows in them.
    pub(crate) rows: f64,
}

/// What conditions leave of the values of a column.
#[derive(Debug)]
pub(crate) struct ColumnRanges {
    /// The part of the rows.
    pub(crate) fraction: f64,
    /// For each condition whether the part takes account of it.
    pub(crate) counted: Vec<bool>,
}

/// What the statistics of a table have said.
#[derive(Debug, Default)]
pub(crate) struct TableAnswers {
    columns: Answers<usize, Option<Arc<ColumnStatistics>>>,
    /// By the number of the first column, which a copy of the table has another one of, and the position of the index.
    pub(crate) index_ranges: Answers<(ColumnId, usize), Option<Arc<IndexRanges>>>,
    pub(crate) column_ranges: Answers<ColumnId, Option<Arc<ColumnRanges>>>,
    /// How many of the rows that are known meet conditions, and how many are known.
    pub(crate) counts: Answers<(), Option<(usize, usize)>>,
    /// How many different values an expression has.
    pub(crate) distinct: Answers<(), Option<f64>>,
    /// The mean of the values of a column, by its number in the table, and their variance.
    pub(crate) moments: Answers<usize, Option<(f64, f64)>>,
}

impl AskedStatistics {
    /// What was answered so far.
    pub(crate) fn table(&self) -> &TableAnswers {
        self.answers()
    }

    /// What is known of the values of a column.
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

    /// An answer is only given again to the same question.
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
