//! Translation of ICU's regular expressions for `fancy-regex`.
//!
//! The two mostly agree. Differences are rewritten: sets of POSIX names are Unicode's, `.` stops at every line
//! terminator, `$` matches before a last one, `\Q…\E`, `\h`, `\R`, `\X`, octal and control escapes. Patterns that ICU
//! refuses get MySQL's errors before the translation is compiled.

use fancy_regex::{Regex, RegexBuilder};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

/// Flags of a pattern: the letters of `match_type`, and the collation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags {
    /// `i`, or a case-insensitive collation.
    pub(crate) ignores_case: bool,
    /// `m`
    pub(crate) multi_line: bool,
    /// `n`
    pub(crate) dot_matches_all: bool,
    /// `u`
    pub(crate) unix_lines: bool,
}

impl Flags {
    /// The flags of a `match_type`; `None` when it has another letter.
    pub(crate) fn parse(match_type: &[u8], ignores_case: bool) -> Option<Self> {
        let mut flags = Self {
            ignores_case,
            multi_line: false,
            dot_matches_all: false,
            unix_lines: false,
        };
        for letter in match_type {
            match letter {
                b'c' => flags.ignores_case = false,
                b'i' => flags.ignores_case = true,
                b'm' => flags.multi_line = true,
                b'n' => flags.dot_matches_all = true,
                b'u' => flags.unix_lines = true,
                _ => return None,
            }
        }
        Some(flags)
    }
}

/// Line terminators.
const LINE_ENDS: &str = r"\n\r\x0B\x0C\x85\x{2028}\x{2029}";
/// Steps after which a match fails with an error.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// The pattern with a `$` that also matches before a line's end at the end of the text. It is slower, and needed
    /// only for texts that end in one.
    with_last_line_end: Option<Regex>,
}

impl Pattern {
    /// Compiles a pattern.
    pub(crate) fn new(pattern: &str, flags: Flags) -> Result<Self> {
        if pattern.is_empty() {
            return Err(codes::ER_REGEXP_ILLEGAL_ARGUMENT.error());
        }
        let translated = Translator::new(pattern, flags).translate()?;
        let compile = |text: &str| {
            RegexBuilder::new(text)
                .case_insensitive(flags.ignores_case)
                .multi_line(flags.multi_line)
                .dot_matches_new_line(flags.dot_matches_all)
                .backtrack_limit(BACKTRACK_LIMIT)
                .build()
                .map_err(|_| syntax_error(pattern.chars().count()))
        };
        let mut plain = String::new();
        let mut careful = String::new();
        let last_line_end = format!(r"(?=(?:\r\n|[{LINE_ENDS}])?\z)");
        for piece in &translated.pieces {
            match piece {
                Piece::Text(text) => {
                    plain.push_str(text);
                    careful.push_str(text);
                }
                Piece::End => {
                    plain.push_str(r"\z");
                    careful.push_str(&last_line_end);
                }
            }
        }
        Ok(Self {
            regex: compile(&plain)?,
            with_last_line_end: (plain != careful).then(|| compile(&careful)).transpose()?,
        })
    }

    /// The expression to use for a text.
    pub(crate) fn regex(&self, text: &str) -> &Regex {
        let ends_a_line = text.ends_with([
            '\n', '\r', '\u{B}', '\u{C}', '\u{85}', '\u{2028}', '\u{2029}',
        ]);
        match &self.with_last_line_end {
            Some(regex) if ends_a_line => regex,
            _ => &self.regex,
        }
    }

    /// Whether a text has a match.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool> {
        self.regex(text).is_match(text).map_err(run_error)
    }

    /// The offsets of the match number `occurrence`, from 1, at or after an offset.
    pub(crate) fn find(
        &self,
        text: &str,
        from: usize,
        occurrence: usize,
    ) -> Result<Option<(usize, usize)>> {
        let regex = self.regex(text);
        let mut at = from;
        let mut left = occurrence;
        while at <= text.len() {
            let found = regex.find_from_pos(text, at).map_err(run_error)?;
            let Some(found) = found.map(|found| (found.start(), found.end())) else {
                return Ok(None);
            };
            left = left.saturating_sub(1);
            if left == 0 {
                return Ok(Some(found));
            }
            at = after(text, found);
        }
        Ok(None)
    }
}

/// The offset to continue the search at after a match; an empty match advances by one character.
pub(crate) fn after(text: &str, (start, end): (usize, usize)) -> usize {
    if end > start {
        return end;
    }
    let rest = text.get(end..).unwrap_or_default();
    end + rest.chars().next().map_or(1, char::len_utf8)
}

