//! Arrays of the values of columns, each value from its field.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{
    ArrayRef, Decimal128Array, Decimal256Array, Float64Array, Int64Array, UInt64Array,
};
use arrow_buffer::{Buffer, NullBufferBuilder, i256};
use arrow_schema::ArrowError;
use mayfly_engine::{DateTime, SqlType, TextColumn, parse_decimal};

use super::guess::{DAY, Kind, double};
use super::literals::{
    Number, Style, boolean, date, digits as digit_count, number_of, time, without_blanks,
};
use crate::declared::reason;

/// The values of a column of some rows.
pub(crate) struct Values {
    kind: Kind,
    column: Column,
    nulls: NullBufferBuilder,
    /// Why the last value was refused, where more is known than that it is none of the column.
    reason: Option<String>,
}

/// The values, whose places of NULL have any value.
enum Column {
    Int(Vec<i64>),
    UInt(Vec<u64>),
    Double(Vec<f64>),
    /// Up to 38 digits.
    Decimal(Vec<i128>),
    /// More digits.
    Wide(Vec<i256>),
    /// Texts, which are parts of the block where it has them as they are, and the greatest length in bytes.
    Text(BinaryViewBuilder, u32, usize),
    /// Values of a declared type.
    Declared(Box<TextColumn>),
}

impl Values {
    /// Without values; `text` is the block that they are parts of.
    pub(crate) fn new(kind: Kind, text: &Buffer, rows: usize) -> Self {
        let column = match kind {
            Kind::UInt => Column::UInt(Vec::with_capacity(rows)),
            Kind::Double => Column::Double(Vec::with_capacity(rows)),
            Kind::Decimal(_, 0..=38, _) => Column::Decimal(Vec::with_capacity(rows)),
            Kind::Decimal(..) => Column::Wide(Vec::with_capacity(rows)),
            Kind::Text(_) => {
                let mut texts = BinaryViewBuilder::with_capacity(rows);
                let block = texts.append_block(text.clone());
                Column::Text(texts, block, kind.text_max() as usize)
            }
            _ => Column::Int(Vec::with_capacity(rows)),
        };
        Self {
            kind,
            column,
            nulls: NullBufferBuilder::new(rows),
            reason: None,
        }
    }

    /// Without values, of a declared type.
    pub(crate) fn declared(column: TextColumn) -> Self {
        Self {
            kind: Kind::Text(0),
            column: Column::Declared(Box::new(column)),
            nulls: NullBufferBuilder::new(0),
            reason: None,
        }
    }

    /// The declared type.
    pub(crate) fn declared_type(&self) -> Option<&SqlType> {
        match &self.column {
            Column::Declared(column) => Some(column.ty()),
            _ => None,
        }
    }

    /// Why the last value was refused, where more is known than that it is none of the column.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Adds values; `None` for NULL.
    ///
    /// # Errors
    /// The number of those before the first one that is no value of the column.
    pub(crate) fn add<'v>(
        &mut self,
        values: impl Iterator<Item = Option<Cow<'v, [u8]>>>,
        text: &Buffer,
    ) -> Result<(), usize> {
        let nulls = &mut self.nulls;
        match (&mut self.column, self.kind) {
            (Column::Int(column), Kind::Int(Style::Plain)) => push(column, nulls, values, whole),
            (Column::Int(column), Kind::Int(style)) => {
                push(column, nulls, values, |bytes| whole(&style.plain(bytes)))
            }
            (Column::Int(column), Kind::Date(order)) => push(column, nulls, values, |bytes| {
                let (year, month, day) = date(bytes, order)?;
                Some(DateTime::date(year, month, day).pack())
            }),
            (Column::Int(column), kind) => {
                push(column, nulls, values, |bytes| integer(kind, bytes))
            }
            (Column::UInt(column), _) => push(column, nulls, values, unsigned),
            (Column::Double(column), _) => push(column, nulls, values, |bytes| {
                double(&Number::of(bytes)?, bytes)
            }),
            (Column::Decimal(column), Kind::Decimal(Style::Plain, precision, scale)) => {
                push(column, nulls, values, |bytes| {
                    decimal(bytes, precision, scale)
                })
            }
            (Column::Decimal(column), kind) => push(column, nulls, values, |bytes| {
                let (style, precision, scale) = number_kind(kind);
                decimal(&style.plain(bytes), precision, scale)
            }),
            (Column::Wide(column), kind) => push(column, nulls, values, |bytes| {
                let (style, precision, scale) = number_kind(kind);
                let bytes = style.plain(bytes);
                let number = exact(&bytes)?;
                if number.whole.len() > usize::from(precision - scale)
                    || number.fraction.len() > usize::from(scale)
                {
                    return None;
                }
                Some(parse_decimal(&bytes).value.rescale(scale).ok()?.unscaled)
            }),
            (Column::Declared(column), _) => {
                for (at, value) in values.enumerate() {
                    if let Err(error) = column.push(value.as_deref()) {
                        self.reason = Some(reason(&error));
                        return Err(at);
                    }
                }
                Ok(())
            }
            (Column::Text(texts, block, longest), _) => {
                for (at, value) in values.enumerate() {
                    let Some(bytes) = value else {
                        texts.append_null();
                        continue;
                    };
                    if bytes.len() > *longest {
                        return Err(at);
                    }
                    add_text(texts, *block, &bytes, text).map_err(|_| at)?;
                }
                Ok(())
            }
        }
    }

    pub(crate) fn finish(mut self) -> ArrayRef {
        let nulls = self.nulls.finish();
        let (.., scale) = number_kind(self.kind);
        match self.column {
            Column::Int(values) => Arc::new(Int64Array::new(values.into(), nulls)),
            Column::UInt(values) => Arc::new(UInt64Array::new(values.into(), nulls)),
            Column::Double(values) => Arc::new(Float64Array::new(values.into(), nulls)),
            Column::Decimal(values) => {
                let array = Decimal128Array::new(values.into(), nulls);
                let ty = mayfly_engine::PhysicalType::Decimal128(scale).arrow();
                Arc::new(array.with_data_type(ty))
            }
            Column::Wide(values) => {
                let array = Decimal256Array::new(values.into(), nulls);
                let ty = mayfly_engine::PhysicalType::Decimal256(scale).arrow();
                Arc::new(array.with_data_type(ty))
            }
            Column::Text(mut texts, ..) => Arc::new(texts.finish()),
            Column::Declared(column) => column.finish(),
        }
    }
}

