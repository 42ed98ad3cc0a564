//! GET_FORMAT(type, standard): format strings of several standards. The parser hands over the
//! type as a word.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The standard and its formats of DATE, TIME and DATETIME (the manual, GET_FORMAT).
const FORMATS: &[(&str, [&str; 3])] = &[
    ("USA", ["%m.%d.%Y", "%h:%i:%s %p", "%Y-%m-%d %H.%i.%s"]),
    ("JIS", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
    ("ISO", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
    ("EUR", ["%d.%m.%Y", "%H.%i.%s", "%Y-%m-%d %H.%i.%s"]),
    ("INTERNAL", ["%Y%m%d", "%H%i%s", "%Y%m%d%H%i%s"]),
];

/// GET_FORMAT()
#[derive(Debug)]
pub(crate) struct GetFormat;

impl ScalarKernel for GetFormat {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments
            .iter()
            .map(|argument| derive::text_of(argument, context));
        Ok(Signature::new(
            types.collect(),
            SqlType::varchar(17, context.collation_connection),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let kind = match arguments::word(&arguments[0], row_count)? {
            word if word.eq_ignore_ascii_case(b"date") => 0,
            word if word.eq_ignore_ascii_case(b"time") => 1,
            _ => 2,
        };
        let standards = input::texts(&arguments[1])?;
        output::borrowed_texts(row_count, context, |row| {
            let standard = standards.get(row).and_then(|wanted| {
                FORMATS
                    .iter()
                    .find(|(name, _)| wanted.eq_ignore_ascii_case(name.as_bytes()))
            });
            Ok(standard.map(|(_, formats)| formats[kind].as_bytes()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("get_format", &[t("DATE"), t("USA")], "%m.%d.%Y"),
            (
                "get_format",
                &[t("DATETIME"), t("eur")],
                "%Y-%m-%d %H.%i.%s",
            ),
            ("get_format", &[t("TIME"), t("xx")], "NULL"),
        ]);
    }
}
