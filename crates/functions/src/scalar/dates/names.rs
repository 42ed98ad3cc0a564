//! DAYNAME(date) and MONTHNAME(date).

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::temporal::{DateTime, Locale, calendar};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::scalar::Row;
use crate::scalar::facts::{ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["dayname"], 1..=1, signature, |call| {
        name(call, ZeroParts::Refused, |date, locale| {
            let weekday = calendar::weekday(calendar::day_number(date));
            locale.day(usize::from(weekday))
        })
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(7),
    Row::new(&["monthname"], 1..=1, signature, |call| {
        name(call, ZeroParts::Allowed, |date, locale| {
            locale.month(usize::from(date.month))
        })
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(12),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    // The longest name has nine letters.
    arguments::of_date(binding, binding.string(9))
}

fn name(
    call: &Call<'_>,
    zero_parts: ZeroParts,
    of: impl Fn(DateTime, &'static Locale) -> Option<&'static str>,
) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, zero_parts)?;
    let locale = call.context.session.lc_time_names;
    output::borrowed_texts(call, |row| {
        let name = dates.get(row).and_then(|date| of(date, locale));
        Ok(name.map(str::as_bytes))
    })
}
