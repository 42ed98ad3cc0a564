//! XML documents as MySQL reads them: elements, attributes and texts with their places. There is no validation,
//! entities are not expanded, and text outside of the first element is ignored.

use std::ops::Range;

/// Kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element; also the document, a declaration and a processing instruction.
    Element,
    Attribute,
    /// The text of an element, or the value of an attribute.
    Text,
}

/// A node of a document.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) level: usize,
    pub(super) parent: usize,
    /// Place of the name, or of the text.
    pub(super) text: Range<usize>,
    /// Offset of its end tag's or its value's end.
    pub(super) end: usize,
}

/// Nodes in the order of the document; the first is the document itself.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) nodes: Vec<Node>,
}

/// A token of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Name,
    String,
    Data,
    Comment,
    /// One of `?=/<>!`.
    Sign(u8),
    Unknown,
}

impl Token {
    fn shown(self) -> String {
        match self {
            Self::End => "END-OF-INPUT".to_owned(),
            Self::Name => "IDENT".to_owned(),
            Self::String => "STRING".to_owned(),
            Self::Data => "CDATA".to_owned(),
            Self::Comment => "COMMENT".to_owned(),
            Self::Sign(sign) => format!("'{}'", char::from(sign)),
            Self::Unknown => "unknown token".to_owned(),
        }
    }
}

struct Reader<'x> {
    xml: &'x [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The open element, and the nesting level of its children.
    parent: usize,
    level: usize,
}

impl Document {
    /// The node of the document itself.
    pub(super) const ROOT: usize = 0;

    /// Parses XML; the error says what is wrong, and where.
    pub(super) fn parse(xml: &[u8]) -> Result<Self, String> {
        let mut reader = Reader {
            xml,
            at: 0,
            nodes: Vec::new(),
            parent: Self::ROOT,
            level: 0,
        };
        reader.enter(Kind::Element, 0..0);
        match reader.read() {
            Ok(()) => Ok(Self {
                nodes: reader.nodes,
            }),
            Err(message) => {
                let before = &xml[..reader.at];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let start = before.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
                let position = reader.at - start + 1;
                Err(format!(
                    "parse error at line {line} pos {position}: {message}"
                ))
            }
        }
    }

