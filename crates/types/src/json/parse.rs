//! JSON text to a tree. The errors, their words and their positions are those that MySQL reports.

use super::text::classify_number;
use super::{DEPTH_MAX, Json, JsonError, JsonObject, TypeTag};

/// Reads any JSON text.
pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
    read(text, false)
}

/// Reads text that was normalised before, with its tags.
pub fn parse_normalized(text: &[u8]) -> Result<Json, JsonError> {
    read(text, true)
}

fn read(text: &[u8], normalized: bool) -> Result<Json, JsonError> {
    let mut parser = Parser {
        text,
        at: 0,
        normalized,
    };
    parser.skip_spaces();
    if parser.peek().is_none() {
        return parser.fail("The document is empty.");
    }
    let document = parser.value(0)?;
    parser.skip_spaces();
    if parser.peek().is_some() {
        return parser.fail("The document root must not be followed by other values.");
    }
    Ok(document)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    normalized: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn fail<T>(&self, message: &'static str) -> Result<T, JsonError> {
        Err(JsonError::Syntax {
            message,
            position: self.at,
        })
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => {
                let text = self.string()?;
                Ok(match self.tag() {
                    Some(tag) => Json::Typed(text, tag),
                    None => Json::String(text),
                })
            }
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            _ => self.number(),
        }
    }

    /// The tag of a scalar of normalised text.
    fn tag(&mut self) -> Option<TypeTag> {
        let tag = self.peek().filter(|_| self.normalized);
        let tag = tag.and_then(TypeTag::of);
        self.at += usize::from(tag.is_some());
        tag
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        for byte in word.bytes() {
            if !self.take(byte) {
                return self.fail("Invalid value.");
            }
        }
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > DEPTH_MAX {
            return Err(JsonError::TooDeep);
        }
        self.at += 1;
        let mut elements = Vec::new();
        self.skip_spaces();
        if self.take(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            self.skip_spaces();
            elements.push(self.value(depth)?);
            self.skip_spaces();
            if self.take(b']') {
                return Ok(Json::Array(elements));
            }
            if !self.take(b',') {
                return self.fail("Missing a comma or ']' after an array element.");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > DEPTH_MAX {
            return Err(JsonError::TooDeep);
        }
        self.at += 1;
        let mut members = Vec::new();
        self.skip_spaces();
        if self.take(b'}') {
            return Ok(Json::Object(JsonObject::default()));
        }
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'"') {
                return self.fail("Missing a name for object member.");
            }
            let key = self.string()?;
            self.skip_spaces();
            if !self.take(b':') {
                return self.fail("Missing a colon after a name of object member.");
            }
            self.skip_spaces();
            members.push((key, self.value(depth)?));
            self.skip_spaces();
            if self.take(b'}') {
                return Ok(Json::Object(JsonObject::of(members)));
            }
            if !self.take(b',') {
                return self.fail("Missing a comma or '}' after an object member.");
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest
                .iter()
                .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
                .count();
            match std::str::from_utf8(&rest[..plain]) {
                Ok(text) => out.push_str(text),
                Err(error) => {
                    self.at += error.valid_up_to();
                    return self.fail("Invalid encoding in string.");
                }
            }
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                None | Some(0) => {
                    return self.fail("Missing a closing quotation mark in string.");
                }
                Some(_) => return self.fail("Invalid encoding in string."),
            }
        }
    }

    /// One escape sequence; errors are reported at its backslash.
    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        let fail = |message| {
            Err(JsonError::Syntax {
                message,
                position: start,
            })
        };
        self.at += 1;
        let escaped = self.peek();
        self.at += 1;
        Ok(match escaped {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                const HEX: &str = "Incorrect hex digit after \\u escape in string.";
                const SURROGATE: &str = "The surrogate pair in string is invalid.";
                let Some(mut point) = self.hexadecimal() else {
                    return fail(HEX);
                };
                if (0xD800..0xDC00).contains(&point) {
                    if !(self.take(b'\\') && self.take(b'u')) {
                        return fail(SURROGATE);
                    }
                    let Some(low) = self.hexadecimal() else {
                        return fail(HEX);
                    };
                    if !(0xDC00..0xE000).contains(&low) {
                        return fail(SURROGATE);
                    }
                    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
                }
                match char::from_u32(point) {
                    Some(character) => character,
                    None => return fail(SURROGATE),
                }
            }
            _ => return fail("Invalid escape character in string."),
        })
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let mut point = 0;
        for digit in digits {
            point = point << 4 | char::from(*digit).to_digit(16)?;
        }
        self.at += 4;
        Some(point)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') && self.digits() == 0 {
            return self.fail("Invalid value.");
        }
        let mut integer = true;
        if self.take(b'.') {
            integer = false;
            if self.digits() == 0 {
                return self.fail("Miss fraction part in number.");
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.fail("Miss exponent in number.");
            }
        }
        self.tag();
        let digits = self.text.get(start..self.at).unwrap_or_default();
        if self.normalized {
            return Ok(classify_number(digits));
        }
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        if integer {
            if let Ok(value) = digits.parse() {
                return Ok(Json::Int(value));
            }
            if let Ok(value) = digits.parse() {
                return Ok(Json::UInt(value));
            }
        }
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Json::Double(value)),
            _ => Err(JsonError::Syntax {
                message: "Number too big to be stored in double.",
                position: start,
            }),
        }
    }
}
