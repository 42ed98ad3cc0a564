//! Explicit conversions: CAST, CONVERT, COLLATE, introducers, typed literals.

use std::fmt::Display;

use mayfly_functions::scalar::Fact;
use mayfly_functions::{Coercibility, derive};
use mayfly_syntax::ast::{CastType, CastTypeKind, Expr, TemporalLiteral, TypedString};
use mayfly_types::charset::Charset;
use mayfly_types::error::codes;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::temporal::{DateRules, parse_datetime, parse_time};
use mayfly_types::{CollationId, Result, SqlMode, SqlType, TypeKind, Value};

use crate::bind::binder::Binder;
use crate::bind::collation::coercibility;
use crate::bind::literal;
use crate::bind::numbers::{as_number, choice_as_number, integer_of_choice};
use crate::bind::structured;
use crate::bind::types::{
    as_value, become_number_of_choice, cast, is_null, not, string_of, text_target, with_collation,
};
use crate::bind::variables::{decimal_variable, is_read_as, read_as};
use crate::not_supported::not_supported;
use crate::tree::expression::{Expression, ExpressionKind, LENGTH_CASTS, WRITTEN_CAST};

/// Message for a cast that is possible only in key definitions.
const ARRAY_OUTSIDE_OF_KEYS: &str = "Use of CAST( .. AS .. ARRAY) outside of functional index in \
    CREATE(non-SELECT)/ALTER TABLE or in general expressions";

/// Maximum bits of FLOAT(p), and digits of fractional seconds.
const FLOAT_BITS_MAX: u64 = 53;
const FRACTION_DIGITS_MAX: u64 = 6;

