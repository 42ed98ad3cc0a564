//! Value of a system variable: default, SQL type, texts, and the warnings that setting it raises.
//!
//! The [`Kind`] of a variable decides the variant of its values.

use std::sync::Arc;

use itertools::Itertools;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, SqlType, Value};

use super::definition::{Kind, SystemVariable};

/// Maximum characters of a text variable: those of the longest VARCHAR.
const TEXT_LENGTH: u32 = 21_845;

/// Value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Setting {
    /// ON or OFF.
    Boolean(bool),
    /// An unsigned integer, a set of words or of switches, or the position of a word.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A number.
    Double(f64),
    /// A text; `None` is NULL.
    Text(Option<Arc<str>>),
}

impl SystemVariable {
    /// The warning that a setting has no effect, unless it is the default, or that the variable is deprecated.
    pub(crate) fn warning_of(&self, setting: &Setting) -> Option<Error> {
        if self.deprecated {
            return Some(codes::ER_WARN_DEPRECATED_VARIABLE.with(&[&self.name]));
        }
        if let (
            Kind::Switches {
                default,
                words,
                inert,
            },
            Setting::Unsigned(set),
        ) = (self.kind, setting)
        {
            let in_vain = words
                .iter()
                .enumerate()
                .filter(|(bit, word)| (default ^ set) >> bit & 1 == 1 && inert.contains(word));
            let names: Vec<&str> = in_vain.map(|(_, word)| *word).collect();
            let name = format!("{}: {}", self.name, names.join(", "));
            return (!names.is_empty()).then(|| codes::ER_VARIABLE_WITHOUT_EFFECT.with(&[&name]));
        }
        let is_in_vain = self.without_effect && *setting != self.default_setting();
        is_in_vain.then(|| codes::ER_VARIABLE_WITHOUT_EFFECT.with(&[&self.name]))
    }

    /// The default value.
    pub(crate) fn default_setting(&self) -> Setting {
        let text = |text: &str| Setting::Text(Some(Arc::from(text)));
        match self.kind {
            Kind::Boolean(default) => Setting::Boolean(default),
            Kind::Unsigned { default, .. }
            | Kind::Flags { default, .. }
            | Kind::Switches { default, .. } => Setting::Unsigned(default),
            Kind::Choice { default, .. } => Setting::Unsigned(default as u64),
            Kind::Signed { default, .. } => Setting::Signed(default),
            Kind::Double { default, .. } => Setting::Double(default),
            Kind::Text(default) => Setting::Text(default.map(Arc::from)),
            Kind::CharacterSet { default, .. }
            | Kind::Collation(default)
            | Kind::Engine(default)
            | Kind::Locale(default) => text(default),
            Kind::TimeZone => text("SYSTEM"),
        }
    }

    /// The type of `@@name`.
    pub(crate) fn sql_type(&self) -> SqlType {
        let integer = |length, unsigned| SqlType {
            length,
            unsigned,
            ..SqlType::bigint()
        };
        match self.kind {
            Kind::Boolean(_) => integer(1, false),
            Kind::Signed { .. } => integer(21, false),
            Kind::Unsigned { .. } => integer(21, true),
            Kind::Double { .. } => SqlType {
                decimals: 6,
                ..SqlType::double()
            },
            _ => SqlType::varchar(TEXT_LENGTH, CollationId::UTF8MB3_GENERAL_CI),
        }
    }

    /// The value of `@@name`.
    pub(crate) fn value(&self, setting: &Setting) -> Value {
        match (setting, self.kind) {
            (Setting::Boolean(on), _) => Value::Int(i64::from(*on)),
            (Setting::Unsigned(number), Kind::Unsigned { .. }) => Value::UInt(*number),
            (Setting::Signed(number), _) => Value::Int(*number),
            (Setting::Double(number), _) => Value::Float(*number),
            _ => self
                .display(setting)
                .map_or(Value::Null, |text| Value::Bytes(text.into_bytes())),
        }
    }

    /// The value in SHOW VARIABLES; `None` is NULL.
    pub(crate) fn display(&self, setting: &Setting) -> Option<String> {
        Some(match (setting, self.kind) {
            (Setting::Boolean(on), _) => if *on { "ON" } else { "OFF" }.to_owned(),
            (Setting::Unsigned(position), Kind::Choice { words, .. }) => {
                let word = usize::try_from(*position).ok().and_then(|p| words.get(p));
                (*word.unwrap_or(&"")).to_owned()
            }
            (Setting::Unsigned(flags), Kind::Flags { words, .. }) => {
                let bits = words.iter().zip(0..);
                let set = bits.filter(|(_, bit)| flags >> bit & 1 == 1);
                set.map(|(word, _)| word).join(",")
            }
            (Setting::Unsigned(flags), Kind::Switches { words, .. }) => {
                let state = |bit: u32| ["off", "on"][(flags >> bit & 1) as usize];
                let bits = words.iter().zip(0..);
                bits.map(|(word, bit)| format!("{word}={}", state(bit)))
                    .join(",")
            }
            (Setting::Unsigned(number), _) => number.to_string(),
            (Setting::Signed(number), _) => number.to_string(),
            (Setting::Double(number), _) => format!("{number:.6}"),
            // The value may be the name of a collation.
            (Setting::Text(Some(text)), Kind::CharacterSet { .. }) => {
                let collation = crate::character_sets::results_collation(text)?;
                collation.charset().name().to_owned()
            }
            (Setting::Text(text), _) => return text.as_deref().map(str::to_owned),
        })
    }
}
