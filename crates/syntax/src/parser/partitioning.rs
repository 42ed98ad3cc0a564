//! `PARTITION BY ...` of CREATE TABLE and ALTER TABLE.

use sqlparser::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{
    PartitionDefinition, PartitionFunction, PartitionKind, PartitionValues, PartitionedBy,
    Partitioning, TableOption,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `PARTITION BY function [PARTITIONS n] [SUBPARTITION BY function [SUBPARTITIONS n]] [(definitions)]`.
    pub(crate) fn partitioning(&mut self) -> Result<Partitioning> {
        self.expect_all(&[Kw::PARTITION, Kw::BY])?;
        let function = self.partition_function()?;
        let count = self.count_behind(Kw::PARTITIONS)?;
        let subpartitions = match self.eat(Kw::SUBPARTITION) {
            true => {
                self.expect(Kw::BY)?;
                let function = self.partition_function()?;
                Some((function, self.count_behind(Kw::SUBPARTITIONS)?))
            }
            false => None,
        };
        let is_defined = self.at_kind(Kind::LeftParen) && !self.is_query_parenthesis();
        let definitions = match is_defined {
            true => self.paren_list(Self::partition_definition)?,
            false => Vec::new(),
        };
        Ok(Partitioning {
            function,
            count,
            subpartitions,
            definitions,
        })
    }

    fn count_behind(&mut self, keyword: Kw) -> Result<Option<u64>> {
        match self.eat(keyword) {
            true => self.unsigned().map(Some),
            false => Ok(None),
        }
    }

    /// `[LINEAR] HASH (expression)`, `[LINEAR] KEY [ALGORITHM = n] (columns)`,
    /// `RANGE | LIST (expression) | COLUMNS (columns)`.
    fn partition_function(&mut self) -> Result<PartitionFunction> {
        let linear = self.eat(Kw::LINEAR);
        let kind = match self.keyword() {
            Kw::HASH => PartitionKind::Hash,
            Kw::KEY => PartitionKind::Key { algorithm: None },
            Kw::RANGE if !linear => PartitionKind::Range,
            Kw::LIST if !linear => PartitionKind::List,
            _ => return self.fail(),
        };
        self.take();
        let (kind, of) = match kind {
            PartitionKind::Key { .. } => {
                let algorithm = match self.eat(Kw::ALGORITHM) {
                    true => {
                        self.eat_equal();
                        Some(self.unsigned()?)
                    }
                    false => None,
                };
                let columns = match self.ahead(1).kind == Kind::RightParen {
                    true => {
                        self.expect_kind(Kind::LeftParen)?;
                        self.expect_kind(Kind::RightParen)?;
                        Vec::new()
                    }
                    false => self.paren_list(Self::ident)?,
                };
                let kind = PartitionKind::Key { algorithm };
                (kind, PartitionedBy::Columns(columns))
            }
            PartitionKind::Range | PartitionKind::List if self.eat(Kw::COLUMNS) => {
                (kind, PartitionedBy::Columns(self.paren_list(Self::ident)?))
            }
            _ => {
                self.expect_kind(Kind::LeftParen)?;
                let expression = self.expr()?;
                self.expect_kind(Kind::RightParen)?;
                (kind, PartitionedBy::Expression(Box::new(expression)))
            }
        };
        Ok(PartitionFunction { linear, kind, of })
    }

    /// `PARTITION name [VALUES ...] [options] [(SUBPARTITION name [options], ...)]`.
    fn partition_definition(&mut self) -> Result<PartitionDefinition> {
        self.expect(Kw::PARTITION)?;
        let name = self.ident()?;
        let values = match self.eat(Kw::VALUES) {
            true => Some(self.partition_values()?),
            false => None,
        };
        let options = self.partition_options()?;
        let subpartitions = match self.at_kind(Kind::LeftParen) {
            true => self.paren_list(|parser| {
                parser.expect(Kw::SUBPARTITION)?;
                Ok((parser.ident()?, parser.partition_options()?))
            })?,
            false => Vec::new(),
        };
        Ok(PartitionDefinition {
            name,
            values,
            options,
            subpartitions,
        })
    }

    /// Options of a partition: those of a table, without commas between them.
    fn partition_options(&mut self) -> Result<Vec<TableOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.table_option()? {
            options.push(option);
        }
        Ok(options)
    }

    /// `LESS THAN MAXVALUE | (bounds)`, `IN (values)`.
    fn partition_values(&mut self) -> Result<PartitionValues> {
        if self.eat(Kw::IN) {
            let values = self.paren_list(Self::expr)?;
            let of_columns = |value| match value {
                Expr::Tuple(values) => values,
                value => vec![value],
            };
            let values = values.into_iter().map(of_columns).collect();
            return Ok(PartitionValues::In(values));
        }
        self.expect_all(&[Kw::LESS, Kw::THAN])?;
        let bounds = match self.eat(Kw::MAXVALUE) {
            true => vec![None],
            false => self.paren_list(|parser| match parser.eat(Kw::MAXVALUE) {
                true => Ok(None),
                false => parser.expr().map(Some),
            })?,
        };
        Ok(PartitionValues::LessThan(bounds))
    }
}
