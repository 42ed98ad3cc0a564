//! MIN and MAX over frames by a monotonic queue. A row that a later row beats is never the result again, so the
//! candidates get worse from front to back; the front is the result, and is removed with its row.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryViewArray, PrimitiveArray};
use mayfly_types::{CollationId, PhysicalType, Result, SqlType, TypeKind};

use super::frame::FrameAggregate;
use super::kernel::Kernel;
use super::sliding::boxed;
use crate::EvaluationContext;
use crate::aggregate::function::AggregateSignature;
use crate::aggregate::{Keeps, state};
use crate::comparison::{compare_json, compare_texts};

pub(super) fn over_frames(
    signature: &AggregateSignature,
    keeps: Keeps,
    never_removes: bool,
) -> Result<Box<dyn FrameAggregate>> {
    let ty = signature.result.clone();
    Ok(match ty.physical() {
        PhysicalType::Int64 => boxed(Natives::<Int64Type>::new(ty, keeps, never_removes)),
        PhysicalType::UInt64 => boxed(Natives::<UInt64Type>::new(ty, keeps, never_removes)),
        PhysicalType::Float64 => boxed(Natives::<Float64Type>::new(ty, keeps, never_removes)),
        PhysicalType::Decimal128(_) => {
            boxed(Natives::<Decimal128Type>::new(ty, keeps, never_removes))
        }
        PhysicalType::Decimal256(_) => {
            boxed(Natives::<Decimal256Type>::new(ty, keeps, never_removes))
        }
        PhysicalType::Bytes => boxed(Strings {
            keeps,
            collation: ty.collation,
            is_json: ty.kind == TypeKind::Json,
            queue: Queue::new(never_removes),
            bytes: 0,
            results: BinaryViewBuilder::new(),
        }),
        PhysicalType::Bool => return Err(crate::aggregate::mismatch("min and max")),
    })
}

/// The candidates, each with its row number.
struct Queue<V> {
    candidates: VecDeque<(u64, V)>,
    never_removes: bool,
    entered: u64,
    left: u64,
}

impl<V> Queue<V> {
    fn new(never_removes: bool) -> Self {
        Self {
            candidates: VecDeque::new(),
            never_removes,
            entered: 0,
            left: 0,
        }
    }

    fn clear(&mut self) {
        self.candidates.clear();
        (self.entered, self.left) = (0, 0);
    }

    /// Adds a row; `is_better` says whether its value beats another. Removed candidates go to `beaten`.
    #[inline]
    fn enter(&mut self, value: V, is_better: impl Fn(&V, &V) -> bool, mut beaten: impl FnMut(V)) {
        if self.never_removes
            && let Some((_, front)) = self.candidates.front()
            && !is_better(&value, front)
        {
            return;
        }
        while let Some((_, last)) = self.candidates.back() {
            if !is_better(&value, last) {
                break;
            }
            if let Some((_, value)) = self.candidates.pop_back() {
                beaten(value);
            }
        }
        self.candidates.push_back((self.entered, value));
    }

    /// Removes the frame's first row.
    #[inline]
    fn leave(&mut self) -> Option<V> {
        self.left += 1;
        match self.candidates.front() {
            Some((row, _)) if *row < self.left => {
                self.candidates.pop_front().map(|(_, value)| value)
            }
            _ => None,
        }
    }

    fn front(&self) -> Option<&V> {
        self.candidates.front().map(|(_, value)| value)
    }
}

struct Natives<T: ArrowPrimitiveType> {
    ty: SqlType,
    keeps: Keeps,
    queue: Queue<T::Native>,
    results: Vec<T::Native>,
    valid: Vec<bool>,
}

impl<T: ArrowPrimitiveType> Natives<T> {
    fn new(ty: SqlType, keeps: Keeps, never_removes: bool) -> Self {
        Self {
            ty,
            keeps,
            queue: Queue::new(never_removes),
            results: Vec::new(),
            valid: Vec::new(),
        }
    }
}

