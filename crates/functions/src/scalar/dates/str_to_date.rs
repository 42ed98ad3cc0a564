//! STR_TO_DATE(text, format): the inverse of DATE_FORMAT.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::temporal::DateRules;
use mayfly_types::temporal::pattern::{str_to_date, time_of};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::arguments::{self, FRACTION_MAX};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// STR_TO_DATE()
#[derive(Debug)]
pub(crate) struct StrToDate;

impl ScalarKernel for StrToDate {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments
            .iter()
            .map(|argument| derive::text_of(argument, context));
        let result = match arguments[1].constant {
            Some(Value::Bytes(format)) => type_of_format(format),
            _ => SqlType::temporal(TypeKind::DateTime, FRACTION_MAX),
        };
        Ok(Signature::new(types.collect(), result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let formats = input::texts(&arguments[1])?;
        let kind = signature.result.kind;
        let name = match kind {
            TypeKind::Time => "time",
            TypeKind::Date => "date",
            _ => "datetime",
        };
        let rules = DateRules::of(context.sql_mode);
        output::ints(row_count, |row| {
            let (Some(text), Some(format)) = (texts.get(row), formats.get(row)) else {
                return Ok(None);
            };
            let read = str_to_date(text, format)
                .filter(|read| kind == TypeKind::Time || read.value.check(rules).is_ok());
            let Some(read) = read else {
                let text = String::from_utf8_lossy(text);
                context
                    .diagnostics
                    .warn(codes::ER_WRONG_VALUE_FOR_TYPE.with(&[
                        &"datetime",
                        &text,
                        &"str_to_date",
                    ]));
                return Ok(None);
            };
            if read.truncated {
                arguments::warn_truncated(name, text, context);
            }
            Ok(Some(match kind {
                TypeKind::Time => time_of(read.value),
                TypeKind::Date => read.value.at_midnight().pack(),
                _ => read.value.pack(),
            }))
        })
    }
}

/// What a format gives; a mere day makes no date of a time.
fn type_of_format(format: &[u8]) -> SqlType {
    let (mut date, mut time, mut fraction) = (false, false, 0);
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            continue;
        }
        match bytes.next() {
            Some(b'f') => (time, fraction) = (true, FRACTION_MAX),
            Some(b'H' | b'I' | b'S' | b'T' | b'h' | b'i' | b'k' | b'l' | b'r' | b's') => {
                time = true;
            }
            Some(
                b'M' | b'V' | b'U' | b'X' | b'Y' | b'W' | b'a' | b'b' | b'c' | b'j' | b'm' | b'v'
                | b'u' | b'x' | b'y' | b'w',
            ) => date = true,
            _ => {}
        }
    }
    match (date, time) {
        (true, true) => SqlType::temporal(TypeKind::DateTime, fraction),
        (false, true) => SqlType::temporal(TypeKind::Time, fraction),
        _ => SqlType::temporal(TypeKind::Date, 0),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            (
                "str_to_date",
                &[t("01,5,2013"), t("%d,%m,%Y")],
                "2013-05-01",
            ),
            (
                "str_to_date",
                &[t("May 1, 2013"), t("%M %d,%Y")],
                "2013-05-01",
            ),
            ("str_to_date", &[t("a09:30:17"), t("a%h:%i:%s")], "09:30:17"),
            (
                "str_to_date",
                &[t("a09:30:17"), t("%h:%i:%s")],
                "NULL +1411",
            ),
            (
                "str_to_date",
                &[t("09:30:17a"), t("%h:%i:%s")],
                "09:30:17 +1292",
            ),
            ("str_to_date", &[t("9"), t("%m")], "NULL +1411"),
            (
                "str_to_date",
                &[t("200442 Monday"), t("%X%V %W")],
                "2004-10-18",
            ),
            (
                "str_to_date",
                &[t("2013-05-01 10:11:12.5"), t("%Y-%m-%d %H:%i:%s.%f")],
                "2013-05-01 10:11:12.500000",
            ),
            (
                "str_to_date",
                &[t("2013-05-01 xyz"), t("%Y-%m-%d")],
                "2013-05-01 +1292",
            ),
        ]);
    }
}
