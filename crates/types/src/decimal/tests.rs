//! DECIMAL against hand calculation, MySQL's results, and big integers held as digit strings.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;
use crate::sql_type::{SqlType, TypeKind};

fn dec(text: &str) -> Decimal {
    let parsed = parse_decimal(text.as_bytes());
    assert_eq!(parsed.consumed, text.len(), "{text}");
    assert!(!parsed.overflow, "{text}");
    parsed.value
}

#[test]
fn parses_and_prints() {
    for (text, expected) in [
        ("0", "0"),
        ("-0.50", "-0.50"),
        ("  +12.5 ", "12.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("1.5E-3", "0.0015"),
        (
            "123456789012345678901234567890.123456789",
            "123456789012345678901234567890.123456789",
        ),
        (
            "-99999999999999999999999999999999999999999999999999999999999999999",
            "-99999999999999999999999999999999999999999999999999999999999999999",
        ),
        (
            "0.1234567890123456789012345678955",
            "0.123456789012345678901234567896",
        ),
        ("1e-40", "0.000000000000000000000000000000"),
        ("0e1000", "0"),
    ] {
        assert_eq!(dec(text).to_string(), expected, "{text}");
    }
    for (text, consumed) in [
        ("", 0),
        ("abc", 0),
        ("-", 0),
        (".", 0),
        ("1e", 1),
        ("12x", 2),
        ("1.2.3", 3),
    ] {
        assert_eq!(parse_decimal(text.as_bytes()).consumed, consumed, "{text}");
    }
    let huge = parse_decimal(b"1e76");
    assert!(huge.overflow);
    assert_eq!(huge.value, Decimal::largest(65, 0));
    assert!(parse_decimal(&[b'9'; 200]).overflow);
}

#[test]
fn rounds_half_away_from_zero() {
    for (text, scale, expected) in [
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("2.4999", 0, "2"),
        ("0.045", 2, "0.05"),
        ("-0.045", 2, "-0.05"),
        ("1", 3, "1.000"),
    ] {
        assert_eq!(dec(text).rescale(scale).unwrap().to_string(), expected);
    }
    assert_eq!(dec("155.5").round(-1, false).unwrap().to_string(), "160");
    assert_eq!(dec("155.5").round(-1, true).unwrap().to_string(), "150");
    assert_eq!(dec("55").round(-3, false).unwrap().to_string(), "0");
    assert_eq!(dec("-1.5").floor().to_string(), "-2");
    assert_eq!(dec("-1.5").ceiling().to_string(), "-1");
    assert_eq!(dec("1.5").ceiling().to_string(), "2");
    assert_eq!(dec("7").floor().to_string(), "7");
}

#[test]
fn arithmetic_as_mysql() {
    assert_eq!(dec("1.10").add(dec("2.205")).unwrap().to_string(), "3.305");
    assert_eq!(
        dec("1.5").multiply(dec("-1.25")).unwrap().to_string(),
        "-1.875"
    );
    assert_eq!(
        dec("2").divide(dec("3"), 4).unwrap().unwrap().to_string(),
        "0.6667"
    );
    assert_eq!(
        dec("2.5")
            .divide(dec("-3"), 5)
            .unwrap()
            .unwrap()
            .to_string(),
        "-0.83333"
    );
    assert_eq!(dec("1").divide(dec("0"), 4), None);
    assert_eq!(
        dec("-7").remainder(dec("3")).unwrap().unwrap().to_string(),
        "-1"
    );
    assert_eq!(
        dec("7.5")
            .remainder(dec("-2"))
            .unwrap()
            .unwrap()
            .to_string(),
        "1.5"
    );
    assert_eq!(
        dec("7.5")
            .divide_integer(dec("-2"))
            .unwrap()
            .unwrap()
            .to_string(),
        "-3"
    );
    assert!(Decimal::largest(65, 0).add(dec("1")).is_ok());
    let largest = Decimal::largest(DECIMAL_DIGITS_MAX, 0);
    assert!(largest.add(dec("1")).is_err());
    assert!(largest.multiply(largest).is_err());
    // The product has 60 digits after the point before it is cut to 30.
    let long = dec("1.000000000000000000000000000001");
    assert_eq!(
        long.multiply(long).unwrap().to_string(),
        "1.000000000000000000000000000002"
    );
    let wide = dec("99999999999999999999999999999999999.999999999999999999999999999999");
    assert_eq!(
        wide.multiply(dec("0.100000000000000000000000000000"))
            .unwrap()
            .to_string(),
        "10000000000000000000000000000000000.000000000000000000000000000000"
    );
}

#[test]
fn compares_across_scales() {
    assert_eq!(dec("1.0").compare(dec("1.000")), Ordering::Equal);
    assert_eq!(dec("-1.1").compare(dec("-1.09")), Ordering::Less);
    let wide = Decimal::largest(65, 0);
    assert_eq!(
        wide.compare(dec("0.000000000000000000000000000001")),
        Ordering::Greater
    );
    assert_eq!(
        wide.negate()
            .compare(dec("0.000000000000000000000000000001")),
        Ordering::Less
    );
}

#[test]
fn converts() {
    assert_eq!(dec("0.1").to_f64(), 0.1);
    assert_eq!(
        dec("123456789012345678901234567890").to_f64(),
        123456789012345678901234567890.0
    );
    assert_eq!(Decimal::from_f64(0.1).unwrap().value.to_string(), "0.1");
    assert_eq!(
        Decimal::from_f64(-1.5e10).unwrap().value.to_string(),
        "-15000000000"
    );
    assert!(Decimal::from_f64(1e77).unwrap().overflow);
    assert_eq!(dec("2.5").to_i64(), Ok(3));
    assert_eq!(dec("-0.5").to_u64(), Err(0));
    assert_eq!(dec("18446744073709551616").to_u64(), Err(u64::MAX));
}

#[test]
fn result_types_as_mysql() {
    let d = SqlType::decimal;
    let check = |operation, left: SqlType, right: SqlType, expected: (u32, u8)| {
        let result = decimal_result_type(operation, &left, &right, 4);
        assert_eq!((result.length, result.decimals), expected);
    };
    check(DecimalOperation::Add, d(10, 2), d(5, 4), (13, 4));
    check(DecimalOperation::Multiply, d(10, 2), d(5, 4), (15, 6));
    check(DecimalOperation::Divide, d(10, 2), d(5, 4), (18, 6));
    check(DecimalOperation::Remainder, d(10, 2), d(5, 4), (10, 4));
    check(
        DecimalOperation::Divide,
        SqlType::integer(TypeKind::Int),
        SqlType::integer(TypeKind::TinyInt),
        (14, 4),
    );
    check(DecimalOperation::Multiply, d(65, 30), d(65, 30), (65, 30));
}

fn any_decimal() -> impl Strategy<Value = Decimal> {
    (any::<i128>(), 0_u8..127, 0_u8..30)
        .prop_map(|(value, shift, scale)| Decimal::from_i128(value >> shift, scale))
}

proptest! {
    #[test]
    fn text_round_trip(value in any_decimal()) {
        prop_assert_eq!(dec(&value.to_string()), value);
    }

    #[test]
    fn subtraction_undoes_addition(a in any_decimal(), b in any_decimal()) {
        let back = a.add(b).unwrap().subtract(b).unwrap();
        prop_assert_eq!(back.compare(a), Ordering::Equal);
    }

    #[test]
    fn quotient_is_nearest(a in any_decimal(), b in any_decimal()) {
        prop_assume!(!b.is_zero());
        if let Some(Ok(q)) = a.divide(b, 4)
            && let Ok(product) = q.multiply(b)
            && let Ok(difference) = a.subtract(product)
            && q.scale + b.scale <= 30
        {
            // |a - q*b| <= |b| * 10^-4 / 2
            let bound = b.abs().multiply(Decimal::from_i128(5, 5));
            if b.scale <= 25 && let Ok(bound) = bound {
                prop_assert!(difference.abs().compare(bound) != Ordering::Greater);
            }
        }
    }

    #[test]
    fn wide_multiplication_agrees_with_narrow(a in any::<i64>(), b in any::<i64>(), drop in 1_u8..18) {
        let exact = i128::from(a) * i128::from(b);
        let narrow = native::rescale_i128(exact, drop, 0).unwrap();
        // Forces the wide path by scaling one factor up and dropping as many digits more.
        let power = pow10_i256(50).unwrap();
        let wide = native::multiply_drop(
            i256::from_i128(i128::from(a)).wrapping_mul(power),
            i256::from_i128(i128::from(b)).wrapping_mul(pow10_i256(10).unwrap()),
            drop + 60,
        );
        prop_assert_eq!(wide, Some(i256::from_i128(narrow)));
    }
}

#[test]
fn quotients_have_no_more_digits_than_mysql_computes() {
    // mysql> set div_precision_increment = 8; select 2.0 / 3, 2 / 3;
    let quotient = |a: Decimal, scale| {
        let quotient = a.divide(Decimal::from(3_i64), scale);
        quotient.unwrap().unwrap().to_string()
    };
    assert_eq!(quotient(Decimal::from_i128(20, 1), 9), "0.666666666");
    assert_eq!(quotient(Decimal::from_i128(2, 0), 8), "0.66666667");
}