impl Binder<'_> {
    pub(super) fn bind_cast(&mut self, expr: &Expr, written: &CastType) -> Result<Expression> {
        check_cast(written, expr)?;
        let bound = self.bind_expression(expr)?;
        if let CastTypeKind::Geometry(_) = written.kind
            && !written.is_array
        {
            let name = format!("cast as {}", written.kind.name().to_ascii_lowercase());
            return self.call_bound(&name, vec![bound]);
        }
        let mut operand = if written.kind == CastTypeKind::Json {
            literal::as_boolean(bound)
        } else {
            as_value(bound)
        };
        let target = text_target(&operand, self.cast_target(written, &operand)?);
        structured::check_cast(&operand.ty, &target)?;
        if target.is_string() {
            operand = self.variable_as_text(operand);
        }
        // The operand of a cast to BIGINT UNSIGNED may be negative.
        let met = SqlType {
            unsigned: target.unsigned && target.kind != TypeKind::BigInt,
            ..target.clone()
        };
        self.infer_parameter(&mut operand, &met);
        // A column that needs no conversion is no table column any more, but the coercibility of a string stays a
        // column's.
        let is_claimed = target.is_string() && coercibility(&operand) != Coercibility::Implicit;
        let is_column = matches!(operand.kind, ExpressionKind::Column(_));
        if operand.ty == target && !is_column && !is_claimed {
            return Ok(operand);
        }
        if target.is_integer() && !is_extreme(&operand) {
            // An integer is read from the text of a date, unlike other numbers.
            operand.ty.temporal_text = false;
        } else if become_number_of_choice(&mut operand, &target) {
            return Ok(operand);
        }
        if literal::is_hexadecimal(&operand)
            && target.is_numeric()
            && let ExpressionKind::Literal(value) = &operand.kind
            && let Some(number) = literal::convert(value, &operand.ty, &target)
        {
            return Ok(Expression::literal(number, target));
        }
        operand = match target.kind {
            TypeKind::BigInt if !operand.ty.is_string() => integer_of_choice(operand, &target),
            TypeKind::Float => as_number(operand),
            _ if target.is_numeric() => choice_as_number(operand),
            _ => operand,
        };
        if target.is_integer() && is_read_as(&operand, &target) {
            read_as(&mut operand, &target);
        }
        // Unlike an implicit conversion this one is always kept: CAST(… AS CHAR(3)) cuts.
        let nullable = operand.nullable
            || target.is_temporal()
            || matches!(target.kind, TypeKind::Json | TypeKind::Year)
            || self.gives_null_when_too_long(&target);
        // Warning 1301 names the kind of the conversion.
        let [as_char, as_binary] = LENGTH_CASTS;
        let name = match written.length {
            None => WRITTEN_CAST,
            Some(_) if target.collation == CollationId::BINARY => as_binary,
            Some(_) => as_char,
        };
        let text = target.is_string().then(|| name.into());
        let kind = ExpressionKind::Cast(Box::new(operand), text);
        let mut cast = Expression::new(kind, target, nullable);
        if cast.ty.is_binary_string() && cast.ty.kind == TypeKind::Char {
            // A padded value is a VARBINARY.
            let filled = SqlType::varchar(cast.ty.length, CollationId::BINARY);
            let kind = ExpressionKind::Cast(Box::new(cast), Some(WRITTEN_CAST.into()));
            return Ok(Expression::new(kind, filled, nullable));
        }
        // Error 1690 shows the call; warning 1264 names the select item, which is not known here.
        if cast.ty.kind == TypeKind::Float {
            let shown = self.shown(&cast);
            if let ExpressionKind::Cast(_, text) = &mut cast.kind {
                *text = shown;
            }
        }
        Ok(cast)
    }

    fn cast_target(&self, written: &CastType, operand: &Expression) -> Result<SqlType> {
        if written.is_array {
            return Err(not_supported(ARRAY_OUTSIDE_OF_KEYS));
        }
        let fraction = written.length.unwrap_or(0).min(6) as u8;
        let byte = |digits: u64| u8::try_from(digits).unwrap_or(u8::MAX);
        Ok(match written.kind {
            CastTypeKind::Signed => derive::bigint_of_width(21),
            CastTypeKind::Unsigned => derive::unsigned_bigint(),
            CastTypeKind::Char => {
                self.char_target(written.length, written.charset.as_deref(), operand)?
            }
            CastTypeKind::Binary => match written.length {
                Some(length) => SqlType::char(clamp(length), CollationId::BINARY),
                None => computed_string(&operand.ty, CollationId::BINARY),
            },
            CastTypeKind::Decimal => SqlType::decimal(
                byte(written.length.unwrap_or(10)),
                byte(written.scale.unwrap_or(0)),
            ),
            CastTypeKind::Float if written.length.is_none_or(|digits| digits <= 24) => SqlType {
                kind: TypeKind::Float,
                length: 12,
                ..SqlType::double()
            },
            CastTypeKind::Float | CastTypeKind::Double => SqlType::double(),
            CastTypeKind::Date => SqlType::temporal(TypeKind::Date, 0),
            CastTypeKind::Time => SqlType::temporal(TypeKind::Time, fraction),
            CastTypeKind::DateTime => SqlType::temporal(TypeKind::DateTime, fraction),
            CastTypeKind::Year => SqlType {
                unsigned: true,
                ..SqlType::temporal(TypeKind::Year, 0)
            },
            CastTypeKind::Json => SqlType::json(),
            CastTypeKind::Geometry(_) => {
                return Err(not_supported(&format!("CAST AS {written}")));
            }
        })
    }

    fn char_target(
        &self,
        length: Option<u64>,
        charset: Option<&str>,
        operand: &Expression,
    ) -> Result<SqlType> {
        let collation = match charset {
            Some(charset) => charset_collation(charset)?,
            None => self.options.session.collation_connection,
        };
        Ok(match length {
            Some(length) => SqlType::varchar(clamp(length), collation),
            None => computed_string(&operand.ty, collation),
        })
    }

    /// A user variable that holds a DECIMAL as the text of its value, any other expression unchanged.
    fn variable_as_text(&self, operand: Expression) -> Expression {
        if decimal_variable(&operand).is_none() {
            return operand;
        }
        let text = string_of(&operand.ty, self.options.session.collation_connection);
        cast(operand, &text)
    }

    pub(super) fn bind_convert(&mut self, expr: &Expr, charset: &str) -> Result<Expression> {
        let operand = as_value(self.bind_expression(expr)?);
        let operand = self.variable_as_text(operand);
        let collation = charset_collation(charset)?;
        structured::check_converted(&operand.ty, collation == CollationId::BINARY)?;
        let operand = self.wide_characters(operand, collation)?;
        let target = text_target(&operand, computed_string(&operand.ty, collation));
        let nullable = operand.nullable || self.gives_null_when_too_long(&target);
        // CHAR(n USING charset) is a plain string.
        let text = (!is_characters(&operand)).then(|| WRITTEN_CAST.into());
        let kind = ExpressionKind::Cast(Box::new(operand), text);
        Ok(Expression::new(kind, target, nullable))
    }

    /// Character of a code; NULL without one.
    pub(super) fn character(&mut self, code: Expression) -> Result<Expression> {
        let is_code = not(is_null(code.clone()));
        let bytes = self.call_bound("char", vec![code])?;
        let target = text_target(
            &bytes,
            string_of(&bytes.ty, CollationId::UTF8MB4_0900_AI_CI),
        );
        let kind = ExpressionKind::Cast(Box::new(bytes), None);
        let text = Expression::new(kind, target.clone(), true);
        let kind = ExpressionKind::Case {
            branches: vec![(is_code, text)],
            otherwise: None,
        };
        Ok(Expression::new(kind, target, true))
    }

    /// `CHAR(n, … USING charset)`: each number fills whole units of the character set.
    fn wide_characters(&self, operand: Expression, collation: CollationId) -> Result<Expression> {
        let name = match collation.charset().min_length() {
            2 => "char of two bytes",
            4 => "char of four bytes",
            _ => return Ok(operand),
        };
        match operand.kind {
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } if function.has(Fact::Characters) => self.call_bound(name, arguments),
            kind => Ok(Expression { kind, ..operand }),
        }
    }

    pub(super) fn bind_collate(&mut self, expr: &Expr, name: &str) -> Result<Expression> {
        let operand = as_value(self.bind_expression(expr)?);
        let collation =
            CollationId::by_name(name).ok_or_else(|| codes::ER_UNKNOWN_COLLATION.with(&[&name]))?;
        let is_null = operand.ty.kind == TypeKind::Null
            && !matches!(operand.kind, ExpressionKind::Parameter(_));
        let own = match is_null {
            true => Charset::Binary,
            false => operand.ty.collation.charset(),
        };
        let has_charset = operand.ty.is_string() || operand.ty.kind == TypeKind::Bit || is_null;
        let compatible =
            own == collation.charset() || !has_charset || collation == CollationId::BINARY;
        if !compatible {
            return Err(
                codes::ER_COLLATION_CHARSET_MISMATCH.with(&[&collation.name(), &own.name()])
            );
        }
        let operand = if operand.ty.is_string() {
            operand
        } else {
            let target = string_of(&operand.ty, collation);
            cast(operand, &target)
        };
        self.call_bound(
            "collate",
            vec![operand, crate::bind::literal::word(collation.name())],
        )
    }

    /// `_charset'…'`: the bytes unchanged, as text of that character set.
    pub(super) fn bind_introducer(&mut self, prefix: &str, value: &Expr) -> Result<Expression> {
        let charset = prefix.strip_prefix('_').unwrap_or(prefix);
        let collation = match charset_collation(charset)? {
            collation if collation.charset() == Charset::Utf8mb4 => self.options.utf8mb4_collation,
            collation => collation,
        };
        let literal = self.bind_expression(value)?;
        if collation == CollationId::BINARY {
            // A hexadecimal literal stays VARCHAR and is a number where one is wanted; this one is not.
            let bytes = match literal.as_literal() {
                Some(Value::Bytes(bytes)) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                _ => literal.ty.length,
            };
            let ty = SqlType::char(bytes, CollationId::BINARY);
            return Ok(Expression { ty, ..literal });
        }
        if let ExpressionKind::Literal(Value::Bytes(bytes)) = &literal.kind
            && (literal::is_hexadecimal(&literal) || !bytes.is_ascii())
        {
            let decoded = collation.charset().decode(bytes).map_err(|_| {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                codes::ER_INVALID_CHARACTER_STRING.with(&[&collation.charset().name(), &digits])
            })?;
            let text = String::from_utf8_lossy(&decoded);
            return Ok(literal::string(&text, collation));
        }
        Ok(with_collation(literal, collation))
    }

    pub(super) fn bind_typed_string(&mut self, typed: &TypedString) -> Result<Expression> {
        match self.temporal_literal(typed) {
            Some(literal) => Ok(literal),
            // {ts 'x'} is plain text if it is no datetime.
            None if typed.is_escape => Ok(literal::string(
                &typed.value,
                self.options.session.collation_connection,
            )),
            None => {
                let name = match typed.kind {
                    TemporalLiteral::Date => "DATE",
                    TemporalLiteral::Time => "TIME",
                    TemporalLiteral::Timestamp => "DATETIME",
                };
                Err(codes::ER_WRONG_VALUE.with(&[&name, &typed.value]))
            }
        }
    }

    /// Value of a temporal literal; `None` if it is not exactly a value of its type.
    fn temporal_literal(&self, typed: &TypedString) -> Option<Expression> {
        let text = typed.value.as_str();
        let sql_mode = self.options.session.sql_mode;
        let truncate = sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        if typed.kind == TemporalLiteral::Time {
            let parsed = parse_time(text.as_bytes(), truncate).ok()?;
            if parsed.truncated || parsed.out_of_range || parsed.moment.is_some() {
                return None;
            }
            let ty = SqlType::temporal(TypeKind::Time, fraction_digits(text));
            return Some(Expression::literal(Value::Int(parsed.micros), ty));
        }
        let (ty, is_date) = match typed.kind {
            TemporalLiteral::Date => (SqlType::temporal(TypeKind::Date, 0), true),
            _ => {
                let digits = fraction_digits(text);
                (SqlType::temporal(TypeKind::DateTime, digits), false)
            }
        };
        let rules = DateRules::of(sql_mode);
        let parsed = parse_datetime(text.as_bytes(), rules, truncate).ok()?;
        if parsed.truncated || parsed.is_date != is_date {
            return None;
        }
        if parsed.offset.is_some() {
            // The time zone is known only in the session that runs the statement.
            let moment = literal::string(text, self.options.session.collation_connection);
            let kind = ExpressionKind::Cast(Box::new(moment), None);
            return Some(Expression::new(kind, ty, true));
        }
        Some(Expression::literal(Value::Int(parsed.value.pack()), ty))
    }
}