/// The error of a failed search.
pub(crate) fn run_error(_error: fancy_regex::Error) -> Error {
    codes::ER_REGEXP_TIME_OUT.error()
}

fn syntax_error(character: usize) -> Error {
    codes::ER_REGEXP_RULE_SYNTAX.with(&[&1, &character])
}

enum Piece {
    Text(String),
    /// `$` at the end of the text
    End,
}

struct Translated {
    pieces: Vec<Piece>,
}

struct Translator {
    characters: Vec<char>,
    at: usize,
    flags: Flags,
    out: String,
    pieces: Vec<Piece>,
    groups: usize,
    back_references: Vec<usize>,
    /// For each open group, whether it is a look-behind.
    open: Vec<bool>,
    /// Whether a quantifier may follow.
    repeatable: bool,
    /// Whether the pattern sets flags inside, on which `.` then depends.
    sets_flags: bool,
}

impl Translator {
    fn new(pattern: &str, flags: Flags) -> Self {
        Self {
            characters: pattern.chars().collect(),
            at: 0,
            flags,
            out: String::with_capacity(pattern.len() + 16),
            pieces: Vec::new(),
            groups: 0,
            back_references: Vec::new(),
            open: Vec::new(),
            repeatable: false,
            sets_flags: has_inline_flags(pattern),
        }
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += 1;
        Some(character)
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(index, wanted)| self.characters.get(self.at + index) == Some(&wanted))
    }

    fn translate(mut self) -> Result<Translated> {
        while let Some(character) = self.next() {
            match character {
                '(' => self.group()?,
                ')' => {
                    if self.open.pop().is_none() {
                        return Err(codes::ER_REGEXP_MISMATCHED_PAREN.error());
                    }
                    self.out.push(')');
                    self.repeatable = true;
                }
                '|' => {
                    self.out.push('|');
                    self.repeatable = false;
                }
                '*' | '+' | '?' => self.quantifier(character)?,
                '{' => self.interval()?,
                '[' => self.set()?,
                '\\' => self.escape()?,
                '.' => {
                    if self.flags.dot_matches_all || self.sets_flags {
                        self.out.push('.');
                    } else if self.flags.unix_lines {
                        self.out.push_str(r"[^\n]");
                    } else {
                        self.out.push_str(&format!("[^{LINE_ENDS}]"));
                    }
                    self.repeatable = true;
                }
                '$' if !self.flags.multi_line && !self.sets_flags => {
                    self.pieces.push(Piece::Text(std::mem::take(&mut self.out)));
                    self.pieces.push(Piece::End);
                    self.repeatable = true;
                }
                _ => {
                    self.out.push(character);
                    self.repeatable = true;
                }
            }
        }
        if !self.open.is_empty() {
            return Err(codes::ER_REGEXP_MISMATCHED_PAREN.error());
        }
        if self
            .back_references
            .iter()
            .any(|group| *group > self.groups)
        {
            return Err(codes::ER_REGEXP_INVALID_BACK_REF.error());
        }
        self.pieces.push(Piece::Text(self.out));
        Ok(Translated {
            pieces: self.pieces,
        })
    }

    /// Translates a group, after its opening parenthesis.
    fn group(&mut self) -> Result<()> {
        self.out.push('(');
        self.repeatable = false;
        let behind = self.looking_at("?<=") || self.looking_at("?<!");
        if self.peek() != Some('?') {
            self.groups += 1;
        } else if self.looking_at("?<") && !behind {
            self.groups += 1;
            self.at += 2;
            let name: String = self.characters[self.at..]
                .iter()
                .take_while(|character| **character != '>')
                .collect();
            if !is_group_name(&name) || self.at + name.len() >= self.characters.len() {
                return Err(codes::ER_REGEXP_INVALID_CAPTURE_GROUP_NAME.error());
            }
            self.at += name.len() + 1;
            self.out.push_str(&format!("?P<{name}>"));
        } else if self.looking_at("?#") {
            // A comment ends at the next parenthesis.
            while self.next().is_some_and(|character| character != ')') {}
            self.out.pop();
            return Ok(());
        } else {
            self.out.push('?');
            self.at += 1;
            // The characters of the group's kind are no quantifiers.
            while let Some(character @ ('=' | '!' | '<' | '>' | ':' | '-' | 'a'..='z')) =
                self.peek()
            {
                self.out.push(character);
                self.at += 1;
                if matches!(character, '=' | '!' | '>' | ':') {
                    break;
                }
            }
        }
        let inside_behind = self.open.last().copied().unwrap_or(false);
        self.open.push(behind || inside_behind);
        Ok(())
    }

    fn check_repeatable(&mut self) -> Result<()> {
        if !self.repeatable {
            return Err(syntax_error(self.at));
        }
        Ok(())
    }

    fn quantifier(&mut self, character: char) -> Result<()> {
        self.check_repeatable()?;
        if character != '?' && self.open.last() == Some(&true) {
            return Err(codes::ER_REGEXP_LOOK_BEHIND_LIMIT.error());
        }
        self.out.push(character);
        self.mode_of_quantifier();
        Ok(())
    }

    /// `?` for a lazy quantifier, `+` for a possessive one.
    fn mode_of_quantifier(&mut self) {
        if let Some(mode @ ('?' | '+')) = self.peek() {
            self.out.push(mode);
            self.at += 1;
        }
        self.repeatable = false;
    }

    /// `{n}`, `{n,}`, `{n,m}`
    fn interval(&mut self) -> Result<()> {
        self.check_repeatable()?;
        let wrong = || codes::ER_REGEXP_BAD_INTERVAL.error();
        let text: String = self.characters[self.at..]
            .iter()
            .take_while(|character| **character != '}')
            .collect();
        if self.at + text.chars().count() >= self.characters.len() {
            return Err(wrong());
        }
        self.at += text.chars().count() + 1;
        let number = |digits: &str| digits.trim().parse::<u32>().map_err(|_| wrong());
        match text.split_once(',') {
            None => {
                number(&text)?;
            }
            Some((least, most)) => {
                let least = number(least)?;
                if most.trim().is_empty() {
                    if self.open.last() == Some(&true) {
                        return Err(codes::ER_REGEXP_LOOK_BEHIND_LIMIT.error());
                    }
                } else if number(most)? < least {
                    return Err(codes::ER_REGEXP_MAX_LT_MIN.error());
                }
            }
        }
        let text: String = text.split_whitespace().collect();
        self.out.push_str(&format!("{{{text}}}"));
        self.mode_of_quantifier();
        Ok(())
    }

    fn escape(&mut self) -> Result<()> {
        let Some(character) = self.next() else {
            return Err(codes::ER_REGEXP_BAD_ESCAPE_SEQUENCE.error());
        };
        self.repeatable = true;
        match character {
            'Q' => {
                while !self.looking_at(r"\E") {
                    let Some(literal) = self.next() else {
                        return Ok(());
                    };
                    push_literal(&mut self.out, literal);
                }
                self.at += 2;
            }
            'E' => {}
            'R' => self.out.push_str(&format!(r"(?:\r\n|[{LINE_ENDS}])")),
            'X' => self.out.push_str(r"(?:\r\n|\P{M}\p{M}*|\p{M}+)"),
            'k' => {
                let name: String = self.characters[self.at..]
                    .iter()
                    .take_while(|character| **character != '>')
                    .collect();
                let name = name.strip_prefix('<').unwrap_or_default().to_owned();
                let declared = [format!("(?P<{name}>"), format!("(?<{name}>")];
                let whole: String = self.characters.iter().collect();
                if !is_group_name(&name) || !declared.iter().any(|group| whole.contains(group)) {
                    return Err(codes::ER_REGEXP_INVALID_CAPTURE_GROUP_NAME.error());
                }
                self.at += name.len() + 2;
                self.out.push_str(&format!(r"\k<{name}>"));
            }
            'Z' => self.out.push_str(r"\Z"),
            '1'..='9' => {
                let group = character.to_digit(10).unwrap_or(0) as usize;
                self.back_references.push(group);
                self.out.push_str(&format!(r"(?:\{group})"));
            }
            'b' | 'B' | 'A' | 'z' | 'G' => {
                self.out.push('\\');
                self.out.push(character);
            }
            _ => return self.escaped_character(character, false),
        }
        Ok(())
    }

    /// An escape that may also appear in a set.
    fn escaped_character(&mut self, character: char, in_set: bool) -> Result<()> {
        let class = |positive: &str, negative: &str| {
            let members = if character.is_lowercase() {
                positive
            } else {
                negative
            };
            if in_set {
                members.to_owned()
            } else {
                format!("[{members}]")
            }
        };
        match character {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => {
                self.out.push('\\');
                self.out.push(character);
            }
            'h' | 'H' => {
                let text = class(r"\t\p{Zs}", r"[^\t\p{Zs}]");
                self.out.push_str(&text);
            }
            'v' | 'V' => {
                let text = class(LINE_ENDS, &format!("[^{LINE_ENDS}]"));
                self.out.push_str(&text);
            }
            'n' | 't' | 'r' | 'f' | 'a' => {
                self.out.push('\\');
                self.out.push(character);
            }
            'e' => self.out.push_str(r"\x1B"),
            'c' => {
                let control = self.next().map_or(0, |letter| u32::from(letter) & 0x1F);
                self.push_point(control)?;
            }
            '0' => {
                let digits = self.take_digits(3, 8);
                self.push_digits(&digits, 8)?;
            }
            'x' if self.peek() == Some('{') => {
                self.at += 1;
                let digits = self.take_digits(8, 16);
                if self.next() != Some('}') {
                    return Err(codes::ER_REGEXP_BAD_ESCAPE_SEQUENCE.error());
                }
                self.push_digits(&digits, 16)?;
            }
            'x' | 'u' | 'U' => {
                let wanted = match character {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let digits = self.take_digits(wanted, 16);
                if digits.is_empty() || (character != 'x' && digits.len() != wanted) {
                    return Err(codes::ER_REGEXP_BAD_ESCAPE_SEQUENCE.error());
                }
                self.push_digits(&digits, 16)?;
            }
            'p' | 'P' => {
                let braced = self.peek() == Some('{');
                let name: String = if braced {
                    self.characters[self.at + 1..]
                        .iter()
                        .take_while(|character| **character != '}')
                        .collect()
                } else {
                    self.peek().into_iter().collect()
                };
                self.at += name.chars().count() + if braced { 2 } else { 1 };
                if name.is_empty() || self.at > self.characters.len() {
                    return Err(codes::ER_REGEXP_ILLEGAL_ARGUMENT.error());
                }
                self.out.push_str(&format!(r"\{character}{{{name}}}"));
            }
            // Any other letter is a literal.
            literal => push_literal(&mut self.out, literal),
        }
        Ok(())
    }

    fn take_digits(&mut self, most: usize, radix: u32) -> String {
        let digits: String = self.characters[self.at..]
            .iter()
            .take(most)
            .take_while(|digit| digit.is_digit(radix))
            .collect();
        self.at += digits.len();
        digits
    }

    fn push_digits(&mut self, digits: &str, radix: u32) -> Result<()> {
        let point = u32::from_str_radix(digits, radix)
            .map_err(|_| codes::ER_REGEXP_BAD_ESCAPE_SEQUENCE.error())?;
        self.push_point(point)
    }

    fn push_point(&mut self, point: u32) -> Result<()> {
        if char::from_u32(point).is_none() {
            return Err(codes::ER_REGEXP_BAD_ESCAPE_SEQUENCE.error());
        }
        self.out.push_str(&format!(r"\x{{{point:X}}}"));
        Ok(())
    }

    /// Translates a set, after its opening bracket; sets may be nested.
    fn set(&mut self) -> Result<()> {
        self.repeatable = true;
        let unclosed = || codes::ER_REGEXP_MISSING_CLOSE_BRACKET.error();
        self.out.push('[');
        if self.peek() == Some('^') {
            self.at += 1;
            self.out.push('^');
        }
        let mut is_first = true;
        // The character before a `-` that could begin a range.
        let mut low: Option<char> = None;
        loop {
            let character = self.next().ok_or_else(unclosed)?;
            let was_first = std::mem::take(&mut is_first);
            match character {
                ']' if !was_first => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' if self.peek() == Some(':') => {
                    self.posix_class()?;
                    low = None;
                }
                '[' => {
                    self.set()?;
                    low = None;
                }
                '\\' => {
                    let escaped = self.next().ok_or_else(unclosed)?;
                    self.escaped_character(escaped, true)?;
                    low = None;
                }
                '&' | '-' if self.peek() == Some(character) => {
                    self.at += 1;
                    self.out.push(character);
                    self.out.push(character);
                    low = None;
                }
                '-' => {
                    let high = self.peek();
                    match (low, high) {
                        (Some(low), Some(high)) if high != ']' && high != '[' && high != '\\' => {
                            if high < low {
                                return Err(codes::ER_REGEXP_INVALID_RANGE.error());
                            }
                            self.out.push('-');
                        }
                        (None, Some(high)) if high != ']' && !was_first && high != '[' => {
                            self.out.push('-');
                        }
                        _ => self.out.push_str(r"\-"),
                    }
                    low = None;
                }
                literal => {
                    push_literal(&mut self.out, literal);
                    low = Some(literal);
                }
            }
        }
    }

    /// `[:name:]` in a set, after its opening bracket.
    fn posix_class(&mut self) -> Result<()> {
        self.at += 1;
        let text: String = self.characters[self.at..]
            .iter()
            .take_while(|character| **character != ']')
            .collect();
        let Some(name) = text.strip_suffix(':') else {
            return Err(codes::ER_REGEXP_MISSING_CLOSE_BRACKET.error());
        };
        let members = match name.trim_start_matches('^') {
            "alpha" => r"\p{Alphabetic}",
            "digit" => r"\p{Nd}",
            "alnum" => r"\p{Alphabetic}\p{Nd}",
            "upper" => r"\p{Uppercase}",
            "lower" => r"\p{Lowercase}",
            "space" => r"\s",
            "blank" => r"\t\p{Zs}",
            "punct" => r"\p{P}",
            "cntrl" => r"\p{Cc}",
            "graph" => r"[^\s\p{Cc}\p{Cn}\p{Cs}]",
            "print" => r"[^\p{Cc}\p{Cn}\p{Cs}]",
            "xdigit" => r"\p{Nd}A-Fa-f",
            "word" => r"\w",
            _ => return Err(codes::ER_REGEXP_ILLEGAL_ARGUMENT.error()),
        };
        let negated = if name.starts_with('^') { "^" } else { "" };
        self.out.push_str(&format!("[{negated}{members}]"));
        self.at += text.chars().count() + 1;
        Ok(())
    }
}

