//! SUM(x) and AVG(x): exact for exact numbers, and for doubles rounded once at the end, so that
//! the result does not depend on the order of the rows (see [`super::exact_sum`]).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Decimal128Array, Decimal256Array, Float64Array, Int64Array};
use arrow_buffer::{NullBuffer, i256};
use mayfly_types::decimal::{Decimal, Quotients, decimal_aggregate_type};
use mayfly_types::{CollationId, PhysicalType, Result, SqlType, TypeKind};

use super::exact_sum::ExactSums;
use super::growth::lengthen;
use super::small_sums::{SmallSums, Word};
use super::state::{self, States, Values};
use crate::scalar::operators::numeric;
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, derive, input, output};

/// Largest precision of numbers that fit 64 bits with room for sums of many.
const SMALL_PRECISION_MAX: u32 = 18;
/// Largest decimal precision for which the sum of 2^34 rows always fits 128 bits.
const NARROW_PRECISION_MAX: u32 = 28;

/// The types of SUM(), or of AVG(), whose result has more decimals.
pub(super) fn signature<const AVERAGES: bool>(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let argument = &binding.arguments[0];
    let (ty, sum) = match numeric::kind_of(argument.ty) {
        // Partial sums are passed as expansions: doubles with the same exact sum.
        numeric::Kind::Double => (
            SqlType::double(),
            SqlType::varchar(512, CollationId::BINARY),
        ),
        numeric::Kind::Integer => {
            let ty = numeric::integer_argument(argument.ty);
            (ty, SqlType::decimal(38, 0))
        }
        numeric::Kind::Decimal => {
            let ty = numeric::decimal_argument(argument);
            let is_narrow = ty.length <= NARROW_PRECISION_MAX;
            let sum = SqlType::decimal(if is_narrow { 38 } else { 65 }, ty.decimals);
            (ty, sum)
        }
    };
    let increment = AVERAGES.then_some(binding.session.div_precision_increment);
    let result = if ty.physical() == PhysicalType::Float64 {
        let sum = derive::double_of(argument);
        derive::double_of_decimals(sum.decimals.saturating_add(increment.unwrap_or(0)))
    } else {
        let counted = match argument.ty.kind {
            // MySQL counts the bits as digits here.
            TypeKind::Bit => {
                let bits = u8::try_from(argument.ty.length).unwrap_or(u8::MAX);
                SqlType::decimal(bits, 0)
            }
            _ => numeric::decimal_argument(argument),
        };
        decimal_aggregate_type(&counted, increment)
    };
    Ok(AggregateSignature {
        arguments: vec![ty],
        state: vec![sum, SqlType::bigint()],
        result,
        nullable: true,
    })
}

pub(super) fn states(
    signature: &AggregateSignature,
    averages: bool,
) -> Result<Box<dyn Accumulator>> {
    let argument = &signature.arguments[0];
    let is_small = match argument.physical() {
        PhysicalType::Decimal128(_) | PhysicalType::Decimal256(_) => {
            argument.length <= SMALL_PRECISION_MAX
        }
        _ => true,
    };
    let sums = match signature.state[0].physical() {
        PhysicalType::Bytes => Sums::Doubles(ExactSums::default()),
        _ if is_small => Sums::Small(SmallSums::default()),
        _ => Sums::Medium(SmallSums::default()),
    };
    Ok(Box::new(Totals::new(signature, averages, sums, Vec::new())))
}

pub(super) enum Sums {
    /// In 64 bits, with their own counts.
    Small(SmallSums<i64>),
    /// In 128 bits, with their own counts.
    Medium(SmallSums<i128>),
    /// Complete sums.
    Narrow(Vec<i128>),
    /// Complete sums.
    Wide(Vec<i256>),
    Doubles(ExactSums),
}

pub(super) struct Totals {
    averages: bool,
    signature: AggregateSignature,
    sums: Sums,
    /// Non-NULL rows by group, where the sums do not count them.
    counts: Vec<i64>,
}

/// The sum of many integers: their halves are summed in 64 bits, which the compiler vectorises.
fn sum_ints(values: &[i64]) -> i128 {
    let mut total = 0_i128;
    // 2^31 halves of 32 bits cannot overflow 64 bits.
    for chunk in values.chunks(1 << 24) {
        let (mut low, mut high) = (0_u64, 0_i64);
        for value in chunk {
            low += u64::from(*value as u32);
            high += value >> 32;
        }
        total += (i128::from(high) << 32) + i128::from(low);
    }
    total
}

