//! Conversions that the user writes: CAST, CONVERT, COLLATE, introducers, typed literals.

use mayfly_syntax::ast::{
    CharacterLength, DataType, ExactNumberInfo, Expr, ObjectName, TypedString, Value as AstValue,
};
use mayfly_types::error::codes;
use mayfly_types::temporal::{DateRules, parse_datetime, parse_time};
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use super::literal;
use crate::bind::collation::{collation_by_name, collation_name, default_collation};
use crate::bind::types::{as_value, cast, string_of, with_collation};
use crate::bind::{Binder, not_supported};
use crate::expression::{Expression, ExpressionKind};

impl Binder<'_> {
    pub(super) fn bind_cast(&mut self, expr: &Expr, data_type: &DataType) -> Result<Expression> {
        let operand = as_value(self.bind_expression(expr)?);
        let target = self.cast_target(data_type, &operand)?;
        if operand.ty == target {
            return Ok(operand);
        }
        if literal::is_hexadecimal(&operand)
            && target.is_numeric()
            && let ExpressionKind::Literal(value) = &operand.kind
            && let Some(number) = literal::convert(value, &operand.ty, &target)
        {
            return Ok(Expression::literal(number, target));
        }
        // Unlike a silent conversion this one is always kept: CAST(… AS CHAR(3)) cuts.
        let nullable = operand.nullable || target.is_temporal() || target.kind == TypeKind::Json;
        Ok(Expression {
            kind: ExpressionKind::Cast(Box::new(operand)),
            ty: target,
            nullable,
        })
    }

    fn cast_target(&self, data_type: &DataType, operand: &Expression) -> Result<SqlType> {
        let fraction = |digits: &Option<u64>| digits.unwrap_or(0).min(6) as u8;
        Ok(match data_type {
            DataType::Signed
            | DataType::SignedInteger
            | DataType::BigInt(_)
            | DataType::Int(_)
            | DataType::Integer(_) => SqlType::bigint(),
            DataType::Unsigned | DataType::UnsignedInteger => SqlType::bigint_unsigned(),
            DataType::Char(length) | DataType::Character(length) | DataType::Varchar(length) => {
                self.char_target(character_length(length.as_ref()), None, operand)?
            }
            DataType::Binary(length) => match length {
                Some(length) => SqlType::char(clamp(*length), CollationId::BINARY),
                None => string_of(&operand.ty, CollationId::BINARY),
            },
            DataType::Date => SqlType::temporal(TypeKind::Date, 0),
            DataType::Datetime(digits) => SqlType::temporal(TypeKind::DateTime, fraction(digits)),
            DataType::Timestamp(digits, _) => {
                SqlType::temporal(TypeKind::DateTime, fraction(digits))
            }
            DataType::Time(digits, _) => SqlType::temporal(TypeKind::Time, fraction(digits)),
            DataType::Decimal(info) | DataType::Numeric(info) | DataType::Dec(info) => {
                decimal_target(info)
            }
            DataType::Double(_) | DataType::DoublePrecision | DataType::Real => SqlType::double(),
            DataType::Float(info) => match info {
                ExactNumberInfo::Precision(digits) if *digits > 24 => SqlType::double(),
                _ => SqlType {
                    kind: TypeKind::Float,
                    length: 12,
                    ..SqlType::double()
                },
            },
            DataType::JSON => SqlType::json(),
            DataType::Custom(name, modifiers) => {
                return self.custom_target(name, modifiers, operand);
            }
            other => return Err(not_supported(&format!("CAST AS {other}"))),
        })
    }

    /// Types that `sqlparser` has no variant for: YEAR, and CHAR with a character set.
    fn custom_target(
        &self,
        name: &ObjectName,
        modifiers: &[String],
        operand: &Expression,
    ) -> Result<SqlType> {
        let name = name.to_string();
        if name.eq_ignore_ascii_case("year") {
            return Ok(SqlType {
                unsigned: true,
                ..SqlType::temporal(TypeKind::Year, 0)
            });
        }
        if name.eq_ignore_ascii_case("char") {
            let mut length = None;
            let mut charset = None;
            for modifier in modifiers {
                match modifier.parse::<u64>() {
                    Ok(number) => length = Some(number),
                    Err(_) => charset = Some(modifier.as_str()),
                }
            }
            return self.char_target(length, charset, operand);
        }
        Err(not_supported(&format!("CAST AS {name}")))
    }

    fn char_target(
        &self,
        length: Option<u64>,
        charset: Option<&str>,
        operand: &Expression,
    ) -> Result<SqlType> {
        let collation = match charset {
            Some(charset) => charset_collation(charset)?,
            None => self.options.collation_connection,
        };
        Ok(match length {
            Some(length) => SqlType::varchar(clamp(length), collation),
            None => string_of(&operand.ty, collation),
        })
    }

    pub(super) fn bind_convert(
        &mut self,
        expr: &Expr,
        data_type: Option<&DataType>,
        charset: Option<&ObjectName>,
    ) -> Result<Expression> {
        if let Some(data_type) = data_type {
            return self.bind_cast(expr, data_type);
        }
        let operand = as_value(self.bind_expression(expr)?);
        let collation = match charset {
            Some(charset) => charset_collation(&charset.to_string())?,
            None => self.options.collation_connection,
        };
        let target = string_of(&operand.ty, collation);
        let nullable = operand.nullable;
        Ok(Expression {
            kind: ExpressionKind::Cast(Box::new(operand)),
            ty: target,
            nullable,
        })
    }

    pub(super) fn bind_collate(
        &mut self,
        expr: &Expr,
        collation: &ObjectName,
    ) -> Result<Expression> {
        let operand = as_value(self.bind_expression(expr)?);
        let name = collation.to_string();
        let collation = collation_by_name(name.trim_matches('`'))
            .ok_or_else(|| codes::ER_UNKNOWN_COLLATION.with(&[&name]))?;
        let own = charset_of(operand.ty.collation);
        let compatible = own == charset_of(collation)
            || !operand.ty.is_string()
            || collation == CollationId::BINARY;
        if !compatible {
            return Err(
                codes::ER_COLLATION_CHARSET_MISMATCH.with(&[&collation_name(collation), &own])
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
            vec![operand, super::word(collation_name(collation))],
        )
    }

    /// `_charset'…'`: the bytes as they are, read in that character set.
    pub(super) fn bind_introducer(&mut self, prefix: &str, value: &Expr) -> Result<Expression> {
        let charset = prefix.strip_prefix('_').unwrap_or(prefix);
        let collation = charset_collation(charset)?;
        let literal = self.bind_expression(value)?;
        if collation == CollationId::BINARY {
            // A hexadecimal literal stays VARCHAR and is a number where one is wanted; this is not.
            let ty = SqlType::char(literal.ty.length, CollationId::BINARY);
            return Ok(Expression { ty, ..literal });
        }
        if literal::is_hexadecimal(&literal)
            && let ExpressionKind::Literal(Value::Bytes(bytes)) = &literal.kind
        {
            let text = match collation {
                CollationId::LATIN1_SWEDISH_CI => {
                    bytes.iter().map(|byte| char::from(*byte)).collect()
                }
                _ => String::from_utf8_lossy(bytes).into_owned(),
            };
            return Ok(literal::string(&text, collation));
        }
        Ok(with_collation(literal, collation))
    }

    pub(super) fn bind_typed_string(&mut self, typed: &TypedString) -> Result<Expression> {
        let text = match &typed.value.value {
            AstValue::SingleQuotedString(text) | AstValue::DoubleQuotedString(text) => text,
            other => return Err(not_supported(&other.to_string())),
        };
        let bytes = text.as_bytes();
        let rules = DateRules::of(self.options.sql_mode);
        let wrong = |kind: &str| codes::ER_WRONG_VALUE.with(&[&kind, text]);
        match typed.data_type {
            DataType::Time(..) => {
                let parsed = parse_time(bytes, false).map_err(|_| wrong("TIME"))?;
                let ty = SqlType::temporal(TypeKind::Time, fraction_digits(text));
                Ok(Expression::literal(Value::Int(parsed.micros), ty))
            }
            DataType::Date => {
                let parsed = parse_datetime(bytes, rules, false).map_err(|_| wrong("DATE"))?;
                let ty = SqlType::temporal(TypeKind::Date, 0);
                Ok(Expression::literal(Value::Int(parsed.value.pack()), ty))
            }
            _ => {
                let parsed = parse_datetime(bytes, rules, false).map_err(|_| wrong("DATETIME"))?;
                let ty = SqlType::temporal(TypeKind::DateTime, fraction_digits(text));
                Ok(Expression::literal(Value::Int(parsed.value.pack()), ty))
            }
        }
    }
}

