//! The locales of `lc_time_names` and `lc_messages`.

use mayfly_types::temporal::Locale;

/// The locale with a case-insensitive name, or with a number.
pub(crate) fn canonical(text: &str) -> Option<&'static str> {
    let locale = match text.parse::<usize>() {
        Ok(number) => Locale::all().get(number),
        Err(_) => Locale::by_name(text),
    };
    locale.map(|locale| locale.name)
}