/// Whether an expression is a call of CHAR().
fn is_characters(expression: &Expression) -> bool {
    matches!(&expression.kind, ExpressionKind::Call { function, .. } if function.has(Fact::Characters))
}

/// Whether an expression is the greatest or least of several.
fn is_extreme(expression: &Expression) -> bool {
    matches!(&expression.kind, ExpressionKind::Call { function, .. } if function.has(Fact::Extreme))
}

/// Number of fractional digits of a temporal literal.
fn fraction_digits(text: &str) -> u8 {
    let digits = text.rsplit_once('.').map_or(0, |(_, fraction)| {
        fraction.bytes().take_while(u8::is_ascii_digit).count()
    });
    digits.min(6) as u8
}

/// Errors 1425, 1426, 1427 and 1439: CAST to a type with more digits or characters than the maximum.
pub(super) fn check_cast(written: &CastType, operand: &Expr) -> Result<()> {
    let length = written.length.unwrap_or(0);
    let too_precise = |name: &dyn Display, most: u64| {
        Err(codes::ER_TOO_BIG_PRECISION.with(&[&length, &name, &most]))
    };
    match written.kind {
        CastTypeKind::Decimal => {
            let scale = written.scale.unwrap_or(0);
            let (most, scale_most) = (DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX);
            if length < scale {
                return Err(codes::ER_M_BIGGER_THAN_D.with(&[&""]));
            }
            if length > u64::from(most) {
                return too_precise(operand, most.into());
            }
            if scale > u64::from(scale_most) {
                return Err(codes::ER_TOO_BIG_SCALE.with(&[&scale, operand, &scale_most]));
            }
        }
        CastTypeKind::Float if length > FLOAT_BITS_MAX => {
            return too_precise(&"CAST", FLOAT_BITS_MAX);
        }
        CastTypeKind::Time | CastTypeKind::DateTime if length > FRACTION_DIGITS_MAX => {
            return too_precise(&"CAST", FRACTION_DIGITS_MAX);
        }
        CastTypeKind::Char | CastTypeKind::Binary if length > u64::from(u32::MAX) => {
            return Err(codes::ER_TOO_BIG_DISPLAYWIDTH.with(&[&"cast as char", &u32::MAX]));
        }
        _ => {}
    }
    Ok(())
}

/// String type of a conversion of values of a type: that of a TEXT or BLOB is a string with a character for each byte,
/// as MySQL computes its length.
fn computed_string(ty: &SqlType, collation: CollationId) -> SqlType {
    match ty.kind {
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText => {
            let becomes_binary = collation == CollationId::BINARY;
            let charset = ty.collation.charset();
            let width = u32::from(if becomes_binary {
                charset.max_length()
            } else {
                1
            });
            SqlType::varchar(ty.length * width, collation)
        }
        _ => string_of(ty, collation),
    }
}

fn clamp(length: u64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn charset_collation(charset: &str) -> Result<CollationId> {
    let charset = charset.trim_matches('`');
    Charset::by_name(charset)
        .map(Charset::default_collation)
        .ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&charset]))
}
