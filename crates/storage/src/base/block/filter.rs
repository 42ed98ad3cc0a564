//! Conditions on the values of a block, in the form in which they stand there.
//!
//! A flag of a row is a byte, so that loops over a run of rows become vector instructions.

use mayfly_types::PhysicalType;

use super::{BlockRows, Checked, Coded, Damaged, Narrow, Values};
use crate::row_filter::NumberRange;

impl Coded<'_> {
    /// Appends the codes of some rows, to which `first` is added.
    pub(in crate::base) fn append_codes(
        &self,
        rows: &BlockRows<'_>,
        first: u16,
        out: &mut Vec<u16>,
    ) -> Checked<()> {
        let before = out.len();
        if self.width() == 1
            && let BlockRows::Range(rows) = rows
        {
            let codes = self.codes.get(rows.clone()).ok_or(Damaged)?;
            out.extend(codes.iter().map(|code| u16::from(*code)));
        } else {
            rows.each(|row| {
                out.push(self.code(row)? as u16);
                Ok(())
            })?;
        }
        let codes = &mut out[before..];
        let greatest = codes.iter().copied().fold(0, u16::max);
        if !codes.is_empty() && usize::from(greatest) >= self.count {
            return Err(Damaged);
        }
        if first > 0 {
            codes.iter_mut().for_each(|code| *code += first);
        }
        Ok(())
    }

    /// Appends what `by_code` has for the codes of some rows.
    pub(in crate::base) fn append_by_code(
        &self,
        rows: &BlockRows<'_>,
        by_code: &[u8],
        out: &mut Vec<u8>,
    ) -> Checked<()> {
        out.reserve(rows.len());
        if self.width() == 1
            && let BlockRows::Range(rows) = rows
        {
            // Every byte is looked up without asking whether it is a code.
            let mut table = [0; 1 << 8];
            let count = self.count.min(by_code.len()).min(table.len());
            table[..count].copy_from_slice(&by_code[..count]);
            let codes = self.codes.get(rows.clone()).ok_or(Damaged)?;
            out.extend(codes.iter().map(|code| table[usize::from(*code)]));
            return Ok(());
        }
        rows.each(|row| {
            out.push(*by_code.get(self.code(row)?).ok_or(Damaged)?);
            Ok(())
        })
    }
}

impl Values<'_> {
    /// Sets the flags of those rows that have a number within a range.
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
        // What may be added to the base.
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

/// Sets the flags of those rows whose word passes a test.
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
