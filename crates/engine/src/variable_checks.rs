//! From the value of a SET to a setting: MySQL's types, ranges, rounding and errors.

use std::sync::Arc;

use mayfly_types::error::codes;
use mayfly_types::{Diagnostics, Result, SqlType, Value};

use crate::accounts::mandatory;
use crate::character_sets;
use crate::variables::{Kind, Setting, SystemVariable, sql_mode};

/// What a check needs to know besides the value.
pub(crate) struct Check<'a> {
    /// Where warnings go.
    pub(crate) diagnostics: &'a Diagnostics,
    /// STRICT_ALL_TABLES: a value out of range is an error and not a warning.
    pub(crate) strict: bool,
    /// The setting before.
    pub(crate) before: &'a Setting,
}

fn wrong_type(variable: &SystemVariable) -> mayfly_types::Error {
    codes::ER_WRONG_TYPE_FOR_VAR.with(&[&variable.name])
}

fn wrong_value(variable: &SystemVariable, value: &str) -> mayfly_types::Error {
    codes::ER_WRONG_VALUE_FOR_VAR.with(&[&variable.name, &value])
}

/// The text of a value, as error messages and text variables take it.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal { unscaled, scale } => {
            let digits = unscaled.to_string();
            let (sign, digits) = match digits.strip_prefix('-') {
                Some(digits) => ("-", digits.to_owned()),
                None => ("", digits),
            };
            let scale = usize::from(*scale);
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            let point = if scale == 0 { "" } else { "." };
            format!("{sign}{whole}{point}{fraction}")
        }
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

impl SystemVariable {
    /// The setting that a value stands for: errors 1231, 1232 and others, warning 1292.
    pub(crate) fn check(&self, value: &Value, ty: &SqlType, check: &Check<'_>) -> Result<Setting> {
        match self.kind {
            Kind::Boolean(_) => self.check_boolean(value),
            Kind::Unsigned {
                min, max, block, ..
            } => self.check_unsigned(value, ty, check, (min, max, block)),
            Kind::Signed { min, max, .. } => {
                let number = self.integer(value, ty)?;
                let clamped = number.clamp(i128::from(min), i128::from(max));
                self.report_bounds(clamped != number, value, check)?;
                Ok(Setting::Signed(i64::try_from(clamped).unwrap_or(0)))
            }
            Kind::Double { min, max, .. } => self.check_double(value, check, (min, max)),
            Kind::Choice { words, .. } => match value {
                Value::Bytes(bytes) => {
                    let text = String::from_utf8_lossy(bytes);
                    let same = |word: &&str| word.eq_ignore_ascii_case(&text);
                    let position = words.iter().position(same);
                    let position = position.ok_or_else(|| wrong_value(self, &text))?;
                    Ok(Setting::Unsigned(position as u64))
                }
                Value::Null => Err(wrong_value(self, "NULL")),
                _ => {
                    let number = self.integer(value, ty)?;
                    let position = u64::try_from(number).ok();
                    let position = position.filter(|position| *position < words.len() as u64);
                    let position =
                        position.ok_or_else(|| wrong_value(self, &number.to_string()))?;
                    Ok(Setting::Unsigned(position))
                }
            },
            Kind::Flags { words, .. } => self.check_flags(value, ty, check, words),
            Kind::Switches { words, default } => {
                self.check_switches(value, ty, check, (words, default))
            }
            Kind::Text(_) => match value {
                Value::Null if self.nullable => Ok(Setting::Text(None)),
                Value::Null => Err(wrong_value(self, "NULL")),
                Value::Bytes(_) => {
                    let text = text_of(value);
                    if self.name == "mandatory_roles" && mandatory::parse(&text).is_none() {
                        return Err(wrong_value(self, &text));
                    }
                    Ok(Setting::Text(Some(Arc::from(text))))
                }
                _ => Err(wrong_type(self)),
            },
            Kind::CharacterSet { nullable, .. } => self.check_character_set(value, ty, nullable),
            Kind::Collation(_) => self.check_collation(value, ty),
            Kind::TimeZone => match value {
                Value::Bytes(_) => {
                    let zone = crate::time_zones::checked(&text_of(value))?;
                    Ok(Setting::Text(Some(Arc::from(zone))))
                }
                Value::Null => Err(wrong_value(self, "NULL")),
                _ => Err(wrong_type(self)),
            },
            Kind::Engine(_) => match value {
                Value::Bytes(_) => {
                    let text = text_of(value);
                    let engine = crate::catalog::engines::canonical(&text)
                        .ok_or_else(|| codes::ER_UNKNOWN_STORAGE_ENGINE.with(&[&text]))?;
                    Ok(Setting::Text(Some(Arc::from(engine))))
                }
                Value::Null => Err(wrong_value(self, "NULL")),
                _ => Err(wrong_type(self)),
            },
            Kind::Locale(_) => match value {
                Value::Null => Err(wrong_value(self, "NULL")),
                _ => {
                    let text = text_of(value);
                    let locale = crate::locales::canonical(&text)
                        .ok_or_else(|| codes::ER_UNKNOWN_LOCALE.with(&[&text]))?;
                    Ok(Setting::Text(Some(Arc::from(locale))))
                }
            },
        }
    }

