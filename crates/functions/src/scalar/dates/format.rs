//! DATE_FORMAT(date, format) and TIME_FORMAT(time, format).

use arrow_array::ArrayRef;
use mayfly_types::temporal::pattern::{Printed, date_format};
use mayfly_types::{Result, SqlType, Value};

use super::arguments::{self, DateTimes, Moment, Moments, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// DATE_FORMAT()
#[derive(Debug)]
pub(crate) struct DateFormat;

impl ScalarKernel for DateFormat {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let value = arguments::datetime_type(&arguments[0], context);
        Ok(format_signature(value, &arguments[1], context))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let allowed = ZeroParts::Allowed;
        let dates = DateTimes::new(&arguments[0], ty, Wanted::DateTime, allowed, context)?;
        print(&arguments[1], row_count, context, |row| {
            dates.get(row).map(Printed::of_datetime)
        })
    }
}

/// TIME_FORMAT()
#[derive(Debug)]
pub(crate) struct TimeFormat;

impl ScalarKernel for TimeFormat {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let value = arguments::time_type(&arguments[0], context);
        Ok(format_signature(value, &arguments[1], context))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let moments = Moments::new(&arguments[0], &signature.arguments[0], context)?;
        print(&arguments[1], row_count, context, |row| {
            Some(match moments.get(row)? {
                Moment::At(value) => Printed::of_datetime(value),
                Moment::Time(micros) => Printed::of_time(micros),
            })
        })
    }
}

/// The signature of a function that prints a moment by a format.
pub(super) fn format_signature(
    value: SqlType,
    format: &Argument<'_>,
    context: &SignatureContext,
) -> Signature {
    let characters = match format.constant {
        Some(Value::Bytes(format)) => printed_length(format),
        _ => derive::character_length(format.ty).saturating_mul(10),
    };
    Signature::new(
        vec![value, derive::text_of(format, context)],
        derive::string_type(characters, context.collation_connection),
        true,
    )
}

/// The most characters that a format can make, as MySQL counts them.
fn printed_length(format: &[u8]) -> u64 {
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match (byte, bytes.as_slice().first()) {
            (b'%', Some(specifier)) => {
                bytes.next();
                match specifier {
                    b'M' | b'W' => 64,
                    b'a' | b'b' => 32,
                    b'D' | b'Y' | b'x' | b'X' => 4,
                    b'r' => 11,
                    b'T' => 8,
                    b'H' | b'k' => 7,
                    b'f' => 6,
                    b'j' => 3,
                    b'w' | b'%' => 1,
                    _ => 2,
                }
            }
            _ => 1,
        };
    }
    length
}

fn print(
    formats: &Column,
    row_count: usize,
    context: &EvaluationContext,
    value: impl Fn(usize) -> Option<Printed>,
) -> Result<ArrayRef> {
    let formats = input::texts(formats)?;
    output::texts(row_count, context, |row, out| {
        let (Some(format), Some(value)) = (formats.get(row), value(row)) else {
            return Ok(false);
        };
        // An empty format has nothing to print, which MySQL takes for NULL.
        Ok(!format.is_empty() && date_format(out, value, format, context.lc_time_names).is_some())
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            (
                "date_format",
                &[t("2009-10-04 22:23:00"), t("%W %M %Y")],
                "Sunday October 2009",
            ),
            (
                "date_format",
                &[t("2007-10-04 22:23:00"), t("%H:%i:%s")],
                "22:23:00",
            ),
            (
                "date_format",
                &[t("1900-10-04 22:23:00"), t("%D %y %a %d %m %b %j")],
                "4th 00 Thu 04 10 Oct 277",
            ),
            (
                "date_format",
                &[t("1997-10-04 22:23:00"), t("%H %k %I %r %T %S %w")],
                "22 22 10 10:23:00 PM 22:23:00 00 6",
            ),
            ("date_format", &[t("1999-01-01"), t("%X %V")], "1998 52"),
            ("date_format", &[t("2006-06-00"), t("%d")], "00"),
            ("date_format", &[t("x"), t("%Y")], "NULL +1292"),
            ("date_format", &[NULL, t("%Y")], "NULL"),
            (
                "time_format",
                &[t("100:00:00"), t("%H %k %h %I %l")],
                "100 100 04 04 4",
            ),
        ]);
    }
}