impl Totals {
    /// Sums of groups, with the number of rows of each.
    pub(super) fn new(
        signature: &AggregateSignature,
        averages: bool,
        sums: Sums,
        counts: Vec<i64>,
    ) -> Self {
        Self {
            averages,
            signature: signature.clone(),
            sums,
            counts,
        }
    }

    fn group_count(&self) -> usize {
        match &self.sums {
            Sums::Small(sums) => sums.len(),
            Sums::Medium(sums) => sums.len(),
            Sums::Narrow(_) | Sums::Wide(_) | Sums::Doubles(_) => self.counts.len(),
        }
    }

    /// Resets to no groups.
    fn clear(&mut self) {
        match &mut self.sums {
            Sums::Small(sums) => sums.clear(),
            Sums::Medium(sums) => sums.clear(),
            Sums::Narrow(sums) => sums.clear(),
            Sums::Wide(sums) => sums.clear(),
            Sums::Doubles(sums) => sums.clear(),
        }
        self.counts = Vec::new();
    }

    /// The sum of a group that has rows.
    fn exact(&self, group: usize, scale: u8) -> Option<Decimal> {
        let (sum, count) = match &self.sums {
            Sums::Small(sums) => (sums.sum(group), sums.count(group)),
            Sums::Medium(sums) => (sums.sum(group), sums.count(group)),
            Sums::Narrow(sums) => (i256::from_i128(sums[group]), self.counts[group]),
            Sums::Wide(sums) => (sums[group], self.counts[group]),
            Sums::Doubles(_) => return None,
        };
        (count > 0).then(|| Decimal::new(sum, scale))
    }

    /// The results, if they are the 128-bit sums unchanged, which fit any result type.
    fn plain_sums(&self) -> Option<ArrayRef> {
        let result = &self.signature.result;
        if self.averages || result.decimals != self.signature.state[0].decimals {
            return None;
        }
        let sums = match &self.sums {
            Sums::Small(sums) => sums.narrow()?,
            Sums::Medium(sums) => sums.narrow()?,
            Sums::Narrow(_) | Sums::Wide(_) | Sums::Doubles(_) => return None,
        };
        let seen: Vec<bool> = sums.iter().map(|(_, count)| *count > 0).collect();
        let (seen, sums) = (state::validity(&seen), sums.iter().map(|(sum, _)| *sum));
        let data_type = result.physical().arrow();
        Some(match result.physical() {
            PhysicalType::Decimal128(_) => {
                let sums: Vec<i128> = sums.collect();
                Arc::new(Decimal128Array::new(sums.into(), seen).with_data_type(data_type))
            }
            PhysicalType::Decimal256(_) => {
                let sums: Vec<i256> = sums.map(i256::from_i128).collect();
                Arc::new(Decimal256Array::new(sums.into(), seen).with_data_type(data_type))
            }
            _ => return None,
        })
    }

    fn count(&self, group: usize) -> i64 {
        match &self.sums {
            Sums::Small(sums) => sums.count(group),
            Sums::Medium(sums) => sums.count(group),
            Sums::Narrow(_) | Sums::Wide(_) | Sums::Doubles(_) => self.counts[group],
        }
    }
}

