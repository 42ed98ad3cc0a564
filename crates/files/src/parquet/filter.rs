//! Terms that the reader of a row group evaluates before it reads the other columns: of rows that do not meet them nothing else is
//! decoded ("late materialization": Abadi et al., ICDE 2007).
//!
//! This pays while few rows meet the terms, which the row groups before show.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_engine::{CollationId, ColumnCondition, ColumnTerm, NumberRange, Value, passing_texts};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowPredicate, ArrowPredicateFn, RowFilter};

/// Rows that a scan has evaluated its terms on, and those of them that meet all.
#[derive(Debug, Default)]
pub(super) struct Passed {
    asked: AtomicU64,
    passed: AtomicU64,
}

/// Of how many rows at most one meets the terms, where they are evaluated first.
const SELECTIVE: u64 = 4;

impl Passed {
    /// Whether few rows meet the terms, as far as is known.
    pub(super) fn are_few(&self) -> bool {
        let passed = self.passed.load(Ordering::Relaxed);
        passed.saturating_mul(SELECTIVE) <= self.asked.load(Ordering::Relaxed)
    }
}

/// A condition on the values of a column, in the form that is evaluated.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// Numbers in a range; unscaled ones of decimals of a scale.
    Within(NumberRange, Option<u8>),
    /// Numbers among some, in order.
    Among(Vec<i128>, Option<u8>),
    /// Texts that equal one of some.
    Texts(Vec<Vec<u8>>, CollationId),
}

impl Condition {
    /// The condition of a term; `None` for one that is not evaluated here.
    pub(super) fn of(term: &ColumnTerm) -> Option<Self> {
        let number = |value: &Value| match value {
            Value::Int(number) => Some((i128::from(*number), None)),
            Value::UInt(number) => Some((i128::from(*number), None)),
            Value::Decimal { unscaled, scale } => Some((unscaled.to_i128()?, Some(*scale))),
            _ => None,
        };
        let within = |least: Option<(i128, _)>, greatest: Option<(i128, _)>| {
            let (_, scale) = least.or(greatest)?;
            let range = NumberRange {
                least: least.map_or(i128::MIN, |it| it.0),
                greatest: greatest.map_or(i128::MAX, |it| it.0),
            };
            Some(Self::Within(range, scale))
        };
        let moved = |value, by: i128| {
            let (number, scale) = number(value)?;
            Some((number.checked_add(by)?, scale))
        };
        match &term.condition {
            ColumnCondition::Equal(Value::Bytes(text)) => {
                Some(Self::Texts(vec![text.clone()], term.collation?))
            }
            ColumnCondition::Equal(value) => {
                let value = Some(number(value)?);
                within(value, value)
            }
            ColumnCondition::Less(value) => within(None, Some(moved(value, -1)?)),
            ColumnCondition::AtMost(value) => within(None, Some(number(value)?)),
            ColumnCondition::Greater(value) => within(Some(moved(value, 1)?), None),
            ColumnCondition::AtLeast(value) => within(Some(number(value)?), None),
            ColumnCondition::Among(values) => {
                let texts = values.iter().map(|value| match value {
                    Value::Bytes(text) => Some(text.clone()),
                    _ => None,
                });
                if let Some(texts) = texts.collect::<Option<Vec<_>>>() {
                    return Some(Self::Texts(texts, term.collation?));
                }
                let numbers: Vec<_> = values.iter().map(number).collect::<Option<_>>()?;
                let scale = numbers.first()?.1;
                let is_same = numbers.iter().all(|it| it.1 == scale);
                let mut numbers: Vec<i128> = numbers.into_iter().map(|it| it.0).collect();
                numbers.sort_unstable();
                is_same.then_some(Self::Among(numbers, scale))
            }
            ColumnCondition::Null | ColumnCondition::NotNull => None,
        }
    }

    /// The values of an array that meet the condition; `None` for arrays of another type.
    fn meets(&self, array: &ArrayRef) -> Option<BooleanArray> {
        let found = match (self, array.data_type()) {
            (Self::Within(range, None), DataType::Int64 | DataType::UInt64) => {
                range.rows_of(array).ok()?
            }
            (Self::Within(range, Some(scale)), DataType::Decimal128(_, of))
                if of.cast_unsigned() == *scale =>
            {
                range.rows_of(array).ok()?
            }
            (Self::Among(numbers, None), DataType::Int64) => {
                let values = array.as_primitive::<Int64Type>().values();
                collect(values, |it| numbers.binary_search(&it.into()).is_ok())
            }
            (Self::Among(numbers, None), DataType::UInt64) => {
                let values = array.as_primitive::<UInt64Type>().values();
                collect(values, |it| numbers.binary_search(&it.into()).is_ok())
            }
            (Self::Among(numbers, Some(scale)), DataType::Decimal128(_, of))
                if of.cast_unsigned() == *scale =>
            {
                let values = array.as_primitive::<Decimal128Type>().values();
                collect(values, |it| numbers.binary_search(&it).is_ok())
            }
            (Self::Texts(texts, collation), DataType::BinaryView) => {
                let is_among = |value: &[u8]| texts.iter().any(|it| collation.equals(value, it));
                passing_texts(array.as_binary_view(), is_among)
            }
            _ => return None,
        };
        Some(BooleanArray::new(found, array.nulls().cloned()))
    }
}

fn collect<T: Copy>(values: &[T], meets: impl Fn(T) -> bool) -> BooleanBuffer {
    BooleanBuffer::collect_bool(values.len(), |row| meets(values[row]))
}

/// Converts an array of a file's column to the engine's; `None` where a value is none, which the scan then says.
pub(super) type Convert = Arc<dyn Fn(&ArrayRef) -> Option<ArrayRef> + Send + Sync>;

/// The filter of a reader: conditions on columns, each given by the mask of its column.
pub(super) fn filter(
    conditions: Vec<(ProjectionMask, Condition, Convert)>,
    passed: &Arc<Passed>,
) -> RowFilter {
    let last = conditions.len().saturating_sub(1);
    let predicates = conditions.into_iter().enumerate();
    let predicates = predicates.map(|(at, (mask, condition, convert))| {
        let passed = Arc::clone(passed);
        let predicate = move |batch: RecordBatch| {
            let rows = batch.num_rows();
            let array = batch.columns().first().and_then(|array| convert(array));
            let found = array.and_then(|array| condition.meets(&array));
            let found =
                found.unwrap_or_else(|| BooleanArray::new(BooleanBuffer::new_set(rows), None));
            if at == 0 {
                passed.asked.fetch_add(rows as u64, Ordering::Relaxed);
            }
            if at == last {
                let count = found.true_count() as u64;
                passed.passed.fetch_add(count, Ordering::Relaxed);
            }
            Ok(found)
        };
        Box::new(ArrowPredicateFn::new(mask, predicate)) as Box<dyn ArrowPredicate>
    });
    RowFilter::new(predicates.collect())
}