    /// The descendants of a node, with their numbers.
    pub(super) fn below(&self, node: usize) -> impl Iterator<Item = (usize, &Node)> {
        let level = self.nodes[node].level;
        let behind = self.nodes.iter().enumerate().skip(node + 1);
        behind.take_while(move |(_, below)| below.level > level)
    }
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        while let Some(byte) = self.xml.get(self.at) {
            if *byte == b'<' {
                self.tag()?;
                continue;
            }
            let rest = &self.xml[self.at..];
            let length = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let text = self.at..self.at + length;
            self.at = text.end;
            self.value(text);
        }
        match self.parent {
            Document::ROOT => Ok(()),
            _ => Err("unexpected END-OF-INPUT".to_owned()),
        }
    }

    fn tag(&mut self) -> Result<(), String> {
        let (opening, place) = self.scan();
        match opening {
            Token::Comment => return Ok(()),
            Token::Data => {
                let (start, end) = (place.start + "<![CDATA[".len(), place.end - "]]>".len());
                self.value(start..end.max(start));
                return Ok(());
            }
            _ => {}
        }
        let (mut token, mut place) = self.scan();
        if token == Token::Sign(b'/') {
            (token, place) = self.scan();
            if token != Token::Name {
                return Err(format!("{} unexpected (ident wanted)", token.shown()));
            }
            self.leave_named(place)?;
            return self.close();
        }
        let is_declaration = token == Token::Sign(b'!');
        let is_instruction = token == Token::Sign(b'?');
        if is_declaration || is_instruction {
            (token, place) = self.scan();
        }
        if token != Token::Name {
            let shown = token.shown();
            return Err(format!("{shown} unexpected (ident or '/' wanted)"));
        }
        self.enter(Kind::Element, place);
        let mut last = self.attributes(is_declaration)?;
        if last == Token::Sign(b'/') {
            self.leave();
            last = self.scan().0;
        }
        if is_instruction {
            if last != Token::Sign(b'?') {
                return Err(format!("{} unexpected ('?' wanted)", last.shown()));
            }
            self.leave();
            last = self.scan().0;
        }
        if is_declaration {
            self.leave();
        }
        expect_close(last)
    }

    /// Parses the attributes of a tag; returns the token after them.
    fn attributes(&mut self, is_declaration: bool) -> Result<Token, String> {
        loop {
            let (token, name) = self.scan();
            // A declaration names files by strings.
            if token == Token::String && is_declaration {
                let (next, _) = self.scan();
                match next {
                    Token::String => continue,
                    next => return Ok(next),
                }
            }
            if token != Token::Name {
                return Ok(token);
            }
            match self.scan().0 {
                Token::Sign(b'=') => {
                    let (token, value) = self.scan();
                    if !matches!(token, Token::Name | Token::String) {
                        let shown = token.shown();
                        return Err(format!("{shown} unexpected (ident or string wanted)"));
                    }
                    self.enter(Kind::Attribute, name);
                    self.value(value);
                    self.leave();
                }
                Token::Name => {
                    self.enter(Kind::Attribute, name);
                    self.leave();
                }
                Token::String if is_declaration => {}
                other => return Ok(other),
            }
        }
    }

    fn close(&mut self) -> Result<(), String> {
        let (token, _) = self.scan();
        expect_close(token)
    }

    fn enter(&mut self, kind: Kind, text: Range<usize>) {
        let node = self.nodes.len();
        self.push(kind, text);
        self.parent = node;
        self.level += 1;
    }

    fn value(&mut self, text: Range<usize>) {
        self.push(Kind::Text, text);
    }

    fn push(&mut self, kind: Kind, text: Range<usize>) {
        self.nodes.push(Node {
            kind,
            level: self.level,
            parent: self.parent,
            end: text.end,
            text,
        });
    }

    fn leave(&mut self) {
        // A closing tag without an open element, as `</a/>`, closes nothing.
        if self.parent == Document::ROOT {
            return;
        }
        let node = &mut self.nodes[self.parent];
        node.end = self.at;
        self.parent = node.parent;
        self.level -= 1;
    }

    fn leave_named(&mut self, name: Range<usize>) -> Result<(), String> {
        let text = |range: &Range<usize>| {
            let end = range.end.min(range.start + 31);
            String::from_utf8_lossy(&self.xml[range.start..end]).into_owned()
        };
        let open = &self.nodes[self.parent].text;
        if self.parent == Document::ROOT {
            let name = text(&name);
            return Err(format!("'</{name}>' unexpected (END-OF-INPUT wanted)"));
        }
        if self.xml[open.clone()] != self.xml[name.clone()] {
            let (name, open) = (text(&name), text(open));
            return Err(format!("'</{name}>' unexpected ('</{open}>' wanted)"));
        }
        self.leave();
        Ok(())
    }

    /// The next token of a tag, and its place; a string's place excludes its quotes.
    fn scan(&mut self) -> (Token, Range<usize>) {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        while self.xml.get(self.at).is_some_and(is_space) {
            self.at += 1;
        }
        let start = self.at;
        let rest = &self.xml[start..];
        let until = |mark: &[u8]| memchr::memmem::find(rest, mark).map(|at| at + mark.len());
        let (token, length) = match rest.first() {
            None => (Token::End, 0),
            Some(_) if rest.starts_with(b"<!--") => {
                (Token::Comment, until(b"-->").unwrap_or(rest.len()))
            }
            Some(_) if rest.starts_with(b"<![CDATA[") => match until(b"]]>") {
                Some(length) => (Token::Data, length),
                None => (Token::Comment, rest.len()),
            },
            Some(sign @ (b'?' | b'=' | b'/' | b'<' | b'>' | b'!')) => (Token::Sign(*sign), 1),
            Some(quote @ (b'"' | b'\'')) => {
                let length = memchr::memchr(*quote, &rest[1..]).unwrap_or(rest.len() - 1);
                self.at = self.xml.len().min(start + length + 2);
                return (Token::String, start + 1..start + 1 + length);
            }
            Some(first) if begins_name(*first) => {
                let is_part = |byte: &u8| {
                    begins_name(*byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
                };
                let length = rest.iter().position(|byte| !is_part(byte));
                (Token::Name, length.unwrap_or(rest.len()))
            }
            Some(_) => (Token::Unknown, 0),
        };
        self.at = start + length;
        (token, start..self.at)
    }
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || byte >= 0x80
}

fn expect_close(token: Token) -> Result<(), String> {
    match token {
        Token::Sign(b'>') => Ok(()),
        token => Err(format!("{} unexpected ('>' wanted)", token.shown())),
    }
}
