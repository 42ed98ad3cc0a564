//! `ALTER TABLE`.

use super::constraints::CONSTRAINT_WORDS;
use super::cursor::{Parser, Result};
use crate::ast::{
    AlterAction, AlterTable, ColumnPosition, SecondaryAction, Statement, TableElement,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// Words with which a partition or tablespace action begins.
const PARTITION_WORDS: &[Kw] = &kw![
    PARTITION REMOVE COALESCE REORGANIZE EXCHANGE DISCARD IMPORT ANALYZE OPTIMIZE REBUILD REPAIR
    TRUNCATE WITH WITHOUT
];

/// Whether an action says how the statement runs, not what it does.
fn is_modifier(action: &AlterAction) -> bool {
    match action {
        AlterAction::Option(option) => matches!(option.name.as_str(), "ALGORITHM" | "LOCK"),
        AlterAction::Validation => true,
        _ => false,
    }
}

impl Parser<'_> {
    pub(crate) fn alter_table(&mut self) -> Result<Statement> {
        self.expect(Kw::TABLE)?;
        let table = self.table_name()?;
        let mut actions = Vec::new();
        if !self.at_end() {
            loop {
                if self.at_any(&kw![SECONDARY_LOAD SECONDARY_UNLOAD])
                    && actions.iter().all(is_modifier)
                {
                    actions.push(self.secondary_action()?);
                    break;
                }
                self.alter_actions(&mut actions)?;
                // Table options may follow each other without commas.
                while !self.at_kind(Kind::Comma) && !self.at_end() {
                    actions.push(match self.table_option()? {
                        Some(option) => AlterAction::Option(option),
                        None if self.at_any(PARTITION_WORDS) => self.alter_storage()?,
                        None => return self.fail(),
                    });
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
                self.expect_all(&kw![CONVERT TO])?;
                if !self.at_any(&kw![CHARACTER CHARSET CHAR]) {
                    return self.fail();
                }
                self.charset_words()?;
                let charset = self.unless(Kw::DEFAULT, Self::charset_name)?;
                let collation = self.after(Kw::COLLATE, |parser| {
                    parser.eat_equal();
                    parser.charset_name()
                })?;
                AlterAction::ConvertToCharset { charset, collation }
            }
            Kw::ORDER => AlterAction::OrderBy(self.order_by_list()?),
            Kw::DISABLE => {
                self.expect_all(&kw![DISABLE KEYS])?;
                AlterAction::DisableKeys
            }
            Kw::ENABLE => {
                self.expect_all(&kw![ENABLE KEYS])?;
                AlterAction::EnableKeys
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

    /// `SECONDARY_LOAD …` or `SECONDARY_UNLOAD …`, at which the statement ends.
    fn secondary_action(&mut self) -> Result<AlterAction> {
        let is_load = self.take().keyword == Kw::SECONDARY_LOAD;
        let partitions = self.partition_names()?;
        // The clause is of later versions: its word is no keyword.
        if is_load && self.is_word(0, "GUIDED") {
            self.take();
            if !self.at(Kw::ON) && !self.is_word(0, "OFF") {
                return self.fail();
            }
            self.take();
        }
        if !self.at_end() {
            return self.fail();
        }
        Ok(AlterAction::Secondary(SecondaryAction {
            is_load,
            partitions,
        }))
    }

    /// Parses actions on partitions and tablespaces, and validation.
    fn alter_storage(&mut self) -> Result<AlterAction> {
        Ok(match self.keyword() {
            Kw::PARTITION => AlterAction::Partition(Box::new(self.partitioning()?)),
            Kw::REMOVE => {
                self.expect_all(&kw![REMOVE PARTITIONING])?;
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
        let elements = self.paren_list(Self::table_element)?;
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
        Ok(match self.eat_any(&kw![FIRST AFTER]) {
            Some(Kw::FIRST) => ColumnPosition::First,
            Some(_) => ColumnPosition::After(self.name()?),
            None => ColumnPosition::Unspecified,
        })
    }

    fn alter_drop(&mut self) -> Result<AlterAction> {
        self.expect(Kw::DROP)?;
        if self.at(Kw::PARTITION) {
            return Ok(AlterAction::Other(format!("DROP {}", self.rest())));
        }
        let words = kw![PRIMARY INDEX KEY FOREIGN CHECK CONSTRAINT COLUMN];
        match self.eat_any(&words) {
            Some(Kw::PRIMARY) => {
                self.expect(Kw::KEY)?;
                Ok(AlterAction::DropPrimaryKey)
            }
            Some(Kw::INDEX | Kw::KEY) => self.name().map(AlterAction::DropKey),
            Some(Kw::FOREIGN) => {
                self.expect(Kw::KEY)?;
                self.name().map(AlterAction::DropForeignKey)
            }
            Some(Kw::CHECK) => self.name().map(AlterAction::DropCheck),
            Some(Kw::CONSTRAINT) => self.name().map(AlterAction::DropConstraint),
            _ => {
                let column = self.name()?;
                self.eat_any(&kw![RESTRICT CASCADE]);
                Ok(AlterAction::DropColumn(column))
            }
        }
    }

    /// `ALTER [COLUMN] c ...`, `ALTER INDEX i ...`, `ALTER CHECK c ...`.
    fn alter_part(&mut self) -> Result<AlterAction> {
        self.expect(Kw::ALTER)?;
        match self.eat_any(&kw![INDEX CHECK CONSTRAINT COLUMN]) {
            Some(Kw::INDEX) => Ok(AlterAction::SetIndexVisible {
                name: self.name()?,
                visible: self.visibility()?,
            }),
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
                if self.eat_phrase(&kw![DROP DEFAULT])? {
                    let default = None;
                    return Ok(AlterAction::SetDefault { column, default });
                }
                self.expect(Kw::SET)?;
                if self.eat(Kw::DEFAULT) {
                    let default = Some(self.default_expr()?);
                    return Ok(AlterAction::SetDefault { column, default });
                }
                let visible = self.visibility()?;
                Ok(AlterAction::SetColumnVisible { column, visible })
            }
        }
    }

    fn visibility(&mut self) -> Result<bool> {
        let word = self.expect_any(&kw![VISIBLE INVISIBLE])?;
        Ok(word == Kw::VISIBLE)
    }

    fn alter_rename(&mut self) -> Result<AlterAction> {
        self.expect(Kw::RENAME)?;
        match self.eat_any(&kw![COLUMN INDEX KEY]) {
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
                if self.eat_any(&kw![TO AS]).is_none() {
                    self.eat_equal();
                }
                self.table_name().map(AlterAction::RenameTo)
            }
        }
    }
}
