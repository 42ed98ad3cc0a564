//! ELT(n, text, …) and FIELD(x, y, …): by number and the number of.

use arrow_array::ArrayRef;
use mayfly_types::{PhysicalType, Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, comparison, derive, input,
    output,
};

/// ELT()
#[derive(Debug)]
pub(crate) struct Elt;

impl ScalarKernel for Elt {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = arguments[1..]
            .iter()
            .map(|argument| derive::character_length(argument.ty))
            .max()
            .unwrap_or(0);
        let mut signature =
            derive::text_signature(&arguments[1..], context, "elt", characters, true)?;
        signature.arguments.insert(0, SqlType::bigint());
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let numbers = input::ints(&arguments[0])?;
        let texts: Vec<_> = arguments[1..]
            .iter()
            .map(input::texts)
            .collect::<Result<_>>()?;
        output::borrowed_texts(row_count, context, |row| {
            let index = numbers
                .get(row)
                .and_then(|number| usize::try_from(number.checked_sub(1)?).ok());
            Ok(index
                .and_then(|index| texts.get(index))
                .and_then(|text| text.get(row)))
        })
    }
}

/// FIELD()
#[derive(Debug)]
pub(crate) struct Field;

impl ScalarKernel for Field {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        // Strings when there is no number among them, integers when all are, doubles otherwise.
        let types = if !arguments.iter().any(|argument| argument.ty.is_numeric()) {
            derive::text_signature(arguments, context, "field", 0, false)?.arguments
        } else if arguments
            .iter()
            .all(|argument| numeric::is_integer(argument.ty))
        {
            arguments
                .iter()
                .map(|argument| numeric::integer_argument(argument.ty))
                .collect()
        } else {
            vec![SqlType::double(); arguments.len()]
        };
        Ok(Signature::new(types, derive::int_of_width(11), false))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        match ty.physical() {
            PhysicalType::Bytes => {
                let texts: Vec<_> = arguments.iter().map(input::texts).collect::<Result<_>>()?;
                output::ints(row_count, |row| {
                    Ok(Some(place(
                        texts.iter().map(|text| text.get(row)),
                        |a, b| comparison::text_equals(a, b, ty.collation),
                    )))
                })
            }
            PhysicalType::Float64 => {
                let values: Vec<_> = arguments.iter().map(input::floats).collect::<Result<_>>()?;
                output::ints(row_count, |row| {
                    Ok(Some(place(
                        values.iter().map(|value| value.get(row)),
                        |a, b| a == b,
                    )))
                })
            }
            _ => {
                let values: Vec<_> = arguments
                    .iter()
                    .map(input::any_ints)
                    .collect::<Result<_>>()?;
                output::ints(row_count, |row| {
                    Ok(Some(place(
                        values.iter().map(|value| value.get(row)),
                        |a, b| a == b,
                    )))
                })
            }
        }
    }
}

/// The place, from 1, of the first value among the others; 0 without.
fn place<T: Copy>(
    mut values: impl Iterator<Item = Option<T>>,
    equals: impl Fn(T, T) -> bool,
) -> i64 {
    let Some(Some(wanted)) = values.next() else {
        return 0;
    };
    values
        .position(|value| value.is_some_and(|value| equals(value, wanted)))
        .map_or(0, |index| index as i64 + 1)
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, i, t};

    #[test]
    fn values() {
        check(&[
            ("elt", &[i(1), t("Aa"), t("Bb")], "Aa"),
            ("elt", &[i(4), t("Aa"), t("Bb")], "NULL"),
            ("elt", &[i(0), t("Aa")], "NULL"),
            ("field", &[t("Bb"), t("Aa"), t("Bb"), t("Cc")], "2"),
            ("field", &[t("Gg"), t("Aa")], "0"),
            ("field", &[i(3), i(1), d("3.0")], "2"),
            ("field", &[NULL, t("a")], "0"),
        ]);
    }
}
