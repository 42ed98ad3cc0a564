//! LOAD DATA LOCAL: the file that a statement names, which is the only one that its server gets.
//!
//! The server asks for the file by its name (LOCAL INFILE Request), and may ask for any file, after any statement. The
//! name in the statement's text decides. See the manual, "Security Considerations for LOAD DATA LOCAL".

/// The name of the file in the text of LOAD DATA LOCAL INFILE or LOAD XML LOCAL INFILE; `None` of other texts.
pub(super) fn named(text: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text;
    expect(&mut rest, &["load"])?;
    expect(&mut rest, &["data", "xml"])?;
    let mut word = next_word(&mut rest)?;
    if word == "low_priority" || word == "concurrent" {
        word = next_word(&mut rest)?;
    }
    (word == "local").then_some(())?;
    expect(&mut rest, &["infile"])?;
    literal(skip_blanks(rest))
}

fn expect(rest: &mut &[u8], words: &[&str]) -> Option<()> {
    let word = next_word(rest)?;
    words.contains(&word.as_str()).then_some(())
}

fn next_word(rest: &mut &[u8]) -> Option<String> {
    let text = skip_blanks(rest);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = text.iter().take_while(|byte| is_letter(byte)).count();
    let (word, behind) = text.split_at_checked(length)?;
    *rest = behind;
    Some(String::from_utf8_lossy(word).to_ascii_lowercase())
}

/// The rest behind blanks and comments; conditional comments are none.
fn skip_blanks(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = rest.trim_ascii_start();
        let end = match rest {
            [b'#', ..] | [b'-', b'-', ..] => rest.iter().position(|byte| *byte == b'\n'),
            [b'/', b'*', next, ..] if *next != b'!' => {
                let inside = rest.get(2..).unwrap_or_default();
                let mut windows = inside.windows(2);
                windows.position(|two| two == b"*/").map(|at| at + 4)
            }
            _ => return rest,
        };
        rest = end.and_then(|end| rest.get(end..)).unwrap_or_default();
    }
}

/// The value of the string that a text begins with.
fn literal(text: &[u8]) -> Option<Vec<u8>> {
    let (quote, mut rest) = text.split_first()?;
    matches!(quote, b'\'' | b'"').then_some(())?;
    let mut value = Vec::new();
    loop {
        match rest {
            [b'\\', next, behind @ ..] => {
                value.push(match next {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'0' => 0,
                    b'b' => 8,
                    b'Z' => 26,
                    other => *other,
                });
                rest = behind;
            }
            [first, second, behind @ ..] if first == quote && second == quote => {
                value.push(*quote);
                rest = behind;
            }
            [first, ..] if first == quote => return Some(value),
            [first, behind @ ..] => {
                value.push(*first);
                rest = behind;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_statements_that_load_them() {
        for (text, name) in [
            ("LOAD DATA LOCAL INFILE 'a.csv' INTO TABLE t", Some("a.csv")),
            (
                "/* x */ load data -- y\n concurrent local\tinfile \"it''s \\\"b\\\".csv\"",
                Some("it''s \"b\".csv"),
            ),
            (
                "LOAD XML LOW_PRIORITY LOCAL INFILE'/d/e''f'",
                Some("/d/e'f"),
            ),
            ("LOAD DATA LOCAL INFILE 'a\\\\b'", Some("a\\b")),
            ("LOAD DATA INFILE 'a.csv' INTO TABLE t", None),
            ("LOAD DATA LOCAL INFILE 'a.csv", None),
            ("SELECT 'LOAD DATA LOCAL INFILE ''a'''", None),
            ("LOAD DATA LOCAL INFILE a", None),
            ("LOAD", None),
            ("", None),
            ("/*", None),
        ] {
            let named = named(text.as_bytes());
            assert_eq!(named.as_deref(), name.map(str::as_bytes), "{text}");
        }
    }
}
