//! DATEDIFF(a, b) in days, TIMESTAMPDIFF(unit, from, to) in units, TIMEDIFF(a, b) as a TIME.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{calendar, timestamp_diff};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Preferred, Temporal, Temporals, Wanted, ZeroParts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["datediff"], 2..=2, datediff_signature, datediff)
        .with(&[Fact::Strict])
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..2)])),
    Row::new(
        &["timestampdiff"],
        3..=3,
        timestampdiff_signature,
        timestampdiff,
    )
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 1..3)]))
    .with(&[Fact::StopsAtNull]),
    Row::new(&["timediff"], 2..=2, timediff_signature, timediff).with(&[Fact::StopsAtNull]),
];

fn datediff_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = [0, 1].map(|index| arguments::date_type(binding, index));
    Ok(Signature::new(
        types.to_vec(),
        derive::int_of_width(9),
        true,
    ))
}

fn datediff(call: &Call<'_>) -> Result<ArrayRef> {
    let late = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Refused)?;
    let early = DateTimes::new(call, 1, Wanted::Date, ZeroParts::Refused)?;
    output::ints(call.rows, |row| {
        let (Some(late), Some(early)) = (late.get(row), early.get(row)) else {
            return Ok(None);
        };
        let days = calendar::day_number(late) - calendar::day_number(early);
        Ok(Some(days))
    })
}

fn timestampdiff_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![
        binding.arguments[0].ty.clone(),
        arguments::datetime_type(binding, 1),
        arguments::datetime_type(binding, 2),
    ];
    Ok(Signature::new(types, derive::bigint_of_width(21), true))
}

fn timestampdiff(call: &Call<'_>) -> Result<ArrayRef> {
    let unit = arguments::interval_unit(arguments::word(call, 0)?, call.name)?;
    let from = DateTimes::new(call, 1, Wanted::DateTime, ZeroParts::Refused)?;
    let to = DateTimes::new(call, 2, Wanted::DateTime, ZeroParts::Refused)?;
    output::ints(call.rows, |row| {
        let (Some(from), Some(to)) = (from.get(row), to.get(row)) else {
            return Ok(None);
        };
        Ok(Some(timestamp_diff(unit, from, to)))
    })
}

fn timediff_signature(binding: &Binding<'_>) -> Result<Signature> {
    let digits = arguments::decimals_of_all(binding);
    let types = [0, 1].map(|index| arguments::moment_type(binding, index));
    let result = SqlType::temporal(TypeKind::Time, digits);
    Ok(Signature::new(types.to_vec(), result, true))
}

fn timediff(call: &Call<'_>) -> Result<ArrayRef> {
    let moments = |index| Temporals::preferring(Preferred::DateOfText, call, index);
    let (late, early) = (moments(0)?, moments(1)?);
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        let difference = match (late.get(row), early.get(row)) {
            (Some(Temporal::DateTime(late)), Some(Temporal::DateTime(early))) => {
                late.to_micros() - early.to_micros()
            }
            (Some(Temporal::Time(late)), Some(Temporal::Time(early))) => late - early,
            // A time and a datetime have no difference.
            _ => return Ok(None),
        };
        let time = arguments::time_result(difference.into(), digits, call.context);
        Ok(Some(time))
    })
}
