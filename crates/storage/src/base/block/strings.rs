//! Strings of a block: concatenated with end offsets, or dictionary-encoded.

use super::{BlockRows, Checked, Damaged, append_values, part, take, take_u32};

/// Concatenated strings with end offsets.
#[derive(Debug, Clone, Copy)]
pub(in crate::base) struct Strings<'a> {
    pub(in crate::base) ends: Ends<'a>,
    pub(in crate::base) bytes: &'a [u8],
    /// Offset of `bytes` in the block.
    pub(in crate::base) start: usize,
}

/// End offsets of the strings.
#[derive(Debug, Clone, Copy)]
pub(in crate::base) enum Ends<'a> {
    /// Every string has this length.
    Fixed(usize),
    Short(&'a [[u8; 2]]),
    Long(&'a [[u8; 4]]),
}

impl<'a> Strings<'a> {
    pub(super) fn parse(block: &'a [u8], at: usize, end: usize, rows: usize) -> Checked<Self> {
        let [width] = take::<1>(block, at)?;
        let at = at + 1;
        let (ends, start) = match width {
            0 => (Ends::Fixed(take_u32(block, at)?), at + 4),
            2 => {
                let ends = part(block, at, rows.checked_mul(2).ok_or(Damaged)?)?;
                (Ends::Short(ends.as_chunks().0), at + ends.len())
            }
            4 => {
                let ends = part(block, at, rows.checked_mul(4).ok_or(Damaged)?)?;
                (Ends::Long(ends.as_chunks().0), at + ends.len())
            }
            _ => return Err(Damaged),
        };
        let bytes = block.get(start..end).ok_or(Damaged)?;
        if let Ends::Fixed(length) = ends {
            let all = length.checked_mul(rows).ok_or(Damaged)?;
            if all > bytes.len() {
                return Err(Damaged);
            }
        }
        Ok(Self { ends, bytes, start })
    }

    /// The bounds of a string within `bytes`; the end is not checked.
    #[inline]
    pub(in crate::base) fn bounds(&self, row: usize) -> Checked<(usize, usize)> {
        match self.ends {
            Ends::Fixed(length) => Ok((row * length, (row + 1) * length)),
            Ends::Short(ends) => bounds_among(ends, row, short_end),
            Ends::Long(ends) => bounds_among(ends, row, long_end),
        }
    }

    /// Calls a function with the bounds, within `bytes`, of the strings of some rows; the ends are not checked.
    #[inline]
    pub(in crate::base) fn each_bounds(
        &self,
        rows: BlockRows<'_>,
        mut give: impl FnMut(usize, usize) -> Checked<()>,
    ) -> Checked<()> {
        match self.ends {
            Ends::Fixed(length) => rows.each(|row| give(row * length, (row + 1) * length)),
            Ends::Short(ends) => each_bounds_among(ends, rows, short_end, give),
            Ends::Long(ends) => each_bounds_among(ends, rows, long_end, give),
        }
    }

    #[inline]
    pub(in crate::base) fn get(&self, row: usize) -> Checked<&'a [u8]> {
        let (start, end) = self.bounds(row)?;
        self.bytes.get(start..end).ok_or(Damaged)
    }
}

fn short_end(end: [u8; 2]) -> usize {
    u16::from_le_bytes(end).into()
}

fn long_end(end: [u8; 4]) -> usize {
    u32::from_le_bytes(end) as usize
}

#[inline(always)]
fn bounds_among<const N: usize>(
    ends: &[[u8; N]],
    row: usize,
    end: impl Fn([u8; N]) -> usize,
) -> Checked<(usize, usize)> {
    let at = |row: usize| ends.get(row).map(|word| end(*word)).ok_or(Damaged);
    Ok((if row == 0 { 0 } else { at(row - 1)? }, at(row)?))
}

