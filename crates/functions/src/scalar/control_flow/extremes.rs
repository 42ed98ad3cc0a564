//! GREATEST(value, …) and LEAST(value, …): NULL when any is NULL.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::convert::cast_array;
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind, Value};

use crate::comparison::compare_texts;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, choice, derive, input,
};

/// The most digits of a second.
const TEMPORAL_DECIMALS_MAX: u8 = 6;

/// One of the two.
#[derive(Debug)]
pub(crate) struct Extreme {
    names: &'static [&'static str],
    wanted: Ordering,
}

/// GREATEST()
pub(crate) static GREATEST: Extreme = Extreme {
    names: &["greatest"],
    wanted: Ordering::Greater,
};
/// LEAST()
pub(crate) static LEAST: Extreme = Extreme {
    names: &["least"],
    wanted: Ordering::Less,
};

impl ScalarKernel for Extreme {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let (mut ty, coercibility) = choice::choice_type(arguments, context, self.names[0])?;
        // A date is compared as what it is, also with strings and numbers, though the result is a string; a
        // time, and a date with a year, as a string.
        let is_year = |argument: &Argument<'_>| argument.ty.kind == TypeKind::Year;
        let is_date = |argument: &&Argument<'_>| {
            argument.ty.is_temporal() && argument.ty.kind != TypeKind::Time
        };
        if ty.is_string()
            && !arguments.iter().any(is_year)
            && arguments.iter().any(|it| is_date(&it))
        {
            let mut dates = arguments.iter().filter(is_date);
            let has_time = dates.any(|date| date.ty.kind != TypeKind::Date);
            let kind = match has_time {
                true => TypeKind::DateTime,
                false => TypeKind::Date,
            };
            let decimals = arguments.iter().map(fraction_digits).max().unwrap_or(0);
            let decimals = if has_time { decimals } else { 0 };
            let date = SqlType::temporal(kind, decimals);
            return Ok(Signature::new(
                vec![date; arguments.len()],
                ty,
                derive::any_nullable(arguments),
            )
            .with_coercibility(coercibility));
        }
        if matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json) {
            ty = derive::text_of(&arguments[0], context);
        }
        Ok(Signature::new(
            vec![ty.clone(); arguments.len()],
            ty,
            derive::any_nullable(arguments),
        )
        .with_coercibility(coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let picked = self.picked(arguments, row_count, ty)?;
        if ty.is_temporal() && signature.result.is_string() {
            return cast_array(&picked, ty, &signature.result, &context.cast(self.names[0]));
        }
        Ok(picked)
    }
}

impl Extreme {
    /// The greatest or least of values of one type.
    fn picked(&self, arguments: &[Column], row_count: usize, ty: &SqlType) -> Result<ArrayRef> {
        match ty.physical() {
            PhysicalType::Bytes => {
                let values: Vec<_> = arguments.iter().map(input::texts).collect::<Result<_>>()?;
                self.pick(
                    arguments,
                    ty,
                    row_count,
                    |row, index| values[index].get(row),
                    |a, b| compare_texts(a, b, ty.collation),
                )
            }
            PhysicalType::Float64 => {
                let values: Vec<_> = arguments.iter().map(input::floats).collect::<Result<_>>()?;
                self.pick(
                    arguments,
                    ty,
                    row_count,
                    |row, index| values[index].get(row),
                    |a, b| a.total_cmp(&b),
                )
            }
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let values: Vec<_> = arguments
                    .iter()
                    .map(|argument| input::decimals(argument, scale))
                    .collect::<Result<_>>()?;
                self.pick(
                    arguments,
                    ty,
                    row_count,
                    |row, index| values[index].get(row),
                    |a, b| a.cmp(&b),
                )
            }
            _ => {
                let values: Vec<_> = arguments
                    .iter()
                    .map(input::any_ints)
                    .collect::<Result<_>>()?;
                self.pick(
                    arguments,
                    ty,
                    row_count,
                    |row, index| values[index].get(row),
                    |a, b| a.cmp(&b),
                )
            }
        }
    }

    fn pick<T: Copy>(
        &self,
        arguments: &[Column],
        ty: &SqlType,
        row_count: usize,
        value: impl Fn(usize, usize) -> Option<T>,
        compare: impl Fn(T, T) -> Ordering,
    ) -> Result<ArrayRef> {
        choice::pick(arguments, ty, row_count, |row| {
            let mut best = (value(row, 0)?, 0);
            for index in 1..arguments.len() {
                let candidate = value(row, index)?;
                let order = compare(candidate, best.0);
                // Of texts that are equal GREATEST() gives the last one, LEAST() the first.
                if order == self.wanted || order.is_eq() && self.wanted.is_gt() {
                    best = (candidate, index);
                }
            }
            Some(best.1)
        })
    }
}

/// The digits of a second that an argument may have as a date with time.
fn fraction_digits(argument: &Argument<'_>) -> u8 {
    let digits = match argument.constant {
        _ if argument.ty.is_temporal() => argument.ty.decimals,
        Some(Value::Bytes(text)) => {
            let fraction = text.iter().skip_while(|byte| **byte != b'.').skip(1);
            fraction.take_while(|byte| byte.is_ascii_digit()).count() as u8
        }
        Some(Value::Null) => 0,
        _ if argument.ty.is_integer() => 0,
        _ if argument.ty.is_numeric() => argument.ty.decimals,
        _ => TEMPORAL_DECIMALS_MAX,
    };
    digits.min(TEMPORAL_DECIMALS_MAX)
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, f, i, t};

    #[test]
    fn values() {
        check(&[
            ("greatest", &[i(2), i(0)], "2"),
            ("greatest", &[f(34.0), f(3.0), f(5.0), f(767.0)], "767"),
            ("greatest", &[t("B"), t("A"), t("C")], "C"),
            ("greatest", &[i(10), t("9")], "9"),
            ("greatest", &[i(1), d("2.5")], "2.5"),
            ("greatest", &[i(1), NULL], "NULL"),
            ("least", &[i(2), i(0)], "0"),
            ("least", &[t("b"), i(1), t("a")], "1"),
            ("least", &[t("a"), t("B")], "a"),
            ("greatest", &[t("B"), t("b")], "b"),
            ("least", &[t("B"), t("b")], "B"),
        ]);
    }
}