impl<T: ArrowPrimitiveType> Kernel for Natives<T>
where
    T::Native: PartialOrd,
{
    type Values<'a> = &'a PrimitiveArray<T>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        let array = match arguments {
            [argument] => argument.as_primitive_opt::<T>(),
            _ => None,
        };
        array.ok_or_else(|| crate::aggregate::mismatch("min and max"))
    }

    fn clear(&mut self) {
        self.queue.clear();
    }

    #[inline]
    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if values.is_valid(row) {
            let value = values.value(row);
            let smallest = self.keeps == Keeps::Smallest;
            let is_better =
                |new: &T::Native, old: &T::Native| if smallest { new < old } else { new > old };
            self.queue.enter(value, is_better, |_| {});
        }
        self.queue.entered += 1;
        Ok(())
    }

    #[inline]
    fn remove(&mut self, _values: &Self::Values<'_>, _row: usize) {
        self.queue.leave();
    }

    #[inline]
    fn push(&mut self, _is_same: bool, _context: &EvaluationContext) -> Result<()> {
        let front = self.queue.front().copied();
        self.valid.push(front.is_some());
        self.results.push(front.unwrap_or_default());
        Ok(())
    }

    fn take_results(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let nulls = state::validity(&std::mem::take(&mut self.valid));
        let results = std::mem::take(&mut self.results);
        let array = PrimitiveArray::<T>::new(results.into(), nulls);
        Ok(Arc::new(array.with_data_type(self.ty.physical().arrow())))
    }

    fn memory_bytes(&self) -> usize {
        let candidate = size_of::<(u64, T::Native)>();
        self.queue.candidates.capacity() * candidate
            + self.results.capacity() * (size_of::<T::Native>() + 1)
    }
}

struct Strings {
    keeps: Keeps,
    collation: CollationId,
    is_json: bool,
    queue: Queue<Box<[u8]>>,
    /// Bytes of the candidates.
    bytes: usize,
    results: BinaryViewBuilder,
}

impl Kernel for Strings {
    type Values<'a> = &'a BinaryViewArray;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        let array = match arguments {
            [argument] => argument.as_binary_view_opt(),
            _ => None,
        };
        array.ok_or_else(|| crate::aggregate::mismatch("min and max"))
    }

    fn clear(&mut self) {
        self.queue.clear();
        self.bytes = 0;
    }

    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if values.is_valid(row) {
            let (keeps, is_json, collation) = (self.keeps, self.is_json, self.collation);
            let is_better = |new: &[u8], old: &[u8]| {
                let order = if is_json {
                    compare_json(new, old)
                } else {
                    compare_texts(new, old, collation)
                };
                // Of equal strings the least by bytes is the result.
                match (keeps, order) {
                    (_, Ordering::Equal) => new < old,
                    (Keeps::Smallest, order) => order.is_lt(),
                    (_, order) => order.is_gt(),
                }
            };
            let value: Box<[u8]> = values.value(row).into();
            let bytes = &mut self.bytes;
            *bytes += value.len();
            self.queue.enter(
                value,
                |new, old| is_better(new, old),
                |beaten| *bytes -= beaten.len(),
            );
        }
        self.queue.entered += 1;
        Ok(())
    }

    fn remove(&mut self, _values: &Self::Values<'_>, _row: usize) {
        if let Some(value) = self.queue.leave() {
            self.bytes -= value.len();
        }
    }

    fn push(&mut self, _is_same: bool, _context: &EvaluationContext) -> Result<()> {
        match self.queue.front() {
            Some(value) => self.results.append_value(value),
            None => self.results.append_null(),
        }
        Ok(())
    }

    fn take_results(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        Ok(Arc::new(self.results.finish()))
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.queue.candidates.capacity() * size_of::<(u64, Box<[u8]>)>()
    }
}
