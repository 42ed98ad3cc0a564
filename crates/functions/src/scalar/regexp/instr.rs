//! REGEXP_INSTR(text, pattern[, position[, occurrence[, return_option[, match_type]]]])

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::arguments::{self, Patterns};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["regexp_instr"], 2..=6, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = arguments::types(binding, 2, 5)?.arguments;
    let nullable = binding.any_nullable();
    Ok(Signature::new(types, derive::bigint_of_width(21), nullable))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, collation) = (call.texts(0)?, call.collation(0));
    let mut patterns = Patterns::new(call, 5)?;
    let positions = arguments::numbers(call, 2, 1)?;
    let occurrences = arguments::numbers(call, 3, 1)?;
    let options = arguments::numbers(call, 4, 0)?;
    output::ints(call.rows, |row| {
        let (Some(pattern), Some(text), Some(position), Some(occurrence), Some(option)) = (
            patterns.get(row)?,
            texts.get(row),
            positions.get(row),
            occurrences.get(row),
            options.get(row),
        ) else {
            return Ok(None);
        };
        let text = arguments::subject(text, collation);
        let from = arguments::offset(&text, position, None)?;
        let occurrence = usize::try_from(occurrence).unwrap_or(1);
        let found = pattern.find(&text, from, occurrence.max(1))?;
        Ok(Some(found.map_or(0, |(start, end)| {
            let offset = if option == 0 { start } else { end };
            text.get(..offset).unwrap_or_default().chars().count() as i64 + 1
        })))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        let dogs = t("dog cat dog");
        check(&[
            ("regexp_instr", &[dogs, t("dog")], "1"),
            ("regexp_instr", &[dogs, t("dog"), i(2)], "9"),
            ("regexp_instr", &[dogs, t("dog"), i(1), i(2), i(1)], "12"),
            ("regexp_instr", &[t("aa aaa aaaa"), t("a{4}")], "8"),
            ("regexp_instr", &[t("éa"), t("a")], "2"),
            ("regexp_instr", &[t("dog"), t("x")], "0"),
            ("regexp_instr", &[dogs, NULL], "NULL"),
            (
                "regexp_instr",
                &[t("abc"), t("b"), i(5)],
                "ERROR 3686 (HY000): Index out of bounds in regular expression search.",
            ),
        ]);
    }
}
