//! Locales: names of days and months (`lc_time_names`), and the digit groups of FORMAT(). The table
//! is `locales.txt` beside this file.

use std::fmt;
use std::sync::LazyLock;

static TABLE: LazyLock<Vec<Locale>> = LazyLock::new(|| parse(include_str!("locales.txt")));

/// A locale of the manual's list.
pub struct Locale {
    /// Its name, such as `en_US`.
    pub name: &'static str,
    /// The decimal point.
    pub decimal_point: &'static str,
    /// The separator between groups of digits.
    pub separator: &'static str,
    /// Sizes of the groups, from the point on; the last size repeats. Empty: no groups.
    pub groups: Vec<usize>,
    names: [Vec<&'static str>; 4],
}

impl fmt::Debug for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Equality by name.
impl PartialEq for Locale {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Default for &'static Locale {
    /// `en_US`
    fn default() -> Self {
        &TABLE[0]
    }
}

impl Locale {
    /// Every locale, in the order of MySQL's numbers for them.
    pub fn all() -> &'static [Self] {
        &TABLE
    }

    /// The locale of a name in any case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        TABLE
            .iter()
            .find(|locale| locale.name.eq_ignore_ascii_case(name))
    }

    /// The names of the days, Monday first.
    pub(super) fn days(&self) -> &[&'static str] {
        &self.names[0]
    }

    /// The names of the months.
    pub(super) fn months(&self) -> &[&'static str] {
        &self.names[2]
    }

    /// The name of a day, Monday being 0.
    pub fn day(&self, weekday: usize) -> Option<&'static str> {
        self.names[0].get(weekday).copied()
    }

    /// The short name of a day, Monday being 0.
    pub(crate) fn short_day(&self, weekday: usize) -> Option<&'static str> {
        self.names[1].get(weekday).copied()
    }

    /// The name of a month, January being 1.
    pub fn month(&self, month: usize) -> Option<&'static str> {
        self.names[2].get(month.checked_sub(1)?).copied()
    }

    /// The short name of a month, January being 1.
    pub(crate) fn short_month(&self, month: usize) -> Option<&'static str> {
        self.names[3].get(month.checked_sub(1)?).copied()
    }
}

fn parse(table: &'static str) -> Vec<Locale> {
    let mut locales: Vec<Locale> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&'static str> = line.split('|').collect();
        let &[name, decimal_point, separator, groups, ref lists @ ..] = fields.as_slice() else {
            continue;
        };
        let shared = lists.first().and_then(|first| first.strip_prefix('='));
        let names = match locales.iter().find(|other| shared == Some(other.name)) {
            Some(other) => other.names.clone(),
            None => std::array::from_fn(|index| {
                let list = lists.get(index).copied().unwrap_or_default();
                list.split(';').collect()
            }),
        };
        locales.push(Locale {
            name,
            decimal_point,
            separator,
            groups: groups
                .split(';')
                .filter_map(|size| size.parse().ok())
                .collect(),
            names,
        });
    }
    locales
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_locale_has_all_names() {
        assert_eq!(Locale::all().len(), 111);
        for locale in Locale::all() {
            let counts = locale.names.each_ref().map(Vec::len);
            assert_eq!(counts, [7, 7, 12, 12], "{locale:?}");
            assert!(locale.decimal_point.len() == 1, "{locale:?}");
        }
        let german = Locale::by_name("DE_de").unwrap();
        assert_eq!(german.day(2), Some("Mittwoch"));
        assert_eq!(german.short_month(3), Some("Mär"));
        assert_eq!(german.month(0), None);
        let austrian = Locale::by_name("de_AT").unwrap();
        assert_eq!(austrian.month(1), Some("Jänner"));
        assert_eq!(Locale::by_name("ta_IN").unwrap().groups, [3, 2]);
    }
}