/// How many digits stand behind the point of a temporal literal.
fn fraction_digits(text: &str) -> u8 {
    let digits = text.rsplit_once('.').map_or(0, |(_, fraction)| {
        fraction.bytes().take_while(u8::is_ascii_digit).count()
    });
    digits.min(6) as u8
}

fn clamp(length: u64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn character_length(length: Option<&CharacterLength>) -> Option<u64> {
    match length? {
        CharacterLength::IntegerLength { length, .. } => Some(*length),
        CharacterLength::Max => None,
    }
}

fn decimal_target(info: &ExactNumberInfo) -> SqlType {
    let byte = |digits: u64| u8::try_from(digits).unwrap_or(u8::MAX);
    match info {
        ExactNumberInfo::None => SqlType::decimal(10, 0),
        ExactNumberInfo::Precision(precision) => SqlType::decimal(byte(*precision), 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => {
            SqlType::decimal(byte(*precision), u8::try_from(*scale).unwrap_or(0))
        }
    }
}

fn charset_collation(charset: &str) -> Result<CollationId> {
    let charset = charset.trim_matches('`');
    default_collation(charset).ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&charset]))
}

fn charset_of(collation: CollationId) -> &'static str {
    let name = collation_name(collation);
    name.split('_').next().unwrap_or(name)
}
