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
mod registry;
mod server;
mod settings;
pub(crate) mod sql_mode;
pub(crate) mod structured;
mod temporary_tables;
pub(crate) mod typed;
mod value;

pub(crate) use self::definition::{Kind, Scope, SystemVariable};
pub(crate) use self::registry::{all, position};
pub(crate) use self::settings::Settings;
pub(crate) use self::temporary_tables::TMP_TABLE_COMPAT_SERVERS;
pub(crate) use self::value::Setting;

/// Whether a name is a system variable that can be set at startup.
pub fn is_system_variable(name: &str) -> bool {
    structured::position(name).is_some_and(|(position, _)| all()[position].scope != Scope::Session)
}

/// The names of the variables that are accepted for compatibility alone.
pub fn variables_without_effect() -> impl Iterator<Item = &'static str> {
    let inert = all().iter().filter(|variable| variable.without_effect);
    inert.map(|variable| variable.name)
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
