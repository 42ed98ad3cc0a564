//! Checks of SET's values: MySQL's types, ranges, rounding and errors.

use std::sync::Arc;

use mayfly_types::collation::Collation;
use mayfly_types::error::{ErrorCode, codes};
use mayfly_types::{Diagnostics, Error, Result, SqlType, Value};

use crate::accounts::mandatory;
use crate::character_sets;
use crate::engines::Engine;
use crate::error::ensure;
use crate::temp_debug::TempDebug;
use crate::variables::{Kind, Setting, SystemVariable, logs, sql_mode};

/// Context of a check.
pub(crate) struct Check<'a> {
    /// The receiver of warnings.
    pub(crate) diagnostics: &'a Diagnostics,
    /// STRICT_ALL_TABLES: a value out of range is an error and not a warning.
    pub(crate) strict: bool,
    /// The setting before SET.
    pub(crate) before: &'a Setting,
}

impl Check<'_> {
    /// The bits set before SET.
    fn bits_before(&self, default: u64) -> u64 {
        match self.before {
            Setting::Unsigned(before) => *before,
            _ => default,
        }
    }
}

fn wrong_type(variable: &SystemVariable) -> Error {
    codes::ER_WRONG_TYPE_FOR_VAR.with(&[&variable.name])
}

fn wrong_value(variable: &SystemVariable, value: &str) -> Error {
    codes::ER_WRONG_VALUE_FOR_VAR.with(&[&variable.name, &value])
}

/// The text of a value, for error messages and text variables.
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

/// The setting of a known name; the error of `code` for an unknown one.
fn named(found: Option<&str>, code: &ErrorCode, text: &str) -> Result<Setting> {
    let name = found.ok_or_else(|| code.with(&[&text]))?;
    Ok(Setting::Text(Some(Arc::from(name))))
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|item| !item.is_empty())
}

impl SystemVariable {
    /// The setting for a value: errors 1231, 1232 and others, warning 1292.
    pub(crate) fn check(&self, value: &Value, ty: &SqlType, check: &Check<'_>) -> Result<Setting> {
        if value.is_null() {
            return self.check_null();
        }
        let is_text = matches!(value, Value::Bytes(_));
        match self.kind {
            Kind::Text(_) | Kind::TimeZone | Kind::Engine(_) if !is_text => Err(wrong_type(self)),
            Kind::Boolean(_) => self.check_boolean(value),
            Kind::Unsigned {
                min, max, block, ..
            } => {
                let number = self.integer(value, ty)?;
                let clamped = number.clamp(0, i128::from(max));
                let clamped = u64::try_from(clamped).unwrap_or(max);
                let rounded = (clamped - clamped % block.max(1)).clamp(min, max);
                self.report_bounds(i128::from(rounded) != number, value, check)?;
                Ok(Setting::Unsigned(rounded))
            }
            Kind::Signed { min, max, .. } => {
                let number = self.integer(value, ty)?;
                let clamped = number.clamp(i128::from(min), i128::from(max));
                self.report_bounds(clamped != number, value, check)?;
                Ok(Setting::Signed(i64::try_from(clamped).unwrap_or(0)))
            }
            Kind::Double { min, max, .. } => self.check_double(value, check, (min, max)),
            Kind::Choice { words, .. } => {
                let position = match value {
                    Value::Bytes(_) => self.word(words, &text_of(value))? as u64,
                    _ => self.number(value, ty, |position| position < words.len() as u64)?,
                };
                Ok(Setting::Unsigned(position))
            }
            Kind::Flags { words, .. } => {
                let bits = match value {
                    Value::Bytes(_) => items(&text_of(value)).try_fold(0, |bits, word| {
                        let alias = logs::bits_of_alias(self.name, word);
                        let own = || Ok::<u64, Error>(1 << self.word(words, word)?);
                        Ok::<u64, Error>(bits | alias.map_or_else(own, Ok)?)
                    })?,
                    _ => self.bits(value, ty, words)?,
                };
                Ok(Setting::Unsigned(if self.name == "sql_mode" {
                    sql_mode::expand(bits, check.bits_before(0), check.diagnostics)
                } else {
                    self.check_log_words(bits, check)?;
                    bits
                }))
            }
            Kind::Switches { words, default, .. } => {
                let bits = match value {
                    Value::Bytes(_) => {
                        let before = check.bits_before(default);
                        self.switches(&text_of(value), words, default, before)?
                    }
                    _ => self.bits(value, ty, words)?,
                };
                Ok(Setting::Unsigned(bits))
            }
            Kind::Text(_) => {
                let text = text_of(value);
                if self.name == "mandatory_roles" && mandatory::parse(&text).is_none() {
                    return Err(wrong_value(self, &text));
                }
                if self.name == "tmp_debug" && TempDebug::parse(&text).is_none() {
                    return Err(wrong_value(self, &text));
                }
                Ok(Setting::Text(Some(Arc::from(text))))
            }
            Kind::CharacterSet { .. } => self.check_character_set(value, ty),
            Kind::Collation(_) => self.check_collation(value, ty),
            Kind::TimeZone => {
                let zone = crate::time_zones::checked(&text_of(value))?;
                Ok(Setting::Text(Some(Arc::from(zone))))
            }
            Kind::Engine(_) => {
                let text = text_of(value);
                let engine = Engine::by_name(&text).map(Engine::name);
                named(engine, &codes::ER_UNKNOWN_STORAGE_ENGINE, &text)
            }
            Kind::Locale(_) => {
                let text = text_of(value);
                let locale = crate::locales::canonical(&text);
                named(locale, &codes::ER_UNKNOWN_LOCALE, &text)
            }
        }
    }

