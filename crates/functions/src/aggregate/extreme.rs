//! MIN(x), MAX(x) and ANY_VALUE(x): one of the values of the group. Strings are compared by their collation; of equal
//! ones the first by bytes is kept, so that the result does not depend on the order of the rows.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use mayfly_types::{CollationId, PhysicalType, Result, SqlType, TypeKind};

use super::bytes_store::BytesStore;
use super::growth::lengthen;
use super::state::{self, States};
use crate::comparison::compare_texts;
use crate::input::{Numbers, Texts};
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, derive, input, output};

/// Number of rows between the prefetch of a text and its comparison.
const TEXTS_AHEAD: usize = 16;

/// Which value of a group is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    Smallest,
    Largest,
    First,
}

impl Keeps {
    #[inline]
    fn replaces(self, candidate_to_current: Ordering) -> bool {
        match self {
            Self::Smallest => candidate_to_current.is_lt(),
            Self::Largest => candidate_to_current.is_gt(),
            Self::First => false,
        }
    }
}

/// The types of MIN() and MAX().
pub(super) fn signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let ty = binding.arguments[0].ty.without_display_width();
    Ok(signature_of(match ty.kind {
        TypeKind::Boolean => derive::int_of_width(1),
        TypeKind::Enum | TypeKind::Set => {
            // ENUM and SET compare as their strings; a BINARY would be padded. The members preserve the original type
            // for a table created from the result.
            let text = match ty.collation {
                CollationId::BINARY => SqlType::varchar(ty.length, ty.collation),
                _ => SqlType::char(ty.length, ty.collation),
            };
            SqlType {
                members: ty.members,
                ..text
            }
        }
        _ => ty,
    }))
}

/// The types of ANY_VALUE().
pub(super) fn any_signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let mut signature = signature_of(binding.arguments[0].ty.without_display_width());
    // NULL may be the first value, so a flag tells whether a row was seen.
    signature.state.push(SqlType::bigint());
    Ok(signature)
}

fn signature_of(ty: SqlType) -> AggregateSignature {
    let ty = SqlType {
        temporal_text: false,
        ..ty
    };
    AggregateSignature {
        arguments: vec![ty.clone()],
        state: vec![ty.clone()],
        result: ty,
        nullable: true,
    }
}

pub(super) fn states(signature: &AggregateSignature, keeps: Keeps) -> Result<Box<dyn Accumulator>> {
    let ty = signature.result.clone();
    Ok(match ty.physical() {
        PhysicalType::Int64 | PhysicalType::Bool => {
            boxed(keeps, Natives::<Int64Type>::new(ty, input::ints))
        }
        PhysicalType::UInt64 => boxed(keeps, Natives::<UInt64Type>::new(ty, input::uints)),
        PhysicalType::Float64 => boxed(keeps, Natives::<Float64Type>::new(ty, input::floats)),
        PhysicalType::Decimal128(_) => boxed(
            keeps,
            Natives::<Decimal128Type>::new(ty, input::narrow_array),
        ),
        PhysicalType::Decimal256(_) => {
            boxed(keeps, Natives::<Decimal256Type>::new(ty, input::wide_array))
        }
        PhysicalType::Bytes => boxed(
            keeps,
            Strings {
                collation: ty.collation,
                is_json: ty.kind == TypeKind::Json,
                store: BytesStore::default(),
            },
        ),
    })
}

fn boxed(keeps: Keeps, kept: impl Kept + 'static) -> Box<dyn Accumulator> {
    Box::new(Extreme {
        keeps,
        kept,
        seen: Vec::new(),
    })
}

/// Calls `each` with every group that has had no row before, and its first row. For a partial state `seen` says which
/// groups have a row.
fn for_each_first(
    groups: &[u32],
    seen: Option<&ArrayRef>,
    seen_before: &mut [bool],
    mut each: impl FnMut(usize, usize),
) -> Result<()> {
    let seen = seen.map(state::column);
    let seen = seen.as_ref().map(input::ints).transpose()?;
    for (row, group) in groups.iter().enumerate() {
        let group = *group as usize;
        if !seen_before[group] && seen.is_none_or(|seen| seen.get(row) != Some(0)) {
            seen_before[group] = true;
            each(group, row);
        }
    }
    Ok(())
}

