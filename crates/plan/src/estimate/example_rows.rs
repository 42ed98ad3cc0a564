//! Selectivity by sampling: conditions that cannot be expressed as ranges, and conditions on several columns, are
//! evaluated over example rows of their table, which the statistics store.
//!
//! Only immutable expressions over columns of one table are evaluated. Where evaluation is not possible the estimate is
//! worse, but no answer is wrong.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use mayfly_functions::scalar::Volatility;
use mayfly_functions::{Column, EvaluationContext};
use mayfly_types::convert::{CastContext, array_value, cast_array};
use mayfly_types::temporal::DateTime;
use mayfly_types::{Diagnostics, SqlMode, Value};

use super::columns::{Columns, TableFacts};
use crate::access::constant::known_value;
use crate::access::interval::ValueOrder;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet, with_stack};

/// Maximum byte position at which texts are compared; longer texts are too many to be counted.
const PLACES: usize = 12;

/// Selectivity of predicates over one table with example rows.
pub(crate) fn fraction(columns: &dyn Columns, predicates: &[Expression]) -> Option<f64> {
    let (found, all) = counted(columns, predicates)?;
    let all = all as f64;
    // No match in the sample does not prove selectivity 0, nor all matches 1: clamp.
    Some((found as f64 / all).clamp(0.3 / all, 1.0 - 0.3 / all))
}

/// Selectivity of the conjunction of predicates with the prior estimate `thought`: the prior counts as much as one
/// example row (the mean of a gamma distribution of rates after a Poisson sample). So few matching rows change it
/// little, none where many were expected changes it much, and many replace it.
pub(crate) fn fraction_together(
    columns: &dyn Columns,
    predicates: &[Expression],
    thought: f64,
) -> Option<f64> {
    let (found, all) = counted(columns, predicates)?;
    let thought = thought.max(f64::MIN_POSITIVE);
    Some((found as f64 + 1.0) / (all as f64 + 1.0 / thought))
}

/// (matching rows, all rows) of the example rows for predicates.
fn counted(columns: &dyn Columns, predicates: &[Expression]) -> Option<(usize, usize)> {
    let mut read = ColumnSet::new();
    read.add_read_by(predicates);
    let (table, _) = columns.table(read.iter().next()?)?;
    let find = || {
        let examples = Examples::of(columns, &read)?;
        Some((examples.meeting(predicates)?, examples.rows))
    };
    let asked = table.statistics.as_ref()?;
    asked.counts.get((), predicates, find)
}

/// Estimated number of distinct values of an expression in all rows of its table, from the example rows.
pub(crate) fn distinct(columns: &dyn Columns, expression: &Expression) -> Option<f64> {
    let read = expression.columns();
    let (table, _) = columns.table(read.iter().next()?)?;
    let find = || distinct_of(columns, &table, &read, expression);
    let asked = table.statistics.as_ref()?;
    asked
        .distinct
        .get((), std::slice::from_ref(expression), find)
}

fn distinct_of(
    columns: &dyn Columns,
    table: &TableFacts,
    read: &ColumnSet,
    expression: &Expression,
) -> Option<f64> {
    let examples = Examples::of(columns, read)?;
    let values = examples.column(expression)?;
    let mut values: Vec<Value> = (0..examples.rows)
        .map(|row| value_at(&values, row).into_owned())
        .filter(|value| !value.is_null())
        .collect();
    let all = values.len() as f64;
    let (different, once) = different(&mut values, ValueOrder(expression.ty.collation));
    if different <= 1.0 {
        return Some(1.0);
    }
    // Duj1, as for the values of a column (`statistics::sample`).
    let part = (examples.rows as f64 / table.rows().max(1.0)).min(1.0);
    let estimated = different / (1.0 - (1.0 - part) * once / all);
    Some(estimated.min(texts_at_most(&values)))
}

/// (number of distinct values, number of values that occur once).
fn different(values: &mut [Value], order: ValueOrder) -> (f64, f64) {
    fn count<'a, T: 'a>(same: impl Iterator<Item = &'a [T]>) -> (f64, f64) {
        same.fold((0.0, 0.0), |(different, once), same| {
            (different + 1.0, once + f64::from(u8::from(same.len() == 1)))
        })
    }
    let key = |value: &Value| match value {
        Value::Bytes(text) => {
            let mut key = Vec::with_capacity(text.len());
            order.0.append_equality_key(text, &mut key);
            Some(key)
        }
        _ => None,
    };
    // The keys are computed once for each text and compared as bytes.
    if let Some(mut keys) = values.iter().map(key).collect::<Option<Vec<_>>>() {
        keys.sort_unstable();
        return count(keys.chunk_by(|a, b| a == b));
    }
    values.sort_unstable_by(|a, b| order.compare(a, b));
    count(values.chunk_by(|a, b| order.compare(a, b).is_eq()))
}

