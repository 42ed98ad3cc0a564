//! Functions of one DOUBLE that are defined everywhere or NULL outside of their domain.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// A function of one DOUBLE; no result means NULL.
#[derive(Debug)]
pub(crate) struct RealFunction {
    names: &'static [&'static str],
    compute: fn(f64) -> Option<f64>,
    /// Whether a missing result warns of the argument (logarithms).
    warns: bool,
    /// Whether MySQL takes the result for nullable, whatever the argument.
    nullable: bool,
}

const fn total(names: &'static [&'static str], compute: fn(f64) -> Option<f64>) -> RealFunction {
    RealFunction {
        names,
        compute,
        warns: false,
        nullable: true,
    }
}

const fn logarithm(
    names: &'static [&'static str],
    compute: fn(f64) -> Option<f64>,
) -> RealFunction {
    RealFunction {
        names,
        compute,
        warns: true,
        nullable: true,
    }
}

fn within_one(value: f64) -> Option<f64> {
    (-1.0..=1.0).contains(&value).then_some(value)
}

fn positive(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// SIN()
pub(crate) static SIN: RealFunction = total(&["sin"], |x| Some(x.sin()));
/// COS()
pub(crate) static COS: RealFunction = total(&["cos"], |x| Some(x.cos()));
/// TAN()
pub(crate) static TAN: RealFunction = total(&["tan"], |x| Some(x.tan()));
/// COT()
pub(crate) static COT: RealFunction = total(&["cot"], |x| Some(1.0 / x.tan()));
/// ASIN()
pub(crate) static ASIN: RealFunction = total(&["asin"], |x| within_one(x).map(f64::asin));
/// ACOS()
pub(crate) static ACOS: RealFunction = total(&["acos"], |x| within_one(x).map(f64::acos));
/// EXP()
pub(crate) static EXP: RealFunction = total(&["exp"], |x| Some(x.exp()));
/// SQRT()
pub(crate) static SQRT: RealFunction = total(&["sqrt"], |x| (x >= 0.0).then(|| x.sqrt()));
/// DEGREES()
pub(crate) static DEGREES: RealFunction = RealFunction {
    nullable: false,
    ..total(&["degrees"], |x| Some(x * (180.0 / std::f64::consts::PI)))
};
/// RADIANS()
pub(crate) static RADIANS: RealFunction = RealFunction {
    nullable: false,
    ..total(&["radians"], |x| Some(x * (std::f64::consts::PI / 180.0)))
};
/// LN()
pub(crate) static LN: RealFunction = logarithm(&["ln"], |x| positive(x).map(f64::ln));
/// LOG2()
pub(crate) static LOG2: RealFunction = logarithm(&["log2"], |x| positive(x).map(f64::log2));
/// LOG10()
pub(crate) static LOG10: RealFunction = logarithm(&["log10"], |x| positive(x).map(f64::log10));

impl ScalarKernel for RealFunction {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::double()],
            SqlType::double(),
            self.nullable || arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let values = input::floats(&arguments[0])?;
        output::floats(row_count, |row| {
            let Some(value) = values.get(row) else {
                return Ok(None);
            };
            match (self.compute)(value) {
                Some(result) if result.is_finite() => Ok(Some(result)),
                Some(_) => {
                    let text = signature
                        .text
                        .as_deref()
                        .map_or_else(|| format!("{}({value})", self.names[0]), str::to_owned);
                    Err(output::out_of_range("DOUBLE", Some(&text)))
                }
                None => {
                    if self.warns {
                        context
                            .diagnostics
                            .warn(codes::ER_INVALID_ARGUMENT_FOR_LOGARITHM.error());
                    }
                    Ok(None)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, f, i};

    #[test]
    fn values() {
        check(&[
            ("sin", &[f(0.0)], "0"),
            ("cos", &[f(0.0)], "1"),
            ("tan", &[f(0.0)], "0"),
            ("cot", &[f(12.0)], "-1.5726734063976893"),
            (
                "cot",
                &[f(0.0)],
                "ERROR 1690 (22003): DOUBLE value is out of range in 'cot(0)'",
            ),
            ("asin", &[f(0.2)], "0.2013579207903308"),
            ("asin", &[f(2.0)], "NULL"),
            ("acos", &[i(1)], "0"),
            ("exp", &[i(2)], "7.38905609893065"),
            (
                "exp",
                &[i(1000)],
                "ERROR 1690 (22003): DOUBLE value is out of range in 'exp(1000)'",
            ),
            ("sqrt", &[i(4)], "2"),
            ("sqrt", &[i(-16)], "NULL"),
            ("degrees", &[f(std::f64::consts::PI)], "180"),
            ("radians", &[i(90)], "1.5707963267948966"),
            ("ln", &[i(2)], "0.6931471805599453"),
            ("ln", &[i(-2)], "NULL +3020"),
            ("log2", &[i(65536)], "16"),
            ("log10", &[i(100)], "2"),
        ]);
    }
}
