//! Builders of result columns.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::builder::{BinaryViewBuilder, PrimitiveBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
    Int64Array, PrimitiveArray, UInt64Array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, i256};
use mayfly_memory::Reservation;
use mayfly_types::error::codes;
use mayfly_types::{Error, PhysicalType, Result, SqlType, Value};

use crate::input::Numbers;
use crate::scalar::strings::chars;
use crate::{Call, Column, EvaluationContext};

/// An array of a primitive physical type, computed row by row.
pub fn numbers<T: ArrowPrimitiveType>(
    row_count: usize,
    mut compute: impl FnMut(usize) -> Result<Option<T::Native>>,
) -> Result<ArrayRef> {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(row_count);
    for row in 0..row_count {
        builder.append_option(compute(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Int64 results, computed row by row.
pub(crate) fn ints(
    row_count: usize,
    compute: impl FnMut(usize) -> Result<Option<i64>>,
) -> Result<ArrayRef> {
    numbers::<Int64Type>(row_count, compute)
}

/// UInt64 results, computed row by row.
pub(crate) fn uints(
    row_count: usize,
    compute: impl FnMut(usize) -> Result<Option<u64>>,
) -> Result<ArrayRef> {
    numbers::<UInt64Type>(row_count, compute)
}

/// Float64 results, computed row by row.
pub fn floats(
    row_count: usize,
    compute: impl FnMut(usize) -> Result<Option<f64>>,
) -> Result<ArrayRef> {
    numbers::<Float64Type>(row_count, compute)
}

/// Bool results, computed row by row.
pub(crate) fn bools(
    row_count: usize,
    mut compute: impl FnMut(usize) -> Result<Option<bool>>,
) -> Result<ArrayRef> {
    let mut builder = arrow_array::builder::BooleanBuilder::with_capacity(row_count);
    for row in 0..row_count {
        builder.append_option(compute(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Length from which a string becomes a buffer of its own, without a copy.
const OWN_BUFFER_MIN: usize = 64 << 10;
/// Total bytes of a batch's strings up to which they are not charged: nearly all batches.
const UNCHARGED_MAX: usize = 256 << 10;

/// Memory of a column's strings, charged to the statement as long as the column, or a part of it, is referenced.
#[derive(Debug)]
pub struct TextCharge<'a> {
    bytes: usize,
    held: Option<Reservation>,
    context: &'a EvaluationContext,
}

/// A buffer of a column, with its reservation.
struct Charged {
    buffer: Buffer,
    _held: Arc<Reservation>,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl<'a> TextCharge<'a> {
    /// A charge of 0 bytes.
    pub fn new(context: &'a EvaluationContext) -> Self {
        Self {
            bytes: 0,
            held: None,
            context,
        }
    }

    /// Charges `bytes` more bytes of strings.
    #[inline]
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        let charged = self.held.as_ref().map_or(0, Reservation::bytes);
        if self.bytes > UNCHARGED_MAX && self.bytes as u64 > charged {
            self.charge(charged)?;
        }
        Ok(())
    }

    #[cold]
    fn charge(&mut self, charged: u64) -> Result<()> {
        let memory = &self.context.memory;
        let held = self.held.get_or_insert_with(|| memory.reservation());
        // In steps, so that short strings do not each reserve memory.
        let bytes = (self.bytes as u64).next_multiple_of(UNCHARGED_MAX as u64);
        memory.resize(held, bytes)?;
        self.context
            .made
            .fetch_add(bytes - charged, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the strings are large enough to be charged.
    pub fn is_charged(&self) -> bool {
        self.held.is_some()
    }

    /// The column of the strings: each of its buffers holds the charge, since other columns may share some of them.
    pub fn finish(self, column: BinaryViewArray) -> BinaryViewArray {
        let Some(held) = self.held.map(Arc::new) else {
            return column;
        };
        let buffers = column.data_buffers().iter().map(|buffer| {
            Buffer::from(bytes::Bytes::from_owner(Charged {
                buffer: buffer.clone(),
                _held: Arc::clone(&held),
            }))
        });
        let (views, nulls) = (column.views().clone(), column.nulls().cloned());
        BinaryViewArray::try_new(views, buffers.collect::<Vec<_>>(), nulls).unwrap_or(column)
    }
}

/// A column of strings under construction.
#[derive(Debug)]
pub struct TextColumn<'a> {
    builder: BinaryViewBuilder,
    charge: TextCharge<'a>,
}

impl<'a> TextColumn<'a> {
    /// An empty builder for `row_count` rows.
    pub fn new(row_count: usize, context: &'a EvaluationContext) -> Self {
        Self {
            builder: BinaryViewBuilder::with_capacity(row_count),
            charge: TextCharge::new(context),
        }
    }

    /// Appends a copy of a value.
    #[inline]
    pub fn append(&mut self, value: &[u8]) -> Result<()> {
        self.charge.add(value.len())?;
        self.builder.try_append_value(value).map_err(too_long)
    }

    /// Appends the contents of `buffer`, which it may take over.
    #[inline]
    fn append_buffer(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        if buffer.len() < OWN_BUFFER_MIN {
            return self.append(buffer);
        }
        let mut own = std::mem::take(buffer);
        if own.capacity() > own.len() + own.len() / 8 {
            own.shrink_to_fit();
        }
        self.charge.add(own.capacity())?;
        let length = u32::try_from(own.len()).map_err(too_long)?;
        let block = self.builder.append_block(own.into());
        let appended = self.builder.try_append_view(block, 0, length);
        appended.map_err(too_long)
    }

    /// Appends NULL.
    #[inline]
    pub fn append_null(&mut self) {
        self.builder.append_null();
    }

    /// Finishes the column.
    pub fn finish(mut self) -> ArrayRef {
        Arc::new(self.charge.finish(self.builder.finish()))
    }
}

fn too_long(error: impl std::fmt::Display) -> mayfly_types::Error {
    codes::ER_UNKNOWN_ERROR.with(&[&error])
}

/// Results of a call.
impl Call<'_> {
    /// A column with this value in every row of the call.
    pub(crate) fn constant(&self, value: &Value) -> ArrayRef {
        repeat(value, &self.signature.result, self.rows)
    }

    /// An argument, unchanged.
    pub(crate) fn unchanged(&self, index: usize) -> ArrayRef {
        match &self.arguments[index] {
            Column::Array(array) => Arc::clone(array),
            Column::Constant(value) => self.constant(value),
        }
    }

    /// A DOUBLE, or error 1690 when it is not finite.
    pub(crate) fn finite(&self, value: f64, text: impl FnOnce() -> String) -> Result<Option<f64>> {
        if value.is_finite() {
            Ok(Some(value))
        } else {
            Err(self.out_of_range("DOUBLE", text))
        }
    }

    /// Error 1690 for a result outside of the range of `kind`; `text` is the call with its values, used where the
    /// planner did not give its own text.
    pub(crate) fn out_of_range(&self, kind: &str, text: impl FnOnce() -> String) -> Error {
        match &self.signature.text {
            Some(text) => out_of_range(kind, Some(text)),
            None => out_of_range(kind, Some(&text())),
        }
    }
}

/// Bytes results: `compute` appends the value of a row to the (empty) buffer and returns whether it is not NULL.
pub(crate) fn texts(
    call: &Call<'_>,
    compute: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<ArrayRef> {
    group_texts(call.rows, call.context, compute)
}

/// [`texts`] for a function of one Bytes argument; NULL gives NULL.
pub(crate) fn mapped_texts(
    call: &Call<'_>,
    index: usize,
    mut compute: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool>,
) -> Result<ArrayRef> {
    let texts = call.texts(index)?;
    group_texts(call.rows, call.context, |row, out| match texts.get(row) {
        Some(text) => compute(text, out),
        None => Ok(false),
    })
}

/// [`texts`] for the groups of an aggregate function.
pub(crate) fn group_texts(
    row_count: usize,
    context: &EvaluationContext,
    mut compute: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<ArrayRef> {
    let mut column = TextColumn::new(row_count, context);
    let mut buffer = Vec::new();
    for row in 0..row_count {
        buffer.clear();
        if compute(row, &mut buffer)? {
            column.append_buffer(&mut buffer)?;
        } else {
            column.append_null();
        }
    }
    Ok(column.finish())
}

/// [`texts`] of documents: one that is longer than `max_allowed_packet` is NULL.
pub(crate) fn documents(
    call: &Call<'_>,
    compute: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<ArrayRef> {
    group_documents(call.rows, call.name, call.context, compute)
}

/// [`documents`] for the groups of the aggregate function `name`.
pub(crate) fn group_documents(
    row_count: usize,
    name: &str,
    context: &EvaluationContext,
    mut compute: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<ArrayRef> {
    group_texts(row_count, context, |row, out| {
        Ok(compute(row, out)? && chars::within_packet(out.len(), name, context)?)
    })
}

/// Bytes results that are parts of other values: nothing is computed, only copied.
pub(crate) fn borrowed_texts<'a>(
    call: &Call<'_>,
    mut compute: impl FnMut(usize) -> Result<Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    let mut column = TextColumn::new(call.rows, call.context);
    for row in 0..call.rows {
        match compute(row)? {
            Some(value) => column.append(value)?,
            None => column.append_null(),
        }
    }
    Ok(column.finish())
}

/// States of an aggregate function that are Bytes, already charged when they were made.
pub(crate) fn states(
    group_count: usize,
    mut append: impl FnMut(usize, &mut Vec<u8>) -> bool,
) -> Result<ArrayRef> {
    let mut builder = BinaryViewBuilder::with_capacity(group_count);
    let mut buffer = Vec::new();
    for group in 0..group_count {
        buffer.clear();
        if append(group, &mut buffer) {
            builder.try_append_value(&buffer).map_err(too_long)?;
        } else {
            builder.append_null();
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Decimal results of type `ty`: unscaled values at its scale, computed row by row.
pub fn decimals(
    row_count: usize,
    ty: &SqlType,
    mut compute: impl FnMut(usize) -> Result<Option<i256>>,
) -> Result<ArrayRef> {
    if let PhysicalType::Decimal128(_) = ty.physical() {
        let mut builder = PrimitiveBuilder::<Decimal128Type>::with_capacity(row_count)
            .with_data_type(ty.physical().arrow());
        for row in 0..row_count {
            let value = match compute(row)? {
                Some(value) => Some(
                    value
                        .to_i128()
                        .ok_or_else(|| out_of_range("DECIMAL", None))?,
                ),
                None => None,
            };
            builder.append_option(value);
        }
        return Ok(Arc::new(builder.finish()));
    }
    let mut builder = PrimitiveBuilder::<Decimal256Type>::with_capacity(row_count)
        .with_data_type(ty.physical().arrow());
    for row in 0..row_count {
        builder.append_option(compute(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Error 1690 for a result of `kind`; `text` is the expression, if known.
pub fn out_of_range(kind: &str, text: Option<&str>) -> mayfly_types::Error {
    codes::ER_DATA_OUT_OF_RANGE.with(&[&kind, &text.unwrap_or("expression")])
}

/// A column of NULLs.
pub fn nulls(ty: &SqlType, row_count: usize) -> ArrayRef {
    new_null_array(&ty.physical().arrow(), row_count)
}

/// A column with this value in every row.
pub fn repeat(value: &Value, ty: &SqlType, row_count: usize) -> ArrayRef {
    let physical = ty.physical();
    let decimal = |value: i256| -> ArrayRef {
        match physical {
            PhysicalType::Decimal128(_) => Arc::new(
                Decimal128Array::from_value(value.as_i128(), row_count)
                    .with_data_type(physical.arrow()),
            ),
            _ => Arc::new(
                Decimal256Array::from_value(value, row_count).with_data_type(physical.arrow()),
            ),
        }
    };
    match (value, physical) {
        (Value::Null, _) => nulls(ty, row_count),
        (Value::Int(value), PhysicalType::Bool) => Arc::new(BooleanArray::new(
            if *value == 0 {
                BooleanBuffer::new_unset(row_count)
            } else {
                BooleanBuffer::new_set(row_count)
            },
            None,
        )),
        (Value::Int(value), PhysicalType::UInt64) => {
            Arc::new(UInt64Array::from_value(value.cast_unsigned(), row_count))
        }
        (Value::Int(value), PhysicalType::Float64) => {
            Arc::new(Float64Array::from_value(*value as f64, row_count))
        }
        (Value::Int(value), _) => Arc::new(Int64Array::from_value(*value, row_count)),
        (Value::UInt(value), PhysicalType::Int64) => {
            Arc::new(Int64Array::from_value(value.cast_signed(), row_count))
        }
        (Value::UInt(value), _) => Arc::new(UInt64Array::from_value(*value, row_count)),
        (Value::Float(value), _) => Arc::new(Float64Array::from_value(*value, row_count)),
        (Value::Decimal { unscaled, .. }, _) => decimal(*unscaled),
        (Value::Bytes(bytes), _) => Arc::new(BinaryViewArray::from_iter_values(
            std::iter::repeat_n(bytes, row_count),
        )),
    }
}

/// A function of two primitive columns, NULL when either is. `compute` is also called with the (arbitrary) values
/// under NULLs, so that the loop has no branch.
pub fn binary<A, B, O>(
    left: Numbers<'_, A>,
    right: Numbers<'_, B>,
    row_count: usize,
    mut compute: impl FnMut(A::Native, B::Native) -> O::Native,
) -> PrimitiveArray<O>
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    match (left, right) {
        (Numbers::Array(left), Numbers::Array(right)) => {
            let nulls = NullBuffer::union(left.nulls(), right.nulls());
            let values = left.values().iter().zip(right.values().iter());
            let values: Vec<O::Native> = values.map(|(a, b)| compute(*a, *b)).collect();
            PrimitiveArray::new(values.into(), nulls)
        }
        (Numbers::Array(left), Numbers::Constant(Some(right))) => {
            let values: Vec<O::Native> = left.values().iter().map(|a| compute(*a, right)).collect();
            PrimitiveArray::new(values.into(), left.nulls().cloned())
        }
        (Numbers::Constant(Some(left)), Numbers::Array(right)) => {
            let values: Vec<O::Native> = right.values().iter().map(|b| compute(left, *b)).collect();
            PrimitiveArray::new(values.into(), right.nulls().cloned())
        }
        (Numbers::Constant(Some(left)), Numbers::Constant(Some(right))) => {
            PrimitiveArray::from_value(compute(left, right), row_count)
        }
        _ => PrimitiveArray::new_null(row_count),
    }
}

/// A function of one primitive column; like [`binary`].
pub fn unary<A: ArrowPrimitiveType, O: ArrowPrimitiveType>(
    argument: Numbers<'_, A>,
    row_count: usize,
    mut compute: impl FnMut(A::Native) -> O::Native,
) -> PrimitiveArray<O> {
    match argument {
        Numbers::Array(array) => {
            let values: Vec<O::Native> = array.values().iter().map(|a| compute(*a)).collect();
            PrimitiveArray::new(values.into(), array.nulls().cloned())
        }
        Numbers::Constant(Some(value)) => PrimitiveArray::from_value(compute(value), row_count),
        Numbers::Constant(None) => PrimitiveArray::new_null(row_count),
    }
}