/// Maximum number of texts that consist of the bytes which occur at each position.
fn texts_at_most(texts: &[Value]) -> f64 {
    let mut most = 1.0;
    for place in 0..PLACES {
        let mut met = [false; 257];
        let mut is_any = false;
        for text in texts {
            let Value::Bytes(text) = text else {
                return f64::INFINITY;
            };
            let byte = text.get(place).map_or(256, |byte| usize::from(*byte));
            is_any |= byte < 256;
            met[byte] = true;
        }
        if !is_any {
            return most;
        }
        most *= met.iter().filter(|met| **met).count() as f64;
    }
    f64::INFINITY
}

/// Example rows of a table.
pub(super) struct Examples {
    columns: Vec<(ColumnId, ArrayRef)>,
    rows: usize,
}

impl Examples {
    /// Rows of some columns.
    pub(super) fn new(columns: Vec<(ColumnId, ArrayRef)>, rows: usize) -> Self {
        Self { columns, rows }
    }

    /// Number of rows that meet all of some predicates.
    pub(super) fn meeting(&self, predicates: &[Expression]) -> Option<usize> {
        let rows: Vec<usize> = (0..self.rows).collect();
        let truths = self.joined(predicates, false, &rows)?;
        Some(truths.iter().filter(|truth| **truth == Some(true)).count())
    }

    /// Example rows of the table that all of these columns belong to.
    fn of(columns: &dyn Columns, read: &ColumnSet) -> Option<Self> {
        let mut examples = Self {
            columns: Vec::new(),
            rows: 0,
        };
        let mut of_table = None;
        for id in read.iter() {
            let (table, column) = columns.table(id)?;
            let facts = table.column_with_values(column)?;
            let known = facts.statistics?;
            let place = (table.first, known.rows.to_bits());
            // Columns sampled at different times have different rows.
            if *of_table.get_or_insert(place) != place {
                return None;
            }
            let values = known.examples()?;
            examples.rows = values.len();
            examples.columns.push((id, Arc::clone(values)));
        }
        let mut columns = examples.columns.iter();
        let is_whole = columns.all(|(_, values)| values.len() == examples.rows);
        (examples.rows > 0 && is_whole).then_some(examples)
    }

    /// Truth of a predicate for each of some rows.
    fn truths(&self, predicate: &Expression, rows: &[usize]) -> Option<Vec<Option<bool>>> {
        let each = |truth: &dyn Fn(usize) -> Option<bool>| {
            let truths = rows.iter().map(|row| truth(*row));
            Some(truths.collect())
        };
        with_stack(|| match &predicate.kind {
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => {
                let order = ValueOrder(left.ty.collation);
                let (left, right) = (self.column(left)?, self.column(right)?);
                each(&|row| {
                    if let (Some(a), Some(b)) = (text_at(&left, row), text_at(&right, row)) {
                        return Some(comparison.holds(order.0.compare(a, b)));
                    }
                    let (a, b) = (value_at(&left, row), value_at(&right, row));
                    match (comparison, a.is_null() || b.is_null()) {
                        (Comparison::NullSafeEqual, true) => Some(a.is_null() && b.is_null()),
                        (_, true) => None,
                        _ => Some(comparison.holds(order.compare(&a, &b))),
                    }
                })
            }
            ExpressionKind::And(operands) => self.joined(operands, false, rows),
            ExpressionKind::Or(operands) => self.joined(operands, true, rows),
            ExpressionKind::Not(operand) => {
                let truths = self.truths(operand, rows)?;
                let opposites = truths.into_iter().map(|truth| truth.map(|truth| !truth));
                Some(opposites.collect())
            }
            ExpressionKind::IsNull(operand) => {
                let column = self.column(operand)?;
                each(&|row| Some(is_null_at(&column, row)))
            }
            ExpressionKind::InList {
                operand,
                list,
                negated,
            } => {
                let order = ValueOrder(operand.ty.collation);
                let column = self.column(operand)?;
                let has_null = list.iter().any(Value::is_null);
                let is_listed = |row: usize| match text_at(&column, row) {
                    Some(text) => list.iter().any(|one| match one {
                        Value::Bytes(one) => order.0.equals(text, one),
                        _ => false,
                    }),
                    None => {
                        let value = value_at(&column, row);
                        let mut list = list.iter().filter(|one| !one.is_null());
                        list.any(|one| order.compare(&value, one) == Ordering::Equal)
                    }
                };
                each(&|row| {
                    if is_null_at(&column, row) {
                        return None;
                    }
                    let found = is_listed(row);
                    (found || !has_null).then_some(found != *negated)
                })
            }
            ExpressionKind::Literal(_) | ExpressionKind::Call { .. } => {
                let column = self.column(predicate)?;
                each(&|row| match *value_at(&column, row) {
                    Value::Int(number) => Some(number != 0),
                    Value::UInt(number) => Some(number != 0),
                    Value::Float(number) => Some(number != 0.0),
                    _ => None,
                })
            }
            _ => None,
        })
    }

