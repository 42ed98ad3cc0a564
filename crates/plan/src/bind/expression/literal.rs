//! Literals: their values, types and early conversion.

use mayfly_syntax::ast;
use mayfly_types::decimal::parse_decimal;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, Value};

use crate::bind::binder::Binder;
use crate::bind::literal::{decimal, integer, null, string};
use crate::not_supported::not_supported;
use crate::tree::expression::Expression;

/// Maximum number of digits of a number shown in warnings.
const DIGITS_SHOWN: usize = 81;

impl Binder<'_> {
    pub(super) fn bind_value(&mut self, value: &ast::Value) -> Result<Expression> {
        Ok(match value {
            ast::Value::Number(text) => self.number(text)?,
            ast::Value::SingleQuotedString(text) => {
                string(text, self.options.session.collation_connection)
            }
            ast::Value::NationalStringLiteral(text) => {
                string(text, CollationId::UTF8MB3_GENERAL_CI)
            }
            ast::Value::Boolean(truth) => integer(i64::from(*truth), 1),
            ast::Value::Null => null(),
            ast::Value::Placeholder(text) => self.bind_placeholder(text)?,
            other => match mayfly_syntax::encodings::bytes_literal(other) {
                Some(bytes) => {
                    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                    // X'41' is an unsigned number where a number is wanted, B'1' is a signed one.
                    let ty = SqlType {
                        unsigned: !matches!(other, ast::Value::BitStringLiteral(_)),
                        is_bytes_literal: true,
                        ..SqlType::varchar(length, CollationId::BINARY)
                    };
                    Expression::literal(Value::Bytes(bytes), ty)
                }
                None => return Err(not_supported(&format!("literal {other}"))),
            },
        })
    }

    /// A number literal: an integer, a DECIMAL when it has a point or is too large, a DOUBLE when it has an exponent.
    fn number(&self, text: &str) -> Result<Expression> {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            if let Ok(value) = text.parse::<i64>() {
                return Ok(integer(value, length.saturating_add(1)));
            }
            if let Ok(value) = text.parse::<u64>() {
                let ty = SqlType {
                    length,
                    ..SqlType::bigint_unsigned()
                };
                return Ok(Expression::literal(Value::UInt(value), ty));
            }
        }
        if text.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
            let value = text.parse().unwrap_or(f64::INFINITY);
            if !f64::is_finite(value) {
                return Err(codes::ER_ILLEGAL_VALUE_FOR_TYPE.with(&[&"double", &text]));
            }
            let ty = SqlType {
                length,
                ..SqlType::double()
            };
            return Ok(Expression::literal(Value::Float(value), ty));
        }
        let parsed = parse_decimal(text.as_bytes());
        if parsed.overflow {
            let shown = text.get(..DIGITS_SHOWN).unwrap_or(text);
            let warning = codes::ER_TRUNCATED_WRONG_VALUE.with(&[&"DECIMAL", &shown]);
            self.catalog.warn(warning);
        }
        Ok(decimal(parsed.value))
    }
}
