//! `PARTITION BY ...` of CREATE TABLE and ALTER TABLE.

use crate::ast::Expr;

use super::cursor::{Parser, Result};
use crate::ast::{
    PartitionDefinition, PartitionFunction, PartitionKind, PartitionValues, PartitionedBy,
    Partitioning, TableOption,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    /// `PARTITION BY function [PARTITIONS n] [SUBPARTITION BY function [SUBPARTITIONS n]] [(definitions)]`.
    pub(crate) fn partitioning(&mut self) -> Result<Partitioning> {
        self.expect_all(&kw![PARTITION BY])?;
        let mut partitioning = Partitioning {
            function: self.partition_function()?,
            count: self.after(Kw::PARTITIONS, Self::unsigned)?,
            subpartitions: None,
            definitions: Vec::new(),
        };
        if self.eat_phrase(&kw![SUBPARTITION BY])? {
            let function = self.partition_function()?;
            let count = self.after(Kw::SUBPARTITIONS, Self::unsigned)?;
            partitioning.subpartitions = Some((function, count));
        }
        if self.at_kind(Kind::LeftParen) && !self.is_query_parenthesis() {
            partitioning.definitions = self.paren_list(Self::partition_definition)?;
        }
        Ok(partitioning)
    }

    /// `[LINEAR] HASH (expression)`, `[LINEAR] KEY [ALGORITHM = n] (columns)`,
    /// `RANGE | LIST (expression) | COLUMNS (columns)`.
    fn partition_function(&mut self) -> Result<PartitionFunction> {
        let linear = self.eat(Kw::LINEAR);
        let words: &[Kw] = if linear {
            &kw![HASH KEY]
        } else {
            &kw![HASH KEY RANGE LIST]
        };
        let kind = match self.expect_any(words)? {
            Kw::HASH => PartitionKind::Hash,
            Kw::RANGE => PartitionKind::Range,
            Kw::LIST => PartitionKind::List,
            _ => PartitionKind::Key {
                algorithm: self.after(Kw::ALGORITHM, |parser| {
                    parser.eat_equal();
                    parser.unsigned()
                })?,
            },
        };
        let of = match kind {
            PartitionKind::Key { .. } => {
                PartitionedBy::Columns(self.paren_list_or_empty(Self::ident)?)
            }
            PartitionKind::Range | PartitionKind::List if self.eat(Kw::COLUMNS) => {
                PartitionedBy::Columns(self.paren_list(Self::ident)?)
            }
            _ => PartitionedBy::Expression(Box::new(self.parens(Self::expr)?)),
        };
        Ok(PartitionFunction { linear, kind, of })
    }

    /// `PARTITION name [VALUES ...] [options] [(SUBPARTITION name [options], ...)]`.
    fn partition_definition(&mut self) -> Result<PartitionDefinition> {
        self.expect(Kw::PARTITION)?;
        Ok(PartitionDefinition {
            name: self.ident()?,
            values: self.after(Kw::VALUES, Self::partition_values)?,
            options: self.partition_options()?,
            subpartitions: self.optional_paren_list(|parser| {
                parser.expect(Kw::SUBPARTITION)?;
                Ok((parser.ident()?, parser.partition_options()?))
            })?,
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
        self.expect_all(&kw![LESS THAN])?;
        let bound = |parser: &mut Self| parser.unless(Kw::MAXVALUE, Self::expr);
        let bounds = self.unless(Kw::MAXVALUE, |parser| parser.paren_list(bound))?;
        Ok(PartitionValues::LessThan(bounds.unwrap_or(vec![None])))
    }
}
