//! REGEXP_REPLACE(text, pattern, replacement[, position[, occurrence[, match_type]]])

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, Patterns, out_of_bounds};
use super::pattern::{Pattern, after, run_error};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["regexp_replace"], 3..=6, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = arguments::types(binding, 3, 5)?;
    signature.result = SqlType::text(TypeKind::LongText, signature.arguments[0].collation);
    signature.nullable = true;
    Ok(derive::with_length_limit(signature))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, replacements, collation) = (call.texts(0)?, call.texts(2)?, call.collation(0));
    let mut patterns = Patterns::new(call, 5)?;
    let positions = arguments::numbers(call, 3, 1)?;
    let occurrences = arguments::numbers(call, 4, 0)?;
    output::texts(call, |row, out| {
        let (Some(pattern), Some(text), Some(with), Some(position), Some(occurrence)) = (
            patterns.get(row)?,
            texts.get(row),
            replacements.get(row),
            positions.get(row),
            occurrences.get(row),
        ) else {
            return Ok(false);
        };
        let text = arguments::subject(text, collation);
        let with = arguments::subject(with, collation);
        let from = arguments::offset(&text, position, Some(call.name))?;
        let only = usize::try_from(occurrence).unwrap_or(1);
        let replaced = replace(pattern, &text, &with, from, only)?;
        arguments::append(out, &replaced, collation);
        Ok(true)
    })
}

/// Replaces the match number `only`, or all matches for 0.
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

/// Expands groups in a replacement: `$1`, `${name}`; a backslash makes the next character literal.
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
                // As many digits as still form the number of a group.
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