/// The longest text that a view holds itself.
const INLINE: usize = 12;

/// Adds a text as a part of the block, if it is one.
fn add_text(
    texts: &mut BinaryViewBuilder,
    block: u32,
    bytes: &[u8],
    text: &Buffer,
) -> Result<(), ArrowError> {
    let offset = (bytes.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    let end = offset.checked_add(bytes.len());
    let is_part = bytes.len() > INLINE && end.is_some_and(|end| end <= text.len());
    match (u32::try_from(offset), u32::try_from(bytes.len())) {
        (Ok(offset), Ok(length)) if is_part => texts.try_append_view(block, offset, length),
        _ => texts.try_append_value(bytes),
    }
}

#[inline]
fn push<'v, T: Default>(
    column: &mut Vec<T>,
    nulls: &mut NullBufferBuilder,
    values: impl Iterator<Item = Option<Cow<'v, [u8]>>>,
    value: impl Fn(&[u8]) -> Option<T>,
) -> Result<(), usize> {
    for (at, bytes) in values.enumerate() {
        match bytes {
            None => {
                column.push(T::default());
                nulls.append_null();
            }
            Some(bytes) => {
                let found = value(&bytes).or_else(|| value(without_blanks(&bytes)));
                column.push(found.ok_or(at)?);
                nulls.append_non_null();
            }
        }
    }
    Ok(())
}

/// Style, precision and scale of numbers of a kind.
fn number_kind(kind: Kind) -> (Style, u8, u8) {
    match kind {
        Kind::Decimal(style, precision, scale) => (style, precision, scale),
        _ => (Style::Plain, 0, 0),
    }
}

fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A value that is held as a signed integer.
fn integer(kind: Kind, bytes: &[u8]) -> Option<i64> {
    match kind {
        Kind::Bool => boolean(bytes).map(i64::from),
        Kind::DateTime(order, digits) => {
            let split = bytes.iter().position(|byte| matches!(byte, b' ' | b'T'));
            let (day, micros) = match split {
                None => (bytes, 0),
                Some(at) => match time(&bytes[at + 1..])? {
                    (micros @ 0..DAY, shown) if shown <= digits => (&bytes[..at], micros),
                    _ => return None,
                },
            };
            let (year, month, day) = date(day, order)?;
            let date = DateTime::date(year, month, day);
            Some(date.with_time_of_day(micros).pack())
        }
        Kind::Time(digits) => {
            let (micros, shown) = time(bytes)?;
            (shown <= digits).then_some(micros)
        }
        _ => whole(bytes),
    }
}

