//! The entry points: a text in, its statements out, one after the other.

use crate::ast::Statement;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::lexer::token::Token;
use crate::lexer::{Lexed, has_token, lex_bounded};
use crate::parser::cursor::{Failure, Parser};
use crate::{DEPTH_MAX, LENGTH_MAX, ParseOptions};

/// A statement with its source text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStatement<'a> {
    /// The statement.
    pub statement: Statement,
    /// Its text, without the semicolon and the blanks and comments around it.
    pub text: &'a str,
    /// The byte behind the statement's semicolon, where the next one begins.
    pub end: usize,
    /// Number of `?` in it.
    pub parameters: u32,
    /// An upper bound of the height of its tree; see [`with_stack`].
    pub height: u32,
    /// Estimated bytes of its tree and of the structures made from it.
    pub tree_bytes: u64,
    /// How its expressions use user variables.
    pub variables: VariableUse,
}

/// Use of user variables in the expressions of a statement: a row's result may depend on the rows before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableUse {
    /// No variable is set.
    #[default]
    NotSet,
    /// Variables are set, and named in select lists and assignments alone.
    InLists,
    /// Variables are set, and named in conditions, keys and orders too.
    InConditions,
}

/// Iterator over the statements of a text. Later statements are not read before they are asked for, so `sql_mode` may
/// change in between ([`Statements::set_options`]), and an error in one leaves those before it valid. It ends after an
/// error.
#[derive(Debug, Clone)]
pub struct Statements<'a> {
    sql: &'a str,
    /// Start of the blanks and semicolons at the end of the text, which MySQL calls garbage.
    end: usize,
    position: usize,
    options: ParseOptions,
    tree_bytes_max: u64,
    found: bool,
    done: bool,
}

/// A text without the trailing bytes that MySQL ignores: programs in C send the NUL behind a string with it.
pub(crate) fn readable(sql: &str) -> &str {
    let sql = sql.strip_suffix('\0').unwrap_or(sql);
    sql.trim_end_matches(is_garbage)
}

fn is_garbage(character: char) -> bool {
    character.is_ascii_whitespace() || character == ';'
}

/// Reads the statements of a text lazily.
pub fn statements<'a>(sql: &'a str, options: &ParseOptions) -> Statements<'a> {
    let end = readable(sql).len();
    Statements {
        sql,
        end,
        position: 0,
        options: *options,
        tree_bytes_max: u64::MAX,
        found: false,
        done: false,
    }
}

impl<'a> Statements<'a> {
    /// Sets the options from the next statement on.
    pub fn set_options(&mut self, options: &ParseOptions) {
        self.options = *options;
    }

    /// Sets the greatest estimated size of a statement ([`ParsedStatement::tree_bytes`]): a larger one is
    /// [`SyntaxErrorKind::TooLarge`], before its tree is made.
    #[must_use]
    pub fn with_tree_bytes_max(mut self, bytes: u64) -> Self {
        self.tree_bytes_max = bytes;
        self
    }

