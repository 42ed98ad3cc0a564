//! UNIX_TIMESTAMP([date]) and FROM_UNIXTIME(seconds[, format]).

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::temporal::pattern::{Printed, date_format};
use mayfly_types::temporal::{MICROS_PER_SECOND, fraction_unit};
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, FRACTION_MAX, Wanted, ZeroParts};
use super::format::format_signature;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The last second of Unix time that MySQL knows: '3001-01-18 23:59:59' UTC.
const UNIX_SECONDS_MAX: i64 = 32_536_771_199;

/// UNIX_TIMESTAMP()
#[derive(Debug)]
pub(crate) struct UnixTimestamp;

impl ScalarKernel for UnixTimestamp {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let Some(argument) = arguments.first() else {
            return Ok(Signature::new(
                Vec::new(),
                derive::bigint_of_width(21),
                false,
            ));
        };
        let result = match arguments::decimals_of(argument) {
            0 => derive::bigint_of_width(21),
            digits => SqlType::decimal(11 + digits, digits),
        };
        // A number that is no date is 0, as text is.
        let ty = match argument.ty.is_numeric() {
            true => derive::text_of(argument, context),
            false => arguments::datetime_type(argument, context),
        };
        Ok(Signature::new(vec![ty], result, argument.nullable))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let Some(argument) = arguments.first() else {
            let now = context.now_utc_microseconds.div_euclid(MICROS_PER_SECOND);
            return output::ints(row_count, |_| Ok(Some(now)));
        };
        let ty = &signature.arguments[0];
        let refused = ZeroParts::Refused;
        let dates = DateTimes::new(argument, ty, Wanted::DateTime, refused, context)?;
        let is_null = |row: usize| crate::choice::is_null(argument, row);
        // Moments before 1970 and text that is no date are 0.
        let micros = |row: usize| {
            dates
                .get(row)
                .and_then(|date| context.time_zone.unix_of_local(date))
                .filter(|moment| (0..=UNIX_SECONDS_MAX).contains(&(moment / MICROS_PER_SECOND)))
                .unwrap_or(0)
        };
        if signature.result.physical() == PhysicalType::Int64 {
            return output::ints(row_count, |row| {
                Ok((!is_null(row)).then(|| micros(row) / MICROS_PER_SECOND))
            });
        }
        let unit = fraction_unit(signature.result.decimals);
        output::decimals(row_count, &signature.result, |row| {
            Ok((!is_null(row)).then(|| i256::from_i128((micros(row) / unit).into())))
        })
    }
}

/// FROM_UNIXTIME()
#[derive(Debug)]
pub(crate) struct FromUnixTime;

impl ScalarKernel for FromUnixTime {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let seconds = &arguments[0];
        let digits = if seconds.ty.is_string() {
            FRACTION_MAX
        } else {
            arguments::decimals_of(seconds)
        };
        let seconds = match digits {
            0 => derive::integer_of(seconds),
            _ => SqlType::decimal(38, FRACTION_MAX),
        };
        let Some(format) = arguments.get(1) else {
            let result = SqlType::temporal(TypeKind::DateTime, digits);
            return Ok(Signature::new(vec![seconds], result, true));
        };
        Ok(format_signature(seconds, format, context))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let micros: Box<dyn Fn(usize) -> Option<i128> + '_> =
            match signature.arguments[0].physical() {
                PhysicalType::Decimal128(scale) => {
                    let values = input::decimals(&arguments[0], scale)?;
                    Box::new(move |row| values.get(row)?.to_i128())
                }
                _ => {
                    let values = input::any_ints(&arguments[0])?;
                    Box::new(move |row| Some(values.get(row)? * i128::from(MICROS_PER_SECOND)))
                }
            };
        let local = |row: usize| {
            let micros = i64::try_from(micros(row)?).ok()?;
            if !(0..=UNIX_SECONDS_MAX).contains(&micros.div_euclid(MICROS_PER_SECOND)) {
                return None;
            }
            context.time_zone.local_of_unix(micros)
        };
        let Some(formats) = arguments.get(1) else {
            let digits = signature.result.decimals;
            return output::ints(row_count, |row| {
                let value = local(row);
                Ok(value.and_then(|value| arguments::datetime_result(value, digits, context)))
            });
        };
        let formats = input::texts(formats)?;
        output::texts(row_count, context, |row, out| {
            let (Some(format), Some(value)) = (formats.get(row), local(row)) else {
                return Ok(false);
            };
            let locale = context.lc_time_names;
            let printed = date_format(out, Printed::of_datetime(value), format, locale);
            Ok(!format.is_empty() && printed.is_some())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, i, t};

    // The session's clock is an hour ahead of UTC.
    #[test]
    fn values() {
        check(&[
            ("unix_timestamp", &[], "1709210096"),
            ("unix_timestamp", &[t("2015-11-13 10:20:19")], "1447406419"),
            (
                "unix_timestamp",
                &[t("2015-11-13 10:20:19.012")],
                "1447406419.012",
            ),
            ("unix_timestamp", &[t("1960-01-01")], "0"),
            ("unix_timestamp", &[NULL], "NULL"),
            ("from_unixtime", &[i(1447430881)], "2015-11-13 17:08:01"),
            (
                "from_unixtime",
                &[d("1447430881.5")],
                "2015-11-13 17:08:01.5",
            ),
            ("from_unixtime", &[i(-1)], "NULL"),
            (
                "from_unixtime",
                &[i(1447430881), t("%Y %D %M")],
                "2015 13th November",
            ),
        ]);
    }
}
