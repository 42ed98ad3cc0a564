//! PERIOD_ADD(period, months) and PERIOD_DIFF(period, period): months as numbers, YYMM or YYYYMM.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use super::make::year_of;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["period_add"], 2..=2, signature, |call| {
        evaluate(call, |months, added| {
            Some(period_of(months.wrapping_add(added)))
        })
    })
    .with(&[Fact::StopsAtNull]),
    Row::new(&["period_diff"], 2..=2, signature, |call| {
        evaluate(call, |months, other| Some(months - months_of(other)?))
    })
    .with(&[Fact::StopsAtNull]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let (types, result) = (vec![SqlType::bigint(); 2], derive::bigint_of_width(21));
    Ok(Signature::new(types, result, binding.any_nullable()))
}

/// Computes with the months of the first argument and with the second argument; `None` is error 1210.
fn evaluate(call: &Call<'_>, compute: impl Fn(i64, i64) -> Option<i64>) -> Result<ArrayRef> {
    let (first, second) = (call.ints(0)?, call.ints(1)?);
    output::ints(call.rows, |row| {
        let (Some(a), Some(b)) = (first.get(row), second.get(row)) else {
            return Ok(None);
        };
        let value = months_of(a).and_then(|months| compute(months, b));
        let wrong = || codes::ER_WRONG_ARGUMENTS.with(&[&call.name]);
        value.map(Some).ok_or_else(wrong)
    })
}

/// Months since the year 0; `None` for a period whose month is not 1 to 12.
fn months_of(period: i64) -> Option<i64> {
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        return None;
    }
    Some(year_of(year) * 12 + month - 1)
}

/// The period of a number of months, in wrapping 64-bit arithmetic as in MySQL.
fn period_of(months: i64) -> i64 {
    let months = months.cast_unsigned();
    if months == 0 {
        return 0;
    }
    let year = match months / 12 {
        year @ 0..=69 => year + 2000,
        year @ 70..=99 => year + 1900,
        year => year,
    };
    (year.wrapping_mul(100).wrapping_add(months % 12 + 1)).cast_signed()
}
