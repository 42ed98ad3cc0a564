//! Parser of MySQL's XPath.

use std::ops::Range;

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

/// Axis of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Attribute,
    Parent,
    Own,
    Ancestor,
    AncestorOrSelf,
    Descendant,
    DescendantOrSelf,
}

/// The names of axes. MySQL reads unknown names as `child`.
const AXES: &[(&str, Axis)] = &[
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Child),
    ("following-sibling", Axis::Child),
    ("namespace", Axis::Child),
    ("parent", Axis::Parent),
    ("preceding", Axis::Child),
    ("preceding-sibling", Axis::Child),
    ("self", Axis::Own),
];

/// Node tests, which are parsed and ignored.
const NODE_TESTS: &[&str] = &["comment", "node", "processing-instruction", "text"];

/// XPath function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Last,
    Not,
    Number,
    Position,
    Round,
    StringLength,
    Substring,
    Sum,
    True,
}

/// The functions, with their least and greatest numbers of arguments.
const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("boolean", Function::Boolean, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, 255),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("false", Function::False, 0, 0),
    ("floor", Function::Floor, 1, 1),
    ("last", Function::Last, 0, 0),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 0, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("sum", Function::Sum, 1, 1),
    ("true", Function::True, 0, 0),
];

/// Comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// XPath expression.
#[derive(Debug)]
pub(super) enum XPath {
    /// A number, with its number of shown decimals.
    Number(f64, u8),
    Text(String),
    /// `$@name`
    Variable(String),
    /// The document.
    Root,
    /// The node of the enclosing predicate.
    Context,
    /// The nodes of a step; of any name for `None`.
    Step(Box<XPath>, Axis, Option<String>),
    /// The nodes for which a predicate is true, or whose position it equals.
    Filter(Box<XPath>, Box<XPath>),
    Union(Box<XPath>, Box<XPath>),
    Compare(Comparison, Box<XPath>, Box<XPath>),
    Arithmetic(Arithmetic, Box<XPath>, Box<XPath>),
    Negate(Box<XPath>),
    And(Box<XPath>, Box<XPath>),
    Or(Box<XPath>, Box<XPath>),
    Call(Function, Vec<XPath>),
}

