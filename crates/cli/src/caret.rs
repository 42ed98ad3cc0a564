//! The place of an error in its statement: the line with a caret below it, and a name that may have been meant.

use mayfly_engine::printable;
use unicode_width::UnicodeWidthStr;

/// Least similarity (Jaro and Winkler) of a name that may have been meant.
const NEARLY: f64 = 0.85;

/// Lines to be shown below an error; nothing where its message names no place.
pub(crate) fn place(statement: &[u8], message: &str, known: &[String]) -> String {
    let statement = String::from_utf8_lossy(statement);
    let Some(found) = near(&statement, message).or_else(|| named(&statement, message)) else {
        return String::new();
    };
    let start = statement[..found].rfind('\n').map_or(0, |at| at + 1);
    let line = statement[start..].lines().next().unwrap_or_default();
    let before = &line[..(found - start).min(line.len())];
    // Tabs have the same width in both lines.
    let blanks: String = before
        .chars()
        .map(|it| {
            if it == '\t' {
                "\t".to_owned()
            } else {
                " ".repeat(it.to_string().width())
            }
        })
        .collect();
    let mut text = format!("\n  {}\n  {blanks}^", printable(line));
    if let Some(nearest) = subject(message).and_then(|name| nearest(name, known)) {
        text += &format!(" did you mean {nearest}?");
    }
    text
}

/// Where the text of a syntax error ("near '…' at line 2") begins.
fn near(statement: &str, message: &str) -> Option<usize> {
    let (_, rest) = message.split_once("near '")?;
    let (text, line) = rest.rsplit_once("' at line ")?;
    let line: usize = line.parse().ok()?;
    let start = match line {
        0 | 1 => 0,
        _ => statement.match_indices('\n').nth(line - 2)?.0 + 1,
    };
    if text.is_empty() {
        return Some(statement.trim_end().len());
    }
    statement.get(start..)?.find(text).map(|at| start + at)
}

/// The name that an error is about: `Unknown column 'a.b' in 'field list'`, `Table 'd.t' doesn't exist`.
fn subject(message: &str) -> Option<&str> {
    const BEGINNINGS: [&str; 6] = [
        "Unknown column '",
        "Unknown table '",
        "Unknown database '",
        "Unknown system variable '",
        "Table '",
        "FUNCTION ",
    ];
    let rest = BEGINNINGS.iter().find_map(|it| message.strip_prefix(it))?;
    let name = rest.split(['\'', ' ']).next()?;
    // The last part of a qualified name.
    name.rsplit('.').next().filter(|name| !name.is_empty())
}

/// Where the name that an error is about stands as a word.
fn named(statement: &str, message: &str) -> Option<usize> {
    let name = subject(message)?.to_ascii_lowercase();
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let lowercase = statement.to_ascii_lowercase();
    let mut places = lowercase.match_indices(&name).map(|(at, _)| at);
    places.find(|at| {
        let before = lowercase[..*at].chars().next_back();
        let behind = lowercase[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !behind.is_some_and(is_word)
    })
}

/// The known name that is most like another one.
fn nearest<'n>(name: &str, known: &'n [String]) -> Option<&'n str> {
    let name = name.to_lowercase();
    let likeness = |it: &String| strsim::jaro_winkler(&name, &it.to_lowercase());
    let scored = known.iter().map(|it| (likeness(it), it.as_str()));
    let near = scored.filter(|(likeness, it)| *likeness >= NEARLY && it.to_lowercase() != name);
    near.max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, it)| it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_place_and_a_hint() {
        let known = ["amount".to_owned(), "town".to_owned()];
        for (statement, message, expected) in [
            (
                "SELECT amuont FROM sales",
                "Unknown column 'amuont' in 'field list'",
                "\n  SELECT amuont FROM sales\n         ^ did you mean amount?",
            ),
            (
                "SELECT 1\nFORM t",
                "You have an error in your SQL syntax; check the manual for the right syntax to use near 'FORM t' at line 2",
                "\n  FORM t\n  ^",
            ),
            (
                "SELECT s.x, x FROM s",
                "Unknown column 's.x' in 'field list'",
                "\n  SELECT s.x, x FROM s\n           ^",
            ),
            (
                "SELECT (",
                "syntax to use near '' at line 1",
                "\n  SELECT (\n          ^",
            ),
            (
                "SELECT * FROM nosuch",
                "Table 'test.nosuch' doesn't exist",
                "\n  SELECT * FROM nosuch\n                ^",
            ),
            ("SELECT 1/0", "Division by 0", ""),
            (
                "SELECT é, x",
                "Unknown column 'x' in 'field list'",
                "\n  SELECT é, x\n            ^",
            ),
        ] {
            assert_eq!(
                place(statement.as_bytes(), message, &known),
                expected,
                "{message}"
            );
        }
    }
}
