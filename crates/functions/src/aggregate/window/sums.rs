//! SUM and AVG over frames: exact sums, from which leaving rows are subtracted.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, Float64Array};
use arrow_buffer::{NullBuffer, i256};
use mayfly_types::decimal::Decimal;
use mayfly_types::sql_type::DECIMAL_PRECISION_MAX;
use mayfly_types::{PhysicalType, Result, SqlType};

use super::frame::FrameAggregate;
use super::kernel::Kernel;
use super::sliding::boxed;
use crate::aggregate::exact_sum::ExactSums;
use crate::aggregate::function::{Accumulator, AggregateSignature};
use crate::aggregate::state;
use crate::aggregate::sum::{Sums, Totals};
use crate::{EvaluationContext, output};

pub(super) fn over_frames(
    signature: &AggregateSignature,
    averages: bool,
) -> Result<Box<dyn FrameAggregate>> {
    let is_wide = matches!(signature.state[0].physical(), PhysicalType::Decimal256(_));
    Ok(match (signature.arguments[0].physical(), is_wide) {
        (PhysicalType::Float64, _) => boxed(Doubles::new(averages)),
        (PhysicalType::Int64, _) => boxed(Exact::<Int64Type, i128>::new(signature, averages)),
        (PhysicalType::UInt64, _) => boxed(Exact::<UInt64Type, i128>::new(signature, averages)),
        (PhysicalType::Decimal128(_), false) => {
            boxed(Exact::<Decimal128Type, i128>::new(signature, averages))
        }
        (PhysicalType::Decimal128(_), true) => {
            boxed(Exact::<Decimal128Type, i256>::new(signature, averages))
        }
        (PhysicalType::Decimal256(_), _) => {
            boxed(Exact::<Decimal256Type, i256>::new(signature, averages))
        }
        _ => return Err(crate::aggregate::mismatch("sum")),
    })
}

/// Integer in which a sum is kept.
trait Sum: ArrowNativeTypeOp {
    fn results(sums: Vec<Self>) -> Sums;
}

impl Sum for i128 {
    fn results(sums: Vec<Self>) -> Sums {
        Sums::Narrow(sums)
    }
}

impl Sum for i256 {
    fn results(sums: Vec<Self>) -> Sums {
        Sums::Wide(sums)
    }
}

/// The values of a column.
struct Natives<'a, T: ArrowPrimitiveType> {
    values: &'a [T::Native],
    nulls: Option<&'a NullBuffer>,
}

impl<T: ArrowPrimitiveType> Natives<'_, T> {
    #[inline]
    fn get(&self, row: usize) -> Option<T::Native> {
        match self.nulls {
            Some(nulls) if nulls.is_null(row) => None,
            _ => Some(self.values[row]),
        }
    }
}

fn natives<'a, T: ArrowPrimitiveType>(arguments: &'a [ArrayRef]) -> Result<Natives<'a, T>> {
    let array = match arguments {
        [argument] => argument.as_primitive_opt::<T>(),
        _ => None,
    };
    let array = array.ok_or_else(|| crate::aggregate::mismatch("sum"))?;
    Ok(Natives {
        values: array.values(),
        nulls: array.nulls().filter(|nulls| nulls.null_count() > 0),
    })
}

/// Sums of integers and decimals.
struct Exact<T, S> {
    signature: AggregateSignature,
    averages: bool,
    sum: S,
    /// Number of rows that are not NULL.
    count: i64,
    sums: Vec<S>,
    counts: Vec<i64>,
    argument: PhantomData<fn(T)>,
}

impl<T, S: Sum> Exact<T, S> {
    fn new(signature: &AggregateSignature, averages: bool) -> Self {
        Self {
            signature: signature.clone(),
            averages,
            sum: S::default(),
            count: 0,
            sums: Vec::new(),
            counts: Vec::new(),
            argument: PhantomData,
        }
    }
}