/// A whole number without a plus and leading zeros; -0 is none.
#[inline]
fn whole(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, bytes),
    };
    match digits {
        [] | [b'0', _, ..] => return None,
        [b'0'] if negative => return None,
        _ if digit_count(digits) != digits.len() => return None,
        _ if digits.len() > 18 => return as_text(bytes)?.parse().ok(),
        _ => {}
    }
    let number = number_of(digits) as i64;
    Some(if negative { -number } else { number })
}

/// A whole number without a sign.
fn unsigned(bytes: &[u8]) -> Option<u64> {
    let number = Number::of(bytes)?;
    let is_whole = !(number.negative || number.point || number.exponent);
    as_text(bytes).filter(|_| is_whole)?.parse().ok()
}

/// A number of a DECIMAL: without an exponent, and no -0, which are doubles.
fn exact(bytes: &[u8]) -> Option<Number<'_>> {
    let number = Number::of(bytes)?;
    let is_double = number.exponent || number.negative && number.is_zero();
    (!is_double).then_some(number)
}

/// The digits of a number with a precision and scale that it does not exceed.
fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let number = exact(bytes)?;
    if number.whole.len() > usize::from(precision - scale) {
        return None;
    }
    let missing = usize::from(scale).checked_sub(number.fraction.len())?;
    let digits = number.whole.len() + usize::from(scale);
    let value = if digits <= 18 {
        let whole = number_of(number.whole) * 10_u64.pow(number.fraction.len() as u32);
        i128::from((whole + number_of(number.fraction)) * 10_u64.pow(missing as u32))
    } else if digits <= 38 {
        let digits = number.whole.iter().chain(number.fraction);
        let digits = digits.fold(0_i128, |it, digit| it * 10 + i128::from(digit - b'0'));
        digits * 10_i128.pow(missing as u32)
    } else {
        return None;
    };
    Some(if number.negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::guess::Guess;

    /// Values that are near to each other's kinds.
    const POOL: [&str; 46] = [
        "0",
        "7",
        "-3",
        "-0",
        "+5",
        "007",
        "12",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "1.5",
        "-0.25",
        "123456789012345.5",
        "12345678901234567.25",
        ".5",
        "5.",
        "-0.0",
        "1e3",
        "1.5e-7",
        "1e400",
        "0.12345678901234567",
        "123456789012345678901234567890123456789",
        "true",
        "F",
        "2024-02-29",
        "2023-02-29",
        "13/02/2024",
        "02/13/2024",
        "31.12.2024",
        "2024-01-01 10:00:00",
        "2024-01-01T10:00:00.25",
        "2024-01-01 25:00:00",
        "2024-01-01 -10:00:00",
        "10:00",
        "10:00:00.5",
        "-10:00:00",
        "838:59:59",
        "10:60",
        "a",
        "seventeen letters",
        "",
        " 7",
        "nan",
        "1,234",
    ];

    /// A kind that a sample shows is that of all values just if it can hold the others.
    #[test]
    fn sampled_kinds_are_refuted_by_what_changes_them() {
        let mut state = 11_u64;
        let mut draw = |count: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % count
        };
        let (mut kept, mut refuted) = (0, 0);
        for _ in 0..200_000 {
            // Values of few sorts, so that samples show something.
            let sorts: Vec<&str> = (0..1 + draw(3)).map(|_| POOL[draw(POOL.len())]).collect();
            let mut values: Vec<&str> = (0..4).map(|_| sorts[draw(sorts.len())]).collect();
            values.push(POOL[draw(POOL.len())]);
            let mut guess = Guess::new(None, b',');
            let (sample, rest) = values.split_at(1 + draw(4));
            sample.iter().for_each(|value| guess.add(value.as_bytes()));
            if !guess.is_final() {
                continue;
            }
            let kind = guess.kind();
            let text = Buffer::from_vec(Vec::<u8>::new());
            let mut read = Values::new(kind, &text, rest.len());
            let mut rows = rest
                .iter()
                .map(|value| Some(Cow::Borrowed(value.as_bytes())));
            let fits = read.add(&mut rows, &text).is_ok();
            rest.iter().for_each(|value| guess.add(value.as_bytes()));
            let is_same = match (guess.kind(), kind) {
                (Kind::Text(_), Kind::Text(_)) => guess.kind().sql_type() == kind.sql_type(),
                (whole, sample) => whole == sample,
            };
            // Of no values and of empty texts the guess knows alike that none was longer.
            let is_expected = fits == is_same || !fits && kind == Kind::Text(0);
            assert!(is_expected, "{sample:?}, then {rest:?}: {kind:?}");
            kept += usize::from(fits);
            refuted += usize::from(!fits);
        }
        assert!(kept > 10_000 && refuted > 10_000, "{kept} {refuted}");
    }
}
