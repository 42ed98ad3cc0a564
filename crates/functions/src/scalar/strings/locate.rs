//! LOCATE(part, text[, position]), POSITION and INSTR(text, part): where a part begins, in characters from 1, by the collation.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// LOCATE()
#[derive(Debug)]
pub(crate) struct Locate;

impl ScalarKernel for Locate {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        locate_signature(arguments, context, 2)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let starts = arguments.get(2).map(input::ints).transpose()?;
        locate(&arguments[1], &arguments[0], starts, row_count, signature)
    }
}

/// INSTR()
#[derive(Debug)]
pub(crate) struct Instr;

impl ScalarKernel for Instr {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        locate_signature(arguments, context, 2)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        locate(&arguments[0], &arguments[1], None, row_count, signature)
    }
}

fn locate_signature(
    arguments: &[Argument<'_>],
    context: &SignatureContext,
    texts: usize,
) -> Result<Signature> {
    let mut signature = derive::text_signature(
        &arguments[..texts],
        context,
        "locate",
        0,
        derive::any_nullable(arguments),
    )?;
    signature
        .arguments
        .extend(arguments[texts..].iter().map(|_| SqlType::bigint()));
    let types = signature.arguments;
    Ok(Signature::new(
        types,
        derive::int_of_width(11),
        signature.nullable,
    ))
}

fn locate(
    text: &Column,
    part: &Column,
    starts: Option<input::Ints<'_>>,
    row_count: usize,
    signature: &Signature,
) -> Result<ArrayRef> {
    let (texts, parts) = (input::texts(text)?, input::texts(part)?);
    let collation = signature.arguments[0].collation;
    output::ints(row_count, |row| {
        let (Some(text), Some(part)) = (texts.get(row), parts.get(row)) else {
            return Ok(None);
        };
        let start = match &starts {
            None => 1,
            Some(starts) => match starts.get(row) {
                None => return Ok(None),
                Some(start) => start,
            },
        };
        let Ok(skipped) = usize::try_from(start.saturating_sub(1)) else {
            return Ok(Some(0));
        };
        if start < 1 || skipped > chars::count(text, collation) {
            return Ok(Some(0));
        }
        let offset = chars::offset_of(text, skipped, collation);
        Ok(Some(
            match chars::find_collated(&text[offset..], part, collation) {
                Some(found) => (chars::count(&text[..offset + found], collation) + 1) as i64,
                None => 0,
            },
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{b, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("locate", &[t("bar"), t("foobarbar")], "4"),
            ("locate", &[t("xbar"), t("foobar")], "0"),
            ("locate", &[t("bar"), t("foobarbar"), i(5)], "7"),
            ("locate", &[t(""), t("abc")], "1"),
            ("locate", &[t("a"), t("abc"), i(0)], "0"),
            ("instr", &[t("foobarbar"), t("bar")], "4"),
            ("instr", &[t("éxa"), t("A")], "3"),
            ("instr", &[b(b"xa"), b(b"A")], "0"),
        ]);
    }
}
