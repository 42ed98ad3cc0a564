//! Types of `?` while a statement is prepared: what MySQL expects of their values.
//!
//! An operator takes a `?` for what its other operands are, a function for what it reads. The type is the
//! widest of its kind. When the statement is executed, the types are those of the values.

use mayfly_types::common_type::{Alternatives, aggregate_types};
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::{CollationId, SqlType, TypeKind};

use super::types::argument_types;
use crate::bind::binder::Binder;
use crate::tree::expression::{Expression, ExpressionKind};

/// Operators and functions that take a `?` for what their other operands are; and what for, if all of
/// them are `?`.
const OF_OTHERS: &[(&[&str], Untold)] = &[
    (&["+", "-", "*", "/", "%", "div"], Untold::Double),
    (&["&", "|", "^"], Untold::Bytes),
    (
        &["coalesce", "ifnull", "greatest", "least", "interval"],
        Untold::Text,
    ),
];

/// Functions that read texts, too, but take a `?` for something else: for what, and in which places.
const OF_PLACES: &[(&[&str], Untold, std::ops::Range<usize>)] = &[
    (&["<<", ">>", "~"], Untold::Bytes, 0..1),
    (&["negate", "abs", "ceiling", "floor"], Untold::Double, 0..1),
    (&["round", "truncate"], Untold::Decimal, 0..1),
    (&["date"], Untold::Date, 0..1),
    (
        &["addtime", "subtime", "timediff", "time_to_sec"],
        Untold::Time,
        0..2,
    ),
    (&["datediff"], Untold::DateTime, 0..2),
    (&["extract"], Untold::DateTime, 1..2),
    (&["timestampdiff"], Untold::DateTime, 1..3),
    (DATES, Untold::DateTime, 0..1),
    (DOCUMENTS, Untold::Json, 0..1),
];

/// Functions of a document.
const DOCUMENTS: &[&str] = &[
    "json_array_append",
    "json_array_insert",
    "json_contains",
    "json_contains_path",
    "json_depth",
    "json_extract",
    "json_insert",
    "json_keys",
    "json_length",
    "json_remove",
    "json_replace",
    "json_search",
    "json_set",
    "json_type",
    "json_valid",
    "json_value",
];

/// Functions of a moment.
const DATES: &[&str] = &[
    "year",
    "quarter",
    "month",
    "monthname",
    "dayofmonth",
    "dayname",
    "dayofweek",
    "dayofyear",
    "weekday",
    "week",
    "weekofyear",
    "yearweek",
    "hour",
    "minute",
    "second",
    "microsecond",
    "to_days",
    "to_seconds",
    "last_day",
    "date_format",
    "convert_tz",
    "unix_timestamp",
    "time",
];

/// Units of INTERVAL that leave the time of a date alone.
const DAYS: &[&str] = &["DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH"];

/// What a `?` is that nothing is told of.
#[derive(Debug, Clone, Copy)]
enum Untold {
    Double,
    Decimal,
    Bytes,
    Text,
    Date,
    Time,
    DateTime,
    Json,
}

impl Untold {
    fn ty(self, collation: CollationId) -> SqlType {
        match self {
            Self::Double => SqlType::double(),
            Self::Decimal => SqlType::decimal(DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX),
            Self::Bytes => SqlType::varchar(0, CollationId::BINARY),
            Self::Text => SqlType::varchar(0, collation),
            Self::Date => SqlType::temporal(TypeKind::Date, 0),
            Self::Time => SqlType::temporal(TypeKind::Time, 6),
            Self::DateTime => SqlType::temporal(TypeKind::DateTime, 6),
            Self::Json => SqlType::json(),
        }
    }
}

/// A `?` that meets values of a type: the widest of its kind, and text where nothing is known.
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
    /// Whether an expression is a `?` whose value is not known yet.
    fn is_untold(&self, expression: &Expression) -> bool {
        match expression.kind {
            ExpressionKind::Parameter(index) => index >= self.options.parameters.len(),
            _ => false,
        }
    }

    /// Gives a `?` whose value is not known the type of what it meets.
    pub(super) fn tell_parameter(&self, expression: &mut Expression, met: &SqlType) {
        if !self.is_untold(expression) {
            return;
        }
        if let ExpressionKind::Parameter(index) = expression.kind {
            self.catalog.parameter_meets(index, met);
            expression.ty = parameter_type(Some(met), self.options.collation_connection);
        }
    }

    /// Gives those among the operands of an operator the type of the others.
    pub(super) fn type_parameters(&self, name: &str, operands: &mut [Expression]) {
        if !operands.iter().any(|operand| self.is_untold(operand)) {
            return;
        }
        if let Some((_, untold)) = OF_OTHERS.iter().find(|(names, _)| names.contains(&name)) {
            self.type_parameters_of_others(operands.iter_mut().collect(), *untold);
        }
        let places = OF_PLACES.iter().find(|(names, ..)| names.contains(&name));
        if let Some((_, untold, places)) = places {
            let met = untold.ty(self.options.collation_connection);
            let operands = operands.iter_mut().skip(places.start);
            for operand in operands.take(places.len()) {
                self.tell_parameter(operand, &met);
            }
        }
    }

    /// Gives a date and the amount that is added to it, where they are `?`, the types that go with a unit.
    pub(super) fn type_interval(&self, date: &mut Expression, amount: &mut Expression, unit: &str) {
        let is_days = DAYS.contains(&unit);
        let moment = if is_days {
            Untold::Date
        } else {
            Untold::DateTime
        };
        self.tell_parameter(date, &moment.ty(CollationId::BINARY));
        match unit {
            "SECOND" => self.tell_parameter(amount, &Untold::Decimal.ty(CollationId::BINARY)),
            // The amounts of several units are written as one text.
            _ if unit.contains('_') => {}
            _ => self.tell_parameter(amount, &SqlType::bigint()),
        }
    }

    fn type_parameters_of_others(&self, operands: Vec<&mut Expression>, untold: Untold) {
        let told: Vec<&Expression> = operands
            .iter()
            .map(|operand| &**operand)
            .filter(|operand| !self.is_untold(operand))
            .collect();
        let met = match told.is_empty() {
            true => untold.ty(self.options.collation_connection),
            false => aggregate_types(argument_types(&told), Alternatives::Function),
        };
        for operand in operands {
            self.tell_parameter(operand, &met);
        }
    }

    /// Gives those among the results of a choice the type of the others.
    pub(super) fn type_parameters_of_choice<'e>(
        &self,
        results: impl IntoIterator<Item = &'e mut Expression>,
    ) {
        let results: Vec<_> = results.into_iter().collect();
        if results.iter().any(|result| self.is_untold(result)) {
            self.type_parameters_of_others(results, Untold::Text);
        }
    }

    /// Gives those among the arguments of a function that it has not typed yet what it reads them as;
    /// whether there was one.
    pub(super) fn type_parameters_as(
        &self,
        arguments: &mut [Expression],
        read: &[SqlType],
    ) -> bool {
        let mut any = false;
        let text = parameter_type(None, self.options.collation_connection);
        for (argument, read) in arguments.iter_mut().zip(read) {
            if self.is_untold(argument) && argument.ty == text && !read.is_string() {
                self.tell_parameter(argument, read);
                any = true;
            }
        }
        any
    }
}
