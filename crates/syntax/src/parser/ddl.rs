//! Parses `CREATE`, `ALTER` and `DROP`, except the parts of tables and views, and `TRUNCATE` and
//! `RENAME`.

use super::cursor::{Parser, Result};
use crate::ast::{
    AlterDatabase, CreateDatabase, CreateIndex, DropDatabase, DropIndex, DropTable, DropView,
    KeyKind, RenameTable, Statement, StoredProgramKind, TableName, TableOption,
};
use crate::keywords::{Kw, kw};

impl Parser<'_> {
    pub(crate) fn create(&mut self) -> Result<Statement> {
        self.expect(Kw::CREATE)?;
        let or_replace = self.eat_phrase(&kw![OR REPLACE])?;
        match self.keyword() {
            Kw::TABLE | Kw::TEMPORARY | Kw::GLOBAL => self.create_table(or_replace),
            _ if self.is_word(0, "SHARED") => self.create_table(or_replace),
            Kw::ALGORITHM | Kw::DEFINER | Kw::SQL | Kw::VIEW => self.create_view(or_replace, false),
            _ if or_replace => self.fail(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.take();
                Ok(Statement::CreateDatabase(CreateDatabase {
                    if_not_exists: self.if_not_exists()?,
                    name: self.name()?,
                    options: self.database_options()?,
                }))
            }
            Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL | Kw::INDEX => self.create_index(),
            Kw::USER | Kw::ROLE => self.account_statement(Kw::CREATE),
            _ => self.fail(),
        }
    }

    fn create_index(&mut self) -> Result<Statement> {
        let kind = match self.eat_any(&kw![UNIQUE FULLTEXT SPATIAL]) {
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
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            table,
            key,
            options: self.online_options()?,
        })))
    }

    /// `ALGORITHM [=] x` and `LOCK [=] x` in any order.
    fn online_options(&mut self) -> Result<Vec<TableOption>> {
        let mut options = Vec::new();
        while self.at_any(&kw![ALGORITHM LOCK]) {
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
                let has_name =
                    !self.at_any(&kw![CHARACTER CHAR CHARSET COLLATE DEFAULT ENCRYPTION READ]);
                let name = has_name.then(|| self.name()).transpose()?;
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
                Ok(Statement::DropTable(DropTable {
                    temporary,
                    if_exists: self.if_exists()?,
                    tables: self.dropped_tables()?,
                }))
            }
            _ if temporary => self.fail(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.take();
                Ok(Statement::DropDatabase(DropDatabase {
                    if_exists: self.if_exists()?,
                    name: self.name()?,
                }))
            }
            Kw::VIEW => {
                self.take();
                Ok(Statement::DropView(DropView {
                    if_exists: self.if_exists()?,
                    views: self.dropped_tables()?,
                }))
            }
            Kw::INDEX => {
                self.take();
                let name = self.index_name()?;
                self.expect(Kw::ON)?;
                Ok(Statement::DropIndex(DropIndex {
                    name,
                    table: self.table_name()?,
                    options: self.online_options()?,
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

    /// `a, b [RESTRICT | CASCADE]`.
    fn dropped_tables(&mut self) -> Result<Vec<TableName>> {
        let tables = self.comma_list(Self::table_name)?;
        self.eat_any(&kw![RESTRICT CASCADE]);
        Ok(tables)
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
        self.expect_any(&kw![TABLE TABLES])?;
        let renames = self.renames(Self::table_name)?;
        Ok(Statement::RenameTable(RenameTable { renames }))
    }

    /// `a TO b, c TO d`.
    pub(crate) fn renames<T>(
        &mut self,
        mut name: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<(T, T)>> {
        self.comma_list(|parser| {
            let old_name = name(parser)?;
            parser.expect(Kw::TO)?;
            Ok((old_name, name(parser)?))
        })
    }
}