    fn check_boolean(&self, value: &Value) -> Result<Setting> {
        let on = match value {
            Value::Int(number @ (0 | 1)) => *number == 1,
            Value::UInt(number @ (0 | 1)) => *number == 1,
            Value::Float(_) | Value::Decimal { .. } => return Err(wrong_type(self)),
            Value::Bytes(_) => match text_of(value).to_ascii_lowercase().as_str() {
                "on" | "true" => true,
                "off" | "false" => false,
                _ => return Err(wrong_value(self, &text_of(value))),
            },
            _ => return Err(wrong_value(self, &text_of(value))),
        };
        Ok(Setting::Boolean(on))
    }

    /// The integer of a value whose type is an integer; else 1232.
    fn integer(&self, value: &Value, ty: &SqlType) -> Result<i128> {
        match value {
            Value::Int(number) if ty.is_integer() => Ok(i128::from(*number)),
            Value::UInt(number) if ty.is_integer() => Ok(i128::from(*number)),
            // A literal too large for BIGINT UNSIGNED is a DECIMAL, which is no integer either.
            _ => Err(wrong_type(self)),
        }
    }

    fn check_unsigned(
        &self,
        value: &Value,
        ty: &SqlType,
        check: &Check<'_>,
        (min, max, block): (u64, u64, u64),
    ) -> Result<Setting> {
        let number = self.integer(value, ty)?;
        let clamped = number.clamp(0, i128::from(max));
        let clamped = u64::try_from(clamped).unwrap_or(max);
        let rounded = (clamped - clamped % block.max(1)).clamp(min, max);
        self.report_bounds(i128::from(rounded) != number, value, check)?;
        Ok(Setting::Unsigned(rounded))
    }

    fn check_double(
        &self,
        value: &Value,
        check: &Check<'_>,
        (min, max): (f64, f64),
    ) -> Result<Setting> {
        let number = match value {
            Value::Int(number) => *number as f64,
            Value::UInt(number) => *number as f64,
            Value::Float(number) => *number,
            Value::Decimal { .. } => text_of(value).parse().map_err(|_| wrong_type(self))?,
            Value::Null | Value::Bytes(_) => return Err(wrong_type(self)),
        };
        // A statement's time is a number of seconds that a client can represent.
        if self.name == "timestamp" && number > 2_147_483_647_000.0 {
            return Err(wrong_value(self, &text_of(value)));
        }
        let clamped = number.clamp(min, max);
        self.report_bounds(clamped != number, value, check)?;
        Ok(Setting::Double(clamped))
    }

    fn report_bounds(&self, fixed: bool, value: &Value, check: &Check<'_>) -> Result<()> {
        if !fixed {
            return Ok(());
        }
        let text = text_of(value);
        if check.strict {
            return Err(wrong_value(self, &text));
        }
        let warning = codes::ER_TRUNCATED_WRONG_VALUE.with(&[&self.name, &text]);
        check.diagnostics.warn(warning);
        Ok(())
    }

