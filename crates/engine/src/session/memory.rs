//! The memory budgets of a session. Everything that a session holds beside rows (trees of statements, prepared
//! statements, user variables) is charged like rows, so that the limit of all memory includes it.

use mayfly_functions::context::memory_exceeded;
use mayfly_memory::Reservation;
use mayfly_memory::budget::UNLIMITED;
use mayfly_syntax::{ParsedStatement, Statements, SyntaxError, SyntaxErrorKind};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::Session;
use super::tree_memory::TreeMemory;
use crate::error;

/// Tree size below which a statement is not charged: a session has one at a time.
const SMALL_STATEMENT: u64 = 256 << 10;

/// Memory that a session keeps for its client, until this is dropped.
#[derive(Debug)]
pub struct KeptMemory(#[expect(dead_code, reason = "gives the memory back")] Reservation);

impl Session {
    /// Parses the next statement of a text, and reserves the memory of its tree.
    pub(crate) fn parse_next<'a>(
        &self,
        reader: &mut Statements<'a>,
    ) -> Option<Result<(ParsedStatement<'a>, TreeMemory), ParseError>> {
        let mut held = TreeMemory::default();
        let mut refused = None;
        let next = reader.next_admitted(|bytes| match self.reserve_tree(bytes) {
            Ok(reserved) => {
                held = TreeMemory(reserved);
                true
            }
            Err(error) => {
                refused = Some(error);
                false
            }
        });
        Some(match (next?, refused) {
            (_, Some(error)) => Err(ParseError::Other(error)),
            (Ok(parsed), None) => Ok((parsed, held)),
            (Err(syntax), None) => Err(ParseError::Syntax(syntax)),
        })
    }

    /// Parses one statement: 1065 where the text has none.
    pub(crate) fn parse_statement<'a>(
        &self,
        reader: &mut Statements<'a>,
    ) -> Result<(ParsedStatement<'a>, TreeMemory)> {
        let empty = || codes::ER_EMPTY_QUERY.error();
        let next = self.parse_next(reader).ok_or_else(empty)?;
        next.map_err(|error| self.parse_error(error))
    }

    /// A reader of statements that stops at a tree larger than the memory limit.
    pub(crate) fn statements_of<'a>(&self, text: &'a str) -> Statements<'a> {
        let reader = mayfly_syntax::statements(text, &self.settings.options().parse);
        match self.memory.own.effective_limit() {
            UNLIMITED => reader,
            most => reader.with_tree_bytes_max(most),
        }
    }

    fn reserve_tree(&self, bytes: u64) -> Result<Option<Reservation>> {
        let most = self.settings.options().parser_max_mem_size;
        if bytes > most {
            let setting = "parser_max_mem_size";
            let what = "Parser bailed out for this query.";
            return Err(codes::ER_CAPACITY_EXCEEDED.with(&[&most, &setting, &what]));
        }
        if bytes < SMALL_STATEMENT {
            return Ok(None);
        }
        self.reserve_own(bytes).map(Some)
    }

    /// Reserves memory for objects of the session besides rows.
    pub(crate) fn reserve_own(&self, bytes: u64) -> Result<Reservation> {
        self.database.resources.make_room(bytes, &self.memory.own);
        let reserved = self.memory.own.reserve_forced(bytes);
        reserved.map_err(|error| memory_exceeded(&error))
    }

    /// Reserves memory for objects that the session keeps between statements.
    pub(crate) fn reserve_kept(&self, bytes: u64) -> Result<Reservation> {
        self.database.resources.make_room(bytes, &self.memory.kept);
        let reserved = self.memory.kept.reserve(bytes);
        reserved.map_err(|error| memory_exceeded(&error))
    }

    /// Reserves memory for data from a client that the session keeps.
    ///
    /// # Errors
    /// Where the session may keep no more.
    pub fn keep(&self, bytes: u64) -> Result<KeptMemory> {
        self.reserve_kept(bytes).map(KeptMemory)
    }

    /// The error of a text that cannot be parsed.
    pub(crate) fn parse_error(&self, error: ParseError) -> Error {
        let syntax = match error {
            ParseError::Syntax(syntax) => syntax,
            ParseError::Other(error) => return error,
        };
        let SyntaxErrorKind::TooLarge { bytes } = syntax.kind else {
            return error::from_syntax(&syntax);
        };
        let refused = self.memory.own.refusing_forced(bytes);
        let limit = refused.unwrap_or(&self.memory.own);
        memory_exceeded(&limit.error(bytes))
    }
}

/// Reason why a text has no statement.
pub(crate) enum ParseError {
    /// The text has a syntax error.
    Syntax(SyntaxError),
    /// The text may not be parsed.
    Other(Error),
}
