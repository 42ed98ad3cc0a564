//! Types of `?` in a prepared statement: the types that MySQL expects of their values.
//!
//! An operator gives a `?` the type of its other operands, a function the type that it reads. The type is the widest of
//! its kind. When the statement is executed, the types are those of the values.

use std::sync::Arc;

use mayfly_functions::scalar::{ParameterType, Parameters};
use mayfly_functions::{ScalarFunction, Signature, aggregate};
use mayfly_types::common_type::{Alternatives, aggregate_types, as_value};
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use super::types::{argument, argument_types, cast};
use crate::bind::binder::Binder;
use crate::catalog::ParameterPlace;
use crate::tree::expression::{Expression, ExpressionKind};

/// Units of INTERVAL without a time part.
const DAYS: &[&str] = &["DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH"];

/// Units for which EXTRACT() reads only dates; for others it also reads times, as HOUR() and similar functions do, and
/// accepts any type.
const PARTS_OF_DATES: &[&[u8]] = &[
    b"YEAR",
    b"QUARTER",
    b"MONTH",
    b"YEAR_MONTH",
    b"WEEK",
    b"DAY",
];

/// Type of a `?` that nothing else determines.
fn fallback(ty: ParameterType, collation: CollationId) -> SqlType {
    match ty {
        ParameterType::Double => SqlType::double(),
        ParameterType::Decimal => SqlType::decimal(DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX),
        ParameterType::Bytes => SqlType::varchar(0, CollationId::BINARY),
        ParameterType::Text => SqlType::varchar(0, collation),
        ParameterType::Date => SqlType::temporal(TypeKind::Date, 0),
        ParameterType::Time => SqlType::temporal(TypeKind::Time, 6),
        ParameterType::DateTime => SqlType::temporal(TypeKind::DateTime, 6),
        ParameterType::Json => SqlType::json(),
    }
}

/// Operand of an operator that takes its type from its context.
fn operand_of_context(expression: &Expression) -> Option<&Expression> {
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &expression.kind
    else {
        return None;
    };
    match (function.parameter_types(), arguments.as_slice()) {
        (Parameters::OfContext, [operand]) => Some(match &operand.kind {
            ExpressionKind::Cast(inner, None) => inner,
            _ => operand,
        }),
        _ => None,
    }
}

/// Type of a `?` compared or combined with values of a type: the widest of its kind, and text if the type is unknown.
pub fn parameter_type(met: Option<&SqlType>, collation: CollationId) -> SqlType {
    let kind = met.map_or(TypeKind::VarChar, |ty| ty.kind);
    match (met, kind) {
        (_, TypeKind::Null) => widest_string(CollationId::BINARY),
        (_, TypeKind::Bit) => SqlType::bit(64),
        (Some(ty), _) if ty.is_integer() && kind != TypeKind::Year => SqlType {
            length: 21,
            unsigned: ty.unsigned,
            ..SqlType::bigint()
        },
        (_, TypeKind::Decimal) => SqlType::decimal(DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX),
        (_, TypeKind::Float | TypeKind::Double) => SqlType::double(),
        (Some(ty), TypeKind::Date | TypeKind::Year) => ty.clone(),
        (_, TypeKind::Time) => SqlType::temporal(TypeKind::Time, 6),
        (_, TypeKind::DateTime | TypeKind::Timestamp) => SqlType::temporal(TypeKind::DateTime, 6),
        (_, TypeKind::Json) => SqlType::json(),
        (Some(ty), _) if ty.is_blob() && ty.collation == CollationId::BINARY => {
            SqlType::text(TypeKind::LongText, CollationId::BINARY)
        }
        (Some(ty), _) if ty.is_blob() => SqlType::text(TypeKind::LongText, collation),
        (Some(ty), _) if ty.is_binary_string() => widest_string(CollationId::BINARY),
        _ => widest_string(collation),
    }
}

fn widest_string(collation: CollationId) -> SqlType {
    let bytes = u32::from(collation.charset().max_length());
    SqlType::varchar(u32::from(u16::MAX) / bytes, collation)
}

