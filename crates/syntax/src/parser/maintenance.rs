//! `FLUSH`, `LOCK TABLES`, table maintenance and `HANDLER`.

use crate::ast::BinaryOperator;

use super::cursor::{Parser, Result};
use crate::ast::{
    Flush, FlushTarget, HandlerAction, HandlerRead, HandlerStatement, HistogramChange,
    HistogramUpdate, LockMode, Statement, TableLock, TableMaintenance, TableName, TableVerb,
};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

/// What may stand behind `FLUSH [BINARY | ENGINE | ...]`, as whole phrases.
const FLUSHABLE: &[&[Kw]] = &[
    &kw![PRIVILEGES],
    &kw![LOGS],
    &kw![BINARY LOGS],
    &kw![ENGINE LOGS],
    &kw![ERROR LOGS],
    &kw![GENERAL LOGS],
    &kw![RELAY LOGS],
    &kw![SLOW LOGS],
    &kw![HOSTS],
    &kw![USER_RESOURCES],
    &kw![OPTIMIZER_COSTS],
    &kw![RESOURCE],
];

impl Parser<'_> {
    /// `[NO_WRITE_TO_BINLOG | LOCAL]`.
    fn local_option(&mut self) -> bool {
        self.eat_any(&kw![NO_WRITE_TO_BINLOG LOCAL]).is_some()
    }

    pub(crate) fn flush(&mut self) -> Result<Statement> {
        self.expect(Kw::FLUSH)?;
        let local = self.local_option();
        let targets = if self.eat_any(&kw![TABLE TABLES]).is_some() {
            vec![self.flush_tables()?]
        } else {
            self.comma_list(Self::flush_target)?
        };
        Ok(Statement::Flush(Flush { local, targets }))
    }

    fn flush_target(&mut self) -> Result<FlushTarget> {
        if self.eat(Kw::STATUS) {
            return Ok(FlushTarget::Status);
        }
        let Some(phrase) = FLUSHABLE.iter().find(|phrase| self.at_all(phrase)) else {
            return self.fail();
        };
        self.expect_all(phrase)?;
        let words: Vec<&str> = phrase.iter().map(|word| word.spelling()).collect();
        Ok(FlushTarget::Other(words.join(" ")))
    }

    fn flush_tables(&mut self) -> Result<FlushTarget> {
        let mut tables = Vec::new();
        if !self.at_end() && !self.at_any(&kw![WITH FOR]) {
            tables = self.comma_list(Self::table_name)?;
        }
        let read_lock = self.eat_phrase(&kw![WITH READ LOCK])?;
        Ok(FlushTarget::Tables {
            tables,
            read_lock,
            for_export: !read_lock && self.eat_phrase(&kw![FOR EXPORT])?,
        })
    }

    /// `LOCK TABLES ...` or `UNLOCK TABLES`.
    pub(crate) fn lock_tables(&mut self) -> Result<Statement> {
        let unlock = self.take().keyword == Kw::UNLOCK;
        self.expect_any(&kw![TABLE TABLES])?;
        if unlock {
            return Ok(Statement::UnlockTables);
        }
        self.comma_list(Self::table_lock).map(Statement::LockTables)
    }

    fn table_lock(&mut self) -> Result<TableLock> {
        let table = self.table_name()?;
        let alias = self.alias()?;
        let mode = match self.expect_any(&kw![READ WRITE LOW_PRIORITY])? {
            Kw::READ if self.eat(Kw::LOCAL) => LockMode::ReadLocal,
            Kw::READ => LockMode::Read,
            Kw::LOW_PRIORITY => {
                self.expect(Kw::WRITE)?;
                LockMode::Write
            }
            _ => LockMode::Write,
        };
        Ok(TableLock { table, alias, mode })
    }

    /// `[AS] alias`.
    fn alias(&mut self) -> Result<Option<String>> {
        let has_alias = self.eat(Kw::AS) || self.at_identifier();
        has_alias.then(|| self.name()).transpose()
    }

    /// `ANALYZE | CHECK | CHECKSUM | OPTIMIZE | REPAIR TABLE ...`.
    pub(crate) fn table_maintenance(&mut self) -> Result<Statement> {
        let verb = match self.take().keyword {
            Kw::ANALYZE => TableVerb::Analyze,
            Kw::CHECK => TableVerb::Check,
            Kw::CHECKSUM => TableVerb::Checksum,
            Kw::OPTIMIZE => TableVerb::Optimize,
            _ => TableVerb::Repair,
        };
        let local = !matches!(verb, TableVerb::Check | TableVerb::Checksum) && self.local_option();
        self.expect_any(&kw![TABLE TABLES])?;
        let tables = self.comma_list(Self::table_name)?;
        let words: &[Kw] = match verb {
            TableVerb::Analyze => &[],
            TableVerb::Check => &kw![FOR QUICK FAST MEDIUM EXTENDED CHANGED],
            TableVerb::Checksum => &kw![QUICK EXTENDED],
            TableVerb::CacheIndex | TableVerb::LoadIndex | TableVerb::Optimize => &[],
            TableVerb::Repair => &kw![QUICK EXTENDED USE_FRM],
        };
        let histogram = match verb {
            TableVerb::Analyze => self.histogram_change()?,
            _ => None,
        };
        let options = if self.at_any(words) { self.rest() } else { "" };
        Ok(Statement::TableMaintenance(TableMaintenance {
            verb,
            local,
            tables,
            options: options.to_owned(),
            histogram,
        }))
    }

    /// `UPDATE HISTOGRAM ON a, b …`, `DROP HISTOGRAM ON a, b`.
    fn histogram_change(&mut self) -> Result<Option<HistogramChange>> {
        let Some(change) = self.eat_any(&kw![UPDATE DROP]) else {
            return Ok(None);
        };
        self.expect_all(&kw![HISTOGRAM ON])?;
        let columns = self.comma_list(Self::name)?;
        let update = if change == Kw::UPDATE {
            let mut update = HistogramUpdate {
                buckets: None,
                auto_update: false,
                data: None,
            };
            if self.eat(Kw::USING) {
                self.expect(Kw::DATA)?;
                update.data = Some(self.text_string()?);
            } else {
                if self.eat(Kw::WITH) {
                    update.buckets = Some(self.unsigned()?);
                    self.expect(Kw::BUCKETS)?;
                }
                if let Some(way) = self.eat_any(&kw![AUTO MANUAL]) {
                    self.expect(Kw::UPDATE)?;
                    update.auto_update = way == Kw::AUTO;
                }
            }
            Some(update)
        } else {
            None
        };
        Ok(Some(HistogramChange { columns, update }))
    }

    /// `CACHE INDEX a [INDEX (i)], b IN cache`.
    pub(crate) fn cache_index(&mut self) -> Result<Statement> {
        self.expect_all(&kw![CACHE INDEX])?;
        let tables = self.comma_list(Self::table_of_indexes)?;
        self.expect(Kw::IN)?;
        let cache = if self.eat(Kw::DEFAULT) {
            Kw::DEFAULT.spelling().to_lowercase()
        } else {
            self.name()?
        };
        Ok(Statement::TableMaintenance(TableMaintenance {
            verb: TableVerb::CacheIndex,
            local: false,
            tables,
            options: cache,
            histogram: None,
        }))
    }

    /// `LOAD INDEX INTO CACHE a [INDEX (i)] [IGNORE LEAVES], b`.
    pub(crate) fn load_index(&mut self) -> Result<Statement> {
        self.expect_all(&kw![LOAD INDEX INTO CACHE])?;
        let tables = self.comma_list(|parser| {
            let table = parser.table_of_indexes()?;
            parser.eat_phrase(&kw![IGNORE LEAVES])?;
            Ok(table)
        })?;
        Ok(Statement::TableMaintenance(TableMaintenance {
            verb: TableVerb::LoadIndex,
            local: false,
            tables,
            options: String::new(),
            histogram: None,
        }))
    }

    /// A table, with lists of its partitions and indexes, which are ignored: MyISAM assigns and loads all indexes of a
    /// table whichever are named.
    fn table_of_indexes(&mut self) -> Result<TableName> {
        let table = self.table_name()?;
        if self.eat(Kw::PARTITION) {
            self.parens(|parser| {
                if parser.eat(Kw::ALL) {
                    Ok(())
                } else {
                    parser.comma_list(Self::name).map(drop)
                }
            })?;
        }
        if self.eat_any(&kw![INDEX KEY]).is_some() {
            self.paren_list_or_empty(Self::index_name)?;
        }
        Ok(table)
    }

    pub(crate) fn handler(&mut self) -> Result<Statement> {
        self.expect(Kw::HANDLER)?;
        let table = self.table_name()?;
        let action = match self.expect_any(&kw![OPEN CLOSE READ])? {
            Kw::OPEN => HandlerAction::Open {
                alias: self.alias()?,
            },
            Kw::CLOSE => HandlerAction::Close,
            _ => self.handler_read()?,
        };
        Ok(Statement::Handler(Box::new(HandlerStatement {
            table,
            action,
        })))
    }

    fn handler_read(&mut self) -> Result<HandlerAction> {
        let direction = |keyword| match keyword {
            Kw::FIRST => HandlerRead::First,
            Kw::NEXT => HandlerRead::Next,
            Kw::PREV => HandlerRead::Prev,
            _ => HandlerRead::Last,
        };
        let alone = matches!(self.ahead(1).kind, Kind::End)
            || matches!(self.ahead(1).keyword, Kw::WHERE | Kw::LIMIT);
        let (index, read) = match self.eat_any(&kw![FIRST NEXT]) {
            Some(keyword) if alone => (None, direction(keyword)),
            Some(_) => return self.fail_at_previous(),
            None => {
                let index = self.index_name()?;
                let read = match self.eat_any(&kw![FIRST NEXT PREV LAST]) {
                    Some(keyword) => direction(keyword),
                    None => self.handler_key()?,
                };
                (Some(index), read)
            }
        };
        Ok(HandlerAction::Read {
            index,
            read,
            selection: self.after(Kw::WHERE, Self::expr)?,
            limit: self.limit_clause()?,
        })
    }

    fn handler_key(&mut self) -> Result<HandlerRead> {
        let op = match self.kind() {
            Kind::Equal => BinaryOperator::Eq,
            Kind::LessEqual => BinaryOperator::LtEq,
            Kind::GreaterEqual => BinaryOperator::GtEq,
            Kind::Less => BinaryOperator::Lt,
            Kind::Greater => BinaryOperator::Gt,
            _ => return self.fail(),
        };
        self.take();
        let values = self.paren_list(Self::expr_or_default)?;
        Ok(HandlerRead::Key(op, values))
    }
}
