//! `CREATE`, `ALTER` and `DROP` but for tables' and views' own parts, and `TRUNCATE`, `RENAME`.

use super::cursor::{Parser, Result};
use crate::ast::{
    AlterDatabase, CreateDatabase, CreateIndex, DropDatabase, DropIndex, DropTable, DropView,
    KeyKind, RenameTable, Statement, StoredProgramKind, TableOption,
};
use crate::keywords::Kw;

impl Parser<'_> {
    pub(crate) fn create(&mut self) -> Result<Statement> {
        self.expect(Kw::CREATE)?;
        let or_replace = self.eat(Kw::OR);
        if or_replace {
            self.expect(Kw::REPLACE)?;
        }
        match self.keyword() {
            Kw::TABLE | Kw::TEMPORARY => self.create_table(or_replace),
            Kw::ALGORITHM | Kw::DEFINER | Kw::SQL | Kw::VIEW => self.create_view(or_replace, false),
            _ if or_replace => self.fail(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.take();
                let if_not_exists = self.if_not_exists()?;
                let name = self.name()?;
                let options = self.database_options()?;
                Ok(Statement::CreateDatabase(CreateDatabase {
                    if_not_exists,
                    name,
                    options,
                }))
            }
            Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL | Kw::INDEX => self.create_index(),
            Kw::USER | Kw::ROLE => self.account_statement(Kw::CREATE),
            _ => self.fail(),
        }
    }

    fn create_index(&mut self) -> Result<Statement> {
        let kind = match self.eat_any(&[Kw::UNIQUE, Kw::FULLTEXT, Kw::SPATIAL]) {
            Some(Kw::UNIQUE) => KeyKind::Unique,
            Some(Kw::FULLTEXT) => KeyKind::FullText,
            Some(_) => KeyKind::Spatial,
            None => KeyKind::Plain,
        };
        self.expect(Kw::INDEX)?;
        let name = self.name()?;
        let using = self.key_type()?;
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        let mut key = self.key_body(kind, Some(name))?;
        key.using = key.using.or(using);
        let options = self.online_options()?;
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            table,
            key,
            options,
        })))
    }

    /// `ALGORITHM [=] x` and `LOCK [=] x` in any order.
    fn online_options(&mut self) -> Result<Vec<TableOption>> {
        let mut options = Vec::new();
        while self.at_any(&[Kw::ALGORITHM, Kw::LOCK]) {
            options.push(self.named_option()?);
        }
        Ok(options)
    }

    pub(crate) fn alter(&mut self) -> Result<Statement> {
        self.expect(Kw::ALTER)?;
        match self.keyword() {
            Kw::TABLE => self.alter_table(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.take();
                let option = self.at_any(&[Kw::CHARACTER, Kw::CHAR, Kw::CHARSET])
                    || self.at_any(&[Kw::COLLATE, Kw::DEFAULT, Kw::ENCRYPTION, Kw::READ]);
                let name = if option { None } else { Some(self.name()?) };
                let options = self.database_options()?;
                if options.is_empty() {
                    return self.fail();
                }
                Ok(Statement::AlterDatabase(AlterDatabase { name, options }))
            }
            Kw::ALGORITHM | Kw::DEFINER | Kw::SQL | Kw::VIEW => self.create_view(false, true),
            Kw::USER => self.account_statement(Kw::ALTER),
            _ => self.fail(),
        }
    }

    pub(crate) fn drop_statement(&mut self) -> Result<Statement> {
        self.expect(Kw::DROP)?;
        let temporary = self.eat(Kw::TEMPORARY);
        match self.keyword() {
            Kw::TABLE | Kw::TABLES => {
                self.take();
                let if_exists = self.if_exists()?;
                let tables = self.comma_list(Self::table_name)?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Ok(Statement::DropTable(DropTable {
                    temporary,
                    if_exists,
                    tables,
                }))
            }
            _ if temporary => self.fail(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.take();
                let if_exists = self.if_exists()?;
                let name = self.name()?;
                Ok(Statement::DropDatabase(DropDatabase { if_exists, name }))
            }
            Kw::VIEW => {
                self.take();
                let if_exists = self.if_exists()?;
                let views = self.comma_list(Self::table_name)?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Ok(Statement::DropView(DropView { if_exists, views }))
            }
            Kw::INDEX => {
                self.take();
                let name = match self.eat(Kw::PRIMARY) {
                    true => "PRIMARY".to_owned(),
                    false => self.name()?,
                };
                self.expect(Kw::ON)?;
                let table = self.table_name()?;
                let options = self.online_options()?;
                Ok(Statement::DropIndex(DropIndex {
                    name,
                    table,
                    options,
                }))
            }
            Kw::PREPARE => {
                self.take();
                self.name().map(Statement::Deallocate)
            }
            Kw::USER | Kw::ROLE => self.account_statement(Kw::DROP),
            Kw::PROCEDURE => self.drop_stored_program(StoredProgramKind::Procedure),
            Kw::FUNCTION => self.drop_stored_program(StoredProgramKind::Function),
            Kw::TRIGGER => self.drop_stored_program(StoredProgramKind::Trigger),
            Kw::EVENT => self.drop_stored_program(StoredProgramKind::Event),
            _ => self.fail(),
        }
    }

    /// `TRUNCATE [TABLE] t`.
    pub(crate) fn truncate(&mut self) -> Result<Statement> {
        self.expect(Kw::TRUNCATE)?;
        self.eat(Kw::TABLE);
        self.table_name().map(Statement::TruncateTable)
    }

    /// `RENAME TABLE a TO b, ...`.
    pub(crate) fn rename(&mut self) -> Result<Statement> {
        self.expect(Kw::RENAME)?;
        if self.at(Kw::USER) {
            return self.account_statement(Kw::RENAME);
        }
        if self.eat_any(&[Kw::TABLE, Kw::TABLES]).is_none() {
            return self.fail();
        }
        let renames = self.comma_list(|parser| {
            let old_name = parser.table_name()?;
            parser.expect(Kw::TO)?;
            Ok((old_name, parser.table_name()?))
        })?;
        Ok(Statement::RenameTable(RenameTable { renames }))
    }
}
