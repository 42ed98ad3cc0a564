//! REPEAT(text, n) and SPACE(n).

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REPEAT()
#[derive(Debug)]
pub(crate) struct Repeat;

impl ScalarKernel for Repeat {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let times = derive::constant_integer(&arguments[1]);
        let length = derive::character_length(arguments[0].ty);
        let signature = |characters| {
            derive::text_signature(&arguments[..1], context, "repeat", characters, true)
        };
        let mut signature = match times {
            Some(times) => {
                // What is repeated less than never is taken to be long.
                let times = u64::try_from(times).unwrap_or(u64::MAX);
                derive::foreseen(signature(length.saturating_mul(times))?)
            }
            None => signature(derive::FORESEEN_MAX)?,
        };
        signature.arguments.push(derive::integer_of(&arguments[1]));
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (texts, times) = (input::texts(&arguments[0])?, input::counts(&arguments[1])?);
        repeat("repeat", texts, times, row_count, context)
    }
}

/// SPACE()
#[derive(Debug)]
pub(crate) struct Space;

impl ScalarKernel for Space {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = derive::constant_integer(&arguments[0])
            .map_or(derive::FORESEEN_MAX, |n| n.max(0).cast_unsigned());
        Ok(Signature::new(
            vec![derive::integer_of(&arguments[0])],
            derive::string_type(characters, context.collation_connection),
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
        repeat(
            "space",
            input::Texts::Constant(Some(b" ")),
            input::counts(&arguments[0])?,
            row_count,
            context,
        )
    }
}

fn repeat(
    name: &str,
    texts: input::Texts<'_>,
    times: input::Counts<'_>,
    row_count: usize,
    context: &EvaluationContext,
) -> Result<ArrayRef> {
    output::texts(row_count, context, |row, out| {
        let (Some(text), Some(times)) = (texts.get(row), times.get(row)) else {
            return Ok(false);
        };
        let times = usize::try_from(times).unwrap_or(0);
        let bytes = text.len().saturating_mul(times);
        if !chars::within_packet(bytes, name, context)? {
            return Ok(false);
        }
        out.reserve_exact(bytes);
        if bytes > 0 {
            out.extend_from_slice(text);
        }
        while out.len() < bytes {
            out.extend_from_within(..out.len().min(bytes - out.len()));
        }
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("repeat", &[t("MySQL"), i(3)], "MySQLMySQLMySQL"),
            ("repeat", &[t("x"), i(-1)], ""),
            ("repeat", &[t("xyz"), i(1000000000)], "NULL +1301"),
            ("space", &[i(6)], "      "),
            ("space", &[NULL], "NULL"),
        ]);
    }
}