#[inline(always)]
fn each_bounds_among<const N: usize>(
    ends: &[[u8; N]],
    rows: BlockRows<'_>,
    end: impl Fn([u8; N]) -> usize,
    mut give: impl FnMut(usize, usize) -> Checked<()>,
) -> Checked<()> {
    match rows {
        // A string begins where the one before it ends.
        BlockRows::Range(rows) => {
            let mut start = match rows.start {
                0 => 0,
                first => end(*ends.get(first - 1).ok_or(Damaged)?),
            };
            for word in ends.get(rows).ok_or(Damaged)? {
                let end = end(*word);
                give(start, end)?;
                start = end;
            }
        }
        BlockRows::List(rows) => {
            for row in rows {
                let (start, end) = bounds_among(ends, *row as usize, &end)?;
                give(start, end)?;
            }
        }
    }
    Ok(())
}

/// Dictionary-encoded strings: each distinct string once, and a code for each row.
#[derive(Debug, Clone, Copy)]
pub(in crate::base) struct Coded<'a> {
    pub(in crate::base) strings: Strings<'a>,
    /// Number of dictionary entries.
    pub(in crate::base) count: usize,
    codes: &'a [u8],
}

impl<'a> Coded<'a> {
    pub(super) fn parse(block: &'a [u8], at: usize, end: usize, rows: usize) -> Checked<Self> {
        let count = take_u32(block, at)?;
        let start = take_u32(block, at + 4)?;
        let codes = block.get(start..end).ok_or(Damaged)?;
        let coded = Self {
            strings: Strings::parse(block, at + 8, start, count)?,
            count,
            codes,
        };
        if codes.len() == rows.checked_mul(coded.width()).ok_or(Damaged)? {
            Ok(coded)
        } else {
            Err(Damaged)
        }
    }

    fn width(&self) -> usize {
        code_width(self.count)
    }

    /// The code of a row.
    #[inline]
    pub(in crate::base) fn code(&self, row: usize) -> Checked<usize> {
        match self.width() {
            1 => self
                .codes
                .get(row)
                .map(|code| usize::from(*code))
                .ok_or(Damaged),
            _ => take(self.codes, row * 2).map(|code| usize::from(u16::from_le_bytes(code))),
        }
    }

    /// Appends the results of a function of the codes of some rows.
    #[inline]
    fn append_each<T>(
        &self,
        rows: BlockRows<'_>,
        out: &mut Vec<T>,
        mut of_code: impl FnMut(usize) -> T,
    ) -> Checked<()> {
        match self.width() {
            1 => append_values(self.codes.as_chunks().0, rows, out, |[code]| {
                of_code(code.into())
            }),
            _ => append_values(self.codes.as_chunks().0, rows, out, |code| {
                of_code(u16::from_le_bytes(code).into())
            }),
        }
    }

    /// Appends `by_code[code]` for some rows.
    pub(in crate::base) fn append_by_code<T: Copy + Default>(
        &self,
        rows: BlockRows<'_>,
        by_code: &[T],
        out: &mut Vec<T>,
    ) -> Checked<()> {
        let mut is_damaged = false;
        self.append_each(rows, out, |code| {
            let value = by_code.get(code).copied();
            is_damaged |= value.is_none();
            value.unwrap_or_default()
        })?;
        if is_damaged {
            return Err(Damaged);
        }
        Ok(())
    }

    /// Appends the flags `by_code[code]` for some rows. In a range of rows, one-byte codes are looked up without a
    /// bounds check of each.
    pub(in crate::base) fn append_flags(
        &self,
        rows: BlockRows<'_>,
        by_code: &[u8],
        out: &mut Vec<u8>,
    ) -> Checked<()> {
        if self.width() != 1 || matches!(rows, BlockRows::List(_)) {
            return self.append_by_code(rows, by_code, out);
        }
        let mut table = [0; 1 << 8];
        let count = self.count.min(by_code.len()).min(table.len());
        table[..count].copy_from_slice(&by_code[..count]);
        self.append_each(rows, out, |code| table[code % table.len()])
    }

    /// Appends the codes of some rows, to which `first` is added.
    pub(in crate::base) fn append_codes(
        &self,
        rows: BlockRows<'_>,
        first: u16,
        out: &mut Vec<u16>,
    ) -> Checked<()> {
        let before = out.len();
        self.append_each(rows, out, |code| code as u16)?;
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
}

/// Bytes of a code into a dictionary of `count` strings.
pub(in crate::base) fn code_width(count: usize) -> usize {
    if count <= 1 << 8 { 1 } else { 2 }
}
