//! The rows of a block of JSON: objects, as the slices of their members.
//!
//! Only what surrounds the members is read here; a nested value is passed over by its brackets, and checked where its
//! document is made.

use std::borrow::Cow;

use mayfly_engine::json::{self, Json};
use memchr::memchr2;

use crate::text::input::Cut;

/// The name of the only column of rows that are no objects.
pub(super) const VALUE: &str = "value";

/// A value of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slice<'t> {
    Null,
    /// true or false, as written.
    Bool(&'t [u8]),
    /// A number, as written.
    Number(&'t [u8]),
    /// A string with its quotes.
    String(&'t [u8]),
    /// An object or array, as written.
    Nested(&'t [u8]),
}

/// An error of a text, and where it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

type Read<T> = Result<T, Fault>;

/// The rows of a block.
pub(super) struct Rows<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether rows are the elements of an array, whose bracket was taken.
    in_array: bool,
    /// Whether the array has ended.
    has_ended: bool,
}

impl<'t> Rows<'t> {
    pub(super) fn new(text: &'t [u8], at: usize, in_array: bool) -> Self {
        Self {
            text,
            at,
            in_array,
            has_ended: false,
        }
    }

    /// Where the next row begins, behind white space.
    pub(super) fn position(&mut self) -> usize {
        self.skip_spaces();
        self.at
    }

    /// Whether the array has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail<T>(&self, why: &'static str) -> Read<T> {
        Err(Fault { at: self.at, why })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Reads the next row: calls `member` with each key and value. False behind the last row.
    pub(super) fn row(&mut self, mut member: impl FnMut(Cow<'t, str>, Slice<'t>)) -> Read<bool> {
        self.skip_spaces();
        let Some(first) = self.peek() else {
            return Ok(false);
        };
        if self.has_ended {
            return self.fail("text follows the array");
        }
        if self.in_array && first == b']' {
            self.at += 1;
            self.has_ended = true;
            self.skip_spaces();
            return match self.peek() {
                None => Ok(false),
                Some(_) => self.fail("text follows the array"),
            };
        }
        if first == b'{' {
            self.object(&mut member)?;
        } else {
            let value = self.value()?;
            member(Cow::Borrowed(VALUE), value);
        }
        if self.in_array {
            self.skip_spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {}
                _ => return self.fail("a comma or ] is missing behind an element"),
            }
        }
        Ok(true)
    }

    fn object(&mut self, member: &mut dyn FnMut(Cow<'t, str>, Slice<'t>)) -> Read<()> {
        self.at += 1;
        self.skip_spaces();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'"') {
                return self.fail("a key is missing");
            }
            let start = self.at;
            let Slice::String(key) = self.value()? else {
                return self.fail("a key is missing");
            };
            let Some(key) = string(key) else {
                return Err(Fault {
                    at: start,
                    why: "a key is no string",
                });
            };
            self.skip_spaces();
            if self.peek() != Some(b':') {
                return self.fail("a colon is missing behind a key");
            }
            self.at += 1;
            let value = self.value()?;
            member(key, value);
            self.skip_spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.fail("a comma or } is missing behind a member"),
            }
        }
    }

    /// The next value.
    fn value(&mut self) -> Read<Slice<'t>> {
        self.skip_spaces();
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                self.pass_string()?;
                Ok(Slice::String(&self.text[start..self.at]))
            }
            Some(b'{' | b'[') => {
                self.pass_nested()?;
                Ok(Slice::Nested(&self.text[start..self.at]))
            }
            _ => {
                let rest = &self.text[start..];
                let is_end =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                let end = rest.iter().position(is_end).unwrap_or(rest.len());
                let token = &rest[..end];
                let slice = match token {
                    b"null" => Slice::Null,
                    b"true" | b"false" => Slice::Bool(token),
                    _ if is_number(token) => Slice::Number(token),
                    _ => return self.fail("a value is missing or no JSON"),
                };
                self.at += end;
                Ok(slice)
            }
        }
    }

    fn pass_string(&mut self) -> Read<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            match memchr2(b'"', b'\\', rest) {
                None => {
                    self.at = start;
                    return self.fail("a string is not closed");
                }
                Some(found) if rest[found] == b'"' => {
                    self.at += found + 1;
                    return Ok(());
                }
                Some(found) => self.at += found + 2,
            }
        }
    }

    fn pass_nested(&mut self) -> Read<()> {
        let (start, mut depth) = (self.at, 0_usize);
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.pass_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        self.at = start;
        self.fail("an object or array is not closed")
    }
}

