//! The values of all variables: the engine's, and each session's.
//!
//! A session starts with the engine's values and shares them; its own values override them. So thousands of sessions
//! cost little, and SET GLOBAL does not change the values of open sessions.

use std::sync::Arc;

use super::registry::all;
use super::typed::{Text, ValueType, Variable};
use super::value::Setting;

/// The values of all variables, by position. Equal settings have the same shared values and the same overrides.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    shared: Arc<[Setting]>,
    /// Overrides of the shared values, by position.
    own: Vec<(usize, Setting)>,
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.own == other.own
    }
}

impl Settings {
    /// The defaults.
    pub(crate) fn defaults() -> Self {
        Self {
            shared: all()
                .iter()
                .map(|variable| variable.default_setting())
                .collect(),
            own: Vec::new(),
        }
    }

    /// The value at a position.
    pub(crate) fn at(&self, position: usize) -> &Setting {
        match self.own_slot(position) {
            Ok(slot) => &self.own[slot].1,
            Err(_) => &self.shared[position],
        }
    }

    fn own_slot(&self, position: usize) -> Result<usize, usize> {
        self.own
            .binary_search_by_key(&position, |(position, _)| *position)
    }

    /// Sets the value at a position.
    pub(crate) fn set(&mut self, position: usize, setting: Setting) {
        let is_shared = self.shared[position] == setting;
        match self.own_slot(position) {
            Ok(slot) if is_shared => {
                self.own.remove(slot);
            }
            Ok(slot) => self.own[slot].1 = setting,
            Err(_) if is_shared => {}
            Err(slot) => self.own.insert(slot, (position, setting)),
        }
    }

    /// Sets a shared value, for copies made from now on.
    pub(crate) fn set_for_all(&mut self, position: usize, setting: Setting) {
        let mut shared: Vec<Setting> = self.shared.to_vec();
        shared[position] = setting;
        self.shared = shared.into();
    }

    /// These settings with all values shared by their copies.
    pub(crate) fn shared(mut self) -> Self {
        for (position, setting) in std::mem::take(&mut self.own) {
            self.set_for_all(position, setting);
        }
        self
    }

    /// The value of a variable.
    #[inline]
    pub(crate) fn get<T: ValueType>(&self, variable: Variable<T>) -> T::Read<'_> {
        T::read(self.at(variable.position()))
    }

    /// The value of a text variable; empty for NULL.
    pub(crate) fn text(&self, variable: Variable<Text>) -> &str {
        self.get(variable).map_or("", |text| text)
    }

    /// Sets the value of a variable.
    pub(crate) fn put<T: ValueType>(&mut self, variable: Variable<T>, value: T::Owned) {
        let (position, setting) = variable.setting(value);
        self.set(position, setting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::typed::MAX_ERROR_COUNT;

    #[test]
    fn a_session_keeps_the_values_that_it_began_with() {
        let mut global = Settings::defaults();
        let at = MAX_ERROR_COUNT.position();
        let mut session = global.clone();
        global.set_for_all(at, Setting::Unsigned(7));
        assert_eq!(session.get(MAX_ERROR_COUNT), 1024);
        assert_eq!(global.clone().get(MAX_ERROR_COUNT), 7);
        session.set(at, Setting::Unsigned(9));
        assert_eq!(session.get(MAX_ERROR_COUNT), 9);
        session.set(at, Setting::Unsigned(1024));
        assert!(session.own.is_empty());
    }
}