impl XPath {
    /// Parses a path; error 1105 shows the text that was not understood.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser {
            text,
            at: 0,
            in_predicate: false,
            depth: 0,
            parts: 0,
        };
        let path = parser.or();
        match path {
            Ok(path) if parser.peek().0 == Token::End => Ok(path),
            Err(Failure::Said(error)) => Err(error),
            _ => Err(parser.error("XPATH syntax error: ")),
        }
    }

    /// Whether it returns a node set.
    pub(super) fn is_nodes(&self) -> bool {
        matches!(
            self,
            Self::Root | Self::Context | Self::Step(..) | Self::Filter(..) | Self::Union(..)
        )
    }

    /// Whether it returns a truth value.
    pub(super) fn is_truth(&self) -> bool {
        use Function::{Boolean, Contains, False, Not, True};
        match self {
            Self::Compare(..) | Self::And(..) | Self::Or(..) => true,
            Self::Call(function, _) => {
                matches!(function, Boolean | Contains | False | Not | True)
            }
            _ => self.is_nodes(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Name,
    Digits,
    /// A string, with its quotes.
    String,
    Sign(u8),
}

enum Failure {
    /// The next token is not allowed here.
    Syntax,
    Said(Error),
}

type Parsed = std::result::Result<XPath, Failure>;

/// Maximum nesting of parentheses and predicates.
const DEPTH_MAX: usize = 50;
/// Maximum number of steps, values and operators of a path, since evaluation is recursive.
const PARTS_MAX: usize = 500;
/// Bytes of the text that an error shows.
const SHOWN_BYTES: usize = 32;

struct Parser<'p> {
    text: &'p str,
    at: usize,
    /// Whether the parser is in a predicate, whose node paths begin at.
    in_predicate: bool,
    depth: usize,
    parts: usize,
}

impl<'p> Parser<'p> {
    fn error(&self, what: &str) -> Error {
        let (_, place) = self.peek();
        let mut end = self.text.len().min(place.start + SHOWN_BYTES);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let shown = &self.text[place.start..end];
        codes::ER_UNKNOWN_ERROR.with(&[&format!("{what}'{shown}'")])
    }

    /// The next token and its place.
    fn peek(&self) -> (Token, Range<usize>) {
        let rest = &self.text[self.at..];
        let start = self.text.len() - rest.trim_ascii_start().len();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            return (Token::End, start..start);
        };
        let part = |is_part: &dyn Fn(char) -> bool| {
            let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
            start..start + length
        };
        match first {
            '0'..='9' => (Token::Digits, part(&|c| c.is_ascii_digit())),
            '"' | '\'' => match rest[1..].find(first) {
                Some(length) => (Token::String, start..start + length + 2),
                // An unmatched quote is never allowed.
                None => (Token::Sign(first as u8), start..start + 1),
            },
            _ if first.is_alphabetic() || first == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
                (Token::Name, part(&is_part))
            }
            _ => {
                let sign = u8::try_from(first).unwrap_or(0);
                (Token::Sign(sign), start..start + first.len_utf8())
            }
        }
    }

    fn take(&mut self) -> &'p str {
        let (_, place) = self.peek();
        self.at = place.end;
        &self.text[place]
    }

    fn eat(&mut self, sign: u8) -> bool {
        let found = self.peek().0 == Token::Sign(sign);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, sign: u8) -> std::result::Result<(), Failure> {
        if self.eat(sign) {
            Ok(())
        } else {
            Err(Failure::Syntax)
        }
    }

    fn at_word(&self, word: &str) -> bool {
        let (token, place) = self.peek();
        token == Token::Name && &self.text[place] == word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.take();
        }
        found
    }

    /// The next token, if it is a name immediately followed by `what`.
    fn name_before(&self, what: &str) -> Option<&'p str> {
        let (token, place) = self.peek();
        let is_before = token == Token::Name && self.text[place.end..].starts_with(what);
        is_before.then(|| &self.text[place])
    }

    fn or(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("XPATH nested more than {DEPTH_MAX} levels");
            return Err(Failure::Said(codes::ER_UNKNOWN_ERROR.with(&[&message])));
        }
        let mut left = self.and()?;
        while self.eat_word("or") {
            left = XPath::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Counts a part of the path against the limit.
    fn count(&mut self) -> std::result::Result<(), Failure> {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            let message = format!("XPATH of more than {PARTS_MAX} parts");
            return Err(Failure::Said(codes::ER_UNKNOWN_ERROR.with(&[&message])));
        }
        Ok(())
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.equality()?;
        while self.eat_word("and") {
            left = XPath::And(Box::new(left), Box::new(self.equality()?));
        }
        Ok(left)
    }

    fn equality(&mut self) -> Parsed {
        let mut left = self.relation()?;
        loop {
            let before = self.at;
            let comparison = if self.eat(b'=') {
                Comparison::Equal
            } else if self.eat(b'!') {
                if !self.eat(b'=') {
                    self.at = before;
                    return Err(Failure::Syntax);
                }
                Comparison::NotEqual
            } else {
                return Ok(left);
            };
            let right = self.relation()?;
            left = self.compared(comparison, left, right, before)?;
        }
    }

    fn relation(&mut self) -> Parsed {
        let mut left = self.sum()?;
        loop {
            let before = self.at;
            let is_less = self.eat(b'<');
            if !is_less && !self.eat(b'>') {
                return Ok(left);
            }
            let comparison = match (is_less, self.eat(b'=')) {
                (true, false) => Comparison::Less,
                (true, true) => Comparison::LessOrEqual,
                (false, false) => Comparison::Greater,
                (false, true) => Comparison::GreaterOrEqual,
            };
            let right = self.sum()?;
            left = self.compared(comparison, left, right, before)?;
        }
    }

    fn compared(&mut self, comparison: Comparison, left: XPath, right: XPath, at: usize) -> Parsed {
        if left.is_nodes() && right.is_nodes() {
            self.at = at;
            let what = "XPATH error: comparison of two nodesets is not supported: ";
            return Err(Failure::Said(self.error(what)));
        }
        Ok(XPath::Compare(comparison, Box::new(left), Box::new(right)))
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let operation = if self.eat(b'+') {
                Arithmetic::Add
            } else if self.eat(b'-') {
                Arithmetic::Subtract
            } else {
                return Ok(left);
            };
            left = XPath::Arithmetic(operation, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let operation = if self.eat(b'*') {
                Arithmetic::Multiply
            } else if self.eat_word("div") {
                Arithmetic::Divide
            } else if self.eat_word("mod") {
                Arithmetic::Remainder
            } else {
                return Ok(left);
            };
            left = XPath::Arithmetic(operation, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Parsed {
        let mut signs = 0;
        while self.eat(b'-') {
            self.count()?;
            signs += 1;
        }
        let operand = self.union()?;
        Ok((0..signs).fold(operand, |operand, _| XPath::Negate(Box::new(operand))))
    }

    fn union(&mut self) -> Parsed {
        let mut left = self.path()?;
        while self.eat(b'|') {
            if !left.is_nodes() {
                return Err(Failure::Syntax);
            }
            let right = self.path()?;
            if !right.is_nodes() {
                return Err(Failure::Syntax);
            }
            left = XPath::Union(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// Parses a path, or a value that a path may continue.
    fn path(&mut self) -> Parsed {
        if self.eat(b'/') {
            return match self.eat(b'/') {
                true => self.steps(anything_below(XPath::Root)),
                false if self.at_step() => self.steps(XPath::Root),
                false => Ok(XPath::Root),
            };
        }
        if self.at_step() {
            let start = if self.in_predicate {
                XPath::Context
            } else {
                XPath::Root
            };
            return self.steps(start);
        }
        let value = self.value()?;
        if self.peek().0 != Token::Sign(b'/') {
            return Ok(value);
        }
        if !value.is_nodes() {
            return Err(Failure::Syntax);
        }
        self.take();
        let start = if self.eat(b'/') {
            anything_below(value)
        } else {
            value
        };
        self.steps(start)
    }

    /// Whether a step, and not a function call, begins here.
    fn at_step(&self) -> bool {
        match self.peek().0 {
            Token::Name => self.function().is_none(),
            Token::Sign(sign) => matches!(sign, b'@' | b'*' | b'.'),
            _ => false,
        }
    }

    fn function(&self) -> Option<&'static (&'static str, Function, usize, usize)> {
        let name = self.name_before("(")?;
        FUNCTIONS.iter().find(|(known, ..)| *known == name)
    }

    fn steps(&mut self, start: XPath) -> Parsed {
        let mut from = self.step(start)?;
        while self.eat(b'/') {
            if self.eat(b'/') {
                from = anything_below(from);
            }
            from = self.step(from)?;
        }
        Ok(from)
    }

    fn step(&mut self, from: XPath) -> Parsed {
        self.count()?;
        if self.eat(b'.') {
            return Ok(if self.eat(b'.') {
                XPath::Step(Box::new(from), Axis::Parent, None)
            } else {
                from
            });
        }
        let mut axis = Axis::Child;
        if self.eat(b'@') {
            axis = Axis::Attribute;
        } else if let Some(name) = self.name_before("::")
            && let Some((_, known)) = AXES.iter().find(|(known, _)| *known == name)
        {
            self.take();
            self.take();
            self.take();
            axis = *known;
        }
        let mut nodes = match self.peek().0 {
            Token::Name
                if self
                    .name_before("(")
                    .is_some_and(|name| NODE_TESTS.contains(&name)) =>
            {
                self.take();
                self.take();
                self.expect(b')')?;
                from
            }
            Token::Name => {
                let mut name = self.take().to_owned();
                if self.eat(b':') {
                    if self.peek().0 != Token::Name {
                        return Err(Failure::Syntax);
                    }
                    name.push(':');
                    name.push_str(self.take());
                }
                XPath::Step(Box::new(from), axis, Some(name))
            }
            Token::Sign(b'*') => {
                self.take();
                XPath::Step(Box::new(from), axis, None)
            }
            _ => return Err(Failure::Syntax),
        };
        while self.eat(b'[') {
            let outer = std::mem::replace(&mut self.in_predicate, true);
            let predicate = self.or()?;
            self.in_predicate = outer;
            self.expect(b']')?;
            nodes = XPath::Filter(Box::new(nodes), Box::new(predicate));
        }
        Ok(nodes)
    }

    fn value(&mut self) -> Parsed {
        self.count()?;
        if let Some((_, function, fewest, most)) = self.function() {
            return self.call(*function, *fewest, *most);
        }
        match self.peek().0 {
            Token::Sign(b'(') => {
                self.take();
                let inner = self.or()?;
                self.expect(b')')?;
                Ok(inner)
            }
            Token::Sign(b'$') => {
                let before = self.at;
                self.take();
                let is_user = self.eat(b'@');
                if self.peek().0 != Token::Name {
                    return Err(Failure::Syntax);
                }
                let name = self.take().to_owned();
                if !is_user {
                    self.at = before;
                    return Err(Failure::Said(self.error("Unknown XPATH variable at: ")));
                }
                Ok(XPath::Variable(name))
            }
            Token::String => {
                let quoted = self.take();
                Ok(XPath::Text(quoted[1..quoted.len() - 1].to_owned()))
            }
            Token::Digits => {
                let mut digits = self.take().to_owned();
                let mut decimals = 0;
                if self.eat(b'.') && self.peek().0 == Token::Digits {
                    let fraction = self.take();
                    decimals = u8::try_from(fraction.len()).unwrap_or(30).min(30);
                    digits.push('.');
                    digits.push_str(fraction);
                }
                Ok(XPath::Number(digits.parse().unwrap_or(0.0), decimals))
            }
            _ => Err(Failure::Syntax),
        }
    }

    fn call(&mut self, function: Function, fewest: usize, most: usize) -> Parsed {
        self.take();
        self.take();
        let mut arguments = Vec::new();
        while arguments.len() < most
            && (arguments.len() < fewest || self.peek().0 != Token::Sign(b')'))
        {
            arguments.push(self.or()?);
            if !self.eat(b',') {
                break;
            }
        }
        if arguments.len() < fewest {
            return Err(Failure::Syntax);
        }
        self.expect(b')')?;
        let is_right = match function {
            Function::Count | Function::Sum => arguments.iter().all(XPath::is_nodes),
            Function::Last | Function::Position => self.in_predicate,
            Function::StringLength if arguments.is_empty() => self.in_predicate,
            _ => true,
        };
        if !is_right {
            return Err(Failure::Syntax);
        }
        if function == Function::StringLength && arguments.is_empty() {
            arguments.push(XPath::Context);
        }
        Ok(XPath::Call(function, arguments))
    }
}

/// `//`: the nodes and all elements below them.
fn anything_below(nodes: XPath) -> XPath {
    XPath::Step(Box::new(nodes), Axis::DescendantOrSelf, None)
}