    /// AND, or OR if `deciding`; rows that are decided are not evaluated further.
    fn joined(
        &self,
        operands: &[Expression],
        deciding: bool,
        rows: &[usize],
    ) -> Option<Vec<Option<bool>>> {
        let mut all = vec![Some(!deciding); rows.len()];
        let mut open: Vec<usize> = (0..rows.len()).collect();
        for operand in operands {
            let asked: Vec<usize> = open.iter().map(|at| rows[*at]).collect();
            for (at, truth) in open.iter().zip(self.truths(operand, &asked)?) {
                all[*at] = match (all[*at], truth) {
                    (_, Some(one)) if one == deciding => Some(deciding),
                    (None, _) | (_, None) => None,
                    _ => Some(!deciding),
                };
            }
            open.retain(|at| all[*at] != Some(deciding));
        }
        Some(all)
    }

    /// Value of an expression for each example row.
    fn column(&self, expression: &Expression) -> Option<Column> {
        match &expression.kind {
            ExpressionKind::Column(id) => {
                let mut columns = self.columns.iter();
                let (_, values) = columns.find(|(known, _)| known == id)?;
                Some(Column::Array(Arc::clone(values)))
            }
            ExpressionKind::Literal(value) => Some(Column::Constant(value.clone())),
            _ => with_stack(|| self.computed(expression)),
        }
    }

    fn computed(&self, expression: &Expression) -> Option<Column> {
        if let Some(value) = known_value(expression, &[], SqlMode::DEFAULT) {
            return Some(Column::Constant(value));
        }
        let context = EvaluationContext::new(Arc::default(), Arc::new(Diagnostics::new(0)), 0);
        match &expression.kind {
            ExpressionKind::Cast(inner, _) => {
                let Column::Array(array) = self.column(inner)? else {
                    return None;
                };
                let cast = CastContext {
                    sql_mode: SqlMode::DEFAULT,
                    diagnostics: &context.diagnostics,
                    time_zone: &context.session.time_zone,
                    now: DateTime::default(),
                    operand: "",
                    room: None,
                };
                let array = cast_array(&array, &inner.ty, &expression.ty, &cast).ok()?;
                Some(Column::Array(array))
            }
            ExpressionKind::Call {
                function,
                arguments,
                signature,
            } if function.volatility() == Volatility::Immutable => {
                let arguments = arguments.iter().map(|argument| self.column(argument));
                let arguments = arguments.collect::<Option<Vec<_>>>()?;
                let array = function.evaluate(&arguments, self.rows, signature, &context);
                array.ok().map(Column::Array)
            }
            _ => None,
        }
    }
}

fn value_at(column: &Column, row: usize) -> Cow<'_, Value> {
    match column {
        Column::Constant(value) => Cow::Borrowed(value),
        Column::Array(array) => Cow::Owned(array_value(array, row)),
    }
}

/// Text of a column in a row, borrowed.
fn text_at(column: &Column, row: usize) -> Option<&[u8]> {
    match column {
        Column::Constant(Value::Bytes(text)) => Some(text),
        Column::Constant(_) => None,
        Column::Array(array) => {
            let texts = array.as_binary_view_opt()?;
            texts.is_valid(row).then(|| texts.value(row))
        }
    }
}

fn is_null_at(column: &Column, row: usize) -> bool {
    match column {
        Column::Constant(value) => value.is_null(),
        Column::Array(array) => array.is_null(row),
    }
}
