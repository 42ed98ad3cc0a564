//! Number formats of MySQL's plans.

/// Text of a number in trees: three significant digits, all digits of integers below a million; outside of 0.001 to
/// 999999.5 with an exponent divisible by three.
pub(super) fn number(value: f64) -> String {
    const SMALLEST: f64 = 1e-12;
    if !value.is_finite() {
        return "(infinite)".to_owned();
    }
    let size = value.abs();
    if size < SMALLEST {
        "0".to_owned()
    } else if (0.001..999_999.5).contains(&size) {
        rounded(value)
    } else {
        let mut exponent = (size.log10() / 3.0).floor() as i32 * 3;
        let mut mantissa = value / 10_f64.powi(exponent);
        if mantissa.abs() >= 999.5 {
            mantissa /= 1000.0;
            exponent += 3;
        }
        format!("{}e{exponent:+}", rounded(mantissa))
    }
}

/// Three significant digits, or all of an integer's, without trailing zeros of a fraction.
fn rounded(value: f64) -> String {
    let digits_before = value.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(3 - digits_before).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_three_digits_as_those_of_mysql() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (2.3, "2.3"),
            (0.012_110_489, "0.0121"),
            (0.255, "0.255"),
            (16.7, "16.7"),
            (101.75, "102"),
            (1050.0, "1050"),
            (100_103.11, "100103"),
            (999_999.4, "999999"),
            (1e6, "1e+6"),
            (1_234_567.0, "1.23e+6"),
            (999_500_000.0, "1e+9"),
            (40e-6, "40e-6"),
            (894e-6, "894e-6"),
            (1e-13, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }
}
