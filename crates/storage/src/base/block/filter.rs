//! Predicates evaluated on the encoded values of a block.
//!
//! A flag of a row is a byte, so that loops over a run of rows become vector instructions.

use mayfly_types::PhysicalType;

use super::{BlockRows, Checked, Damaged, Narrow, Values};
use crate::row_filter::NumberRange;

impl Values<'_> {
    /// Sets the flags of the rows whose number lies within a range.
    pub(in crate::base) fn within(
        &self,
        ty: PhysicalType,
        range: NumberRange,
        rows: &BlockRows<'_>,
        flags: &mut [u8],
    ) -> Checked<()> {
        let Narrow {
            base,
            width,
            shift,
            bytes,
        } = match *self {
            Self::Narrow(narrow) => narrow,
            Self::Wide(words) => {
                return each_word(words, rows, flags, |word| {
                    range.contains(i128::from_le_bytes(word))
                });
            }
            _ => return Err(Damaged),
        };
        let number = match ty {
            PhysicalType::UInt64 => i128::from(base),
            PhysicalType::Int64 | PhysicalType::Decimal128(_) => i128::from(base.cast_signed()),
            _ => return Err(Damaged),
        };
        // The largest offset from the base.
        let most = match width {
            0 => 0,
            width => u64::MAX >> (u64::BITS as usize - 8 * width),
        };
        let left_out = (1_i128 << shift) - 1;
        let low = range.least.saturating_sub(number).max(0);
        let low = low.saturating_add(left_out) >> shift;
        let high = range.greatest.saturating_sub(number) >> shift;
        let high = high.min(i128::from(most));
        if low > high {
            return Ok(());
        }
        // Both are at most `most`, and not negative.
        let (low, span) = (low as u64, (high - low) as u64);
        if span == most {
            flags.fill(1);
            return Ok(());
        }
        match width {
            1 => each_word(bytes.as_chunks().0, rows, flags, |[more]: [u8; 1]| {
                more.wrapping_sub(low as u8) <= span as u8
            })?,
            2 => each_word(bytes.as_chunks().0, rows, flags, |more| {
                u16::from_le_bytes(more).wrapping_sub(low as u16) <= span as u16
            })?,
            4 => each_word(bytes.as_chunks().0, rows, flags, |more| {
                u32::from_le_bytes(more).wrapping_sub(low as u32) <= span as u32
            })?,
            _ => each_word(bytes.as_chunks().0, rows, flags, |more| {
                u64::from_le_bytes(more).wrapping_sub(low) <= span
            })?,
        }
        Ok(())
    }
}

/// Sets the flags of the rows whose word passes a test.
#[inline]
fn each_word<const N: usize>(
    words: &[[u8; N]],
    rows: &BlockRows<'_>,
    flags: &mut [u8],
    test: impl Fn([u8; N]) -> bool,
) -> Checked<()> {
    match rows {
        BlockRows::Range(rows) => {
            let words = words.get(rows.clone()).ok_or(Damaged)?;
            for (flag, word) in flags.iter_mut().zip(words) {
                *flag = test(*word).into();
            }
        }
        BlockRows::List(rows) => {
            for (flag, row) in flags.iter_mut().zip(*rows) {
                *flag = test(*words.get(*row as usize).ok_or(Damaged)?).into();
            }
        }
    }
    Ok(())
}
