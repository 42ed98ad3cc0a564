//! DATE_FORMAT(date, format) and TIME_FORMAT(time, format).

use arrow_array::ArrayRef;
use mayfly_types::temporal::pattern::{self, Printed};
use mayfly_types::{Result, SqlType, Value};

use super::arguments::{self, DateTimes, Temporal, Temporals, Wanted, ZeroParts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["date_format"], 2..=2, date_format_signature, date_format)
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
        .with(&[Fact::StopsAtNull]),
    Row::new(&["time_format"], 2..=2, time_format_signature, time_format)
        .with(&[Fact::StopsAtNull]),
];

fn date_format_signature(binding: &Binding<'_>) -> Result<Signature> {
    Ok(format_signature(
        binding,
        arguments::datetime_type(binding, 0),
    ))
}

fn date_format(call: &Call<'_>) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::DateTime, ZeroParts::Allowed)?;
    print(call, |row| dates.get(row).map(Printed::of_datetime))
}

fn time_format_signature(binding: &Binding<'_>) -> Result<Signature> {
    Ok(format_signature(binding, arguments::time_type(binding, 0)))
}

fn time_format(call: &Call<'_>) -> Result<ArrayRef> {
    let values = Temporals::new(call, 0)?;
    print(call, |row| {
        Some(match values.get(row)? {
            Temporal::DateTime(value) => Printed::of_datetime(value),
            Temporal::Time(micros) => Printed::of_time(micros),
        })
    })
}

/// The types of a function that formats a value by its second argument.
pub(super) fn format_signature(binding: &Binding<'_>, value: SqlType) -> Signature {
    let characters = match binding.arguments[1].constant {
        Some(Value::Bytes(format)) => printed_length(format),
        _ => binding.characters(1).saturating_mul(10),
    };
    let types = vec![value, binding.text(1)];
    Signature::new(types, binding.string(characters), true)
}

/// Maximum length in characters of a formatted value, as MySQL counts it.
fn printed_length(format: &[u8]) -> u64 {
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match (byte, bytes.as_slice().first()) {
            (b'%', Some(specifier)) => {
                bytes.next();
                match specifier {
                    b'M' | b'W' => 64,
                    b'a' | b'b' => 32,
                    b'D' | b'Y' | b'x' | b'X' => 4,
                    b'r' => 11,
                    b'T' => 8,
                    b'H' | b'k' => 7,
                    b'f' => 6,
                    b'j' => 3,
                    b'w' | b'%' => 1,
                    _ => 2,
                }
            }
            _ => 1,
        };
    }
    length
}

/// Formats values by the second argument.
pub(super) fn print(call: &Call<'_>, value: impl Fn(usize) -> Option<Printed>) -> Result<ArrayRef> {
    let formats = call.texts(1)?;
    let locale = call.context.session.lc_time_names;
    output::texts(call, |row, out| {
        let (Some(format), Some(value)) = (formats.get(row), value(row)) else {
            return Ok(false);
        };
        // For an empty format MySQL returns NULL.
        let is_printed = pattern::date_format(out, value, format, locale).is_some();
        Ok(is_printed && !format.is_empty())
    })
}