/// Appends a literal character, inside or outside of sets.
fn push_literal(out: &mut String, literal: char) {
    if literal.is_ascii_punctuation() && literal != '_' {
        out.push('\\');
    }
    out.push(literal);
}

fn is_group_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Whether a pattern sets flags inside: `(?i)`, `(?s:…)`.
fn has_inline_flags(pattern: &str) -> bool {
    pattern.match_indices("(?").any(|(place, _)| {
        pattern[place + 2..]
            .starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> std::result::Result<bool, u16> {
        let flags = Flags::parse(b"", true).unwrap();
        Pattern::new(pattern, flags)
            .and_then(|pattern| pattern.is_match(text))
            .map_err(|error| error.errno())
    }

    #[test]
    fn matches_as_icu() {
        for (pattern, text, expected) in [
            ("^[[:alpha:]]+$", "abcé", true),
            ("^[[:alpha:]]+$", "ab1", false),
            ("^.{2}$", "日本", true),
            ("a.c", "a\nc", false),
            ("a.c", "a\u{2028}c", false),
            ("c$", "abc\n", true),
            ("c$", "abc\n\n", false),
            ("c$", "abc", true),
            (r"\Qa.b\E", "a.b", true),
            (r"\Qa.b\E", "axb", false),
            (r"\bfoo\b", "a foo b", true),
            (r"[[:alpha:]&&[^a]]", "a", false),
            (r"[a--b]", "a", true),
            (r"[^\d]", "1", false),
            (r"(a)\1", "aa", true),
            (r"(?<x>a)\k<x>", "aa", true),
            (r"(?<=b)a", "ba", true),
            (r"\p{Lu}", "日", false),
            (r"a{2}", "aa", true),
            (r"\x41\u0042", "ab", true),
            (r"[]a]", "]", true),
            (r"[a-]", "-", true),
            (r"a*+a", "aaa", false),
            (r"x(?#no)y", "xy", true),
            (r"\y", "y", true),
        ] {
            assert_eq!(matches(pattern, text), Ok(expected), "{pattern} on {text}");
        }
    }

    #[test]
    fn refuses_as_icu() {
        for (pattern, errno) in [
            ("", 3685),
            ("(", 3691),
            (")", 3691),
            ("[a", 3696),
            ("*", 3688),
            ("a|*", 3688),
            ("a{2,1}", 3693),
            ("a{x}", 3692),
            ("a{1", 3692),
            ("[b-a]", 3697),
            ("\\", 3689),
            ("\\1", 3694),
            ("[[:foo:]]", 3685),
            ("[[:<:]]", 3685),
            ("(?<n>a)\\k<m>", 3887),
            ("(?<=a*)b", 3695),
        ] {
            assert_eq!(matches(pattern, "a"), Err(errno), "{pattern}");
        }
    }
}
