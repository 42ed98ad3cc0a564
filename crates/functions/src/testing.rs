//! Test harness: calls functions as the planner and the executor do, for tables of expected values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;
use std::borrow::Cow;

use mayfly_types::convert::{CastContext, cast_value};
use mayfly_types::decimal::{Decimal, parse_decimal};
use mayfly_types::json::displayed;
use mayfly_types::temporal::{DateTime, TimeZone, append_date, append_datetime, append_time};
use mayfly_types::{CollationId, Diagnostics, Result, SessionParameters, SqlType, TypeKind, Value};

use crate::{Argument, Coercibility, Column, EvaluationContext, input, output};

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
    /// Text of a temporal type.
    Temporal(TypeKind, &'static str),
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

pub(crate) fn date(value: &'static str) -> Literal {
    Literal::Temporal(TypeKind::Date, value)
}

pub(crate) fn datetime(value: &'static str) -> Literal {
    Literal::Temporal(TypeKind::DateTime, value)
}

pub(crate) fn time(value: &'static str) -> Literal {
    Literal::Temporal(TypeKind::Time, value)
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
            Self::Temporal(kind, text) => {
                let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
                let ty = SqlType::temporal(kind, digits as u8);
                let from = SqlType::varchar(text.len() as u32, CollationId::default());
                (convert(&bytes(text.as_bytes()), &from, &ty, &context()), ty)
            }
        }
    }
}

/// Converts a literal as the planner's cast does.
fn convert(value: &Value, from: &SqlType, to: &SqlType, context: &EvaluationContext) -> Value {
    if from == to {
        return value.clone();
    }
    let cast = CastContext {
        sql_mode: context.session.sql_mode,
        diagnostics: &context.diagnostics,
        time_zone: &context.session.time_zone,
        now: DateTime::date(2024, 2, 29),
        operand: "",
        room: None,
    };
    cast_value(value, from, to, &cast).expect("tests use convertible literals")
}

/// A row's value as a client shows it.
pub(crate) fn show(array: &ArrayRef, ty: &SqlType, row: usize) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    let column = Column::Array(array.clone());
    if ty.is_temporal() {
        let value = input::ints(&column).expect("temporal values are integers");
        let mut text = Vec::new();
        let value = value.get(row).unwrap_or_default();
        match ty.kind {
            TypeKind::Time => append_time(&mut text, value, ty.decimals),
            TypeKind::Date => append_date(&mut text, value),
            _ => append_datetime(&mut text, value, ty.decimals),
        }
        return String::from_utf8_lossy(&text).into_owned();
    }
    let shown = match ty.physical() {
        mayfly_types::PhysicalType::Bytes => input::texts(&column).map(|texts| {
            let mut value = Cow::Borrowed(texts.get(row).unwrap_or_default());
            if ty.kind == TypeKind::Json {
                value = displayed(&value).into_owned().into();
            }
            match std::str::from_utf8(&value) {
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

pub(crate) fn session() -> SessionParameters {
    SessionParameters {
        time_zone: TimeZone::Offset(3600),
        ..SessionParameters::default()
    }
}

pub(crate) fn context() -> EvaluationContext {
    // 2024-02-29 12:34:56.789012 UTC
    let now = 1_709_210_096_789_012;
    EvaluationContext::new(Arc::new(session()), Arc::new(Diagnostics::new(1024)), now)
}

/// The result as text; warnings are appended as `+errno`, an error is its message.
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
            mixes_integers: false,
        })
        .collect();
    let signature = function.signature(&arguments, &session())?;
    assert_eq!(
        signature.arguments.len(),
        arguments.len(),
        "{name}: a type for each argument"
    );
    let context = context();
    let converted: Vec<_> = literals
        .iter()
        .zip(&signature.arguments)
        .map(|((value, from), to)| (convert(value, from, to, &context), to))
        .collect();

    let constants: Vec<_> = converted
        .iter()
        .map(|(value, _)| Column::Constant(value.clone()))
        .collect();
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

    // The same values in columns, after NULLs, must give the same result.
    let columns = |null_count: usize| -> Vec<Column> {
        let column = |(value, ty): &(Value, &SqlType)| {
            let (nulls, values) = (output::nulls(ty, null_count), output::repeat(value, ty, 2));
            Column::Array(concat(&[&nulls, &values]).expect("equal types"))
        };
        converted.iter().map(column).collect()
    };
    let (first, in_columns) = match function.evaluate(&columns(1), 3, &signature, &context) {
        Ok(array) => (1, array),
        // Some functions raise an error for NULL.
        Err(_) => (0, function.evaluate(&columns(0), 2, &signature, &context)?),
    };
    assert_eq!(
        in_columns.data_type(),
        &signature.result.physical().arrow(),
        "{name}"
    );
    for row in first..first + 2 {
        assert_eq!(
            show(&in_columns, &signature.result, row),
            show(&result, &signature.result, 0),
            "{name} in a column"
        );
    }
    Ok(shown)
}

/// Calls each function and compares the results.
pub(crate) fn check(table: &[(&str, &[Literal], &str)]) {
    for (name, literals, expected) in table {
        assert_eq!(call(name, literals), *expected, "{name}({literals:?})");
    }
}