/// The `seen` flags as a column of a partial state.
fn seen_column(seen: Vec<bool>) -> Result<ArrayRef> {
    output::ints(seen.len(), |group| Ok(Some(i64::from(seen[group]))))
}

/// Kept values of groups.
trait Kept: Send {
    fn resize(&mut self, group_count: usize);

    /// Keeps values that are smaller, or larger, than the kept ones.
    fn keep_better(&mut self, keeps: Keeps, groups: &[u32], array: &ArrayRef) -> Result<()>;

    /// Keeps the first value of each group that has had no row before, as [`for_each_first`] finds them.
    fn keep_first(
        &mut self,
        groups: &[u32],
        array: &ArrayRef,
        seen: Option<&ArrayRef>,
        seen_before: &mut [bool],
    ) -> Result<()>;

    fn take(&mut self) -> Result<ArrayRef>;

    fn memory_bytes(&self) -> usize;
}

struct Extreme<K> {
    keeps: Keeps,
    kept: K,
    /// Whether a row was seen; kept by ANY_VALUE only.
    seen: Vec<bool>,
}

impl<K: Kept> Accumulator for Extreme<K> {
    fn resize(&mut self, group_count: usize) {
        self.kept.resize(group_count);
        if self.keeps == Keeps::First {
            lengthen(&mut self.seen, group_count, false);
        }
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let array = &arguments[0];
        match self.keeps {
            Keeps::First => self.kept.keep_first(groups, array, None, &mut self.seen),
            keeps => self.kept.keep_better(keeps, groups, array),
        }
    }

    fn merge(
        &mut self,
        groups: &[u32],
        state: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()> {
        match state {
            [array, seen] => {
                let kept = &mut self.kept;
                kept.keep_first(groups, array, Some(seen), &mut self.seen)
            }
            _ => self.update(groups, state, context),
        }
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        let mut state = vec![self.kept.take()?];
        if self.keeps == Keeps::First {
            state.push(seen_column(std::mem::take(&mut self.seen))?);
        }
        Ok(state)
    }

    fn take_result(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        self.seen.clear();
        self.kept.take()
    }

    fn memory_bytes(&self) -> usize {
        self.kept.memory_bytes() + self.seen.capacity()
    }
}

/// Function that reads an array as its native values.
type Reader<T> = for<'a> fn(&'a crate::Column) -> Result<Numbers<'a, T>>;

struct Natives<T: ArrowPrimitiveType> {
    ty: SqlType,
    read: Reader<T>,
    values: Vec<T::Native>,
    /// Whether the group has a value.
    valid: Vec<bool>,
}

impl<T: ArrowPrimitiveType> Natives<T> {
    fn new(ty: SqlType, read: Reader<T>) -> Self {
        Self {
            ty,
            read,
            values: Vec::new(),
            valid: Vec::new(),
        }
    }
}

