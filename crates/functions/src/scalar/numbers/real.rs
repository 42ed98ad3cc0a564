//! Functions of DOUBLEs: trigonometry, exponents and logarithms, PI().

use std::f64::consts::PI;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["atan", "atan2"], 1..=2, signature, atan).with(&[Fact::StopsAtNull]),
    Row::new(&["log"], 1..=2, signature, log).with(&[Fact::StopsAtNull]),
    Row::new(&["pi"], 0..=0, pi_signature, pi),
    Row::new(&["pow", "power"], 2..=2, signature, pow).with(&[Fact::StopsAtNull, Fact::Overflows]),
    Row::new(&["sin"], 1..=1, signature, |call| total(call, f64::sin)),
    Row::new(&["cos"], 1..=1, signature, |call| total(call, f64::cos)),
    Row::new(&["tan"], 1..=1, signature, |call| total(call, f64::tan)),
    Row::new(&["cot"], 1..=1, signature, |call| {
        total(call, |x| 1.0 / x.tan())
    })
    .with(&[Fact::Overflows]),
    Row::new(&["asin"], 1..=1, signature, |call| bounded(call, f64::asin)),
    Row::new(&["acos"], 1..=1, signature, |call| bounded(call, f64::acos)),
    Row::new(&["exp"], 1..=1, signature, |call| total(call, f64::exp)).with(&[Fact::Overflows]),
    Row::new(&["sqrt"], 1..=1, signature, |call| {
        evaluate(call, |x| (x >= 0.0).then(|| x.sqrt()))
    })
    .with(&[Fact::Strict]),
    Row::new(&["degrees"], 1..=1, angle_signature, |call| {
        total(call, f64::to_degrees)
    }),
    Row::new(&["radians"], 1..=1, angle_signature, |call| {
        total(call, f64::to_radians)
    }),
    Row::new(&["ln"], 1..=1, signature, |call| logarithm(call, f64::ln)),
    Row::new(&["log2"], 1..=1, signature, |call| {
        logarithm(call, f64::log2)
    }),
    Row::new(&["log10"], 1..=1, signature, |call| {
        logarithm(call, f64::log10)
    }),
];

/// The types of a function of DOUBLEs, which MySQL reports as nullable for any arguments.
fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![SqlType::double(); binding.arguments.len()];
    Ok(Signature::new(types, SqlType::double(), true))
}

/// The types of DEGREES() and RADIANS(), which are NULL for NULL only.
fn angle_signature(binding: &Binding<'_>) -> Result<Signature> {
    Ok(Signature {
        nullable: binding.any_nullable(),
        ..signature(binding)?
    })
}

/// A function of one DOUBLE; `None` means NULL.
fn evaluate(call: &Call<'_>, compute: impl Fn(f64) -> Option<f64>) -> Result<ArrayRef> {
    let values = call.floats(0)?;
    output::floats(call.rows, |row| {
        let Some(value) = values.get(row) else {
            return Ok(None);
        };
        match compute(value) {
            Some(result) => call.finite(result, || format!("{}({value})", call.name)),
            None => Ok(None),
        }
    })
}

/// A function defined for every number.
fn total(call: &Call<'_>, compute: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    evaluate(call, |value| Some(compute(value)))
}

/// A function undefined (NULL) outside of -1 to 1.
fn bounded(call: &Call<'_>, compute: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    evaluate(call, |value| {
        (-1.0..=1.0).contains(&value).then(|| compute(value))
    })
}

fn invalid_logarithm<T>(call: &Call<'_>) -> Option<T> {
    let warning = codes::ER_INVALID_ARGUMENT_FOR_LOGARITHM.error();
    call.context.warn(warning);
    None
}

/// LN(), LOG2() or LOG10()
fn logarithm(call: &Call<'_>, compute: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    evaluate(call, |value| {
        if value > 0.0 {
            Some(compute(value))
        } else {
            invalid_logarithm(call)
        }
    })
}

/// LOG(x): the natural logarithm; LOG(base, x): the logarithm to a base.
fn log(call: &Call<'_>) -> Result<ArrayRef> {
    let (base, last) = (call.floats(0)?, call.floats(call.arguments.len() - 1)?);
    output::floats(call.rows, |row| {
        let (Some(value), Some(base)) = (last.get(row), base.get(row)) else {
            return Ok(None);
        };
        Ok(if value <= 0.0 {
            invalid_logarithm(call)
        } else if call.arguments.len() == 1 {
            Some(value.ln())
        } else if base <= 0.0 || base == 1.0 {
            invalid_logarithm(call)
        } else {
            Some(value.ln() / base.ln())
        })
    })
}

/// ATAN(x), ATAN(y, x) and ATAN2(y, x)
fn atan(call: &Call<'_>) -> Result<ArrayRef> {
    if call.arguments.len() == 1 {
        return total(call, f64::atan);
    }
    let (y, x) = (call.floats(0)?, call.floats(1)?);
    output::floats(call.rows, |row| {
        Ok(y.get(row).zip(x.get(row)).map(|(y, x)| y.atan2(x)))
    })
}

/// POW(x, y)
fn pow(call: &Call<'_>) -> Result<ArrayRef> {
    let (base, exponent) = (call.floats(0)?, call.floats(1)?);
    output::floats(call.rows, |row| {
        let (Some(base), Some(exponent)) = (base.get(row), exponent.get(row)) else {
            return Ok(None);
        };
        call.finite(base.powf(exponent), || format!("pow({base},{exponent})"))
    })
}

/// The type of PI()
fn pi_signature(_binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        length: 8,
        decimals: 6,
        ..SqlType::double()
    };
    Ok(Signature::new(Vec::new(), result, false))
}

/// PI()
fn pi(call: &Call<'_>) -> Result<ArrayRef> {
    Ok(call.constant(&Value::Float(PI)))
}
