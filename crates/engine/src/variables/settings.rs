//! The values of all variables: the engine's, and each session's.
//!
//! A session begins with the engine's values and shares them; what it sets itself lies over them. So
//! thousands of sessions cost little, and SET GLOBAL leaves the values of those that live alone.

use std::sync::Arc;

use super::{ALL, BY_NAME, Setting};

/// The values of all variables, by position. Equal ones were made of the same engine's values by the
/// same changes.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    shared: Arc<[Setting]>,
    /// Other values than those, by position.
    own: Vec<(usize, Setting)>,
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.own == other.own
    }
}

fn position(name: &'static str) -> usize {
    *BY_NAME
        .get(name)
        .expect("only variables of the table are asked for")
}

impl Settings {
    /// The defaults.
    pub(crate) fn defaults() -> Self {
        Self {
            shared: ALL
                .iter()
                .map(|variable| variable.default_setting())
                .collect(),
            own: Vec::new(),
        }
    }

    /// The value at a position.
    pub(crate) fn at(&self, position: usize) -> &Setting {
        match self.place(position) {
            Ok(place) => &self.own[place].1,
            Err(_) => &self.shared[position],
        }
    }

    fn place(&self, position: usize) -> Result<usize, usize> {
        self.own
            .binary_search_by_key(&position, |(position, _)| *position)
    }

    /// Sets the value at a position.
    pub(crate) fn set(&mut self, position: usize, setting: Setting) {
        let is_shared = self.shared[position] == setting;
        match self.place(position) {
            Ok(place) if is_shared => {
                self.own.remove(place);
            }
            Ok(place) => self.own[place].1 = setting,
            Err(_) if is_shared => {}
            Err(place) => self.own.insert(place, (position, setting)),
        }
    }

    /// Sets the value that those share who copy these settings from now on.
    pub(crate) fn set_for_all(&mut self, position: usize, setting: Setting) {
        let mut shared: Vec<Setting> = self.shared.to_vec();
        shared[position] = setting;
        self.shared = shared.into();
    }

    /// The same values, shared with all copies.
    pub(crate) fn shared(mut self) -> Self {
        for (position, setting) in std::mem::take(&mut self.own) {
            self.set_for_all(position, setting);
        }
        self
    }

    fn by_name(&self, name: &'static str) -> &Setting {
        self.at(position(name))
    }

    /// Sets the value of a variable of the table.
    pub(crate) fn set_by_name(&mut self, name: &'static str, setting: Setting) {
        self.set(position(name), setting);
    }

    /// The value of a switch of the table.
    pub(crate) fn boolean(&self, name: &'static str) -> bool {
        matches!(self.by_name(name), Setting::Boolean(true))
    }

    /// The value of an unsigned integer, a set of words or a choice of the table.
    pub(crate) fn unsigned(&self, name: &'static str) -> u64 {
        match self.by_name(name) {
            Setting::Unsigned(number) => *number,
            _ => 0,
        }
    }

    /// The value of a number of the table.
    pub(crate) fn double(&self, name: &'static str) -> f64 {
        match self.by_name(name) {
            Setting::Double(number) => *number,
            _ => 0.0,
        }
    }

    /// The value of a text of the table; `None` is NULL.
    pub(crate) fn text(&self, name: &'static str) -> Option<&Arc<str>> {
        match self.by_name(name) {
            Setting::Text(text) => text.as_ref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_the_values_that_it_began_with() {
        let mut global = Settings::defaults();
        let at = position("max_error_count");
        let mut session = global.clone();
        global.set_for_all(at, Setting::Unsigned(7));
        assert_eq!(session.unsigned("max_error_count"), 1024);
        assert_eq!(global.clone().unsigned("max_error_count"), 7);
        session.set(at, Setting::Unsigned(9));
        assert_eq!(session.unsigned("max_error_count"), 9);
        session.set(at, Setting::Unsigned(1024));
        assert!(session.own.is_empty());
    }
}
