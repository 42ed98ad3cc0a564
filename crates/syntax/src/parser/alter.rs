//! `ALTER TABLE`.

use super::cursor::{Parser, Result};
use crate::ast::{AlterAction, AlterTable, ColumnPosition, Statement, TableElement};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// Words with which a key or constraint begins.
const CONSTRAINT_WORDS: &[Kw] = &[
    Kw::CONSTRAINT,
    Kw::PRIMARY,
    Kw::UNIQUE,
    Kw::KEY,
    Kw::INDEX,
    Kw::FULLTEXT,
    Kw::SPATIAL,
    Kw::FOREIGN,
    Kw::CHECK,
];

/// Words with which a partition or tablespace action begins.
const PARTITION_WORDS: &[Kw] = &[
    Kw::PARTITION,
    Kw::REMOVE,
    Kw::COALESCE,
    Kw::REORGANIZE,
    Kw::EXCHANGE,
    Kw::DISCARD,
    Kw::IMPORT,
    Kw::ANALYZE,
    Kw::OPTIMIZE,
    Kw::REBUILD,
    Kw::REPAIR,
    Kw::TRUNCATE,
    Kw::WITH,
    Kw::WITHOUT,
];

impl Parser<'_> {
    pub(crate) fn alter_table(&mut self) -> Result<Statement> {
        self.expect(Kw::TABLE)?;
        let table = self.table_name()?;
        let mut actions = Vec::new();
        if !self.at_end() {
            loop {
                self.alter_actions(&mut actions)?;
                // Table options may follow each other without commas.
                while !self.at_kind(Kind::Comma) && !self.at_end() {
                    match self.table_option()? {
                        Some(option) => actions.push(AlterAction::Option(option)),
                        None if self.at_any(PARTITION_WORDS) => {
                            actions.push(self.alter_storage()?);
                        }
                        None => return self.fail(),
                    }
                }
                if !self.eat_kind(Kind::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::AlterTable(Box::new(AlterTable {
            table,
            actions,
        })))
    }

    /// The actions of one item; `ADD (a int, b int)` has several.
    fn alter_actions(&mut self, actions: &mut Vec<AlterAction>) -> Result<()> {
        let action = match self.keyword() {
            Kw::ADD => return self.alter_add(actions),
            Kw::CHANGE => {
                self.take();
                self.eat(Kw::COLUMN);
                let old_name = self.name()?;
                let column = self.column_definition()?;
                AlterAction::ChangeColumn {
                    old_name,
                    column,
                    position: self.column_position()?,
                }
            }
            Kw::MODIFY => {
                self.take();
                self.eat(Kw::COLUMN);
                let column = self.column_definition()?;
                AlterAction::ModifyColumn {
                    column,
                    position: self.column_position()?,
                }
            }
            Kw::DROP => self.alter_drop()?,
            Kw::ALTER => self.alter_part()?,
            Kw::RENAME => self.alter_rename()?,
            Kw::CONVERT => {
                self.take();
                self.expect(Kw::TO)?;
                if !self.at_any(&[Kw::CHARACTER, Kw::CHARSET, Kw::CHAR]) {
                    return self.fail();
                }
                self.charset_words()?;
                let charset = match self.eat(Kw::DEFAULT) {
                    true => None,
                    false => Some(self.charset_name()?),
                };
                let mut collation = None;
                if self.eat(Kw::COLLATE) {
                    self.eat_equal();
                    collation = Some(self.charset_name()?);
                }
                AlterAction::ConvertToCharset { charset, collation }
            }
            Kw::ORDER => AlterAction::OrderBy(self.order_by_list()?),
            Kw::DISABLE | Kw::ENABLE => {
                let enable = self.take().keyword == Kw::ENABLE;
                self.expect(Kw::KEYS)?;
                if enable {
                    AlterAction::EnableKeys
                } else {
                    AlterAction::DisableKeys
                }
            }
            Kw::FORCE => {
                self.take();
                AlterAction::Force
            }
            Kw::ALGORITHM | Kw::LOCK => AlterAction::Option(self.named_option()?),
            keyword if PARTITION_WORDS.contains(&keyword) => self.alter_storage()?,
            _ => match self.table_option()? {
                Some(option) => AlterAction::Option(option),
                None => return self.fail(),
            },
        };
        actions.push(action);
        Ok(())
    }

    /// Partitions, tablespaces and validation.
    fn alter_storage(&mut self) -> Result<AlterAction> {
        Ok(match self.keyword() {
            Kw::PARTITION => AlterAction::Partition(Box::new(self.partitioning()?)),
            Kw::REMOVE => {
                self.take();
                self.expect(Kw::PARTITIONING)?;
                AlterAction::RemovePartitioning
            }
            Kw::WITH | Kw::WITHOUT => {
                self.take();
                self.expect(Kw::VALIDATION)?;
                AlterAction::Validation
            }
            _ => AlterAction::Other(self.rest().to_owned()),
        })
    }

    fn alter_add(&mut self, actions: &mut Vec<AlterAction>) -> Result<()> {
        self.expect(Kw::ADD)?;
        if self.at(Kw::PARTITION) {
            actions.push(AlterAction::Other(format!("ADD {}", self.rest())));
            return Ok(());
        }
        if self.at_any(CONSTRAINT_WORDS) {
            actions.push(AlterAction::Add(self.table_constraint()?));
            return Ok(());
        }
        self.eat(Kw::COLUMN);
        if !self.at_kind(Kind::LeftParen) {
            let column = self.column_definition()?;
            let position = self.column_position()?;
            actions.push(AlterAction::AddColumn { column, position });
            return Ok(());
        }
        let elements = self.paren_list(|parser| match parser.at_any(CONSTRAINT_WORDS) {
            true => parser.table_constraint(),
            false => parser.column_definition().map(TableElement::Column),
        })?;
        actions.extend(elements.into_iter().map(|element| match element {
            TableElement::Column(column) => AlterAction::AddColumn {
                column,
                position: ColumnPosition::Unspecified,
            },
            other => AlterAction::Add(other),
        }));
        Ok(())
    }

    fn column_position(&mut self) -> Result<ColumnPosition> {
        Ok(match self.eat_any(&[Kw::FIRST, Kw::AFTER]) {
            Some(Kw::FIRST) => ColumnPosition::First,
            Some(_) => ColumnPosition::After(self.name()?),
            None => ColumnPosition::Unspecified,
        })
    }

    fn alter_drop(&mut self) -> Result<AlterAction> {
        self.expect(Kw::DROP)?;
        match self.keyword() {
            Kw::PRIMARY => {
                self.take();
                self.expect(Kw::KEY)?;
                Ok(AlterAction::DropPrimaryKey)
            }
            Kw::INDEX | Kw::KEY => {
                self.take();
                self.name().map(AlterAction::DropKey)
            }
            Kw::FOREIGN => {
                self.take();
                self.expect(Kw::KEY)?;
                self.name().map(AlterAction::DropForeignKey)
            }
            Kw::CHECK => {
                self.take();
                self.name().map(AlterAction::DropCheck)
            }
            Kw::CONSTRAINT => {
                self.take();
                self.name().map(AlterAction::DropConstraint)
            }
            Kw::PARTITION => Ok(AlterAction::Other(format!("DROP {}", self.rest()))),
            _ => {
                self.eat(Kw::COLUMN);
                let column = self.name()?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Ok(AlterAction::DropColumn(column))
            }
        }
    }

    /// `ALTER [COLUMN] c ...`, `ALTER INDEX i ...`, `ALTER CHECK c ...`.
    fn alter_part(&mut self) -> Result<AlterAction> {
        self.expect(Kw::ALTER)?;
        match self.eat_any(&[Kw::INDEX, Kw::CHECK, Kw::CONSTRAINT, Kw::COLUMN]) {
            Some(Kw::INDEX) => {
                let name = self.name()?;
                Ok(AlterAction::SetIndexVisible {
                    name,
                    visible: self.visibility()?,
                })
            }
            Some(word @ (Kw::CHECK | Kw::CONSTRAINT)) => {
                let name = self.name()?;
                let enforced = !self.eat(Kw::NOT);
                self.expect(Kw::ENFORCED)?;
                Ok(AlterAction::SetCheckEnforced {
                    name,
                    enforced,
                    any_constraint: word == Kw::CONSTRAINT,
                })
            }
            _ => {
                let column = self.name()?;
                if self.eat(Kw::DROP) {
                    self.expect(Kw::DEFAULT)?;
                    return Ok(AlterAction::SetDefault {
                        column,
                        default: None,
                    });
                }
                self.expect(Kw::SET)?;
                if self.eat(Kw::DEFAULT) {
                    let default = Some(self.default_expr()?);
                    return Ok(AlterAction::SetDefault { column, default });
                }
                Ok(AlterAction::SetColumnVisible {
                    column,
                    visible: self.visibility()?,
                })
            }
        }
    }

    fn visibility(&mut self) -> Result<bool> {
        match self.eat_any(&[Kw::VISIBLE, Kw::INVISIBLE]) {
            Some(word) => Ok(word == Kw::VISIBLE),
            None => self.fail(),
        }
    }

    fn alter_rename(&mut self) -> Result<AlterAction> {
        self.expect(Kw::RENAME)?;
        match self.eat_any(&[Kw::COLUMN, Kw::INDEX, Kw::KEY]) {
            Some(word) => {
                let old_name = self.name()?;
                self.expect(Kw::TO)?;
                let new_name = self.name()?;
                Ok(match word {
                    Kw::COLUMN => AlterAction::RenameColumn { old_name, new_name },
                    _ => AlterAction::RenameKey { old_name, new_name },
                })
            }
            None => {
                if self.eat_any(&[Kw::TO, Kw::AS]).is_none() {
                    self.eat_equal();
                }
                self.table_name().map(AlterAction::RenameTo)
            }
        }
    }
}
