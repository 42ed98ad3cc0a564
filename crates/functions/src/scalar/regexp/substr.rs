//! REGEXP_SUBSTR(text, pattern[, position[, occurrence[, match_type]]])

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::arguments::{self, Patterns};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["regexp_substr"], 2..=5, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = arguments::types(binding, 2, 4)?;
    let text = &signature.arguments[0];
    signature.result = derive::string_type(derive::character_length(text), text.collation);
    signature.nullable = true;
    Ok(signature)
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, collation) = (call.texts(0)?, call.collation(0));
    let mut patterns = Patterns::new(call, 4)?;
    let positions = arguments::numbers(call, 2, 1)?;
    let occurrences = arguments::numbers(call, 3, 1)?;
    output::texts(call, |row, out| {
        let (Some(pattern), Some(text), Some(position), Some(occurrence)) = (
            patterns.get(row)?,
            texts.get(row),
            positions.get(row),
            occurrences.get(row),
        ) else {
            return Ok(false);
        };
        let text = arguments::subject(text, collation);
        let from = arguments::offset(&text, position, Some(call.name))?;
        let occurrence = usize::try_from(occurrence).unwrap_or(1);
        let Some((start, end)) = pattern.find(&text, from, occurrence.max(1))? else {
            return Ok(false);
        };
        arguments::append(out, text.get(start..end).unwrap_or_default(), collation);
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        let words = t("abc def ghi");
        check(&[
            ("regexp_substr", &[words, t("[a-z]+")], "abc"),
            ("regexp_substr", &[words, t("[a-z]+"), i(1), i(3)], "ghi"),
            ("regexp_substr", &[words, t("[a-z]+"), i(3)], "c"),
            ("regexp_substr", &[t("abc"), t("x")], "NULL"),
            ("regexp_substr", &[t("abc"), t("b"), i(4)], "NULL"),
        ]);
    }
}