    fn check_flags(
        &self,
        value: &Value,
        ty: &SqlType,
        check: &Check<'_>,
        words: &[&str],
    ) -> Result<Setting> {
        let bits = match value {
            Value::Null => return Err(wrong_value(self, "NULL")),
            Value::Bytes(_) => {
                let text = text_of(value);
                let mut bits = 0_u64;
                for word in text.split(',').filter(|word| !word.is_empty()) {
                    let same = |known: &&str| known.eq_ignore_ascii_case(word);
                    let position = words.iter().position(same);
                    let position = position.ok_or_else(|| wrong_value(self, word))?;
                    bits |= 1 << position;
                }
                bits
            }
            _ => {
                let number = self.integer(value, ty)?;
                let bits = u64::try_from(number).ok();
                let bits = bits.filter(|bits| bits >> words.len().min(63) == 0);
                bits.ok_or_else(|| wrong_value(self, &number.to_string()))?
            }
        };
        if self.name == "sql_mode" {
            let before = match check.before {
                Setting::Unsigned(before) => *before,
                _ => 0,
            };
            return Ok(Setting::Unsigned(sql_mode::expand(
                bits,
                before,
                check.diagnostics,
            )));
        }
        Ok(Setting::Unsigned(bits))
    }

    fn check_switches(
        &self,
        value: &Value,
        ty: &SqlType,
        check: &Check<'_>,
        (words, default): (&[&str], u64),
    ) -> Result<Setting> {
        let before = match check.before {
            Setting::Unsigned(before) => *before,
            _ => default,
        };
        let text = match value {
            Value::Null => return Err(wrong_value(self, "NULL")),
            Value::Bytes(_) => text_of(value),
            _ => {
                let number = self.integer(value, ty)?;
                let bits = u64::try_from(number).ok();
                let bits = bits.filter(|bits| bits >> words.len().min(63) == 0);
                return Ok(Setting::Unsigned(
                    bits.ok_or_else(|| wrong_value(self, &number.to_string()))?,
                ));
            }
        };
        // `default` resets every switch that the same text does not set.
        let items = || text.split(',').filter(|item| !item.is_empty());
        let reset = items().any(|item| item.eq_ignore_ascii_case("default"));
        let mut bits = if reset { default } else { before };
        for item in items().filter(|item| !item.eq_ignore_ascii_case("default")) {
            let wrong = || wrong_value(self, item);
            let (name, state) = item.split_once('=').ok_or_else(wrong)?;
            let same = |known: &&str| known.eq_ignore_ascii_case(name.trim());
            let position = words.iter().position(same).ok_or_else(wrong)?;
            let bit = 1_u64 << position;
            match state.trim().to_ascii_lowercase().as_str() {
                "on" => bits |= bit,
                "off" => bits &= !bit,
                "default" => bits = bits & !bit | default & bit,
                _ => return Err(wrong()),
            }
        }
        Ok(Setting::Unsigned(bits))
    }

    fn check_character_set(&self, value: &Value, ty: &SqlType, nullable: bool) -> Result<Setting> {
        if value.is_null() {
            return match nullable {
                true => Ok(Setting::Text(None)),
                false => Err(wrong_value(self, "NULL")),
            };
        }
        let text = text_of(value);
        let found = match value {
            Value::Bytes(_) => character_sets::by_name(&text).map(|set| set.name),
            _ => {
                let id = u16::try_from(self.integer(value, ty)?).ok();
                let collation = id.and_then(character_sets::collation_by_id);
                collation.map(|collation| match self.name {
                    "character_set_results" => character_sets::results_name(collation),
                    _ => collation.charset.name(),
                })
            }
        };
        let found = found.ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&text]))?;
        Ok(Setting::Text(Some(Arc::from(found))))
    }

    fn check_collation(&self, value: &Value, ty: &SqlType) -> Result<Setting> {
        if value.is_null() {
            return Err(wrong_value(self, "NULL"));
        }
        let text = text_of(value);
        let found = match value {
            Value::Bytes(_) => character_sets::collation_by_name(&text),
            _ => {
                let id = u16::try_from(self.integer(value, ty)?).ok();
                id.and_then(character_sets::collation_by_id)
            }
        };
        let found = found.ok_or_else(|| codes::ER_UNKNOWN_COLLATION.with(&[&text]))?;
        let allowed = ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"];
        if self.name == "default_collation_for_utf8mb4" && !allowed.contains(&found.name) {
            return Err(codes::ER_INVALID_DEFAULT_UTF8MB4_COLLATION.with(&[&found.name]));
        }
        Ok(Setting::Text(Some(Arc::from(found.name))))
    }
}
