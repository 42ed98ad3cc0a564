//! REGEXP_REPLACE(text, pattern, replacement[, position[, occurrence[, match_type]]])

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, Patterns, out_of_bounds};
use super::pattern::{Pattern, after, run_error};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REGEXP_REPLACE()
#[derive(Debug)]
pub(crate) struct RegexpReplace;

impl ScalarKernel for RegexpReplace {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let texts = arguments::text_types(&arguments[..3], context, "regexp_replace")?;
        let mut types = texts.arguments;
        for (index, argument) in arguments.iter().enumerate().skip(3) {
            types.push(if index == 5 {
                derive::text_of(argument, context)
            } else {
                SqlType::bigint()
            });
        }
        let result = SqlType::text(TypeKind::LongText, types[0].collation);
        let signature = Signature::new(types, result, true);
        Ok(derive::foreseen(signature).with_coercibility(texts.coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let texts = input::texts(&arguments[0])?;
        let mut patterns = Patterns::new(&arguments[1], arguments.get(5), ty, "regexp_replace")?;
        let replacements = input::texts(&arguments[2])?;
        let positions = arguments.get(3).map(input::ints).transpose()?;
        let occurrences = arguments.get(4).map(input::ints).transpose()?;
        let number = |values: Option<input::Ints<'_>>, default: i64, row: usize| match values {
            None => Some(default),
            Some(values) => values.get(row),
        };
        output::texts(row_count, context, |row, out| {
            let (Some(pattern), Some(text), Some(with), Some(position), Some(occurrence)) = (
                patterns.get(row)?,
                texts.get(row),
                replacements.get(row),
                number(positions, 1, row),
                number(occurrences, 0, row),
            ) else {
                return Ok(false);
            };
            let text = arguments::subject(text, ty.collation);
            let with = arguments::subject(with, ty.collation);
            let from = arguments::offset(&text, position, Some("regexp_replace"))?;
            let only = usize::try_from(occurrence).unwrap_or(1);
            let replaced = replace(pattern, &text, &with, from, only)?;
            arguments::append(out, &replaced, ty.collation);
            Ok(true)
        })
    }
}

/// Replaces the match number `only`, or all for 0.
fn replace(pattern: &Pattern, text: &str, with: &str, from: usize, only: usize) -> Result<String> {
    let regex = pattern.regex(text);
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at, mut number) = (0, from, 0);
    while at <= text.len() {
        let Some(groups) = regex.captures_from_pos(text, at).map_err(run_error)? else {
            break;
        };
        let Some(whole) = groups.get(0) else {
            break;
        };
        let place = (whole.start(), whole.end());
        number += 1;
        if only == 0 || only == number {
            out.push_str(text.get(copied..place.0).unwrap_or_default());
            let group = |group: Group<'_>| match group {
                Group::Number(number) => (number < groups.len()).then(|| {
                    let found = groups.get(number);
                    found.map_or("", |found| found.as_str())
                }),
                Group::Name(name) => groups.name(name).map(|found| found.as_str()),
            };
            expand(with, groups.len(), group, &mut out)?;
            copied = place.1;
            if only == number {
                break;
            }
        }
        at = after(text, place);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Ok(out)
}

enum Group<'a> {
    Number(usize),
    Name(&'a str),
}

/// Puts the groups into a replacement: `$1`, `${name}`; a backslash makes the next character stand
/// for itself.
fn expand<'t>(
    with: &str,
    group_count: usize,
    group: impl Fn(Group<'_>) -> Option<&'t str>,
    out: &mut String,
) -> Result<()> {
    let wrong_name = || codes::ER_REGEXP_INVALID_CAPTURE_GROUP_NAME.error();
    let mut rest = with;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '\\' => {
                if let Some(literal) = rest.chars().next() {
                    rest = &rest[literal.len_utf8()..];
                    out.push(literal);
                }
            }
            '$' => {
                if let Some(named) = rest.strip_prefix('{') {
                    let (name, tail) = named.split_once('}').ok_or_else(wrong_name)?;
                    out.push_str(group(Group::Name(name)).ok_or_else(wrong_name)?);
                    rest = tail;
                    continue;
                }
                let mut number = None;
                // As many digits as still name a group.
                while let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(10)) {
                    let longer = number.unwrap_or(0) * 10 + digit as usize;
                    if number.is_some() && longer >= group_count {
                        break;
                    }
                    number = Some(longer);
                    rest = &rest[1..];
                }
                let number = number.ok_or_else(wrong_name)?;
                out.push_str(group(Group::Number(number)).ok_or_else(out_of_bounds)?);
            }
            literal => out.push(literal),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("regexp_replace", &[t("a b c"), t("b"), t("X")], "a X c"),
            (
                "regexp_replace",
                &[t("abc def ghi"), t("[a-z]+"), t("X"), i(1), i(3)],
                "abc def X",
            ),
            ("regexp_replace", &[t("abc"), t("(b)(c)"), t("$2$1")], "acb"),
            ("regexp_replace", &[t("abc"), t("b"), t("\\$")], "a$c"),
            ("regexp_replace", &[t("aaa"), t("a"), t("b"), i(2)], "abb"),
            ("regexp_replace", &[t("aaa"), t("a*?"), t("b")], "bababab"),
            ("regexp_replace", &[NULL, t("a"), t("b")], "NULL"),
            (
                "regexp_replace",
                &[t("abc"), t("b"), t("$9")],
                "ERROR 3686 (HY000): Index out of bounds in regular expression search.",
            ),
            (
                "regexp_replace",
                &[t("abc"), t("b"), t("$x")],
                "ERROR 3887 (HY000): A capture group has an invalid name.",
            ),
        ]);
    }
}