/// Adds exact numbers of a type to the sums of their groups.
fn add_all<T: Word>(
    sums: &mut SmallSums<T>,
    ty: &SqlType,
    groups: &[u32],
    values: &Values<'_>,
    nulls: Option<&NullBuffer>,
) -> Result<()> {
    match values {
        Values::Ints(input::Numbers::Array(array)) if nulls.is_none() => {
            let values = array.values();
            sums.add_batch(groups, |row| values[row].into());
        }
        Values::Decimals(input::Decimals::Narrow(array))
            if nulls.is_none() && ty.length <= NARROW_PRECISION_MAX =>
        {
            let values = array.values();
            sums.add_batch(groups, |row| values[row]);
        }
        Values::Decimals(input::Decimals::Wide(array))
            if nulls.is_none() && array.values().iter().all(is_short) =>
        {
            let values = array.values();
            sums.add_batch(groups, |row| values[row].as_i128());
        }
        Values::Ints(input::Numbers::Array(array)) => {
            let values = array.values();
            state::for_each_valid(groups, nulls, [sums.places()], |group, row| {
                sums.add(group, i128::from(values[row]), 1);
            });
        }
        Values::UInts(input::Numbers::Array(array)) => {
            let values = array.values();
            state::for_each_valid(groups, nulls, [sums.places()], |group, row| {
                sums.add(group, i128::from(values[row]), 1);
            });
        }
        Values::Decimals(input::Decimals::Narrow(array)) => {
            let values = array.values();
            state::for_each_valid(groups, nulls, [sums.places()], |group, row| {
                sums.add(group, values[row], 1);
            });
        }
        Values::Decimals(values) => {
            for (row, group) in groups.iter().enumerate() {
                if let Some(value) = values.get(row) {
                    sums.add_wide(*group, value, 1);
                }
            }
        }
        _ => return Err(super::mismatch("sum")),
    }
    Ok(())
}

/// Whether a number is so small that a batch of such numbers can be summed in 128 bits.
fn is_short(value: &i256) -> bool {
    let (low, high) = value.to_parts();
    let low = low.cast_signed();
    high == low >> 127 && (low >> 95 == 0 || low >> 95 == -1)
}

/// Adds partial sums to the sums of their groups.
fn merge_all<T: Word>(
    sums: &mut SmallSums<T>,
    groups: &[u32],
    partial: &Values<'_>,
    counts: &input::Ints<'_>,
) -> Result<()> {
    let Values::Decimals(partial) = partial else {
        return Err(super::mismatch("sum"));
    };
    for (row, group) in groups.iter().enumerate() {
        let count = counts.get(row).unwrap_or(0);
        match partial {
            input::Decimals::Narrow(array) if array.is_valid(row) => {
                sums.add(*group, array.value(row), count);
            }
            partial => sums.add_wide(*group, partial.get(row).unwrap_or(i256::ZERO), count),
        }
    }
    Ok(())
}

/// Sums as a column of partial states.
fn state_column<T: Word>(sums: &SmallSums<T>, ty: &SqlType) -> ArrayRef {
    let groups = 0..sums.len();
    let data_type = ty.physical().arrow();
    match ty.physical() {
        PhysicalType::Decimal256(_) => {
            let sums = groups.map(|group| sums.sum(group));
            Arc::new(Decimal256Array::from_iter_values(sums).with_data_type(data_type))
        }
        _ => {
            let sums = groups.map(|group| sums.narrow_sum(group));
            Arc::new(Decimal128Array::from_iter_values(sums).with_data_type(data_type))
        }
    }
}

impl Accumulator for Totals {
    fn resize(&mut self, group_count: usize) {
        match &mut self.sums {
            Sums::Small(sums) => return sums.resize(group_count),
            Sums::Medium(sums) => return sums.resize(group_count),
            Sums::Narrow(sums) => lengthen(sums, group_count, 0),
            Sums::Wide(sums) => lengthen(sums, group_count, i256::ZERO),
            Sums::Doubles(sums) => sums.resize(group_count),
        }
        lengthen(&mut self.counts, group_count, 0);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let column = state::column(&arguments[0]);
        let ty = &self.signature.arguments[0];
        let values = state::values(&column, ty)?;
        let nulls = state::nulls(&arguments[0]);
        let counts = &mut self.counts[..];
        match (&mut self.sums, values) {
            (Sums::Small(sums), values) => add_all(sums, ty, groups, &values, nulls)?,
            (Sums::Medium(sums), values) => add_all(sums, ty, groups, &values, nulls)?,
            (Sums::Doubles(sums), Values::Floats(input::Numbers::Array(array))) => {
                let values = array.values();
                if nulls.is_none() {
                    sums.add_batch(groups, values, counts);
                    return Ok(());
                }
                let states = [sums.places(), States::of(counts)];
                state::for_each_valid(groups, nulls, states, |group, row| {
                    sums.add(group, values[row]);
                    counts[group as usize] += 1;
                });
            }
            _ => return Err(super::mismatch("sum")),
        }
        Ok(())
    }

