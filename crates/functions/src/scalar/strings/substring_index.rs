//! SUBSTRING_INDEX(text, delimiter, n): what stands before the n-th delimiter, or, negative, after the n-th from the end.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// SUBSTRING_INDEX()
#[derive(Debug)]
pub(crate) struct SubstringIndex;

impl ScalarKernel for SubstringIndex {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = derive::character_length(arguments[0].ty);
        let mut signature = derive::changed_text_signature(
            &arguments[..2],
            context,
            "substring_index",
            characters,
            derive::any_nullable(arguments),
        )?;
        let count = derive::integer_of(&arguments[2]);
        signature.arguments.push(count);
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (texts, delimiters, counts) = (
            input::texts(&arguments[0])?,
            input::texts(&arguments[1])?,
            input::counts(&arguments[2])?,
        );
        output::borrowed_texts(row_count, context, |row| {
            let (Some(text), Some(delimiter), Some(count)) =
                (texts.get(row), delimiters.get(row), counts.get(row))
            else {
                return Ok(None);
            };
            Ok(Some(part(text, delimiter, count)))
        })
    }
}

fn part<'a>(text: &'a [u8], delimiter: &[u8], count: i64) -> &'a [u8] {
    if delimiter.is_empty() || count == 0 {
        return b"";
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) - 1;
    if count > 0 {
        let mut start = 0;
        for _ in 0..wanted {
            match chars::find(&text[start..], delimiter) {
                Some(found) => start += found + delimiter.len(),
                None => return text,
            }
        }
        return match chars::find(&text[start..], delimiter) {
            Some(found) => &text[..start + found],
            None => text,
        };
    }
    let mut end = text.len();
    for turn in 0.. {
        match chars::find_last(&text[..end], delimiter) {
            Some(found) if turn == wanted => return &text[found + delimiter.len()..],
            Some(found) => end = found,
            None => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            (
                "substring_index",
                &[t("www.mysql.com"), t("."), i(2)],
                "www.mysql",
            ),
            (
                "substring_index",
                &[t("www.mysql.com"), t("."), i(-2)],
                "mysql.com",
            ),
            (
                "substring_index",
                &[t("www.mysql.com"), t("."), i(5)],
                "www.mysql.com",
            ),
            ("substring_index", &[t("www.mysql.com"), t(""), i(1)], ""),
        ]);
    }
}