impl Binder<'_> {
    /// Whether an expression is a `?` without a known type, or an operator on one that takes its type from its context.
    fn is_untyped(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Parameter(index) => *index >= self.options.parameters.len(),
            _ => operand_of_context(expression).is_some_and(|operand| self.is_untyped(operand)),
        }
    }

    /// Gives a `?` without a known value the type of the expression that it is used with.
    pub(super) fn infer_parameter(&self, expression: &mut Expression, met: &SqlType) {
        if self.is_untyped(expression) {
            self.infer(expression, met, ParameterPlace::Operand);
        }
    }

    fn infer(&self, expression: &mut Expression, met: &SqlType, place: ParameterPlace) {
        if let ExpressionKind::Parameter(index) = expression.kind {
            self.catalog.parameter_meets(index, met, place);
            expression.ty = parameter_type(Some(met), self.options.session.collation_connection);
            return;
        }
        let ExpressionKind::Call {
            function,
            arguments,
            signature,
        } = &mut expression.kind
        else {
            return;
        };
        let [operand] = arguments.as_mut_slice() else {
            return;
        };
        operand.change(|operand| match operand.kind {
            ExpressionKind::Cast(inner, None) => *inner,
            _ => operand,
        });
        self.infer(operand, met, place);
        // A type that an operator of numbers rejects is not an error.
        let typed = function
            .built_in()
            .map(|function| function.signature(&[argument(operand)], &self.options.session));
        let Some(Ok(typed)) = typed else {
            return;
        };
        operand.change(|operand| cast(operand, &typed.arguments[0]));
        expression.ty = typed.result.clone();
        *signature = Arc::new(Signature {
            text: signature.text.clone(),
            ..typed
        });
    }

    /// Gives `?` operands of an operator the type of the others.
    pub(super) fn type_parameters(&self, function: &ScalarFunction, operands: &mut [Expression]) {
        if !operands.iter().any(|operand| self.is_untyped(operand)) {
            return;
        }
        match (function.parameter_types(), operands) {
            (Parameters::OfOthers(ty), operands) => {
                self.type_parameters_of_others(operands.iter_mut().collect(), ty);
            }
            (Parameters::OfContext, [operand]) => {
                self.infer(operand, &SqlType::double(), ParameterPlace::Context);
            }
            (Parameters::Interval, [unit, amount, date]) => {
                if let Some(Value::Bytes(unit)) = unit.as_literal() {
                    let unit = String::from_utf8_lossy(unit).into_owned();
                    self.type_interval(date, amount, &unit);
                }
            }
            (Parameters::PartOfDate, [unit, value]) => {
                if let Some(Value::Bytes(unit)) = unit.as_literal()
                    && PARTS_OF_DATES.contains(&unit.as_slice())
                {
                    let ty = fallback(ParameterType::DateTime, CollationId::BINARY);
                    self.infer_parameter(value, &ty);
                }
            }
            (Parameters::Typed(types), operands) => {
                for (ty, positions) in types {
                    let met = fallback(*ty, self.options.session.collation_connection);
                    let operands = operands.iter_mut().skip(positions.start);
                    for operand in operands.take(positions.len()) {
                        self.infer_parameter(operand, &met);
                    }
                }
            }
            _ => {}
        }
    }

    /// Gives `?` for a date and for the amount added to it the types that go with a unit.
    pub(super) fn type_interval(&self, date: &mut Expression, amount: &mut Expression, unit: &str) {
        let is_days = DAYS.contains(&unit);
        let date_type = if is_days {
            ParameterType::Date
        } else {
            ParameterType::DateTime
        };
        self.infer_parameter(date, &fallback(date_type, CollationId::BINARY));
        match unit {
            "SECOND" => self.infer_parameter(
                amount,
                &fallback(ParameterType::Decimal, CollationId::BINARY),
            ),
            // The amount of a composite unit is written as text.
            _ if unit.contains('_') => {}
            _ => self.infer_parameter(amount, &SqlType::bigint()),
        }
    }

    /// Gives a `?` argument of a bit aggregate a binary string type; a binary one gets the maximum length of such an
    /// aggregate.
    pub(super) fn type_parameter_of_bits(&self, argument: &mut Expression) {
        self.infer_parameter(
            argument,
            &fallback(ParameterType::Bytes, CollationId::BINARY),
        );
        if matches!(argument.kind, ExpressionKind::Parameter(_)) && argument.ty.is_binary_string() {
            argument.ty.length = argument.ty.length.min(aggregate::BIT_STRING_LENGTH_MAX);
        }
    }

    fn type_parameters_of_others(&self, operands: Vec<&mut Expression>, ty: ParameterType) {
        let typed: Vec<&Expression> = operands
            .iter()
            .map(|operand| &**operand)
            .filter(|operand| !self.is_untyped(operand))
            .collect();
        let met = match typed.as_slice() {
            [] => fallback(ty, self.options.session.collation_connection),
            [only] => as_value(&only.ty),
            _ => aggregate_types(argument_types(&typed), Alternatives::Function),
        };
        for operand in operands {
            self.infer_parameter(operand, &met);
        }
    }

    /// Gives `?` results of a choice the type of the others.
    pub(super) fn type_parameters_of_choice<'e>(
        &self,
        results: impl IntoIterator<Item = &'e mut Expression>,
    ) {
        let results: Vec<_> = results.into_iter().collect();
        if results.iter().any(|result| self.is_untyped(result)) {
            self.type_parameters_of_others(results, ParameterType::Text);
        }
    }

    /// Gives the untyped `?` among the arguments of a function the type that it reads; returns whether there was one.
    pub(super) fn type_parameters_as(
        &self,
        arguments: &mut [Expression],
        read: &[SqlType],
    ) -> bool {
        let mut any = false;
        let text = parameter_type(None, self.options.session.collation_connection);
        for (argument, read) in arguments.iter_mut().zip(read) {
            let is_open = match argument.kind {
                ExpressionKind::Parameter(_) => argument.ty == text && !read.is_string(),
                _ => read.is_string(),
            };
            if is_open && self.is_untyped(argument) {
                self.infer_parameter(argument, read);
                any = true;
            }
        }
        any
    }
}
