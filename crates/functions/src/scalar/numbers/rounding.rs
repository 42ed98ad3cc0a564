//! What the rounding functions share.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::Float64Type;
use mayfly_types::decimal::Decimal;
use mayfly_types::{PhysicalType, Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The type that a numeric function reads its argument as, and the type of a result of the same kind.
/// A date is a DOUBLE here.
pub(crate) fn number(argument: &Argument<'_>) -> (SqlType, SqlType) {
    match numeric::kind_of_argument(argument) {
        _ if argument.ty.is_temporal() => (SqlType::double(), derive::double_of(argument)),
        numeric::Kind::Integer => {
            let ty = numeric::integer_argument(argument.ty);
            let result = numeric::integer_result(ty.length, ty.physical() == PhysicalType::UInt64);
            (ty, result)
        }
        numeric::Kind::Decimal => {
            let ty = numeric::decimal_argument(argument);
            (ty.clone(), ty)
        }
        numeric::Kind::Double => (SqlType::double(), derive::double_of(argument)),
    }
}

/// A function of one double.
pub(crate) fn doubles(
    arguments: &[Column],
    row_count: usize,
    compute: impl Fn(f64) -> f64,
) -> Result<ArrayRef> {
    let values = input::floats(&arguments[0])?;
    Ok(Arc::new(output::unary::<Float64Type, Float64Type>(
        values, row_count, compute,
    )))
}

/// The argument itself.
pub(crate) fn unchanged(
    argument: &Column,
    signature: &Signature,
    row_count: usize,
) -> Result<ArrayRef> {
    Ok(match argument {
        Column::Array(array) => Arc::clone(array),
        Column::Constant(value) => output::repeat(value, &signature.result, row_count),
    })
}

/// ROUND() or TRUNCATE().
#[derive(Debug)]
pub(crate) struct Rounding {
    truncates: bool,
}

/// ROUND()
pub(crate) static ROUND: Rounding = Rounding { truncates: false };
/// TRUNCATE()
pub(crate) static TRUNCATE: Rounding = Rounding { truncates: true };

impl Rounding {
    /// A double at `places` decimals; halves go to the even neighbour, as the C library rounds.
    fn double(&self, value: f64, places: i64) -> f64 {
        let magnitude = places.unsigned_abs().min(400) as i32;
        let power = 10_f64.powi(magnitude);
        let scaled = if places >= 0 {
            value * power
        } else {
            value / power
        };
        if places >= 0 && !scaled.is_finite() {
            return value;
        }
        if places < 0 && !power.is_finite() {
            return 0.0;
        }
        let whole = if self.truncates {
            scaled.trunc()
        } else {
            scaled.round_ties_even()
        };
        if places >= 0 {
            whole / power
        } else {
            whole * power
        }
    }

    /// An integer at (negative) `places` decimals; `None` when rounding up leaves the range.
    fn integer(&self, value: i128, places: i64) -> i128 {
        let Some(power) = u32::try_from(places.unsigned_abs())
            .ok()
            .and_then(|places| 10_i128.checked_pow(places))
        else {
            return 0;
        };
        let truncated = value / power * power;
        let rest = (value - truncated).abs();
        if self.truncates || rest * 2 < power {
            truncated
        } else {
            truncated + power * value.signum()
        }
    }
}

impl ScalarKernel for Rounding {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, same) = number(&arguments[0]);
        let places = match arguments.get(1) {
            None => Some(0),
            Some(places) => derive::constant_integer(places),
        };
        let result = match same.physical() {
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => match places {
                Some(places) => {
                    let kept = places.clamp(0, i64::from(scale)) as u8;
                    // Rounding may carry into a new digit when decimals are dropped.
                    let carry = u32::from(kept < scale && !self.truncates);
                    let precision = same.length - u32::from(scale - kept) + carry;
                    SqlType::decimal(u8::try_from(precision).unwrap_or(u8::MAX), kept)
                }
                None => same,
            },
            // As many decimals as the value has are shown.
            PhysicalType::Float64 => SqlType::double(),
            _ => SqlType {
                unsigned: same.unsigned,
                ..derive::bigint_of_width(21)
            },
        };
        let mut types = vec![ty];
        if let Some(places) = arguments.get(1) {
            types.push(if numeric::is_integer(places.ty) {
                numeric::integer_argument(places.ty)
            } else {
                SqlType::bigint()
            });
        }
        Ok(Signature::new(
            types,
            result,
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let places = match arguments.get(1) {
            Some(places) => input::any_ints(places)?,
            None => input::AnyInts::Signed(input::Ints::Constant(Some(0))),
        };
        let places = |row: usize| {
            places
                .get(row)
                .map(|places| i64::try_from(places).unwrap_or(i64::MAX))
        };
        match signature.result.physical() {
            PhysicalType::Float64 => {
                let values = input::floats(&arguments[0])?;
                output::floats(row_count, |row| {
                    Ok(values
                        .get(row)
                        .zip(places(row))
                        .map(|(value, places)| self.double(value, places)))
                })
            }
            PhysicalType::Int64 | PhysicalType::UInt64 => {
                let values = input::any_ints(&arguments[0])?;
                let rounded = |row: usize| {
                    values.get(row).zip(places(row)).map(|(value, places)| {
                        if places >= 0 {
                            value
                        } else {
                            self.integer(value, places)
                        }
                    })
                };
                let fail = |kind| output::out_of_range(kind, signature.text.as_deref());
                if signature.result.unsigned {
                    output::uints(row_count, |row| {
                        rounded(row)
                            .map(|value| u64::try_from(value).map_err(|_| fail("BIGINT UNSIGNED")))
                            .transpose()
                    })
                } else {
                    output::ints(row_count, |row| {
                        rounded(row)
                            .map(|value| i64::try_from(value).map_err(|_| fail("BIGINT")))
                            .transpose()
                    })
                }
            }
            _ => {
                let scale = signature.arguments[0].decimals;
                let result_scale = signature.result.decimals;
                let values = input::decimals(&arguments[0], scale)?;
                let fail = |_| output::out_of_range("DECIMAL", signature.text.as_deref());
                output::decimals(row_count, &signature.result, |row| {
                    let (Some(value), Some(places)) = (values.get(row), places(row)) else {
                        return Ok(None);
                    };
                    let rounded = Decimal::new(value, scale)
                        .round(places, self.truncates)
                        .map_err(fail)?;
                    Ok(Some(rounded.rescale(result_scale).map_err(fail)?.unscaled))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, f, i};

    #[test]
    fn values() {
        check(&[
            ("round", &[d("-1.58")], "-2"),
            ("round", &[d("1.298"), i(1)], "1.3"),
            ("round", &[d("1.298"), i(0)], "1"),
            ("round", &[d("23.298"), i(-1)], "20"),
            ("round", &[i(25), i(-1)], "30"),
            ("round", &[i(-25), i(-1)], "-30"),
            ("round", &[d("2.5")], "3"),
            ("round", &[f(2.5)], "2"),
            ("round", &[f(1.456), i(2)], "1.46"),
            ("round", &[d("9.99"), i(1)], "10.0"),
            ("truncate", &[d("1.223"), i(1)], "1.2"),
            ("truncate", &[d("-1.999"), i(1)], "-1.9"),
            ("truncate", &[i(122), i(-2)], "100"),
            ("truncate", &[f(10.28), i(0)], "10"),
            ("round", &[NULL, i(1)], "NULL"),
        ]);
    }
}
