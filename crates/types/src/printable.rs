//! Escapes text from elsewhere (names of users, statements of logs) for a line of a log or of a terminal: a name cannot
//! begin a new line or contain a command for the terminal.

use std::borrow::Cow;

/// The text with each control character as `\n`, `\t` or `\u{1b}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The text of several lines, in which line feeds and tabs stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |character: char| character.is_control() && !stays(character);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_escaped(character) {
            shown.extend(character.escape_default())
        } else {
            shown.push(character)
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            printable("a\nb\r\u{1b}[2J\u{9b}é"),
            "a\\nb\\r\\u{1b}[2J\\u{9b}é"
        );
        assert_eq!(printable_lines("a\n\tb\u{1b}c"), "a\n\tb\\u{1b}c");
        assert!(matches!(printable("plain é 'text'"), Cow::Borrowed(_)));
    }
}
