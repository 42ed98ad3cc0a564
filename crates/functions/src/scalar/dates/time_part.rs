//! Parts of a time as numbers: HOUR, MINUTE, SECOND, MICROSECOND, TIME_TO_SEC.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::temporal::MICROS_PER_SECOND;

use super::arguments::{self, Moments};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// One of them.
#[derive(Debug)]
pub(crate) struct TimePart {
    width: u32,
    compute: fn(i64) -> i64,
}

const fn seconds(micros: i64) -> i64 {
    (micros / MICROS_PER_SECOND).abs()
}

/// HOUR()
pub(crate) static HOUR: TimePart = TimePart {
    width: 4,
    compute: |micros| seconds(micros) / 3600,
};
/// MINUTE()
pub(crate) static MINUTE: TimePart = TimePart {
    width: 3,
    compute: |micros| seconds(micros) / 60 % 60,
};
/// SECOND()
pub(crate) static SECOND: TimePart = TimePart {
    width: 3,
    compute: |micros| seconds(micros) % 60,
};
/// MICROSECOND()
pub(crate) static MICROSECOND: TimePart = TimePart {
    width: 21,
    compute: |micros| (micros % MICROS_PER_SECOND).abs(),
};
/// TIME_TO_SEC()
pub(crate) static TIME_TO_SEC: TimePart = TimePart {
    width: 10,
    compute: |micros| micros / MICROS_PER_SECOND,
};

impl ScalarKernel for TimePart {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let result = match self.width {
            width if width > 11 => derive::bigint_of_width(width),
            width => derive::int_of_width(width),
        };
        let argument = arguments::time_type(&arguments[0], context);
        Ok(Signature::new(vec![argument], result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let times = Moments::new(&arguments[0], &signature.arguments[0], context)?;
        output::ints(row_count, |row| Ok(times.time(row).map(self.compute)))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, datetime, i, t, time};

    #[test]
    fn values() {
        check(&[
            ("hour", &[t("10:05:03")], "10"),
            ("hour", &[t("272:59:59")], "272"),
            ("hour", &[time("-10:05:03")], "10"),
            ("hour", &[t("abc")], "NULL +1292"),
            ("hour", &[i(101112)], "10"),
            ("minute", &[t("2008-02-03 10:05:03")], "5"),
            ("second", &[datetime("2008-02-03 10:05:03")], "3"),
            ("microsecond", &[t("12:00:00.123456")], "123456"),
            ("microsecond", &[t("2019-12-31 23:59:59.000010")], "10"),
            ("time_to_sec", &[t("22:23:00")], "80580"),
            ("time_to_sec", &[t("-1:00:00.9")], "-3600"),
        ]);
    }
}
