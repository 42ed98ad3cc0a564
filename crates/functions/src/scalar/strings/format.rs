//! FORMAT(x, decimals[, locale]): digits in groups of three.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::decimal::Decimal;
use mayfly_types::{PhysicalType, Result, SqlType};

use crate::scalar::ScalarFunction;
use crate::scalar::operators::numeric;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// FORMAT()
#[derive(Debug)]
pub(crate) struct Format;

impl ScalarFunction for Format {
    fn names(&self) -> &'static [&'static str] {
        &["format"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        2..=3
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = match numeric::kind_of(arguments[0].ty) {
            numeric::Kind::Double => SqlType::double(),
            _ => numeric::decimal_argument(&arguments[0]),
        };
        let digits = derive::character_length(arguments[0].ty);
        let mut types = vec![ty, SqlType::bigint()];
        if let Some(locale) = arguments.get(2) {
            types.push(derive::text_of(locale, context));
        }
        let characters = digits + digits / 3 + 31;
        Ok(Signature::new(
            types,
            derive::string_type(characters, context.collation_connection),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let places = input::ints(&arguments[1])?;
        let locales = arguments.get(2).map(input::texts).transpose()?;
        let ty = &signature.arguments[0];
        output::texts(row_count, |row, out| {
            let Some(places) = places.get(row) else {
                return Ok(false);
            };
            let places = places.clamp(0, 30) as u8;
            let digits = match ty.physical() {
                PhysicalType::Float64 => {
                    let Some(value) = input::floats(&arguments[0])?.get(row) else {
                        return Ok(false);
                    };
                    // Rounded as ROUND() does, to the nearest double first.
                    format!("{:.*}", usize::from(places), round_double(value, places))
                }
                _ => {
                    let Some(value) = input::decimals(&arguments[0], ty.decimals)?.get(row) else {
                        return Ok(false);
                    };
                    let rounded = Decimal::new(value, ty.decimals)
                        .round(i64::from(places), false)
                        .and_then(|value| value.rescale(places));
                    rounded
                        .map_err(|_| output::out_of_range("DECIMAL", signature.text.as_deref()))?
                        .to_string()
                }
            };
            let locale = locales
                .and_then(|locales| locales.get(row))
                .unwrap_or(b"en_US");
            let (point, separator) = separators(locale);
            let (sign, digits) = match digits.strip_prefix('-') {
                Some(digits) if digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) => {
                    ("-", digits)
                }
                Some(digits) => ("-", digits),
                None => ("", digits.as_str()),
            };
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            out.extend_from_slice(sign.as_bytes());
            for (index, digit) in whole.bytes().enumerate() {
                if index > 0 && (whole.len() - index) % 3 == 0 {
                    out.extend_from_slice(separator.as_bytes());
                }
                out.push(digit);
            }
            if places > 0 {
                out.extend_from_slice(point.as_bytes());
                out.extend_from_slice(fraction.as_bytes());
            }
            Ok(true)
        })
    }
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

/// Decimal point and separator of groups of a locale (the manual, "MySQL Server Locale Support").
fn separators(locale: &[u8]) -> (&'static str, &'static str) {
    let locale = String::from_utf8_lossy(locale).to_ascii_lowercase();
    match locale.as_str() {
        "de_de" | "de_be" | "de_lu" | "da_dk" | "es_es" | "es_ar" | "es_cl" | "es_co" | "id_id"
        | "is_is" | "nl_be" | "nb_no" | "no_no" | "pt_br" | "ro_ro" | "tr_tr" | "vi_vn"
        | "fo_fo" => (",", "."),
        "de_at" | "fr_fr" | "fr_be" | "fr_ca" | "fr_ch" | "fr_lu" | "it_it" | "nl_nl" | "pl_pl"
        | "pt_pt" | "sl_si" | "ca_es" | "el_gr" | "eu_es" | "gl_es" | "hr_hr" => (",", ""),
        "cs_cz" | "sk_sk" | "fi_fi" | "sv_se" | "sv_fi" | "uk_ua" | "et_ee" | "lv_lv" => (",", " "),
        "ru_ru" | "bg_bg" | "hu_hu" | "be_by" => (",", "."),
        "de_ch" | "it_ch" => (".", "'"),
        _ => (".", ","),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, i, t};

    #[test]
    fn values() {
        check(&[
            ("format", &[d("12332.123456"), i(4)], "12,332.1235"),
            ("format", &[d("12332.1"), i(4)], "12,332.1000"),
            ("format", &[d("12332.2"), i(0)], "12,332"),
            ("format", &[d("12332.2"), i(2), t("de_DE")], "12.332,20"),
            ("format", &[i(-1234567), i(0)], "-1,234,567"),
        ]);
    }
}