    /// The text that has not been read yet.
    pub fn rest(&self) -> &'a str {
        self.sql.get(self.position..).unwrap_or("")
    }

    /// Whether a statement follows, valid or not, and not only blanks, comments and semicolons.
    pub fn has_more(&self) -> bool {
        self.sql.len() <= LENGTH_MAX && has_token(self.readable(), self.position, &self.options)
    }

    #[inline]
    fn readable(&self) -> &'a str {
        self.sql.get(..self.end).unwrap_or(self.sql)
    }

    fn error(&self, kind: SyntaxErrorKind, token: Token) -> SyntaxError {
        let text = self.readable();
        let offset = (token.start as usize).min(text.len());
        // The line is that of the lexer's position behind the offending token.
        let end = (token.end as usize).clamp(offset, text.len());
        SyntaxError::at(kind, text, offset, end)
    }

    /// The next statement, if `admit` admits its estimated bytes ([`ParsedStatement::tree_bytes`]): it is called before
    /// the tree is made.
    pub fn next_admitted(
        &mut self,
        admit: impl FnMut(u64) -> bool,
    ) -> Option<Result<ParsedStatement<'a>, SyntaxError>> {
        if self.done {
            return None;
        }
        let next = self.parse_next(admit);
        self.done = !matches!(next, Some(Ok(_)));
        next
    }

    fn parse_next(
        &mut self,
        mut admit: impl FnMut(u64) -> bool,
    ) -> Option<Result<ParsedStatement<'a>, SyntaxError>> {
        let end = Token::end(self.end as u32, self.end as u32);
        if self.sql.len() > LENGTH_MAX {
            let kind = SyntaxErrorKind::TooLong { limit: LENGTH_MAX };
            return Some(Err(self.error(kind, Token::end(0, 0))));
        }
        let text = self.readable();
        loop {
            let lexed = lex_bounded(text, self.position, &self.options, self.tree_bytes_max);
            let bytes = lexed.tree_bytes;
            if bytes > self.tree_bytes_max || !admit(bytes) {
                return Some(Err(self.error(SyntaxErrorKind::TooLarge { bytes }, end)));
            }
            let at_end = lexed.next >= text.len();
            self.position = lexed.next;
            if lexed.tokens.len() > 1 {
                return Some(self.parse_tokens(&lexed, at_end));
            }
            if at_end && self.found {
                return None;
            }
            // A text of comments is an empty statement; one of blanks and semicolons is error 1065.
            if at_end && !text.trim_start_matches(is_garbage).is_empty() {
                self.found = true;
                return Some(Ok(ParsedStatement {
                    statement: Statement::Empty,
                    text: "",
                    end: self.sql.len(),
                    parameters: 0,
                    height: 0,
                    tree_bytes: 0,
                    variables: VariableUse::NotSet,
                }));
            }
            if at_end {
                return Some(Err(self.error(SyntaxErrorKind::Empty, end)));
            }
        }
    }

    /// The text from the first token to the last before the end.
    fn text_of(&self, tokens: &[Token]) -> &'a str {
        let start = tokens.first().map_or(0, |first| first.start as usize);
        let last = tokens.iter().rev().nth(1);
        let end = last.map_or(start, |last| last.end as usize);
        self.sql.get(start..end).unwrap_or("")
    }

    fn parse_tokens(
        &mut self,
        lexed: &Lexed,
        at_end: bool,
    ) -> Result<ParsedStatement<'a>, SyntaxError> {
        self.found = true;
        let (tokens, next) = (lexed.tokens.as_slice(), lexed.next);
        let mut parser = Parser::new(self.sql, tokens, &self.options);
        let (kind, index) = match parser.statement() {
            Ok(statement) => {
                return Ok(ParsedStatement {
                    statement,
                    text: self.text_of(tokens),
                    end: if at_end { self.sql.len() } else { next },
                    parameters: parser.parameters,
                    height: parser.height_max,
                    tree_bytes: lexed.tree_bytes,
                    variables: match (parser.sets_variables, parser.variables_in_conditions) {
                        (false, _) => VariableUse::NotSet,
                        (true, false) => VariableUse::InLists,
                        (true, true) => VariableUse::InConditions,
                    },
                });
            }
            Err(Failure::Unexpected { token }) => (SyntaxErrorKind::Unexpected, token),
            Err(Failure::TooDeep { token }) => {
                (SyntaxErrorKind::TooDeep { limit: DEPTH_MAX }, token)
            }
            Err(Failure::Unsupported(what, token)) => (
                SyntaxErrorKind::Unsupported {
                    feature: what.name(),
                },
                token,
            ),
        };
        let token = tokens.get(index as usize).or(tokens.last()).copied();
        let end = self.sql.len() as u32;
        Err(self.error(kind, token.unwrap_or(Token::end(end, end))))
    }
}

impl<'a> Iterator for Statements<'a> {
    type Item = Result<ParsedStatement<'a>, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_admitted(|_| true)
    }
}

/// Parses every statement of a text, separated by semicolons.
///
/// # Errors
/// The first statement that cannot be parsed; a text without any is [`SyntaxErrorKind::Empty`].
pub fn parse<'a>(
    sql: &'a str,
    options: &ParseOptions,
) -> Result<Vec<ParsedStatement<'a>>, SyntaxError> {
    statements(sql, options).collect()
}

/// Parses a text that holds exactly one statement.
///
/// # Errors
/// What [`parse`] would give, and 1064 at the second statement if there is one.
pub fn parse_one<'a>(
    sql: &'a str,
    options: &ParseOptions,
) -> Result<ParsedStatement<'a>, SyntaxError> {
    let mut statements = statements(sql, options);
    let empty = || SyntaxError::at(SyntaxErrorKind::Empty, sql, sql.len(), 0);
    let first = statements.next().unwrap_or_else(|| Err(empty()))?;
    if first.end < sql.len() {
        let offset = sql.len() - statements.rest().trim_start().len();
        return Err(SyntaxError::at(
            SyntaxErrorKind::Unexpected,
            sql,
            offset,
            offset,
        ));
    }
    Ok(first)
}

/// Stack of a walk for each level of a tree. Binding a level in an unoptimised build takes a few kilobytes.
const STACK_PER_LEVEL: usize = 32 << 10;

/// Runs a walk over a statement's tree on a stack that suffices for its height ([`ParsedStatement::height`]), growing
/// the current stack only if necessary.
pub fn with_stack<T>(height: u32, walk: impl FnOnce() -> T) -> T {
    let needed = STACK_PER_LEVEL * height.min(DEPTH_MAX) as usize;
    stacker::maybe_grow(needed, needed + STACK_PER_LEVEL, walk)
}
