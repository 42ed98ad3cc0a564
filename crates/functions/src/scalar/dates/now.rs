//! The clock: NOW, SYSDATE, CURDATE, CURTIME, UTC_DATE, UTC_TIME, UTC_TIMESTAMP. All but SYSDATE
//! stand still while a statement runs.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateTime, TimeZone, fraction_unit};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// One of them.
#[derive(Debug)]
pub(crate) struct Now {
    names: &'static [&'static str],
    kind: TypeKind,
    is_utc: bool,
    ticks: bool,
}

/// NOW()
pub(crate) static NOW: Now = Now {
    names: &["now", "current_timestamp", "localtime", "localtimestamp"],
    kind: TypeKind::DateTime,
    is_utc: false,
    ticks: false,
};
/// SYSDATE()
pub(crate) static SYSDATE: Now = Now {
    names: &["sysdate"],
    kind: TypeKind::DateTime,
    is_utc: false,
    ticks: true,
};
/// CURDATE()
pub(crate) static CURDATE: Now = Now {
    names: &["curdate", "current_date"],
    kind: TypeKind::Date,
    is_utc: false,
    ticks: false,
};
/// CURTIME()
pub(crate) static CURTIME: Now = Now {
    names: &["curtime", "current_time"],
    kind: TypeKind::Time,
    is_utc: false,
    ticks: false,
};
/// UTC_DATE()
pub(crate) static UTC_DATE: Now = Now {
    names: &["utc_date"],
    kind: TypeKind::Date,
    is_utc: true,
    ticks: false,
};
/// UTC_TIME()
pub(crate) static UTC_TIME: Now = Now {
    names: &["utc_time"],
    kind: TypeKind::Time,
    is_utc: true,
    ticks: false,
};
/// UTC_TIMESTAMP()
pub(crate) static UTC_TIMESTAMP: Now = Now {
    names: &["utc_timestamp"],
    kind: TypeKind::DateTime,
    is_utc: true,
    ticks: false,
};

impl ScalarKernel for Now {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let digits = arguments::fraction_argument(arguments.first(), self.names[0])?;
        let types = arguments.iter().map(|argument| argument.ty.clone());
        let mut result = SqlType::temporal(self.kind, digits);
        if self.kind == TypeKind::Time {
            // A time of day needs neither a sign nor a third digit of the hour.
            result.length -= 2;
        }
        Ok(Signature::new(types.collect(), result, false))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if self.ticks {
            return output::ints(row_count, |_| {
                Ok(Some(self.value((context.clock)(), signature, context)))
            });
        }
        let value = self.value(context.now_utc_microseconds, signature, context);
        Ok(output::repeat(
            &Value::Int(value),
            &signature.result,
            row_count,
        ))
    }
}

impl Now {
    fn value(&self, moment: i64, signature: &Signature, context: &EvaluationContext) -> i64 {
        let zone = if self.is_utc {
            &TimeZone::UTC
        } else {
            &context.time_zone
        };
        let now = zone.local_of_unix(moment).unwrap_or_default();
        let unit = fraction_unit(signature.result.decimals);
        let now = DateTime {
            microsecond: now.microsecond - now.microsecond % unit as u32,
            ..now
        };
        match self.kind {
            TypeKind::Date => now.at_midnight().pack(),
            TypeKind::Time => now.time_of_day(),
            _ => now.pack(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i};

    #[test]
    fn values() {
        check(&[
            ("utc_timestamp", &[], "2024-02-29 12:34:56"),
            ("utc_timestamp", &[i(3)], "2024-02-29 12:34:56.789"),
            ("utc_time", &[i(6)], "12:34:56.789012"),
            ("utc_date", &[], "2024-02-29"),
            ("now", &[], "2024-02-29 13:34:56"),
            ("curdate", &[], "2024-02-29"),
            ("curtime", &[i(1)], "13:34:56.7"),
            (
                "now",
                &[i(7)],
                "ERROR 1426 (42000): Too-big precision 7 specified for 'now'. Maximum is 6.",
            ),
        ]);
    }
}