impl<T: ArrowPrimitiveType> Kept for Natives<T>
where
    T::Native: PartialOrd,
{
    fn resize(&mut self, group_count: usize) {
        lengthen(&mut self.values, group_count, T::default_value());
        lengthen(&mut self.valid, group_count, false);
    }

    fn keep_better(&mut self, keeps: Keeps, groups: &[u32], array: &ArrayRef) -> Result<()> {
        let column = state::column(array);
        let Numbers::Array(numbers) = (self.read)(&column)? else {
            return Ok(());
        };
        let from = numbers.values();
        let smallest = keeps == Keeps::Smallest;
        let (values, valid) = (&mut self.values[..], &mut self.valid[..]);
        let states = [States::of(values), States::of(valid)];
        state::for_each_valid(groups, state::nulls(array), states, |group, row| {
            let (group, value) = (group as usize, from[row]);
            let better = if smallest {
                value < values[group]
            } else {
                value > values[group]
            };
            if better || !valid[group] {
                values[group] = value;
                valid[group] = true;
            }
        });
        Ok(())
    }

    fn keep_first(
        &mut self,
        groups: &[u32],
        array: &ArrayRef,
        seen: Option<&ArrayRef>,
        seen_before: &mut [bool],
    ) -> Result<()> {
        let column = if self.ty.physical() == PhysicalType::Bool {
            let bools = state::column(array);
            let bools = input::bools(&bools)?;
            state::column(&output::ints(array.len(), |row| {
                Ok(bools.get(row).map(i64::from))
            })?)
        } else {
            state::column(array)
        };
        let values = (self.read)(&column)?;
        for_each_first(groups, seen, seen_before, |group, row| {
            if let Some(value) = values.get(row) {
                self.values[group] = value;
                self.valid[group] = true;
            }
        })
    }

    fn take(&mut self) -> Result<ArrayRef> {
        let nulls = state::validity(&std::mem::take(&mut self.valid));
        let values = std::mem::take(&mut self.values);
        let array = PrimitiveArray::<T>::new(values.into(), nulls);
        if self.ty.physical() == PhysicalType::Bool {
            let any = array
                .iter()
                .map(|value| value.map(|value| value != T::default_value()));
            return Ok(Arc::new(any.collect::<arrow_array::BooleanArray>()));
        }
        Ok(Arc::new(array.with_data_type(self.ty.physical().arrow())))
    }

    fn memory_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T::Native>() + self.valid.capacity()
    }
}

struct Strings {
    collation: CollationId,
    is_json: bool,
    store: BytesStore,
}

impl Strings {
    fn compare(&self, keeps: Keeps, a: &[u8], b: &[u8]) -> Ordering {
        let ordering = if self.is_json {
            crate::comparison::compare_json(a, b)
        } else {
            compare_texts(a, b, self.collation)
        };
        // Of equal strings the least by bytes wins, for MIN and MAX alike.
        ordering.then_with(|| match keeps {
            Keeps::Largest => b.cmp(a),
            _ => a.cmp(b),
        })
    }
}

impl Kept for Strings {
    fn resize(&mut self, group_count: usize) {
        self.store.resize(group_count);
    }

    fn keep_better(&mut self, keeps: Keeps, groups: &[u32], array: &ArrayRef) -> Result<()> {
        let column = state::column(array);
        let Texts::Array(texts) = input::texts(&column)? else {
            return Ok(());
        };
        let views = texts.views();
        let collation = (!self.is_json).then(|| self.collation.collation());
        let states = [self.store.places()];
        // In rows that are in order nearly every value is read, and lies anywhere.
        let mut reads = false;
        state::for_each_valid(groups, state::nulls(array), states, |group, row| {
            if std::mem::take(&mut reads) {
                input::prefetch_text(texts, row + TEXTS_AHEAD);
            }
            let group = group as usize;
            let start = (views[row] >> 32) as u32;
            let current = self.store.start(group);
            let decided = match (collation, current) {
                (Some(collation), Some(current)) => collation.compare_starts(start, current),
                _ => None,
            };
            let order = decided.or_else(|| {
                reads = true;
                let current = self.store.get(group)?;
                Some(self.compare(keeps, texts.value(row), current))
            });
            if order.is_none_or(|order| keeps.replaces(order)) {
                reads = true;
                self.store.set(group, texts.value(row));
            }
        });
        Ok(())
    }

    fn keep_first(
        &mut self,
        groups: &[u32],
        array: &ArrayRef,
        seen: Option<&ArrayRef>,
        seen_before: &mut [bool],
    ) -> Result<()> {
        let column = state::column(array);
        let values = input::texts(&column)?;
        for_each_first(groups, seen, seen_before, |group, row| {
            if let Some(value) = values.get(row) {
                self.store.set(group, value);
            }
        })
    }

    fn take(&mut self) -> Result<ArrayRef> {
        let store = std::mem::take(&mut self.store);
        output::states(store.len(), |group, out| {
            let value = store.get(group);
            out.extend_from_slice(value.unwrap_or_default());
            value.is_some()
        })
    }

    fn memory_bytes(&self) -> usize {
        self.store.memory_bytes()
    }
}
