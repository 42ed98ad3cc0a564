//! Colours of what is typed: keywords, texts, numbers and comments, by the escape sequences of ECMA-48 (SGR).

use std::borrow::Cow;

use mayfly_engine::is_keyword;

use super::keys::is_word;

const KEYWORD: &str = "\x1b[1m";
const TEXT: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[36m";
const COMMENT: &str = "\x1b[90m";
const END: &str = "\x1b[0m";

/// A text with its words in colours.
pub(super) fn coloured(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while !rest.is_empty() {
        let (length, color) = token(rest);
        let (word, behind) = rest.split_at(length);
        match color {
            Some(color) => out.extend([color, word, END]),
            None => out.push_str(word),
        }
        rest = behind;
    }
    out.into()
}

/// Length of the first token of a text that is not empty, and its colour.
fn token(text: &str) -> (usize, Option<&'static str>) {
    let mut characters = text.chars();
    let first = characters.next().unwrap_or_default();
    let until = |end: &str, from: usize| {
        let found = text.get(from..).and_then(|rest| rest.find(end));
        found.map_or(text.len(), |at| from + at + end.len())
    };
    match first {
        '\'' | '"' => (quoted(text, first), Some(TEXT)),
        '`' => (quoted(text, first), None),
        '#' => (until("\n", 0), Some(COMMENT)),
        '-' if text.starts_with("-- ") => (until("\n", 0), Some(COMMENT)),
        '/' if text.starts_with("/*") && !text.starts_with("/*!") => {
            (until("*/", 2), Some(COMMENT))
        }
        _ if is_word(first) => {
            let length = text.find(|it| !is_word(it)).unwrap_or(text.len());
            let word = &text[..length];
            let color = if first.is_ascii_digit() {
                Some(NUMBER)
            } else {
                is_keyword(word).then_some(KEYWORD)
            };
            (length, color)
        }
        _ => (first.len_utf8(), None),
    }
}

/// Length of a quoted text, up to its closing quote or to the end.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if quote != '`' => is_escaped = true,
            _ if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_colours() {
        let shown = |text: &str| {
            let coloured = coloured(text).into_owned();
            let marks = [
                (KEYWORD, "<"),
                (TEXT, "'"),
                (NUMBER, "#"),
                (COMMENT, "/"),
                (END, ">"),
            ];
            marks
                .iter()
                .fold(coloured, |text, (code, mark)| text.replace(code, mark))
        };
        assert_eq!(shown("SELECT t.a, 12"), "<SELECT> t.a, #12>");
        assert_eq!(shown("x = 'it\\'s' -- y"), "x = ''it\\'s'> /-- y>");
        assert_eq!(
            shown("`select` /* a */ 'open"),
            "`select` //* a */> ''open>"
        );
        assert_eq!(shown("é 'é'"), "é ''é'>");
    }
}
