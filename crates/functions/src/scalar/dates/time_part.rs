//! Parts of a time as numbers: HOUR, MINUTE, SECOND, MICROSECOND, TIME_TO_SEC.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::temporal::MICROS_PER_SECOND;

use super::arguments::{self, Temporals};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::scalar::operators::numeric::integer_result;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["hour"], 1..=1, signature::<4>, |call| {
        part(call, |micros| seconds(micros) / 3600)
    })
    .with(&[Fact::Strict])
    .distinct_values(24),
    Row::new(&["minute"], 1..=1, signature::<3>, |call| {
        part(call, |micros| seconds(micros) / 60 % 60)
    })
    .with(&[Fact::Strict])
    .distinct_values(60),
    Row::new(&["second"], 1..=1, signature::<3>, |call| {
        part(call, |micros| seconds(micros) % 60)
    })
    .with(&[Fact::Strict])
    .distinct_values(60),
    Row::new(&["microsecond"], 1..=1, signature::<21>, |call| {
        part(call, |micros| (micros % MICROS_PER_SECOND).abs())
    }),
    Row::new(&["time_to_sec"], 1..=1, signature::<10>, |call| {
        part(call, |micros| micros / MICROS_PER_SECOND)
    })
    .parameters(Parameters::Typed(&[(ParameterType::Time, 0..2)])),
];

fn seconds(micros: i64) -> i64 {
    (micros / MICROS_PER_SECOND).abs()
}

/// The types of a function of a time; the result is an integer with a display width.
fn signature<const WIDTH: u32>(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_time(binding, integer_result(WIDTH, false))
}

fn part(call: &Call<'_>, compute: impl Fn(i64) -> i64) -> Result<ArrayRef> {
    let times = Temporals::new(call, 0)?;
    output::ints(call.rows, |row| Ok(times.time(row).map(&compute)))
}
