//! Cuts a text into statements, as the `mysql` client does: at `;`, `\g`, `\G` or the DELIMITER,
//! outside of quotes and comments. The engine could take the whole text, but the shell shows each
//! result with its time, and says at which line a failing statement began.

/// A statement of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut<'t> {
    /// The statement, without its delimiter.
    pub(crate) text: &'t str,
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
    /// It ended in `\G`.
    pub(crate) vertical: bool,
}

/// Walks over a text.
#[derive(Debug)]
pub(crate) struct Cutter<'t> {
    text: &'t str,
    position: usize,
    line: usize,
    delimiter: String,
}

impl<'t> Cutter<'t> {
    /// Starts at the beginning of `text` with `;` as delimiter.
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            position: 0,
            line: 1,
            delimiter: ";".to_owned(),
        }
    }

    /// The next statement that is not empty, and whether its delimiter was there; `None` at the end.
    pub(crate) fn next_statement(&mut self) -> Option<(Cut<'t>, bool)> {
        loop {
            self.skip_blank();
            if self.position >= self.text.len() {
                return None;
            }
            if self.take_delimiter_command() {
                continue;
            }
            let (cut, complete) = self.cut();
            if has_tokens(cut.text) {
                return Some((cut, complete));
            }
        }
    }

    fn skip_blank(&mut self) {
        let rest = &self.text[self.position..];
        let blank = rest.len() - rest.trim_start().len();
        self.advance(blank);
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.text.as_bytes()[self.position..self.position + bytes];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.position += bytes;
    }

    /// `DELIMITER //` is a command of the client and ends with its line.
    fn take_delimiter_command(&mut self) -> bool {
        let rest = &self.text[self.position..];
        let line = rest.lines().next().unwrap_or("");
        let mut words = line.split_whitespace();
        let is_command = words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("delimiter"));
        match words.next() {
            Some(delimiter) if is_command => {
                self.delimiter = delimiter.to_owned();
                self.advance(line.len());
                true
            }
            _ => false,
        }
    }

    fn cut(&mut self) -> (Cut<'t>, bool) {
        let (start, line) = (self.position, self.line);
        let text = self.text;
        let bytes = text.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let rest = &text[at..];
            let ended = if rest.starts_with(&self.delimiter) {
                Some((self.delimiter.len(), false))
            } else if rest.starts_with("\\G") {
                Some((2, true))
            } else if rest.starts_with("\\g") {
                Some((2, false))
            } else {
                None
            };
            if let Some((length, vertical)) = ended {
                self.advance(at - start + length);
                return (
                    Cut {
                        text: &text[start..at],
                        line,
                        vertical,
                    },
                    true,
                );
            }
            at += token_length(rest);
        }
        self.advance(bytes.len() - start);
        (
            Cut {
                text: &text[start..],
                line,
                vertical: false,
            },
            false,
        )
    }
}

/// The bytes of a quoted string, a comment, or one character.
fn token_length(rest: &str) -> usize {
    let first = rest.chars().next().map_or(1, char::len_utf8);
    match rest.as_bytes()[0] {
        quote @ (b'\'' | b'"' | b'`') => quoted_length(rest.as_bytes(), quote),
        b'#' => rest.find('\n').unwrap_or(rest.len()),
        b'-' if is_dash_comment(rest) => rest.find('\n').unwrap_or(rest.len()),
        b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
        _ => first,
    }
}

/// `--` begins a comment when a blank or the end of the text follows.
fn is_dash_comment(rest: &str) -> bool {
    rest.strip_prefix("--")
        .is_some_and(|after| after.chars().next().is_none_or(char::is_whitespace))
}

fn quoted_length(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] == b'\\' && quote != b'`' {
            at += 2;
        } else if bytes[at] == quote {
            // A doubled quote is read as two strings side by side, which ends at the same place.
            return at + 1;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// Whether there is anything but blanks and comments.
fn has_tokens(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some(first) = rest.bytes().next() {
        // A conditional comment is a statement.
        let comment = first == b'#'
            || is_dash_comment(rest)
            || (rest.starts_with("/*") && !rest.starts_with("/*!"));
        if !comment {
            return true;
        }
        rest = rest[token_length(rest)..].trim_start();
    }
    false
}

/// Whether a text that is being typed ends in a complete statement.
pub(crate) fn is_complete(text: &str) -> bool {
    let mut cutter = Cutter::new(text);
    let mut complete = true;
    while let Some((_, ended)) = cutter.next_statement() {
        complete = ended;
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(String, usize, bool)> {
        let mut cutter = Cutter::new(text);
        let mut cuts = Vec::new();
        while let Some((cut, _)) = cutter.next_statement() {
            cuts.push((cut.text.trim().to_owned(), cut.line, cut.vertical));
        }
        cuts
    }

    #[test]
    fn statements_end_at_delimiters_outside_of_quotes_and_comments() {
        let text = "SELECT ';', \"a\\\";\", `;`; -- no; end\n# nor; here\nSELECT /* ; */ 2\\G\n;;\nSELECT 3";
        let expected = [
            ("SELECT ';', \"a\\\";\", `;`", 1, false),
            ("-- no; end\n# nor; here\nSELECT /* ; */ 2", 1, true),
            ("SELECT 3", 5, false),
        ];
        let cuts = cut(text);
        let cuts: Vec<_> = cuts.iter().map(|(t, l, v)| (t.as_str(), *l, *v)).collect();
        assert_eq!(cuts, expected);
    }

    #[test]
    fn doubled_quotes_stay_inside() {
        assert_eq!(cut("SELECT 'it''s; so';SELECT 2").len(), 2);
    }

    #[test]
    fn delimiter_command() {
        let cuts = cut("DELIMITER //\nSELECT 1; SELECT 2//\nDELIMITER ;\nSELECT 3;");
        assert_eq!(
            cuts,
            [
                ("SELECT 1; SELECT 2".into(), 2, false),
                ("SELECT 3".into(), 4, false)
            ]
        );
    }

    #[test]
    fn conditional_comments_are_statements_and_others_are_not() {
        assert_eq!(cut("/* a */; -- b\n /*!40101 SET NAMES utf8 */;").len(), 1);
    }

    #[test]
    fn completeness_while_typing() {
        assert!(is_complete("SELECT 1;"));
        assert!(is_complete("SELECT 1\\G"));
        assert!(!is_complete("SELECT ';"));
        assert!(!is_complete("SELECT 1; SELECT"));
        assert!(is_complete("-- only a comment"));
        assert!(!is_complete("SELECT 'é\\"));
    }
}
