//! Path expressions: the manual, "JSON Path Syntax".
//!
//! A path is compiled to its legs; evaluation walks normalised text and gives the parts that match,
//! as slices of it. Keys are kept quoted and escaped, as the text has them.

use super::text::{JsonKind, elements, kind_of, members};
use super::{Json, print};
use crate::error::{Error, codes};

/// Largest number of an array cell.
const CELL_MAX: u64 = u32::MAX as u64;

/// A position in an array, from its start or from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Distance from that end, from 0.
    pub index: usize,
    /// Whether it counts from the last element (`last-2`).
    pub from_end: bool,
}

impl Cell {
    /// The position in an array of `length` elements, which may be past its end; `None` when it is
    /// before its start.
    pub fn position(self, length: usize) -> Option<usize> {
        if self.from_end {
            length.checked_sub(1)?.checked_sub(self.index)
        } else {
            Some(self.index)
        }
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leg {
    /// `.key`
    Member {
        /// The key.
        key: String,
        /// The key as normalised text has it.
        quoted: Vec<u8>,
    },
    /// `.*`
    AnyMember,
    /// `[3]`, `[last]`; for a value other than an array, position 0 is the value itself.
    Cell(Cell),
    /// `[1 to last]`
    Range(Cell, Cell),
    /// `[*]`
    AnyCell,
    /// `**`: the value and everything nested in it.
    Ellipsis,
}

/// A compiled path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    legs: Vec<Leg>,
}

impl JsonPath {
    /// Compiles a path; error 3143 when it is invalid.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let fail = |position: usize| codes::ER_INVALID_JSON_PATH.with(&[&position]);
        let text = std::str::from_utf8(text).map_err(|error| fail(error.valid_up_to()))?;
        let mut parser = Parser { text, at: 0 };
        parser.legs().map_err(fail)
    }

    /// The steps, after the leading `$`.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Whether the path may match more than one value.
    pub fn has_wildcard(&self) -> bool {
        self.legs
            .iter()
            .any(|leg| !matches!(leg, Leg::Member { .. } | Leg::Cell(_)))
    }

    /// Appends the parts of a normalised document that match, in the order of the document.
    pub fn find<'a>(&self, document: &'a [u8], found: &mut Vec<&'a [u8]>) {
        let start = found.len();
        walk(&self.legs, document, &mut |part| {
            found.push(part);
            true
        });
        if self.legs.contains(&Leg::Ellipsis) {
            // Several ways may lead to the same value.
            let mut kept = start;
            for index in start..found.len() {
                let part = found[index];
                let known = found[start..kept]
                    .iter()
                    .any(|known| std::ptr::eq(*known, part));
                if !known {
                    found[kept] = part;
                    kept += 1;
                }
            }
            found.truncate(kept);
        }
    }

    /// The first part of a normalised document that matches.
    pub fn find_first<'a>(&self, document: &'a [u8]) -> Option<&'a [u8]> {
        let mut first = None;
        walk(&self.legs, document, &mut |part| {
            first = Some(part);
            false
        });
        first
    }

    /// The value of a tree at a path without wildcards.
    pub fn find_mut<'a>(&self, document: &'a mut Json) -> Option<&'a mut Json> {
        find_mut(&self.legs, document)
    }

    /// The path without its last leg, and that leg; `None` for `$`.
    pub fn split_last(&self) -> Option<(Self, &Leg)> {
        let (last, legs) = self.legs.split_last()?;
        let legs = legs.to_vec();
        Some((Self { legs }, last))
    }
}

fn find_mut<'a>(legs: &[Leg], value: &'a mut Json) -> Option<&'a mut Json> {
    let Some((leg, rest)) = legs.split_first() else {
        return Some(value);
    };
    match (leg, value) {
        (Leg::Member { key, .. }, Json::Object(object)) => find_mut(rest, object.get_mut(key)?),
        (Leg::Cell(cell), Json::Array(array)) => {
            let position = cell.position(array.len())?;
            find_mut(rest, array.get_mut(position)?)
        }
        (Leg::Cell(cell), value) if cell.position(1) == Some(0) => find_mut(rest, value),
        _ => None,
    }
}

/// Passes each match to `take` until that returns `false`. Returns whether to go on.
fn walk<'a>(legs: &[Leg], value: &'a [u8], take: &mut dyn FnMut(&'a [u8]) -> bool) -> bool {
    let Some((leg, rest)) = legs.split_first() else {
        return take(value);
    };
    match leg {
        Leg::Member { quoted, .. } => match members(value).find(|(key, _)| key == quoted) {
            Some((_, member)) => walk(rest, member, take),
            None => true,
        },
        Leg::AnyMember => members(value).all(|(_, member)| walk(rest, member, take)),
        Leg::AnyCell => elements(value).all(|element| walk(rest, element, take)),
        Leg::Cell(cell) => {
            if kind_of(value) != JsonKind::Array {
                return cell.position(1) != Some(0) || walk(rest, value, take);
            }
            let position = match cell {
                Cell {
                    index,
                    from_end: false,
                } => Some(*index),
                _ => cell.position(elements(value).count()),
            };
            match position.and_then(|position| elements(value).nth(position)) {
                Some(element) => walk(rest, element, take),
                None => true,
            }
        }
        Leg::Range(from, to) => {
            let is_array = kind_of(value) == JsonKind::Array;
            let length = if is_array { elements(value).count() } else { 1 };
            let first = from.position(length).unwrap_or_default();
            let Some(last) = to.position(length) else {
                return true;
            };
            if !is_array {
                return first > 0 || walk(rest, value, take);
            }
            let count = last.saturating_add(1).saturating_sub(first);
            elements(value)
                .skip(first)
                .take(count)
                .all(|element| walk(rest, element, take))
        }
        Leg::Ellipsis => {
            walk(rest, value, take)
                && elements(value).all(|element| walk(legs, element, take))
                && members(value).all(|(_, member)| walk(legs, member, take))
        }
    }
}

