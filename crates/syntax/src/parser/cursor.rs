//! The parser's position in a statement: looking at tokens, taking them, and failing at one.
//!
//! The grammar is read by recursive descent with one token of look-ahead and without backtracking,
//! as MySQL's own LALR(1) parser does; so the token that cannot be taken is the one that MySQL's
//! error 1064 points at.

use crate::ast::Ident;

use crate::ParseOptions;
use crate::ast::TableName;
use crate::keywords::Kw;
use crate::lexer::literal::{unquote_identifier, unquote_string};
use crate::lexer::token::{Kind, Token};

/// Why parsing stopped. Small, because it travels in every result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The token cannot stand there.
    Unexpected {
        /// Its index.
        token: u32,
    },
    /// The statement is nested too deeply.
    TooDeep {
        /// The index of the token at which it became too deep.
        token: u32,
    },
    /// The statement is valid, and MySQL does not support it.
    Unsupported(Unsupported, u32),
}

/// A feature that MySQL's grammar has and MySQL does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsupported {
    /// `EXCLUDE` in a frame.
    Exclude,
    /// `NTH_VALUE(…) FROM LAST`
    FromLast,
}

impl Unsupported {
    /// Name in error 1235.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exclude => "EXCLUDE",
            Self::FromLast => "FROM LAST",
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A parser over one statement's tokens.
pub(crate) struct Parser<'a> {
    /// The whole text; tokens point into it.
    pub(crate) sql: &'a str,
    pub(crate) tokens: &'a [Token],
    /// The index of the next token.
    pub(crate) position: usize,
    pub(crate) options: ParseOptions,
    /// Number of open levels of recursion.
    pub(crate) depth: u32,
    /// The height of the highest subtree completed since it was last set to zero.
    pub(crate) height: u32,
    /// The highest tree completed so far.
    pub(crate) height_max: u32,
    /// An `INTO` clause met in the statement's outermost query.
    pub(crate) into: Option<crate::ast::IntoTarget>,
    /// Number of open queries; `INTO` is allowed only in the outermost.
    pub(crate) queries: u32,
    /// Number of `?` so far.
    pub(crate) parameters: u32,
    /// Number of open expressions that filter, join, group or order rows.
    pub(crate) conditions: u32,
    /// Whether an expression sets a user variable.
    pub(crate) sets_variables: bool,
    /// Whether such an expression names a user variable.
    pub(crate) variables_in_conditions: bool,
    /// Whether RETURNING may end the statement.
    pub(crate) may_return: bool,
    /// Whether the statement is in a stored program, whose local variables have plain names.
    pub(crate) in_program: bool,
}

/// Token behind the last one.
const END: Token = Token::end(u32::MAX, u32::MAX);

impl<'a> Parser<'a> {
    #[inline]
    pub(crate) fn new(sql: &'a str, tokens: &'a [Token], options: &ParseOptions) -> Self {
        Parser {
            sql,
            tokens,
            position: 0,
            options: *options,
            depth: 0,
            height: 0,
            height_max: 0,
            into: None,
            queries: 0,
            parameters: 0,
            conditions: 0,
            sets_variables: false,
            variables_in_conditions: false,
            may_return: false,
            in_program: false,
        }
    }

    /// The token some tokens ahead; the next one for zero.
    pub(crate) fn ahead(&self, ahead: usize) -> Token {
        self.tokens
            .get(self.position + ahead)
            .copied()
            .unwrap_or(END)
    }

    pub(crate) fn next(&self) -> Token {
        self.ahead(0)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.next().kind
    }

    pub(crate) fn keyword(&self) -> Kw {
        self.next().keyword
    }

    /// Takes the next token. At the end of the statement it stays there.
    pub(crate) fn take(&mut self) -> Token {
        let token = self.next();
        if token.kind != Kind::End {
            self.position += 1;
        }
        token
    }

    pub(crate) fn at(&self, keyword: Kw) -> bool {
        self.keyword() == keyword
    }