impl<T, S> Kernel for Exact<T, S>
where
    T: ArrowPrimitiveType,
    T::Native: Into<S>,
    S: Sum,
{
    type Values<'a> = Natives<'a, T>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        natives(arguments)
    }

    fn clear(&mut self) {
        (self.sum, self.count) = (S::default(), 0);
    }

    #[inline]
    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if let Some(value) = values.get(row) {
            self.sum = self.sum.add_wrapping(value.into());
            self.count += 1;
        }
        Ok(())
    }

    #[inline]
    fn remove(&mut self, values: &Self::Values<'_>, row: usize) {
        if let Some(value) = values.get(row) {
            self.sum = self.sum.sub_wrapping(value.into());
            self.count -= 1;
        }
    }

    #[inline]
    fn push(&mut self, _is_same: bool, _context: &EvaluationContext) -> Result<()> {
        self.sums.push(self.sum);
        self.counts.push(self.count);
        Ok(())
    }

    fn take_results(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let sums = S::results(std::mem::take(&mut self.sums));
        let counts = std::mem::take(&mut self.counts);
        let results =
            Totals::new(&self.signature, self.averages, sums, counts).take_result(context)?;
        Ok(in_range(results, &self.signature.result))
    }

    fn memory_bytes(&self) -> usize {
        self.sums.capacity() * size_of::<S>() + self.counts.capacity() * 8
    }
}

/// Results as the column of a window keeps them: a number of more digits than a DECIMAL has is the largest one.
fn in_range(results: ArrayRef, ty: &SqlType) -> ArrayRef {
    let array = results.as_primitive_opt::<Decimal256Type>();
    let Some(array) = array.filter(|_| ty.length >= u32::from(DECIMAL_PRECISION_MAX)) else {
        return results;
    };
    let largest = Decimal::largest(DECIMAL_PRECISION_MAX, ty.decimals);
    let (least, most) = (largest.negate().unscaled, largest.unscaled);
    let kept = array.unary::<_, Decimal256Type>(|value| value.clamp(least, most));
    Arc::new(kept.with_data_type(ty.physical().arrow()))
}

/// Sums of doubles.
struct Doubles {
    averages: bool,
    /// Sum of a single group: the frame.
    sum: ExactSums,
    count: i64,
    results: Vec<f64>,
    seen: Vec<bool>,
}

impl Doubles {
    fn new(averages: bool) -> Self {
        let mut sum = ExactSums::default();
        sum.resize(1);
        Self {
            averages,
            sum,
            count: 0,
            results: Vec::new(),
            seen: Vec::new(),
        }
    }
}

impl Kernel for Doubles {
    type Values<'a> = Natives<'a, Float64Type>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        natives(arguments)
    }

    fn clear(&mut self) {
        self.sum.restart();
        self.count = 0;
    }

    #[inline]
    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if let Some(value) = values.get(row) {
            self.sum.add(0, value);
            self.count += 1;
        }
        Ok(())
    }

    #[inline]
    fn remove(&mut self, values: &Self::Values<'_>, row: usize) {
        if let Some(value) = values.get(row) {
            self.sum.add(0, -value);
            self.count -= 1;
        }
    }

    #[inline]
    fn push(&mut self, is_same: bool, _context: &EvaluationContext) -> Result<()> {
        let result = match self.results.last() {
            Some(last) if is_same => *last,
            _ => {
                let sum = self.sum.round(0);
                if !sum.is_finite() {
                    return Err(output::out_of_range("DOUBLE", None));
                }
                if self.averages && self.count > 0 {
                    sum / self.count as f64
                } else {
                    sum
                }
            }
        };
        self.results.push(result);
        self.seen.push(self.count > 0);
        Ok(())
    }

    fn take_results(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        let nulls = state::validity(&std::mem::take(&mut self.seen));
        Ok(Arc::new(Float64Array::new(results.into(), nulls)))
    }

    fn memory_bytes(&self) -> usize {
        self.sum.memory_bytes() + self.results.capacity() * 9
    }
}
