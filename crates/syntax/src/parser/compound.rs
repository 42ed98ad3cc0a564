//! Bodies of stored programs (the manual, "Compound Statement Syntax"): they are checked, and not kept.
//!
//! A stored program is error 1235, but only if its text is valid. So this part of the grammar builds no tree: a compound
//! statement is walked, and each simple statement in it is parsed as any other, up to its semicolon, where names of
//! local variables may stand for user variables and numbers of rows.

use super::cursor::{Failure, Parser, Result};
use crate::keywords::{Kw, kw};
use crate::lexer::token::{Kind, Token};

/// Words that are names elsewhere, and no labels.
const NO_LABELS: &[Kw] = &kw![
    ASCII BEGIN BYTE CACHE CHARSET CHECKSUM CLONE COMMENT COMMIT CONTAINS DEALLOCATE DO END FLUSH
    FOLLOWS HANDLER HELP IMPORT INSTALL LANGUAGE NO PRECEDES PREPARE REPAIR RESET ROLLBACK
    SAVEPOINT SIGNED SLAVE START STOP TRUNCATE UNICODE UNINSTALL XA
];

impl Parser<'_> {
    /// The statement that is a body: a compound or a simple one.
    pub(crate) fn body(&mut self) -> Result<()> {
        self.in_program = true;
        self.inner_statement()
    }

    /// Statements, each with its semicolon, up to one of the words that end a block.
    fn block(&mut self, ends: &[Kw]) -> Result<()> {
        while !self.at_any(ends) {
            self.inner_statement()?;
            self.expect_kind(Kind::Semicolon)?;
        }
        Ok(())
    }

    fn inner_statement(&mut self) -> Result<()> {
        self.nested(1, Self::one_statement)
    }

    fn one_statement(&mut self) -> Result<()> {
        let is_labelled = self.is_label(self.next()) && self.ahead(1).kind == Kind::Colon;
        if is_labelled {
            self.name()?;
            self.take();
            if !self.at_any(&kw![BEGIN LOOP REPEAT WHILE]) {
                return self.fail();
            }
        }
        match self.keyword() {
            Kw::BEGIN => {
                self.take();
                while self.at(Kw::DECLARE) {
                    self.declaration()?;
                    self.expect_kind(Kind::Semicolon)?;
                }
                self.block(&[Kw::END])?;
                self.expect(Kw::END)?;
            }
            Kw::LOOP => {
                self.take();
                self.loop_body(&[Kw::END])?;
                self.expect_all(&kw![END LOOP])?;
            }
            Kw::REPEAT => {
                self.take();
                self.loop_body(&[Kw::UNTIL])?;
                self.expect(Kw::UNTIL)?;
                self.expr()?;
                self.expect_all(&kw![END REPEAT])?;
            }
            Kw::WHILE => {
                self.take();
                self.expr()?;
                self.expect(Kw::DO)?;
                self.loop_body(&[Kw::END])?;
                self.expect_all(&kw![END WHILE])?;
            }
            Kw::IF => return self.if_statement(),
            Kw::CASE => return self.case_statement(),
            Kw::LEAVE | Kw::ITERATE | Kw::OPEN | Kw::CLOSE => {
                self.take();
                return self.name().map(drop);
            }
            Kw::FETCH => return self.fetch(),
            Kw::RETURN => {
                self.take();
                return self.expr().map(drop);
            }
            _ => return self.simple_statement(),
        }
        // The label may be repeated behind the statement.
        if is_labelled && self.at_identifier() {
            self.name()?;
        }
        Ok(())
    }

    /// At least one statement.
    fn loop_body(&mut self, ends: &[Kw]) -> Result<()> {
        match self.at_any(ends) {
            true => self.fail(),
            false => self.block(ends),
        }
    }

    fn if_statement(&mut self) -> Result<()> {
        const ENDS: [Kw; 3] = kw![ELSEIF ELSE END];
        self.expect(Kw::IF)?;
        loop {
            self.expr()?;
            self.expect(Kw::THEN)?;
            self.loop_body(&ENDS)?;
            if !self.eat(Kw::ELSEIF) {
                break;
            }
        }
        if self.eat(Kw::ELSE) {
            self.loop_body(&[Kw::END])?;
        }
        self.expect_all(&kw![END IF])
    }

    fn case_statement(&mut self) -> Result<()> {
        const ENDS: [Kw; 3] = kw![WHEN ELSE END];
        self.expect(Kw::CASE)?;
        if !self.at(Kw::WHEN) {
            self.expr()?;
        }
        loop {
            self.expect(Kw::WHEN)?;
            self.expr()?;
            self.expect(Kw::THEN)?;
            self.loop_body(&ENDS)?;
            if !self.at(Kw::WHEN) {
                break;
            }
        }
        if self.eat(Kw::ELSE) {
            self.loop_body(&[Kw::END])?;
        }
        self.expect_all(&kw![END CASE])
    }

    /// `DECLARE` of variables, of a condition, a cursor or a handler.
    fn declaration(&mut self) -> Result<()> {
        self.expect(Kw::DECLARE)?;
        let is_handler = self.ahead(1).keyword == Kw::HANDLER;
        if is_handler && self.eat_any(&kw![CONTINUE EXIT UNDO]).is_some() {
            self.expect_all(&kw![HANDLER FOR])?;
            self.comma_list(Self::handled_condition)?;
            return self.inner_statement();
        }
        let names = self.comma_list(Self::name)?;
        if names.len() == 1 && self.eat_phrase(&kw![CONDITION FOR])? {
            return match self.at_kind(Kind::Integer) {
                true => self.unsigned().map(drop),
                false => self.sqlstate(),
            };
        }
        if names.len() == 1 && self.eat_phrase(&kw![CURSOR FOR])? {
            return self.simple_statement();
        }
        self.column_type()?;
        self.after(Kw::COLLATE, Self::charset_name)?;
        self.after(Kw::DEFAULT, Self::expr).map(drop)
    }

    /// `SQLSTATE [VALUE] 'state'`.
    fn sqlstate(&mut self) -> Result<()> {
        self.expect(Kw::SQLSTATE)?;
        self.eat(Kw::VALUE);
        self.string().map(drop)
    }

    /// A condition of a handler.
    fn handled_condition(&mut self) -> Result<()> {
        match self.keyword() {
            Kw::SQLSTATE => self.sqlstate(),
            Kw::SQLWARNING | Kw::SQLEXCEPTION => {
                self.take();
                Ok(())
            }
            Kw::NOT => self.expect_all(&kw![NOT FOUND]),
            _ if self.at_kind(Kind::Integer) => self.unsigned().map(drop),
            _ => self.name().map(drop),
        }
    }

    fn fetch(&mut self) -> Result<()> {
        self.expect(Kw::FETCH)?;
        if self.at(Kw::NEXT) && self.ahead(1).keyword == Kw::FROM {
            self.take();
        }
        self.eat(Kw::FROM);
        self.name()?;
        self.expect(Kw::INTO)?;
        self.comma_list(Self::name).map(drop)
    }

    /// A statement up to its semicolon. The tokens behind it are hidden, because the end of a statement is the end of
    /// its text elsewhere.
    fn simple_statement(&mut self) -> Result<()> {
        let all = self.tokens;
        let rest = all.get(self.position..).unwrap_or_default();
        let length = rest.iter().position(|token| token.kind == Kind::Semicolon);
        let end = length.map_or(all.len(), |length| self.position + length);
        self.tokens = all.get(..end).unwrap_or(all);
        let first = self.position;
        let parsed = self.statement_body().and_then(|_| match self.at_end() {
            true => Ok(()),
            false => self.fail(),
        });
        self.into = None;
        let parsed = parsed.or_else(|failure| {
            self.position = first;
            match self.known_statement() {
                // Its own text is checked no further.
                Some(_) => {
                    self.position = end;
                    Ok(())
                }
                None => Err(self.behind_label(failure, first)),
            }
        });
        self.tokens = all;
        parsed
    }

    /// A word that begins no statement could be a label: the error is the missing colon.
    fn behind_label(&self, failure: Failure, first: usize) -> Failure {
        let begins = self.tokens.get(first).copied();
        match failure {
            Failure::Unexpected { token }
                if token as usize == first && begins.is_some_and(|it| self.is_label(it)) =>
            {
                Failure::Unexpected { token: token + 1 }
            }
            failure => failure,
        }
    }

    fn is_label(&self, token: Token) -> bool {
        self.is_identifier(token) && !NO_LABELS.contains(&token.keyword)
    }
}
