//! `FLUSH`, `LOCK TABLES`, table maintenance and `HANDLER`.

use sqlparser::ast::BinaryOperator;

use super::cursor::{Parser, Result};
use crate::ast::{
    Flush, FlushTarget, HandlerAction, HandlerRead, HandlerStatement, LockMode, Statement,
    TableLock, TableMaintenance, TableVerb,
};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

/// What may stand behind `FLUSH [BINARY | ENGINE | ...]`, as whole phrases.
const FLUSHABLE: &[&[Kw]] = &[
    &[Kw::PRIVILEGES],
    &[Kw::LOGS],
    &[Kw::BINARY, Kw::LOGS],
    &[Kw::ENGINE, Kw::LOGS],
    &[Kw::ERROR, Kw::LOGS],
    &[Kw::GENERAL, Kw::LOGS],
    &[Kw::RELAY, Kw::LOGS],
    &[Kw::SLOW, Kw::LOGS],
    &[Kw::HOSTS],
    &[Kw::USER_RESOURCES],
    &[Kw::OPTIMIZER_COSTS],
    &[Kw::RESOURCE],
];

impl Parser<'_> {
    /// `[NO_WRITE_TO_BINLOG | LOCAL]`.
    fn local_option(&mut self) -> bool {
        self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]).is_some()
    }

    pub(crate) fn flush(&mut self) -> Result<Statement> {
        self.expect(Kw::FLUSH)?;
        let local = self.local_option();
        let targets = match self.at_any(&[Kw::TABLE, Kw::TABLES]) {
            true => vec![self.flush_tables()?],
            false => self.comma_list(|parser| {
                if parser.eat(Kw::STATUS) {
                    return Ok(FlushTarget::Status);
                }
                let Some(phrase) = FLUSHABLE.iter().find(|phrase| parser.at_all(phrase)) else {
                    return parser.fail();
                };
                parser.expect_all(phrase)?;
                let words: Vec<&str> = phrase.iter().map(|word| word.spelling()).collect();
                Ok(FlushTarget::Other(words.join(" ")))
            })?,
        };
        Ok(Statement::Flush(Flush { local, targets }))
    }

    fn flush_tables(&mut self) -> Result<FlushTarget> {
        self.take();
        let tables = match self.at_end() || self.at_any(&[Kw::WITH, Kw::FOR]) {
            true => Vec::new(),
            false => self.comma_list(Self::table_name)?,
        };
        let read_lock = self.eat(Kw::WITH);
        if read_lock {
            self.expect_all(&[Kw::READ, Kw::LOCK])?;
        }
        let for_export = !read_lock && self.eat(Kw::FOR);
        if for_export {
            self.expect(Kw::EXPORT)?;
        }
        Ok(FlushTarget::Tables {
            tables,
            read_lock,
            for_export,
        })
    }

    /// `LOCK TABLES ...` or `UNLOCK TABLES`.
    pub(crate) fn lock_tables(&mut self) -> Result<Statement> {
        let unlock = self.take().keyword == Kw::UNLOCK;
        let instance = self.at(Kw::INSTANCE);
        if instance || self.eat_any(&[Kw::TABLE, Kw::TABLES]).is_none() {
            return self.fail();
        }
        if unlock {
            return Ok(Statement::UnlockTables);
        }
        self.comma_list(Self::table_lock).map(Statement::LockTables)
    }

    fn table_lock(&mut self) -> Result<TableLock> {
        let table = self.table_name()?;
        let explicit = self.eat(Kw::AS);
        let alias = match explicit || self.at_identifier() {
            true => Some(self.name()?),
            false => None,
        };
        let mode = match self.eat_any(&[Kw::READ, Kw::WRITE, Kw::LOW_PRIORITY]) {
            Some(Kw::READ) if self.eat(Kw::LOCAL) => LockMode::ReadLocal,
            Some(Kw::READ) => LockMode::Read,
            Some(Kw::LOW_PRIORITY) => {
                self.expect(Kw::WRITE)?;
                LockMode::Write
            }
            Some(_) => LockMode::Write,
            None => return self.fail(),
        };
        Ok(TableLock { table, alias, mode })
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
        if self.eat_any(&[Kw::TABLE, Kw::TABLES]).is_none() {
            return self.fail();
        }
        let tables = self.comma_list(Self::table_name)?;
        let words: &[Kw] = match verb {
            TableVerb::Analyze => &[Kw::UPDATE, Kw::DROP],
            TableVerb::Check => &[
                Kw::FOR,
                Kw::QUICK,
                Kw::FAST,
                Kw::MEDIUM,
                Kw::EXTENDED,
                Kw::CHANGED,
            ],
            TableVerb::Checksum => &[Kw::QUICK, Kw::EXTENDED],
            TableVerb::Optimize => &[],
            TableVerb::Repair => &[Kw::QUICK, Kw::EXTENDED, Kw::USE_FRM],
        };
        let options = match self.at_any(words) {
            true => self.rest().to_owned(),
            false => String::new(),
        };
        Ok(Statement::TableMaintenance(TableMaintenance {
            verb,
            local,
            tables,
            options,
        }))
    }

    pub(crate) fn handler(&mut self) -> Result<Statement> {
        self.expect(Kw::HANDLER)?;
        let table = self.table_name()?;
        let action = match self.eat_any(&[Kw::OPEN, Kw::CLOSE, Kw::READ]) {
            Some(Kw::OPEN) => {
                let explicit = self.eat(Kw::AS);
                let alias = match explicit || self.at_identifier() {
                    true => Some(self.name()?),
                    false => None,
                };
                HandlerAction::Open { alias }
            }
            Some(Kw::CLOSE) => HandlerAction::Close,
            Some(_) => self.handler_read()?,
            None => return self.fail(),
        };
        Ok(Statement::Handler(Box::new(HandlerStatement {
            table,
            action,
        })))
    }

    fn handler_read(&mut self) -> Result<HandlerAction> {
        let directions = [Kw::FIRST, Kw::NEXT, Kw::PREV, Kw::LAST];
        let direction = |keyword| match keyword {
            Kw::FIRST => HandlerRead::First,
            Kw::NEXT => HandlerRead::Next,
            Kw::PREV => HandlerRead::Prev,
            _ => HandlerRead::Last,
        };
        let alone = matches!(self.ahead(1).kind, Kind::End)
            || matches!(self.ahead(1).keyword, Kw::WHERE | Kw::LIMIT);
        let (index, read) = match self.eat_any(&[Kw::FIRST, Kw::NEXT]) {
            Some(keyword) if alone => (None, direction(keyword)),
            Some(_) => return self.fail_at_previous(),
            None => {
                let index = match self.eat(Kw::PRIMARY) {
                    true => "PRIMARY".to_owned(),
                    false => self.name()?,
                };
                let read = match self.eat_any(&directions) {
                    Some(keyword) => direction(keyword),
                    None => self.handler_key()?,
                };
                (Some(index), read)
            }
        };
        let selection = match self.eat(Kw::WHERE) {
            true => Some(self.expr()?),
            false => None,
        };
        let limit = self.limit_clause()?;
        Ok(HandlerAction::Read {
            index,
            read,
            selection,
            limit,
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