    /// Whether a token ahead is a word that is no keyword in MySQL.
    pub(crate) fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.ahead(ahead);
        token.kind == Kind::Word && self.text(token).eq_ignore_ascii_case(word)
    }

    pub(crate) fn at_any(&self, keywords: &[Kw]) -> bool {
        let next = self.keyword();
        next != Kw::OTHER && keywords.contains(&next)
    }

    pub(crate) fn at_kind(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at_kind(Kind::End)
    }

    /// Whether the keywords stand here one after the other.
    pub(crate) fn at_all(&self, keywords: &[Kw]) -> bool {
        keywords
            .iter()
            .enumerate()
            .all(|(ahead, keyword)| self.ahead(ahead).keyword == *keyword)
    }

    /// Takes a keyword if it is next.
    pub(crate) fn eat(&mut self, keyword: Kw) -> bool {
        let found = self.at(keyword);
        self.position += usize::from(found);
        found
    }

    /// Takes one of several keywords if it is next.
    pub(crate) fn eat_any(&mut self, keywords: &[Kw]) -> Option<Kw> {
        self.at_any(keywords).then(|| self.take().keyword)
    }

    /// Takes a phrase if its first keyword is next: all of it must then follow.
    pub(crate) fn eat_phrase(&mut self, keywords: &[Kw]) -> Result<bool> {
        let found = keywords.first().is_some_and(|first| self.at(*first));
        if found {
            self.expect_all(keywords)?;
        }
        Ok(found)
    }

    pub(crate) fn eat_kind(&mut self, kind: Kind) -> bool {
        let found = self.at_kind(kind);
        if found {
            self.take();
        }
        found
    }

    pub(crate) fn expect(&mut self, keyword: Kw) -> Result<()> {
        if self.eat(keyword) {
            Ok(())
        } else {
            self.fail()
        }
    }

    pub(crate) fn expect_all(&mut self, keywords: &[Kw]) -> Result<()> {
        keywords
            .iter()
            .try_for_each(|keyword| self.expect(*keyword))
    }

    /// Takes one of several keywords.
    pub(crate) fn expect_any(&mut self, keywords: &[Kw]) -> Result<Kw> {
        match self.eat_any(keywords) {
            Some(keyword) => Ok(keyword),
            None => self.fail(),
        }
    }

    pub(crate) fn expect_kind(&mut self, kind: Kind) -> Result<Token> {
        if self.at_kind(kind) {
            Ok(self.take())
        } else {
            self.fail()
        }
    }

    /// Fails at the next token.
    pub(crate) fn fail<T>(&self) -> Result<T> {
        Err(Failure::Unexpected {
            token: self.position as u32,
        })
    }

    /// Fails because the next construct is not supported.
    pub(crate) fn unsupported<T>(&self, what: Unsupported) -> Result<T> {
        Err(Failure::Unsupported(what, self.position as u32))
    }

    /// Fails at the token taken last.
    pub(crate) fn fail_at_previous<T>(&self) -> Result<T> {
        Err(Failure::Unexpected {
            token: self.position.saturating_sub(1) as u32,
        })
    }

    /// The source text of a token.
    pub(crate) fn text(&self, token: Token) -> &'a str {
        token.text(self.sql)
    }

    /// The source text from a token up to, but not including, the next one to be taken.
    pub(crate) fn text_from(&self, first: usize) -> &'a str {
        match self.tokens.get(first..self.position) {
            Some([first, .., last]) => {
                let range = first.start as usize..last.end as usize;
                self.sql.get(range).unwrap_or("")
            }
            Some([only]) => self.text(*only),
            _ => "",
        }
    }

    /// Takes the rest of the statement, as text.
    pub(crate) fn rest(&mut self) -> &'a str {
        let first = self.position;
        while !self.at_end() {
            self.take();
        }
        self.text_from(first)
    }

    /// Whether a token can be an identifier.
    pub(crate) fn is_identifier(&self, token: Token) -> bool {
        match token.kind {
            Kind::Word => !token.keyword.is_reserved() && !token.keyword.is_call_only(),
            Kind::PlainWord | Kind::QuotedIdent => true,
            // An introducer of an unknown character set is lexed as a word; a known one with no
            // string behind it is a name.
            Kind::Introducer => true,
            _ => false,
        }
    }

    pub(crate) fn at_identifier(&self) -> bool {
        self.is_identifier(self.next())
    }

    /// The name a token spells, without its quotes.
    pub(crate) fn name_of(&self, token: Token) -> String {
        let text = self.text(token);
        if token.kind == Kind::QuotedIdent {
            unquote_identifier(text)
        } else {
            text.to_owned()
        }
    }

    fn identifier(&mut self) -> Result<Token> {
        if !self.at_identifier() {
            return self.fail();
        }
        Ok(self.take())
    }

    /// An identifier's name.
    pub(crate) fn name(&mut self) -> Result<String> {
        self.identifier().map(|token| self.name_of(token))
    }

    /// A name, if an identifier is next.
    pub(crate) fn optional_name(&mut self) -> Result<Option<String>> {
        self.at_identifier().then(|| self.name()).transpose()
    }

    /// The name of an index; `PRIMARY` is the primary key.
    pub(crate) fn index_name(&mut self) -> Result<String> {
        if self.eat(Kw::PRIMARY) {
            return Ok("PRIMARY".to_owned());
        }
        self.name()
    }

    /// An identifier that remembers whether it was quoted.
    pub(crate) fn ident(&mut self) -> Result<Ident> {
        let token = self.identifier()?;
        let value = self.name_of(token);
        Ok(match token.kind {
            Kind::QuotedIdent => Ident::with_quote('`', value),
            _ => Ident::new(value),
        })
    }

    /// `a`, `db.a` and also `.a`, which means `a`.
    pub(crate) fn table_name(&mut self) -> Result<TableName> {
        self.eat_kind(Kind::Dot);
        let mut table = TableName::bare(self.name()?);
        if self.eat_kind(Kind::Dot) {
            table.database = Some(std::mem::replace(&mut table.name, self.name()?));
        }
        Ok(table)
    }

    /// Parses `parse` behind a keyword, if the keyword is next.
    pub(crate) fn after<T>(
        &mut self,
        keyword: Kw,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        self.eat(keyword).then(|| read(self)).transpose()
    }

    /// Parses something that a keyword such as `DEFAULT` may replace; `None` for the keyword.
    pub(crate) fn unless<T>(
        &mut self,
        keyword: Kw,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        (!self.eat(keyword)).then(|| read(self)).transpose()
    }

    /// `a, b, c` of anything.
    pub(crate) fn comma_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_kind(Kind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `a, b, c` behind a keyword, if the keyword is next.
    pub(crate) fn list_after<T>(
        &mut self,
        keyword: Kw,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let list = self.after(keyword, |parser| parser.comma_list(item))?;
        Ok(list.unwrap_or_default())
    }

    /// Something in parentheses.
    pub(crate) fn parens<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.expect_kind(Kind::LeftParen)?;
        let value = inside(self)?;
        self.expect_kind(Kind::RightParen)?;
        Ok(value)
    }

    /// `(a, b, c)` of anything.
    pub(crate) fn paren_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.parens(|parser| parser.comma_list(item))
    }

    /// `(a, b, c)` or `()`.
    pub(crate) fn paren_list_or_empty<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.parens(|parser| {
            if parser.at_kind(Kind::RightParen) {
                return Ok(Vec::new());
            }
            parser.comma_list(item)
        })
    }

    /// `(a, b, c)`, if a parenthesis is next.
    pub(crate) fn optional_paren_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        if !self.at_kind(Kind::LeftParen) {
            return Ok(Vec::new());
        }
        self.paren_list(item)
    }

    /// The value of a token that is a string.
    pub(crate) fn string_of(&self, token: Token) -> String {
        // The quotes of a national string stand behind its `N`.
        let start = usize::from(token.kind == Kind::NationalString);
        let quoted = self.text(token).get(start..).unwrap_or("");
        unquote_string(quoted, self.options.no_backslash_escapes).into_owned()
    }

    /// A string literal; adjacent ones are one string.
    pub(crate) fn string(&mut self) -> Result<String> {
        let token = self.expect_kind(Kind::String)?;
        Ok(self.string_of(token))
    }

    /// A name, or a string that stands for one: character sets, engines, aliases.
    pub(crate) fn name_or_string(&mut self) -> Result<String> {
        if self.at_kind(Kind::String) {
            self.string()
        } else {
            self.name()
        }
    }

    /// A character set's name; `BINARY` and `ASCII` are words that stand for one.
    pub(crate) fn charset_name(&mut self) -> Result<String> {
        if self.eat(Kw::BINARY) {
            Ok("binary".to_owned())
        } else {
            self.name_or_string()
        }
    }

    /// An unsigned integer; hexadecimal ones are allowed as MySQL's `ulong_num` has it.
    pub(crate) fn unsigned(&mut self) -> Result<u64> {
        let token = self.next();
        let text = self.text(token);
        let value = match token.kind {
            Kind::Integer => text.parse().ok(),
            Kind::Hex => text
                .get(2..)
                .and_then(|digits| u64::from_str_radix(digits, 16).ok()),
            // A token has no sign, and the cast saturates.
            Kind::Decimal => text.parse::<f64>().ok().map(|number| number as u64),
            _ => None,
        };
        let Some(value) = value else {
            return self.fail();
        };
        self.take();
        Ok(value)
    }

    /// An optional equals sign.
    pub(crate) fn eat_equal(&mut self) -> bool {
        self.eat_kind(Kind::Equal) || self.eat_kind(Kind::Assign)
    }

    pub(crate) fn expect_equal(&mut self) -> Result<()> {
        if !self.eat_equal() {
            return self.fail();
        }
        Ok(())
    }
}