/// Reads a path; failures are positions.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.advance();
        }
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn legs(&mut self) -> Result<JsonPath, usize> {
        self.skip_spaces();
        if self.peek() != Some('$') {
            self.advance();
            return Err(self.at);
        }
        self.advance();
        let mut legs = Vec::new();
        loop {
            self.skip_spaces();
            let leg = match self.peek() {
                None => break,
                Some('.') => self.member()?,
                Some('[') => self.cells()?,
                Some('*') => self.ellipsis()?,
                Some(_) => return Err(self.at),
            };
            legs.push(leg);
        }
        if legs.last() == Some(&Leg::Ellipsis) {
            return Err(self.at);
        }
        Ok(JsonPath { legs })
    }

    fn ellipsis(&mut self) -> Result<Leg, usize> {
        self.advance();
        if self.peek() != Some('*') {
            self.advance();
            return Err(self.at);
        }
        self.advance();
        if self.peek() == Some('*') {
            return Err(self.at);
        }
        Ok(Leg::Ellipsis)
    }

    fn member(&mut self) -> Result<Leg, usize> {
        self.advance();
        self.skip_spaces();
        let start = self.at;
        let key = match self.peek() {
            None => return Err(self.at),
            Some('*') => {
                self.advance();
                return Ok(Leg::AnyMember);
            }
            Some('"') => {
                let mut escaped = false;
                let end = self.rest()[1..].find(|c| {
                    let closes = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    closes
                });
                let Some(end) = end else {
                    return Err(self.text.len());
                };
                self.at += end + 2;
                let quoted = &self.text[start..self.at];
                match super::parse(quoted.as_bytes()) {
                    Ok(Json::String(key)) => key,
                    _ => return Err(self.at),
                }
            }
            Some(_) => {
                let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '.' | '[' | '*');
                let end = self.rest().find(ends).unwrap_or(self.rest().len());
                self.at += end;
                let key = &self.text[start..self.at];
                if !is_identifier(key) {
                    return Err(self.at);
                }
                key.to_owned()
            }
        };
        let mut quoted = Vec::new();
        print::append_quoted(&mut quoted, key.as_bytes());
        Ok(Leg::Member { key, quoted })
    }

    fn cells(&mut self) -> Result<Leg, usize> {
        self.advance();
        self.skip_spaces();
        let leg = if self.take("*") {
            Leg::AnyCell
        } else {
            let from = self.cell()?;
            let spaced = self.peek().is_some_and(|c| c.is_ascii_whitespace());
            self.skip_spaces();
            if spaced && self.take("to") {
                if !self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
                    return Err(self.at);
                }
                self.skip_spaces();
                let to = self.cell()?;
                let reversed = match (from.from_end, to.from_end) {
                    (false, false) => from.index > to.index,
                    (true, true) => from.index < to.index,
                    _ => false,
                };
                if reversed {
                    return Err(self.at);
                }
                Leg::Range(from, to)
            } else {
                Leg::Cell(from)
            }
        };
        self.skip_spaces();
        let closed = self.peek() == Some(']');
        self.advance();
        if closed { Ok(leg) } else { Err(self.at) }
    }

    fn cell(&mut self) -> Result<Cell, usize> {
        if !self.take("last") {
            let index = self.number()?;
            return Ok(Cell {
                index,
                from_end: false,
            });
        }
        let end = self.at;
        self.skip_spaces();
        let mut index = 0;
        if self.take("-") {
            self.skip_spaces();
            index = self.number()?;
        } else {
            self.at = end;
        }
        Ok(Cell {
            index,
            from_end: true,
        })
    }

    fn number(&mut self) -> Result<usize, usize> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = self.rest()[..digits].parse().map_err(|_| self.at)?;
        if number > CELL_MAX {
            return Err(self.at);
        }
        self.at += digits;
        usize::try_from(number).map_err(|_| self.at)
    }
}

/// An ECMAScript identifier.
fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = |c: char| c.is_alphabetic() || matches!(c, '$' | '_');
    characters.next().is_some_and(starts)
        && characters
            .all(|c| starts(c) || c.is_alphanumeric() || matches!(c, '\u{200C}' | '\u{200D}'))
}
