//! `UNIX_TIMESTAMP([date])` and `FROM_UNIXTIME(seconds[, format])`.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::temporal::pattern::Printed;
use mayfly_types::temporal::{MICROS_PER_SECOND, fraction_unit};
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use super::format::{format_signature, print};
use super::make::{Seconds, seconds_type};
use crate::choice::is_null;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    // Depends on the clock without an argument, and on the time zone with one.
    Row::new(
        &["unix_timestamp"],
        0..=1,
        unix_timestamp_signature,
        unix_timestamp,
    )
    .with(&[Fact::OnlyInDefaults, Fact::ReadsSettings])
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .stable(),
    Row::new(
        &["from_unixtime"],
        1..=2,
        from_unixtime_signature,
        from_unixtime,
    )
    .with(&[
        Fact::StopsAtNull,
        Fact::ReadsIntegers(1),
        Fact::ReadsSettings,
    ])
    .stable(),
];

/// The last second of MySQL's Unix time: '3001-01-18 23:59:59' UTC.
pub(super) const UNIX_SECONDS_MAX: i64 = 32_536_771_199;

fn unix_timestamp_signature(binding: &Binding<'_>) -> Result<Signature> {
    let whole = derive::bigint_of_width(21);
    let Some(argument) = binding.arguments.first() else {
        return Ok(Signature::new(Vec::new(), whole, false));
    };
    let result = match arguments::decimals_of(argument) {
        0 => whole,
        digits => SqlType::decimal(11 + digits, digits),
    };
    // An invalid number gives 0, as an invalid text does.
    let ty = if argument.ty.is_numeric() {
        binding.text(0)
    } else {
        arguments::datetime_type(binding, 0)
    };
    Ok(Signature::new(vec![ty], result, argument.nullable))
}

fn unix_timestamp(call: &Call<'_>) -> Result<ArrayRef> {
    let (context, result) = (call.context, &call.signature.result);
    let Some(argument) = call.arguments.first() else {
        let now = context.now_utc_microseconds.div_euclid(MICROS_PER_SECOND);
        return output::ints(call.rows, |_| Ok(Some(now)));
    };
    let dates = DateTimes::new(call, 0, Wanted::DateTime, ZeroParts::Refused)?;
    // Times before 1970 and invalid texts give 0.
    let micros = |row: usize| {
        let instant = dates
            .get(row)
            .and_then(|date| context.session.time_zone.unix_of_local(date))
            .filter(|instant| (0..=UNIX_SECONDS_MAX).contains(&(instant / MICROS_PER_SECOND)));
        (!is_null(argument, row)).then(|| instant.unwrap_or(0))
    };
    if result.physical() == PhysicalType::Int64 {
        return output::ints(call.rows, |row| {
            Ok(micros(row).map(|micros| micros / MICROS_PER_SECOND))
        });
    }
    let unit = fraction_unit(result.decimals);
    output::decimals(call.rows, result, |row| {
        Ok(micros(row).map(|micros| i256::from_i128((micros / unit).into())))
    })
}

fn from_unixtime_signature(binding: &Binding<'_>) -> Result<Signature> {
    let (seconds, digits) = seconds_type(&binding.arguments[0], binding.session.sql_mode);
    if binding.arguments.len() > 1 {
        return Ok(format_signature(binding, seconds));
    }
    let result = SqlType::temporal(TypeKind::DateTime, digits);
    Ok(Signature::new(vec![seconds], result, true))
}

fn from_unixtime(call: &Call<'_>) -> Result<ArrayRef> {
    let seconds = Seconds::new(call, 0)?;
    let local = |row: usize| {
        let micros = i64::try_from(seconds.micros(row)?).ok()?;
        if !(0..=UNIX_SECONDS_MAX).contains(&micros.div_euclid(MICROS_PER_SECOND)) {
            return None;
        }
        call.context.session.time_zone.local_of_unix(micros)
    };
    if call.arguments.len() > 1 {
        return print(call, |row| local(row).map(Printed::of_datetime));
    }
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        let value = local(row);
        Ok(value.and_then(|value| arguments::datetime_result(value, digits, call.context)))
    })
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