/// Whether a token is a number of JSON.
fn is_number(token: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|it| it.is_ascii_digit()).count();
    let rest = token.strip_prefix(b"-").unwrap_or(token);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest[0] == b'0' {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(behind) = rest.strip_prefix(b".") {
        let fraction = digits(behind);
        if fraction == 0 {
            return false;
        }
        rest = &behind[fraction..];
    }
    if let [b'e' | b'E', behind @ ..] = rest {
        let behind = match behind {
            [b'+' | b'-', behind @ ..] => behind,
            _ => behind,
        };
        let exponent = digits(behind);
        return exponent > 0 && exponent == behind.len();
    }
    rest.is_empty()
}

/// The text of a string with its quotes; `None` if it is none of JSON.
pub(super) fn string(quoted: &[u8]) -> Option<Cow<'_, str>> {
    let inner = quoted.get(1..quoted.len().checked_sub(1)?)?;
    if inner.iter().all(|byte| *byte >= b' ' && *byte != b'\\') {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    match json::parse(quoted) {
        Ok(Json::String(text)) => Some(Cow::Owned(text)),
        _ => None,
    }
}

/// The search for the end of the last whole row: behind the comma of an array, or a line's end that is in no value.
#[derive(Debug)]
pub(super) struct ValueCut {
    in_array: bool,
    seen: usize,
    depth: usize,
    in_string: bool,
    end: usize,
}

impl ValueCut {
    pub(super) fn new(in_array: bool) -> Self {
        Self {
            in_array,
            seen: 0,
            depth: 0,
            in_string: false,
            end: 0,
        }
    }
}

impl Cut for ValueCut {
    fn run(&mut self, text: &[u8], _is_at_end: bool) -> Option<usize> {
        let separator = if self.in_array { b',' } else { b'\n' };
        while self.seen < text.len() {
            if self.in_string {
                let Some(found) = memchr2(b'"', b'\\', &text[self.seen..]) else {
                    self.seen = text.len();
                    break;
                };
                let found = self.seen + found;
                if text[found] == b'"' {
                    self.in_string = false;
                    self.seen = found + 1;
                } else if found + 1 < text.len() {
                    self.seen = found + 2;
                } else {
                    // What is escaped comes with the next bytes.
                    self.seen = found;
                    break;
                }
                continue;
            }
            let byte = text[self.seen];
            self.seen += 1;
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ if byte == separator && self.depth == 0 => self.end = self.seen,
                _ => {}
            }
        }
        (self.end > 0).then_some(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, in_array: bool) -> Result<Vec<String>, &'static str> {
        let mut rows = Rows::new(text.as_bytes(), 0, in_array);
        let mut found = Vec::new();
        loop {
            let mut members = Vec::new();
            let read = rows.row(|key, value| members.push(format!("{key}: {value:?}")));
            match read {
                Ok(true) => found.push(format!("{}", members.len())),
                Ok(false) => return Ok(found),
                Err(fault) => return Err(fault.why),
            }
        }
    }

    #[test]
    fn rows_are_objects_or_values() {
        for (text, in_array, expected) in [
            (
                "{\"a\":1}\n{\"a\":[1,{\"b\":\"}\"}],\"c\":null}\n",
                false,
                Ok(vec!["1", "2"]),
            ),
            ("{}{\n}\n", false, Ok(vec!["0", "0"])),
            ("{\"a\":1},{\"a\":2}]\n", true, Ok(vec!["1", "1"])),
            ("]", true, Ok(vec![])),
            ("1,2]", true, Ok(vec!["1", "1"])),
            ("1\n[2]\n\"x\"", false, Ok(vec!["1", "1", "1"])),
            ("{\"a\":1} x", false, Err("a value is missing or no JSON")),
            ("{\"a\":01}", false, Err("a value is missing or no JSON")),
            ("{\"a\" 1}", false, Err("a colon is missing behind a key")),
            (
                "{\"a\":1",
                false,
                Err("a comma or } is missing behind a member"),
            ),
            (
                "{\"a\":[1}",
                false,
                Err("a comma or } is missing behind a member"),
            ),
            ("{\"a\":\"x", false, Err("a string is not closed")),
            ("{a:1}", false, Err("a key is missing")),
            ("1] 2", true, Err("text follows the array")),
            (
                "1 2]",
                true,
                Err("a comma or ] is missing behind an element"),
            ),
        ] {
            let expected = expected
                .map(|rows: Vec<&str>| rows.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(rows(text, in_array), expected, "{text}");
        }
    }

    #[test]
    fn blocks_end_behind_rows() {
        for (text, in_array, end) in [
            ("{\"a\":\"\\\"\n\"}\n{\"b\"", false, 12),
            ("{\n\"a\":1\n}\n", false, 10),
            ("[1,2],[3", true, 6),
            ("\"a,\",1", true, 5),
        ] {
            for steps in 1..=text.len() {
                let mut cut = ValueCut::new(in_array);
                let mut found = None;
                for to in (steps..text.len()).step_by(steps).chain([text.len()]) {
                    found = cut.run(&text.as_bytes()[..to], to == text.len());
                }
                assert_eq!(found, Some(end), "{text:?} by {steps}");
            }
        }
    }
}
