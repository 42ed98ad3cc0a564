//! FORMAT(x, decimals[, locale]): a number with grouped digits.

use arrow_array::ArrayRef;
use mayfly_types::convert::float_text::append_double;
use mayfly_types::decimal::Decimal;
use mayfly_types::error::codes;
use mayfly_types::temporal::Locale;
use mayfly_types::{PhysicalType, Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::operators::numeric;
use crate::{Binding, Call, EvaluationContext, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] =
    &[Row::new(&["format"], 2..=3, signature, evaluate).with(&[Fact::StopsAtNullIn(&[1, 0, 2])])];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = match numeric::kind_of(binding.arguments[0].ty) {
        numeric::Kind::Double => SqlType::double(),
        _ => numeric::decimal_argument(&binding.arguments[0]),
    };
    let mut types = vec![ty, SqlType::bigint()];
    types.extend(binding.part(2..).texts());
    let digits = binding.characters(0);
    let result = binding.string(digits + digits / 3 + 32);
    Ok(Signature::new(types, result, binding.any_nullable()))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let places = call.ints(1)?;
    let locales = call.optional(2, input::texts)?;
    let ty = call.ty(0);
    output::texts(call, |row, out| {
        let Some(places) = places.get(row) else {
            return Ok(false);
        };
        let places = places.clamp(0, 30) as u8;
        let digits = match ty.physical() {
            PhysicalType::Float64 => {
                let Some(value) = call.floats(0)?.get(row) else {
                    return Ok(false);
                };
                // Rounded as ROUND() does, to the nearest double first.
                let mut digits = Vec::new();
                append_double(&mut digits, round_double(value, places), places);
                String::from_utf8_lossy(&digits).into_owned()
            }
            _ => {
                let Some(value) = call.decimals(0)?.get(row) else {
                    return Ok(false);
                };
                let rounded = Decimal::new(value, ty.decimals)
                    .round(i64::from(places), false)
                    .and_then(|value| value.rescale(places));
                rounded
                    .map_err(|_| output::out_of_range("DECIMAL", call.signature.text.as_deref()))?
                    .to_string()
            }
        };
        let locale = match locales {
            None => <&Locale>::default(),
            Some(locales) => named_locale(locales.get(row), call.context),
        };
        let digits = match digits.strip_prefix('-') {
            Some(digits) => {
                out.push(b'-');
                digits
            }
            None => digits.as_str(),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        append_grouped(out, whole, locale);
        if places > 0 {
            out.extend_from_slice(locale.decimal_point.as_bytes());
            out.extend_from_slice(fraction.as_bytes());
        }
        Ok(true)
    })
}

fn round_double(value: f64, places: u8) -> f64 {
    let power = 10_f64.powi(i32::from(places));
    let scaled = value * power;
    if scaled.is_finite() {
        scaled.round_ties_even() / power
    } else {
        value
    }
}

/// The locale of a name; `en_US` for an unknown one, with a warning.
fn named_locale(name: Option<&[u8]>, context: &EvaluationContext) -> &'static Locale {
    let name = name.map(String::from_utf8_lossy);
    let locale = name.as_deref().and_then(Locale::by_name);
    locale.unwrap_or_else(|| {
        let name = name.as_deref().unwrap_or("NULL");
        context
            .diagnostics
            .warn_with(|| codes::ER_UNKNOWN_LOCALE.with(&[&name]));
        <&Locale>::default()
    })
}

/// Appends digits with the locale's separator between groups.
fn append_grouped(out: &mut Vec<u8>, digits: &str, locale: &Locale) {
    let mut sizes = locale.groups.iter().copied();
    let mut size = sizes.next().unwrap_or(usize::MAX);
    let mut starts = Vec::new();
    let mut rest = digits.len();
    while rest > size {
        rest -= size;
        starts.push(rest);
        size = sizes.next().unwrap_or(size);
    }
    for (index, digit) in digits.bytes().enumerate() {
        if starts.last() == Some(&index) {
            starts.pop();
            out.extend_from_slice(locale.separator.as_bytes());
        }
        out.push(digit);
    }
}
