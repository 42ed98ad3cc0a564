//! PERIOD_ADD(period, months) and PERIOD_DIFF(period, period): months as numbers, YYMM or YYYYMM.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Period {
    names: &'static [&'static str],
    is_difference: bool,
}

/// PERIOD_ADD()
pub(crate) static PERIOD_ADD: Period = Period {
    names: &["period_add"],
    is_difference: false,
};
/// PERIOD_DIFF()
pub(crate) static PERIOD_DIFF: Period = Period {
    names: &["period_diff"],
    is_difference: true,
};

impl ScalarKernel for Period {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::bigint(), SqlType::bigint()],
            derive::bigint_of_width(21),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let first = input::ints(&arguments[0])?;
        let second = input::ints(&arguments[1])?;
        let wrong = || codes::ER_WRONG_ARGUMENTS.with(&[&self.names[0]]);
        output::ints(row_count, |row| {
            let (Some(a), Some(b)) = (first.get(row), second.get(row)) else {
                return Ok(None);
            };
            let months = months_of(a).ok_or_else(wrong)?;
            if self.is_difference {
                return Ok(Some(months - months_of(b).ok_or_else(wrong)?));
            }
            Ok(Some(period_of(months.wrapping_add(b))))
        })
    }
}

/// Months since the year 0; `None` for a period without a month of 1 to 12.
fn months_of(period: i64) -> Option<i64> {
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        return None;
    }
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    };
    Some(year * 12 + month - 1)
}

/// The period of a number of months, in 64 bits that wrap around as MySQL's do.
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

#[cfg(test)]
mod tests {
    use crate::testing::{check, i};

    #[test]
    fn values() {
        check(&[
            ("period_add", &[i(200801), i(2)], "200803"),
            ("period_add", &[i(9910), i(5)], "200003"),
            ("period_diff", &[i(200802), i(200703)], "11"),
            (
                "period_add",
                &[i(0), i(1)],
                "ERROR 1210 (HY000): Incorrect arguments to period_add",
            ),
        ]);
    }
}
