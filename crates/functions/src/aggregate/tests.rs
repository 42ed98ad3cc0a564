//! Each aggregate over small groups: as one batch, row by row, and through partial states.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryViewArray, Decimal128Array, Float64Array, Int64Array};
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use crate::testing::{context, session, show};
use crate::{Argument, Coercibility};

fn ints(values: &[Option<i64>]) -> (ArrayRef, SqlType) {
    (
        Arc::new(Int64Array::from(values.to_vec())),
        SqlType::integer(TypeKind::Int),
    )
}

fn floats(values: &[Option<f64>]) -> (ArrayRef, SqlType) {
    (
        Arc::new(Float64Array::from(values.to_vec())),
        SqlType::double(),
    )
}

fn texts(values: &[Option<&str>]) -> (ArrayRef, SqlType) {
    let array: BinaryViewArray = values
        .iter()
        .map(|value| value.map(str::as_bytes))
        .collect();
    (
        Arc::new(array),
        SqlType::varchar(20, CollationId::default()),
    )
}

/// The results of groups 0 and 1, to which rows belong alternately.
fn aggregate(name: &str, (array, ty): (ArrayRef, SqlType), options: &[Value]) -> String {
    let function = super::by_name(name).unwrap_or_else(|| panic!("no aggregate {name}"));
    let argument = Argument {
        ty: &ty,
        nullable: true,
        constant: None,
        coercibility: Coercibility::Implicit,
        mixes_integers: false,
    };
    let (session, context) = (session(), context());
    let signature = function
        .signature(&[argument], &session)
        .expect("a signature");
    let array = if signature.arguments[0].physical() == ty.physical() {
        array
    } else {
        // Integers become doubles: the only conversion that these tests need.
        let values = array
            .as_any()
            .downcast_ref::<Int64Array>()
            .expect("integers");
        Arc::new(
            values
                .iter()
                .map(|value| value.map(|value| value as f64))
                .collect::<Float64Array>(),
        )
    };
    let groups: Vec<u32> = (0..array.len() as u32).map(|row| row % 2).collect();
    let make = || {
        let mut accumulator = function.accumulator(&signature, options).expect("states");
        accumulator.resize(2);
        accumulator
    };
    let finish = |mut accumulator: Box<dyn super::Accumulator>| {
        let result = accumulator.take_result(&context).expect("a result");
        assert_eq!(
            result.data_type(),
            &signature.result.physical().arrow(),
            "{name}"
        );
        format!(
            "{} {}",
            show(&result, &signature.result, 0),
            show(&result, &signature.result, 1)
        )
    };

    let mut whole = make();
    whole
        .update(&groups, std::slice::from_ref(&array), &context)
        .expect("update");
    let whole = finish(whole);

    let mut by_row = make();
    for (row, group) in groups.iter().enumerate() {
        by_row
            .update_one_group(*group, &[array.slice(row, 1)], 1, &context)
            .expect("update");
    }
    assert_eq!(finish(by_row), whole, "{name} row by row");

    if !signature.state.is_empty() {
        let mut total = make();
        for row in 0..array.len() {
            let mut partial = make();
            partial
                .update(&groups[row..=row], &[array.slice(row, 1)], &context)
                .expect("update");
            let state = partial.take_state().expect("a state");
            for (column, ty) in state.iter().zip(&signature.state) {
                assert_eq!(column.data_type(), &ty.physical().arrow(), "{name}");
            }
            total.merge(&[0, 1], &state, &context).expect("merge");
        }
        assert_eq!(finish(total), whole, "{name} through states");
    }
    whole
}

#[test]
fn integers() {
    let values = || ints(&[Some(1), None, Some(2), None, Some(4), None]);
    for (name, expected) in [
        ("count", "3 0"),
        ("sum", "7 NULL"),
        ("avg", "2.3333 NULL"),
        ("min", "1 NULL"),
        ("max", "4 NULL"),
        ("any_value", "1 NULL"),
        ("bit_and", "0 18446744073709551615"),
        ("bit_or", "7 0"),
        ("bit_xor", "7 0"),
        ("var_pop", "1.5555555555555556 NULL"),
        ("var_samp", "2.3333333333333335 NULL"),
        ("stddev", "1.247219128924647 NULL"),
        ("stddev_samp", "1.5275252316519468 NULL"),
    ] {
        assert_eq!(aggregate(name, values(), &[]), expected, "{name}");
    }
    let wide = || {
        ints(&[
            Some(i64::MAX),
            Some(i64::MIN),
            Some(i64::MAX),
            Some(i64::MIN),
        ])
    };
    assert_eq!(
        aggregate("sum", wide(), &[]),
        "18446744073709551614 -18446744073709551616"
    );
}

#[test]
fn one_value_has_no_sample_variance() {
    assert_eq!(
        aggregate("var_samp", ints(&[Some(5), Some(6)]), &[]),
        "NULL NULL"
    );
    assert_eq!(aggregate("var_pop", ints(&[Some(5), Some(6)]), &[]), "0 0");
}

#[test]
fn doubles_and_decimals() {
    let values = || {
        floats(&[
            Some(0.1),
            Some(1e300),
            Some(0.2),
            Some(1.0),
            Some(0.3),
            Some(-1e300),
        ])
    };
    assert_eq!(aggregate("sum", values(), &[]), "0.6 1");
    assert_eq!(aggregate("max", values(), &[]), format!("0.3 {}", 1e300));
    let decimals = || {
        let array = Decimal128Array::from(vec![150, 225, -50, 100])
            .with_precision_and_scale(38, 2)
            .expect("valid");
        (Arc::new(array) as ArrayRef, SqlType::decimal(10, 2))
    };
    assert_eq!(aggregate("sum", decimals(), &[]), "1.00 3.25");
    assert_eq!(aggregate("avg", decimals(), &[]), "0.500000 1.625000");
    assert_eq!(aggregate("min", decimals(), &[]), "-0.50 1.00");
}

#[test]
fn strings() {
    let values = || texts(&[Some("b"), None, Some("abc"), Some("x"), None, Some("")]);
    assert_eq!(aggregate("min", values(), &[]), "abc ");
    assert_eq!(aggregate("max", values(), &[]), "b x");
    assert_eq!(aggregate("any_value", values(), &[]), "b NULL");
    assert_eq!(aggregate("count", values(), &[]), "2 2");
    assert_eq!(aggregate("group_concat", values(), &[]), "b,abc x,");
    assert_eq!(
        aggregate("group_concat", values(), &[Value::from("; ")]),
        "b; abc x; "
    );
}