    /// Warns of log options without effect; `log_output` needs at least one.
    fn check_log_words(&self, bits: u64, check: &Check<'_>) -> Result<()> {
        match self.name {
            "log_slow_verbosity" => {
                for word in logs::words_in_vain(bits) {
                    let name = format!("{}={word}", self.name);
                    let warning = codes::ER_VARIABLE_WITHOUT_EFFECT.with(&[&name]);
                    check.diagnostics.warn(warning);
                }
                Ok(())
            }
            "log_output" if bits == 0 => Err(wrong_value(self, "")),
            _ => Ok(()),
        }
    }

    fn check_null(&self) -> Result<Setting> {
        match self.kind {
            Kind::Unsigned { .. } | Kind::Signed { .. } | Kind::Double { .. } => {
                Err(wrong_type(self))
            }
            Kind::Text(_) if self.nullable => Ok(Setting::Text(None)),
            Kind::CharacterSet { nullable: true, .. } => Ok(Setting::Text(None)),
            _ => Err(wrong_value(self, "NULL")),
        }
    }

    fn check_boolean(&self, value: &Value) -> Result<Setting> {
        let text = text_of(value);
        let on = match (value, text.to_ascii_lowercase().as_str()) {
            (Value::Float(_) | Value::Decimal { .. }, _) => return Err(wrong_type(self)),
            (Value::Bytes(_), "on" | "true") => true,
            (Value::Bytes(_), "off" | "false") => false,
            (Value::Int(_) | Value::UInt(_), "1") => true,
            (Value::Int(_) | Value::UInt(_), "0") => false,
            _ => return Err(wrong_value(self, &text)),
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

    /// An integer within the allowed range.
    fn number(&self, value: &Value, ty: &SqlType, allowed: impl Fn(u64) -> bool) -> Result<u64> {
        let number = self.integer(value, ty)?;
        let allowed = u64::try_from(number).ok().filter(|number| allowed(*number));
        allowed.ok_or_else(|| wrong_value(self, &number.to_string()))
    }

    /// The position of a case-insensitive word.
    fn word(&self, words: &[&str], word: &str) -> Result<usize> {
        let same = |known: &&str| known.eq_ignore_ascii_case(word);
        let position = words.iter().position(same);
        position.ok_or_else(|| wrong_value(self, word))
    }

    /// A bit set of words, given as number or as text.
    fn bits(&self, value: &Value, ty: &SqlType, words: &[&str]) -> Result<u64> {
        self.number(value, ty, |bits| bits >> words.len().min(63) == 0)
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
        // `timestamp` is limited to seconds that a client can represent.
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

    /// The switches after a text such as `name=on,other=default`.
    fn switches(&self, text: &str, words: &[&str], default: u64, before: u64) -> Result<u64> {
        // `default` resets every switch that the text does not set.
        let is_reset = |item: &str| item.eq_ignore_ascii_case("default");
        let mut resets = items(text).filter(|item| is_reset(item));
        let mut bits = match resets.next() {
            Some(_) => default,
            None => before,
        };
        if let Some(again) = resets.next() {
            return Err(wrong_value(self, again));
        }
        let mut set = 0;
        for item in items(text).filter(|item| !is_reset(item)) {
            let wrong = || wrong_value(self, item);
            let (name, state) = item.split_once('=').ok_or_else(wrong)?;
            let bit = 1_u64 << self.word(words, name.trim()).map_err(|_| wrong())?;
            ensure(set & bit == 0, wrong)?;
            set |= bit;
            match state.trim().to_ascii_lowercase().as_str() {
                "on" => bits |= bit,
                "off" => bits &= !bit,
                "default" => bits = bits & !bit | default & bit,
                _ => return Err(wrong()),
            }
        }
        Ok(bits)
    }

    fn check_character_set(&self, value: &Value, ty: &SqlType) -> Result<Setting> {
        let text = text_of(value);
        let found = match value {
            Value::Bytes(_) => character_sets::by_name(&text).map(|set| set.name),
            _ => self.collation(value, ty)?.map(|collation| match self.name {
                "character_set_results" => character_sets::results_name(collation),
                _ => collation.charset.name(),
            }),
        };
        if self.name == "character_set_client" {
            let set = found.and_then(character_sets::by_name);
            if set.is_some_and(|set| !character_sets::may_be_the_clients(set.charset)) {
                return Err(wrong_value(self, &text));
            }
        }
        named(found, &codes::ER_UNKNOWN_CHARACTER_SET, &text)
    }

    /// The collation with a name or a number.
    fn collation(&self, value: &Value, ty: &SqlType) -> Result<Option<&'static Collation>> {
        if let Value::Bytes(_) = value {
            return Ok(character_sets::collation_by_name(&text_of(value)));
        }
        let id = u16::try_from(self.integer(value, ty)?).ok();
        Ok(id.and_then(character_sets::collation_by_id))
    }

    fn check_collation(&self, value: &Value, ty: &SqlType) -> Result<Setting> {
        let found = self.collation(value, ty)?.map(|collation| collation.name);
        if self.name == "default_collation_for_utf8mb4"
            && let Some(name) = found
            && !["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"].contains(&name)
        {
            return Err(codes::ER_INVALID_DEFAULT_UTF8MB4_COLLATION.with(&[&name]));
        }
        named(found, &codes::ER_UNKNOWN_COLLATION, &text_of(value))
    }
}