    fn update_one_group(
        &mut self,
        group: u32,
        arguments: &[ArrayRef],
        row_count: usize,
        context: &EvaluationContext,
    ) -> Result<()> {
        if state::nulls(&arguments[0]).is_none() {
            let column = state::column(&arguments[0]);
            let values = state::values(&column, &self.signature.arguments[0])?;
            match (&mut self.sums, values) {
                (Sums::Small(sums), Values::Ints(input::Numbers::Array(array))) => {
                    sums.add(group, sum_ints(array.values()), row_count as i64);
                    return Ok(());
                }
                (Sums::Doubles(sums), Values::Floats(input::Numbers::Array(array))) => {
                    sums.add_all(group, array.values().iter().copied());
                    self.counts[group as usize] += row_count as i64;
                    return Ok(());
                }
                _ => {}
            }
        }
        self.update(&vec![group; row_count], arguments, context)
    }

    fn merge(
        &mut self,
        groups: &[u32],
        state: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let (sums, counts) = (state::column(&state[0]), state::column(&state[1]));
        let partial_counts = input::ints(&counts)?;
        let partial = state::values(&sums, &self.signature.state[0])?;
        match (&mut self.sums, partial) {
            (Sums::Small(sums), partial) => merge_all(sums, groups, &partial, &partial_counts),
            (Sums::Medium(sums), partial) => merge_all(sums, groups, &partial, &partial_counts),
            (Sums::Doubles(sums), Values::Texts(partial)) => {
                for (row, group) in groups.iter().enumerate() {
                    self.counts[*group as usize] += partial_counts.get(row).unwrap_or(0);
                    sums.merge(*group, partial.get(row).unwrap_or_default());
                }
                Ok(())
            }
            _ => Err(super::mismatch("sum")),
        }
    }

    fn states(&self) -> Result<Vec<ArrayRef>> {
        let ty = &self.signature.state[0];
        let (sums, counts): (ArrayRef, _) = match &self.sums {
            Sums::Small(sums) => (state_column(sums, ty), sums.counts()),
            Sums::Medium(sums) => (state_column(sums, ty), sums.counts()),
            Sums::Narrow(_) | Sums::Wide(_) => return Err(super::mismatch("sum")),
            Sums::Doubles(sums) => (sums.states()?, self.counts.clone()),
        };
        Ok(vec![sums, Arc::new(Int64Array::from(counts))])
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        let states = self.states()?;
        self.clear();
        Ok(states)
    }

    fn take_result(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let group_count = self.group_count();
        let result = &self.signature.result;
        let overflow = || {
            output::out_of_range(
                if result.is_integer() {
                    "BIGINT"
                } else {
                    "DOUBLE"
                },
                None,
            )
        };
        let array: ArrayRef = if let Sums::Doubles(sums) = &self.sums {
            let mut values = Vec::with_capacity(group_count);
            for (group, count) in self.counts.iter().enumerate() {
                let sum = sums.round(group);
                if !sum.is_finite() {
                    return Err(overflow());
                }
                values.push(if self.averages && *count > 0 {
                    sum / *count as f64
                } else {
                    sum
                });
            }
            let seen: Vec<bool> = self.counts.iter().map(|count| *count > 0).collect();
            Arc::new(Float64Array::new(values.into(), state::validity(&seen)))
        } else if let Some(sums) = self.plain_sums() {
            sums
        } else {
            let scale = self.signature.state[0].decimals;
            let quotients = Quotients::new(scale, 0, result.decimals);
            output::decimals(group_count, result, |group| {
                let Some(sum) = self.exact(group, scale) else {
                    return Ok(None);
                };
                let value = if self.averages {
                    let count = i256::from_i128(self.count(group).into());
                    quotients.quotient(sum.unscaled, count).transpose()
                } else {
                    let value = sum.rescale(result.decimals).and_then(Decimal::checked);
                    value.map(|value| Some(value.unscaled))
                };
                value.map_err(|_| output::out_of_range("DECIMAL", None))
            })?
        };
        self.clear();
        Ok(array)
    }

    fn memory_bytes(&self) -> usize {
        self.counts.capacity() * 8
            + match &self.sums {
                Sums::Small(sums) => sums.memory_bytes(),
                Sums::Medium(sums) => sums.memory_bytes(),
                Sums::Narrow(sums) => sums.capacity() * 16,
                Sums::Wide(sums) => sums.capacity() * 32,
                Sums::Doubles(sums) => sums.memory_bytes(),
            }
    }
}
