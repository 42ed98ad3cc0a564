//! CONVERT_TZ(datetime, from, to): the same instant in another time zone.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{MICROS_PER_SECOND, TimeZone};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use super::unix_time::UNIX_SECONDS_MAX;
use crate::input::Texts;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    // SYSTEM is a time zone's name too.
    Row::new(&["convert_tz"], 3..=3, signature, evaluate)
        .with(&[Fact::ReadsSettings])
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
        .stable(),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![
        arguments::datetime_type(binding, 0),
        binding.text(1),
        binding.text(2),
    ];
    let digits = arguments::decimals_of(&binding.arguments[0]);
    let result = SqlType::temporal(TypeKind::DateTime, digits);
    Ok(Signature::new(types, result, true))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::DateTime, ZeroParts::Refused)?;
    let (from, to) = (Zones::new(call.texts(1)?), Zones::new(call.texts(2)?));
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        let (Some(date), Some(from), Some(to)) = (dates.get(row), from.get(row), to.get(row))
        else {
            return Ok(None);
        };
        let instant = from
            .unix_of_local(date)
            .filter(|instant| (1..=UNIX_SECONDS_MAX).contains(&(instant / MICROS_PER_SECOND)));
        let converted = match instant {
            // A datetime outside of the range of Unix time is unchanged.
            None => Some(date),
            Some(instant) => to.local_of_unix(instant),
        };
        Ok(converted.and_then(|value| arguments::datetime_result(value, digits, call.context)))
    })
}

/// Cache of time zones by name; an unknown one makes the result NULL.
struct Zones<'a> {
    names: Texts<'a>,
    constant: Option<Option<TimeZone>>,
}

impl<'a> Zones<'a> {
    fn new(names: Texts<'a>) -> Self {
        let constant = names.constant().map(|name| name.and_then(zone_of));
        Self { names, constant }
    }

    fn get(&self, row: usize) -> Option<TimeZone> {
        match &self.constant {
            Some(zone) => zone.clone(),
            None => zone_of(self.names.get(row)?),
        }
    }
}

fn zone_of(name: &[u8]) -> Option<TimeZone> {
    TimeZone::parse(std::str::from_utf8(name).ok()?).ok()
}
