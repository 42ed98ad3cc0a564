//! System variables: one literal each in the group's file, one array of values for the engine and one per session.
//!
//! Statements never look variables up by name: a session has a plain struct of statement options, made anew only
//! after a SET.

/// Declares the variables of a group, one line each.
macro_rules! variables {
    ($($variable:expr;)*) => { &[$($variable),*] };
}

mod character_sets;
mod connection;
pub(crate) mod definition;
pub(crate) mod logs;
pub(crate) mod optimizer;
mod server;
mod settings;
pub(crate) mod sql_mode;
pub(crate) mod structured;
mod temporary_tables;
pub(crate) mod typed;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use itertools::Itertools;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, SqlType, Value};

pub(crate) use self::definition::{Kind, Scope, SystemVariable};
pub(crate) use self::settings::Settings;

/// Every group's table.
const GROUPS: &[&[SystemVariable]] = &[
    temporary_tables::VARIABLES,
    character_sets::VARIABLES,
    optimizer::VARIABLES,
    connection::VARIABLES,
    server::VARIABLES,
    logs::VARIABLES,
];

/// All variables by name; a variable's position here is its position in [`Settings`].
static ALL: LazyLock<Vec<&'static SystemVariable>> = LazyLock::new(|| {
    let mut all: Vec<_> = GROUPS.iter().flat_map(|group| group.iter()).collect();
    all.sort_by_key(|variable| variable.name);
    all
});

static BY_NAME: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let names = ALL.iter().map(|variable| variable.name);
    names.zip(0..).collect()
});

/// Maximum characters of a text variable: those of the longest VARCHAR.
const TEXT_LENGTH: u32 = 21_845;

/// Synonyms of variables.
const SYNONYMS: &[(&str, &str)] = &[
    ("tx_isolation", "transaction_isolation"),
    ("tx_read_only", "transaction_read_only"),
    ("tmp_memory_table_size", "tmp_table_size"),
    ("storage_engine", "default_storage_engine"),
    ("log_slow_query", "slow_query_log"),
    ("log_slow_query_file", "slow_query_log_file"),
    ("log_slow_query_time", "long_query_time"),
    ("log_slow_min_examined_row_limit", "min_examined_row_limit"),
    (
        "log_slow_always_query_time",
        "slow_query_log_always_write_time",
    ),
];

/// All variables, by name.
pub(crate) fn all() -> &'static [&'static SystemVariable] {
    &ALL
}

/// Whether a name is a system variable that can be set at startup.
pub fn is_system_variable(name: &str) -> bool {
    structured::position(name).is_some_and(|(position, _)| all()[position].scope != Scope::Session)
}

/// The position of a variable in [`all`] and [`Settings`], by its case-insensitive name.
pub(crate) fn position(name: &str) -> Option<usize> {
    if let Some(position) = BY_NAME.get(name) {
        return Some(*position);
    }
    let lower = name.to_ascii_lowercase();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == lower);
    let name = synonym.map_or(lower.as_str(), |(_, name)| *name);
    BY_NAME.get(name).copied()
}

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

/// The names of the variables that are accepted for compatibility alone.
pub fn variables_without_effect() -> impl Iterator<Item = &'static str> {
    let inert = all().iter().filter(|variable| variable.without_effect);
    inert.map(|variable| variable.name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_without_effect_are_listed() {
        let text = include_str!("../../../../COMPAT.md");
        let list = text.split("## Variables without effect").nth(1).unwrap();
        let list = list.split("\n\n").nth(2).unwrap();
        let listed: Vec<&str> = list.split([',', '\n']).map(|name| name.trim()).collect();
        let listed = listed.into_iter().filter(|name| !name.is_empty());
        let names = variables_without_effect().map(|name| format!("`{name}`"));
        assert_eq!(listed.collect::<Vec<_>>(), names.collect::<Vec<_>>());
    }

    #[test]
    fn what_has_no_effect_says_so() {
        for variable in all() {
            let text = variable.documentation;
            let says_so = text.starts_with("Accepted for compatibility");
            assert_eq!(says_so, variable.without_effect, "{}", variable.name);
        }
    }
}
