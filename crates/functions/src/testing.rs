//! Calls functions the way the planner and the executor do, for tables of expected values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;
use mayfly_types::decimal::{Decimal, parse_decimal};
use mayfly_types::{CollationId, Diagnostics, Result, SqlMode, SqlType, TypeKind, Value};

use crate::{Argument, Coercibility, Column, EvaluationContext, SignatureContext, input, output};

/// A literal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Literal {
    Null,
    Int(i64),
    UInt(u64),
    Float(f64),
    Decimal(&'static str),
    Text(&'static str),
    Bytes(&'static [u8]),
}

pub(crate) const NULL: Literal = Literal::Null;

pub(crate) fn i(value: i64) -> Literal {
    Literal::Int(value)
}

pub(crate) fn u(value: u64) -> Literal {
    Literal::UInt(value)
}

pub(crate) fn f(value: f64) -> Literal {
    Literal::Float(value)
}

pub(crate) fn d(value: &'static str) -> Literal {
    Literal::Decimal(value)
}

pub(crate) fn t(value: &'static str) -> Literal {
    Literal::Text(value)
}

pub(crate) fn b(value: &'static [u8]) -> Literal {
    Literal::Bytes(value)
}

impl Literal {
    fn typed(self) -> (Value, SqlType) {
        let bytes = |text: &[u8]| Value::Bytes(text.to_vec());
        match self {
            Self::Null => (Value::Null, SqlType::null()),
            Self::Int(value) => {
                let length = value.to_string().len() as u32;
                let ty = SqlType {
                    length,
                    ..SqlType::bigint()
                };
                (Value::Int(value), ty)
            }
            Self::UInt(value) => {
                let length = value.to_string().len() as u32;
                let ty = SqlType {
                    length,
                    ..SqlType::bigint_unsigned()
                };
                (Value::UInt(value), ty)
            }
            Self::Float(value) => (Value::Float(value), SqlType::double()),
            Self::Decimal(text) => {
                let value = parse_decimal(text.as_bytes()).value;
                (
                    value.into(),
                    SqlType::decimal(value.precision(), value.scale),
                )
            }
            Self::Text(text) => {
                let length = text.chars().count() as u32;
                (
                    bytes(text.as_bytes()),
                    SqlType::varchar(length, CollationId::default()),
                )
            }
            Self::Bytes(value) => {
                let ty = SqlType::varchar(value.len() as u32, CollationId::BINARY);
                (bytes(value), ty)
            }
        }
    }
}

/// Converts a literal as the planner's cast does.
fn convert(value: &Value, from: &SqlType, to: &SqlType) -> Value {
    if value.is_null() || from.physical() == to.physical() && from.kind == to.kind {
        return value.clone();
    }
    let text = show(&output::repeat(value, from, 1), from, 0);
    match to.physical() {
        mayfly_types::PhysicalType::Bytes => Value::from(text.as_str()),
        mayfly_types::PhysicalType::Float64 => {
            Value::Float(text.parse().expect("tests use convertible literals"))
        }
        mayfly_types::PhysicalType::Decimal128(scale)
        | mayfly_types::PhysicalType::Decimal256(scale) => {
            let decimal = parse_decimal(text.as_bytes()).value;
            decimal
                .rescale(scale)
                .expect("tests use small decimals")
                .into()
        }
        mayfly_types::PhysicalType::UInt64 => Value::UInt(
            parse_decimal(text.as_bytes())
                .value
                .to_u64()
                .unwrap_or_else(|e| e),
        ),
        mayfly_types::PhysicalType::Bool => {
            Value::Int(i64::from(!parse_decimal(text.as_bytes()).value.is_zero()))
        }
        mayfly_types::PhysicalType::Int64 => Value::Int(
            parse_decimal(text.as_bytes())
                .value
                .to_i64()
                .unwrap_or_else(|e| e),
        ),
    }
}

/// What a client shows of a row.
pub(crate) fn show(array: &ArrayRef, ty: &SqlType, row: usize) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    let column = Column::Array(array.clone());
    let shown = match ty.physical() {
        mayfly_types::PhysicalType::Bytes => input::texts(&column).map(|texts| {
            let value = texts.get(row).unwrap_or_default();
            match std::str::from_utf8(value) {
                Ok(text) if text.chars().all(|c| c == '\n' || !c.is_control()) => text.to_owned(),
                _ => value
                    .iter()
                    .fold("0x".to_owned(), |out, byte| format!("{out}{byte:02X}")),
            }
        }),
        mayfly_types::PhysicalType::Float64 => {
            input::floats(&column).map(|values| values.get(row).unwrap_or_default().to_string())
        }
        mayfly_types::PhysicalType::Decimal128(scale)
        | mayfly_types::PhysicalType::Decimal256(scale) => input::decimals(&column, scale)
            .map(|values| Decimal::new(values.get(row).unwrap_or_default(), scale).to_string()),
        _ => input::any_ints(&column).map(|values| values.get(row).unwrap_or_default().to_string()),
    };
    shown.expect("the result is of the physical type of the signature")
}

pub(crate) fn signature_context() -> SignatureContext {
    SignatureContext {
        sql_mode: SqlMode::DEFAULT,
        div_precision_increment: 4,
        group_concat_max_len: 1024,
        collation_connection: CollationId::default(),
    }
}

pub(crate) fn context() -> EvaluationContext {
    // 2024-02-29 12:34:56.789012 UTC
    EvaluationContext::new(
        SqlMode::DEFAULT,
        Arc::new(Diagnostics::new(1024)),
        1_709_210_096_789_012,
    )
}

/// The result as text; warnings follow as `+errno`, errors are their message.
pub(crate) fn call(name: &str, literals: &[Literal]) -> String {
    match try_call(name, literals) {
        Ok(shown) => shown,
        Err(error) => error.to_string(),
    }
}

fn try_call(name: &str, literals: &[Literal]) -> Result<String> {
    let function = crate::scalar::by_name(name).unwrap_or_else(|| panic!("no function {name}"));
    assert!(
        function.arity().contains(&literals.len()),
        "{name} takes other arguments"
    );
    let literals: Vec<_> = literals.iter().map(|literal| literal.typed()).collect();
    let arguments: Vec<_> = literals
        .iter()
        .map(|(value, ty)| Argument {
            ty,
            nullable: value.is_null(),
            constant: Some(value),
            coercibility: match ty.kind {
                TypeKind::Null => Coercibility::Ignorable,
                TypeKind::VarChar => Coercibility::Coercible,
                _ => Coercibility::Numeric,
            },
        })
        .collect();
    let signature = function.signature(&arguments, &signature_context())?;
    assert_eq!(
        signature.arguments.len(),
        arguments.len(),
        "{name}: a type for each argument"
    );
    let converted: Vec<_> = literals
        .iter()
        .zip(&signature.arguments)
        .map(|((value, from), to)| (convert(value, from, to), to))
        .collect();

    let constants: Vec<_> = converted
        .iter()
        .map(|(value, _)| Column::Constant(value.clone()))
        .collect();
    let context = context();
    let result = function.evaluate(&constants, 1, &signature, &context)?;
    assert_eq!(result.len(), 1);
    assert_eq!(
        result.data_type(),
        &signature.result.physical().arrow(),
        "{name}"
    );
    let mut shown = show(&result, &signature.result, 0);
    for condition in context.diagnostics.conditions() {
        shown.push_str(&format!(" +{}", condition.error.errno()));
    }
    if function.volatility() == crate::scalar::Volatility::Volatile {
        return Ok(shown);
    }

    // The same values in columns, between NULLs, must give the same.
    let columns: Vec<_> = converted
        .iter()
        .map(|(value, ty)| {
            let (nulls, values) = (output::nulls(ty, 1), output::repeat(value, ty, 2));
            Column::Array(concat(&[&nulls, &values]).expect("equal types"))
        })
        .collect();
    let in_columns = function.evaluate(&columns, 3, &signature, &context)?;
    assert_eq!(
        in_columns.data_type(),
        &signature.result.physical().arrow(),
        "{name}"
    );
    for row in 1..3 {
        assert_eq!(
            show(&in_columns, &signature.result, row),
            show(&result, &signature.result, 0),
            "{name} in a column"
        );
    }
    Ok(shown)
}

/// Calls each function and compares.
pub(crate) fn check(table: &[(&str, &[Literal], &str)]) {
    for (name, literals, expected) in table {
        assert_eq!(call(name, literals), *expected, "{name}({literals:?})");
    }
}
