//! Statements of MySQL that Mayfly knows by their first keywords and cannot run yet.
//!
//! Such a statement is honest error 1235, not a syntax error: its text is right. It is looked for when a
//! statement could not be parsed, so that no other statement pays for the list.

use super::cursor::Parser;
use crate::ast::Statement;
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// The keywords that begin each statement. `OR REPLACE`, `DEFINER = …`, `AGGREGATE` and `UNDO` may stand behind the first.
const STATEMENTS: &[&[Kw]] = &[
    &[Kw::ALTER, Kw::EVENT],
    &[Kw::ALTER, Kw::FUNCTION],
    &[Kw::ALTER, Kw::INSTANCE],
    &[Kw::ALTER, Kw::LOGFILE, Kw::GROUP],
    &[Kw::ALTER, Kw::PROCEDURE],
    &[Kw::ALTER, Kw::RESOURCE, Kw::GROUP],
    &[Kw::ALTER, Kw::SERVER],
    &[Kw::ALTER, Kw::TABLESPACE],
    &[Kw::BINLOG],
    &[Kw::CACHE, Kw::INDEX],
    &[Kw::CALL],
    &[Kw::CHANGE, Kw::REPLICATION, Kw::FILTER],
    &[Kw::CHANGE, Kw::REPLICATION, Kw::SOURCE],
    &[Kw::CHANGE],
    &[Kw::CLONE],
    &[Kw::CREATE, Kw::EVENT],
    &[Kw::CREATE, Kw::FUNCTION],
    &[Kw::CREATE, Kw::LOGFILE, Kw::GROUP],
    &[Kw::CREATE, Kw::PROCEDURE],
    &[Kw::CREATE, Kw::RESOURCE, Kw::GROUP],
    &[Kw::CREATE, Kw::SERVER],
    &[Kw::CREATE, Kw::SPATIAL, Kw::REFERENCE, Kw::SYSTEM],
    &[Kw::CREATE, Kw::TABLESPACE],
    &[Kw::CREATE, Kw::TRIGGER],
    &[Kw::DROP, Kw::LOGFILE, Kw::GROUP],
    &[Kw::DROP, Kw::RESOURCE, Kw::GROUP],
    &[Kw::DROP, Kw::SERVER],
    &[Kw::DROP, Kw::SPATIAL, Kw::REFERENCE, Kw::SYSTEM],
    &[Kw::DROP, Kw::TABLESPACE],
    &[Kw::GET, Kw::CURRENT, Kw::DIAGNOSTICS],
    &[Kw::GET, Kw::DIAGNOSTICS],
    &[Kw::GET, Kw::STACKED, Kw::DIAGNOSTICS],
    &[Kw::IMPORT, Kw::TABLE],
    &[Kw::INSTALL, Kw::COMPONENT],
    &[Kw::INSTALL, Kw::PLUGIN],
    &[Kw::LOAD, Kw::INDEX],
    &[Kw::LOAD, Kw::XML],
    &[Kw::LOCK, Kw::INSTANCE],
    &[Kw::PURGE, Kw::BINARY, Kw::LOGS],
    &[Kw::RESET],
    &[Kw::RESIGNAL],
    &[Kw::RESTART],
    &[Kw::SHOW, Kw::PARSE_TREE],
    &[Kw::SIGNAL],
    &[Kw::START, Kw::GROUP_REPLICATION],
    &[Kw::START, Kw::REPLICA],
    &[Kw::STOP, Kw::GROUP_REPLICATION],
    &[Kw::STOP, Kw::REPLICA],
    &[Kw::UNINSTALL, Kw::COMPONENT],
    &[Kw::UNINSTALL, Kw::PLUGIN],
    &[Kw::UNLOCK, Kw::INSTANCE],
    &[Kw::XA],
];

/// How many tokens `= user@host` may have.
const DEFINER_TOKENS: usize = 6;

impl Parser<'_> {
    /// The statement, as far as it is known, when its text begins as one of the list does.
    pub(crate) fn unsupported_statement(&mut self) -> Option<Statement> {
        self.position = 0;
        let first = self.take().keyword;
        self.skip_attributes();
        let known = STATEMENTS.iter().find(|keywords| {
            keywords.first() == Some(&first) && self.at_all(keywords.get(1..).unwrap_or_default())
        })?;
        let mut words = vec![self.word_at(0)];
        for ahead in 0..known.len() - 1 {
            words.push(self.word_at(self.position + ahead));
        }
        self.rest();
        Some(Statement::Unsupported(words.join(" ")))
    }

    fn word_at(&self, position: usize) -> String {
        let token = self.tokens.get(position).copied();
        token.map_or(String::new(), |token| self.text(token).to_ascii_uppercase())
    }

    /// What may stand between `CREATE` and what is created.
    fn skip_attributes(&mut self) {
        if self.eat(Kw::OR) {
            self.eat(Kw::REPLACE);
        }
        if self.at(Kw::DEFINER) {
            const CREATED: [Kw; 4] = [Kw::EVENT, Kw::FUNCTION, Kw::PROCEDURE, Kw::TRIGGER];
            let is_created = |ahead: &usize| {
                let token = self.ahead(*ahead);
                token.kind == Kind::Word && CREATED.contains(&token.keyword)
            };
            let ahead = (1..=DEFINER_TOKENS + 1).find(is_created);
            self.position += ahead.unwrap_or(0);
        }
        self.eat_any(&[Kw::AGGREGATE, Kw::UNDO]);
    }
}
