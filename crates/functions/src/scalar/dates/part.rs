//! Parts of a date as numbers: YEAR, QUARTER, MONTH, DAY, DAYOFWEEK, DAYOFYEAR, WEEKDAY,
//! WEEKOFYEAR, TO_DAYS, TO_SECONDS.

use arrow_array::ArrayRef;
use mayfly_types::temporal::calendar::{self, WeekMode};
use mayfly_types::temporal::{DateTime, MICROS_PER_SECOND};
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// One of them.
#[derive(Debug)]
pub(crate) struct DatePart {
    result: Shown,
    zero_parts: ZeroParts,
    compute: fn(DateTime) -> i64,
}

/// What the result is shown as.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Year,
    /// An integer of a display width.
    Integer(u32),
}

/// YEAR()
pub(crate) static YEAR: DatePart = DatePart {
    result: Shown::Year,
    zero_parts: ZeroParts::Allowed,
    compute: |date| i64::from(date.year),
};
/// QUARTER()
pub(crate) static QUARTER: DatePart = DatePart {
    result: Shown::Integer(2),
    zero_parts: ZeroParts::Allowed,
    compute: |date| i64::from(date.month.div_ceil(3)),
};
/// MONTH()
pub(crate) static MONTH: DatePart = DatePart {
    result: Shown::Integer(3),
    zero_parts: ZeroParts::Allowed,
    compute: |date| i64::from(date.month),
};
/// DAYOFMONTH()
pub(crate) static DAY: DatePart = DatePart {
    result: Shown::Integer(3),
    zero_parts: ZeroParts::Allowed,
    compute: |date| i64::from(date.day),
};
/// DAYOFWEEK()
pub(crate) static DAYOFWEEK: DatePart = DatePart {
    result: Shown::Integer(2),
    zero_parts: ZeroParts::Refused,
    // 1 is Sunday.
    compute: |date| (i64::from(calendar::weekday(calendar::day_number(date))) + 1) % 7 + 1,
};
/// WEEKDAY()
pub(crate) static WEEKDAY: DatePart = DatePart {
    result: Shown::Integer(2),
    zero_parts: ZeroParts::Refused,
    compute: |date| i64::from(calendar::weekday(calendar::day_number(date))),
};
/// DAYOFYEAR()
pub(crate) static DAYOFYEAR: DatePart = DatePart {
    result: Shown::Integer(4),
    zero_parts: ZeroParts::Refused,
    compute: calendar::day_of_year,
};
/// WEEKOFYEAR()
pub(crate) static WEEKOFYEAR: DatePart = DatePart {
    result: Shown::Integer(3),
    zero_parts: ZeroParts::Refused,
    compute: |date| i64::from(calendar::week(date, WeekMode::new(3)).1),
};
/// TO_DAYS()
pub(crate) static TO_DAYS: DatePart = DatePart {
    result: Shown::Integer(8),
    zero_parts: ZeroParts::Refused,
    compute: calendar::day_number,
};
/// TO_SECONDS()
pub(crate) static TO_SECONDS: DatePart = DatePart {
    result: Shown::Integer(21),
    zero_parts: ZeroParts::Refused,
    compute: |date| date.to_micros() / MICROS_PER_SECOND,
};

impl ScalarKernel for DatePart {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let result = match self.result {
            Shown::Year => SqlType {
                unsigned: true,
                ..SqlType::temporal(TypeKind::Year, 0)
            },
            Shown::Integer(width @ 12..) => derive::bigint_of_width(width),
            Shown::Integer(width) => derive::int_of_width(width),
        };
        let argument = arguments::datetime_type(&arguments[0], context);
        Ok(Signature::new(vec![argument], result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let wanted = match self.result {
            Shown::Integer(21) => Wanted::DateTime,
            _ => Wanted::Date,
        };
        let ty = &signature.arguments[0];
        let dates = DateTimes::new(&arguments[0], ty, wanted, self.zero_parts, context)?;
        if signature.result.physical() == PhysicalType::UInt64 {
            return output::uints(row_count, |row| {
                Ok(dates
                    .get(row)
                    .map(|date| (self.compute)(date).cast_unsigned()))
            });
        }
        output::ints(row_count, |row| Ok(dates.get(row).map(self.compute)))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, datetime, i, t};

    #[test]
    fn values() {
        check(&[
            ("year", &[t("1987-01-01")], "1987"),
            ("year", &[datetime("1987-02-03 04:05:06")], "1987"),
            ("year", &[i(20240131)], "2024"),
            ("year", &[t("abc")], "NULL +1292"),
            ("year", &[t("2024-01-01x")], "2024 +1292"),
            ("year", &[NULL], "NULL"),
            ("quarter", &[t("2008-04-01")], "2"),
            ("quarter", &[t("2008-00-01")], "0"),
            ("month", &[t("2008-02-03")], "2"),
            ("month", &[t("2008-00-03")], "0"),
            ("day", &[t("2007-02-03")], "3"),
            ("dayofmonth", &[t("0000-00-00")], "NULL +1292"),
            ("dayofweek", &[t("2007-02-03")], "7"),
            ("dayofweek", &[t("2007-00-03")], "NULL +1292"),
            ("weekday", &[t("2008-02-03 22:23:00")], "6"),
            ("weekday", &[datetime("2007-11-06")], "1"),
            ("dayofyear", &[t("2007-02-03")], "34"),
            ("weekofyear", &[t("2008-02-20")], "8"),
            ("to_days", &[t("2007-10-07")], "733321"),
            ("to_days", &[i(950501)], "728779"),
            ("to_seconds", &[t("2009-11-29 13:43:32")], "63426721412"),
        ]);
    }
}
