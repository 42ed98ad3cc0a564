//! Statements of MySQL that Mayfly knows by their first keywords and cannot run yet.
//!
//! Such a statement gives error 1235, not a syntax error: its text is valid, as far as it is checked. The list is searched only when a statement
//! could not be parsed, so that no other statement pays for it.

use super::cursor::{Parser, Result};
use crate::ast::Statement;
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// The keywords that begin each statement. `OR REPLACE`, `DEFINER = …`, `AGGREGATE` and `UNDO` may stand behind the first.
const STATEMENTS: &[&[Kw]] = &[
    &kw![ALTER EVENT],
    &kw![ALTER FUNCTION],
    &kw![ALTER INSTANCE],
    &kw![ALTER LOGFILE GROUP],
    &kw![ALTER PROCEDURE],
    &kw![ALTER RESOURCE GROUP],
    &kw![ALTER SERVER],
    &kw![ALTER TABLESPACE],
    &kw![BINLOG],
    &kw![CALL],
    &kw![CHANGE REPLICATION FILTER],
    &kw![CHANGE REPLICATION SOURCE],
    &kw![CHANGE],
    &kw![CLONE],
    &kw![CREATE EVENT],
    &kw![CREATE FUNCTION],
    &kw![CREATE LOGFILE GROUP],
    &kw![CREATE PROCEDURE],
    &kw![CREATE RESOURCE GROUP],
    &kw![CREATE SERVER],
    &kw![CREATE SPATIAL REFERENCE SYSTEM],
    &kw![CREATE TABLESPACE],
    &kw![CREATE TRIGGER],
    &kw![DROP LOGFILE GROUP],
    &kw![DROP RESOURCE GROUP],
    &kw![DROP SERVER],
    &kw![DROP SPATIAL REFERENCE SYSTEM],
    &kw![DROP TABLESPACE],
    &kw![GET CURRENT DIAGNOSTICS],
    &kw![GET DIAGNOSTICS],
    &kw![GET STACKED DIAGNOSTICS],
    &kw![IMPORT TABLE],
    &kw![INSTALL COMPONENT],
    &kw![INSTALL PLUGIN],
    &kw![LOAD XML],
    &kw![LOCK INSTANCE],
    &kw![PURGE BINARY LOGS],
    &kw![RESET],
    &kw![RESIGNAL],
    &kw![RESTART],
    &kw![SHOW PARSE_TREE],
    &kw![SIGNAL],
    &kw![START GROUP_REPLICATION],
    &kw![START REPLICA],
    &kw![STOP GROUP_REPLICATION],
    &kw![STOP REPLICA],
    &kw![UNINSTALL COMPONENT],
    &kw![UNINSTALL PLUGIN],
    &kw![UNLOCK INSTANCE],
    &kw![XA],
];

/// Greatest number of tokens of `= user@host`.
const DEFINER_TOKENS: usize = 6;

impl Parser<'_> {
    /// The unsupported statement whose keywords the text begins with, if any, or the error in its text where that is
    /// checked.
    pub(crate) fn unsupported_statement(&mut self) -> Option<Result<Statement>> {
        self.position = 0;
        let known = self.known_statement()?;
        let words: Vec<&str> = known.iter().map(|keyword| keyword.spelling()).collect();
        let checked = self.check_stored_program(known);
        Some(checked.map(|()| Statement::Unsupported(words.join(" "))))
    }

    /// The keywords of an unsupported statement that is next; takes them.
    pub(crate) fn known_statement(&mut self) -> Option<&'static [Kw]> {
        let first = self.take().keyword;
        self.skip_attributes();
        let known = STATEMENTS.iter().find(|keywords| {
            keywords.first() == Some(&first) && self.at_all(keywords.get(1..).unwrap_or_default())
        })?;
        self.position += known.len() - 1;
        Some(known)
    }

    /// Skips attributes between `CREATE` and the kind of object.
    fn skip_attributes(&mut self) {
        if self.eat(Kw::OR) {
            self.eat(Kw::REPLACE);
        }
        if self.at(Kw::DEFINER) {
            const CREATED: [Kw; 4] = kw![EVENT FUNCTION PROCEDURE TRIGGER];
            let is_created = |ahead: &usize| {
                let token = self.ahead(*ahead);
                token.kind == Kind::Word && CREATED.contains(&token.keyword)
            };
            let ahead = (1..=DEFINER_TOKENS + 1).find(is_created);
            self.position += ahead.unwrap_or(0);
        }
        self.eat_any(&kw![AGGREGATE UNDO]);
    }
}
