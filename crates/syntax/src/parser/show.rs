//! `SHOW`.

use super::cursor::{Parser, Result};
use super::set::scope_of;
use crate::ast::{Show, ShowCreate, ShowFilter, ShowKind, Statement, TableName, VariableScope};
use crate::keywords::Kw;
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn show(&mut self) -> Result<Statement> {
        self.expect(Kw::SHOW)?;
        let mut show = Show {
            kind: ShowKind::Databases,
            filter: None,
            limit: None,
        };
        show.kind = self.show_kind()?;
        match &show.kind {
            ShowKind::Databases
            | ShowKind::Tables { .. }
            | ShowKind::TemporaryTables { .. }
            | ShowKind::TableStatus { .. }
            | ShowKind::OpenTables { .. }
            | ShowKind::Columns { .. }
            | ShowKind::Variables { .. }
            | ShowKind::Status { .. }
            | ShowKind::Collation
            | ShowKind::CharacterSet
            | ShowKind::Triggers { .. }
            | ShowKind::Events { .. }
            | ShowKind::FunctionStatus
            | ShowKind::ProcedureStatus => show.filter = self.show_filter(true)?,
            ShowKind::Index { .. } => show.filter = self.show_filter(false)?,
            ShowKind::Warnings | ShowKind::Errors | ShowKind::Profile { .. } => {
                show.limit = self.limit_clause()?;
            }
            _ => {}
        }
        Ok(Statement::Show(Box::new(show)))
    }

    fn show_filter(&mut self, may_like: bool) -> Result<Option<ShowFilter>> {
        if may_like && self.eat(Kw::LIKE) {
            return self.string().map(|pattern| Some(ShowFilter::Like(pattern)));
        }
        match self.eat(Kw::WHERE) {
            true => self
                .expr()
                .map(|condition| Some(ShowFilter::Where(condition))),
            false => Ok(None),
        }
    }

    /// `[FROM | IN] database`.
    fn show_database(&mut self) -> Result<Option<String>> {
        match self.eat_any(&[Kw::FROM, Kw::IN]) {
            Some(_) => self.name().map(Some),
            None => Ok(None),
        }
    }

    /// `FROM | IN table [FROM | IN database]`.
    fn show_table(&mut self) -> Result<TableName> {
        if self.eat_any(&[Kw::FROM, Kw::IN]).is_none() {
            return self.fail();
        }
        let mut table = self.table_name()?;
        if let Some(database) = self.show_database()? {
            table.database = Some(database);
        }
        Ok(table)
    }

    fn show_kind(&mut self) -> Result<ShowKind> {
        let token = self.take();
        match token.keyword {
            Kw::DATABASES | Kw::SCHEMAS => Ok(ShowKind::Databases),
            Kw::EXTENDED => {
                let full = self.eat(Kw::FULL);
                self.show_full(full, true)
            }
            Kw::FULL => self.show_full(true, false),
            Kw::TABLES | Kw::COLUMNS | Kw::FIELDS | Kw::PROCESSLIST | Kw::TRIGGERS => {
                self.position -= 1;
                self.show_full(false, false)
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS => Ok(ShowKind::Index {
                extended: false,
                table: self.show_table()?,
            }),
            Kw::TEMPORARY => {
                self.expect(Kw::TABLES)?;
                Ok(ShowKind::TemporaryTables {
                    all: self.eat(Kw::ALL),
                })
            }
            Kw::TABLE => {
                self.expect(Kw::STATUS)?;
                Ok(ShowKind::TableStatus {
                    database: self.show_database()?,
                })
            }
            Kw::OPEN => {
                self.expect(Kw::TABLES)?;
                Ok(ShowKind::OpenTables {
                    database: self.show_database()?,
                })
            }
            Kw::CREATE => self.show_create().map(ShowKind::Create),
            Kw::GLOBAL | Kw::SESSION | Kw::LOCAL => {
                let scope = scope_of(token.keyword).unwrap_or(VariableScope::Session);
                match self.eat_any(&[Kw::VARIABLES, Kw::STATUS]) {
                    Some(Kw::VARIABLES) => Ok(ShowKind::Variables { scope }),
                    Some(_) => Ok(ShowKind::Status { scope }),
                    None => self.fail(),
                }
            }
            Kw::VARIABLES => Ok(ShowKind::Variables {
                scope: VariableScope::Session,
            }),
            Kw::STATUS => Ok(ShowKind::Status {
                scope: VariableScope::Session,
            }),
            Kw::WARNINGS => Ok(ShowKind::Warnings),
            Kw::ERRORS => Ok(ShowKind::Errors),
            Kw::COUNT => self.show_count(),
            Kw::ENGINES => Ok(ShowKind::Engines),
            Kw::STORAGE => {
                self.expect(Kw::ENGINES)?;
                Ok(ShowKind::Engines)
            }
            Kw::ENGINE => self.show_engine(),
            Kw::COLLATION => Ok(ShowKind::Collation),
            Kw::CHARSET => Ok(ShowKind::CharacterSet),
            Kw::CHARACTER | Kw::CHAR => {
                self.expect(Kw::SET)?;
                Ok(ShowKind::CharacterSet)
            }
            Kw::GRANTS => {
                let mut using = Vec::new();
                let account = match self.eat(Kw::FOR) {
                    true => Some(self.account()?),
                    false => None,
                };
                if account.is_some() && self.eat(Kw::USING) {
                    using = self.comma_list(Self::account)?;
                }
                Ok(ShowKind::Grants { account, using })
            }
            Kw::PLUGINS => Ok(ShowKind::Plugins),
            Kw::PRIVILEGES => Ok(ShowKind::Privileges),
            Kw::PROFILES => Ok(ShowKind::Profiles),
            Kw::PROFILE => self.show_profile(),
            Kw::EVENTS => Ok(ShowKind::Events {
                database: self.show_database()?,
            }),
            Kw::FUNCTION | Kw::PROCEDURE => self.show_routine(token.keyword == Kw::FUNCTION),
            Kw::BINARY => match self.eat_any(&[Kw::LOGS, Kw::LOG]) {
                Some(Kw::LOGS) => Ok(ShowKind::BinaryLogs),
                Some(_) => {
                    self.expect(Kw::STATUS)?;
                    Ok(ShowKind::BinaryLogStatus)
                }
                None => self.fail(),
            },
            Kw::BINLOG | Kw::RELAYLOG => {
                self.expect(Kw::EVENTS)?;
                let relay = token.keyword == Kw::RELAYLOG;
                Ok(ShowKind::LogEvents {
                    relay,
                    rest: self.rest().to_owned(),
                })
            }
            Kw::REPLICAS => Ok(ShowKind::Replicas),
            Kw::REPLICA => self.show_replica_status(),
            // The names before MySQL 8.4.
            Kw::SLAVE if self.eat(Kw::HOSTS) => Ok(ShowKind::Replicas),
            Kw::SLAVE => self.show_replica_status(),
            Kw::MASTER => match self.eat(Kw::LOGS) {
                true => Ok(ShowKind::BinaryLogs),
                false => {
                    self.expect(Kw::STATUS)?;
                    Ok(ShowKind::BinaryLogStatus)
                }
            },
            _ if token.kind == Kind::End => self.fail(),
            _ => self.fail_at_previous(),
        }
    }

    /// Behind `SHOW REPLICA`.
    fn show_replica_status(&mut self) -> Result<ShowKind> {
        self.expect(Kw::STATUS)?;
        let channel = match self.eat(Kw::FOR) {
            true => {
                self.expect(Kw::CHANNEL)?;
                Some(self.name_or_string()?)
            }
            false => None,
        };
        Ok(ShowKind::ReplicaStatus { channel })
    }

    /// What `FULL` and `EXTENDED` may stand before.
    fn show_full(&mut self, full: bool, extended: bool) -> Result<ShowKind> {
        let kinds = [
            Kw::TABLES,
            Kw::COLUMNS,
            Kw::FIELDS,
            Kw::PROCESSLIST,
            Kw::TRIGGERS,
        ];
        let indexes = [Kw::INDEX, Kw::INDEXES, Kw::KEYS];
        if extended && !full && self.eat_any(&indexes).is_some() {
            return Ok(ShowKind::Index {
                extended,
                table: self.show_table()?,
            });
        }
        match self.eat_any(&kinds) {
            Some(Kw::TABLES) => Ok(ShowKind::Tables {
                full,
                extended,
                database: self.show_database()?,
            }),
            Some(Kw::COLUMNS | Kw::FIELDS) => Ok(ShowKind::Columns {
                full,
                extended,
                table: self.show_table()?,
            }),
            Some(Kw::PROCESSLIST) if !extended => Ok(ShowKind::ProcessList { full }),
            Some(Kw::TRIGGERS) if !extended => Ok(ShowKind::Triggers {
                full,
                database: self.show_database()?,
            }),
            Some(_) => self.fail_at_previous(),
            None => self.fail(),
        }
    }

    fn show_create(&mut self) -> Result<ShowCreate> {
        let token = self.take();
        match token.keyword {
            Kw::TABLE => self.table_name().map(ShowCreate::Table),
            Kw::VIEW => self.table_name().map(ShowCreate::View),
            Kw::DATABASE | Kw::SCHEMA => {
                let if_not_exists = self.if_not_exists()?;
                Ok(ShowCreate::Database {
                    name: self.name()?,
                    if_not_exists,
                })
            }
            Kw::TRIGGER => self.table_name().map(ShowCreate::Trigger),
            Kw::FUNCTION => self.table_name().map(ShowCreate::Function),
            Kw::PROCEDURE => self.table_name().map(ShowCreate::Procedure),
            Kw::EVENT => self.table_name().map(ShowCreate::Event),
            Kw::USER => self.account().map(ShowCreate::User),
            _ if token.kind == Kind::End => self.fail(),
            _ => self.fail_at_previous(),
        }
    }

    /// `COUNT(*) WARNINGS | ERRORS`.
    fn show_count(&mut self) -> Result<ShowKind> {
        self.expect_kind(Kind::LeftParen)?;
        self.expect_kind(Kind::Star)?;
        self.expect_kind(Kind::RightParen)?;
        match self.eat_any(&[Kw::WARNINGS, Kw::ERRORS]) {
            Some(Kw::WARNINGS) => Ok(ShowKind::CountWarnings),
            Some(_) => Ok(ShowKind::CountErrors),
            None => self.fail(),
        }
    }

    /// `ENGINE name STATUS | MUTEX | LOGS`.
    fn show_engine(&mut self) -> Result<ShowKind> {
        let engine = match self.eat(Kw::ALL) {
            true => "ALL".to_owned(),
            false => self.name_or_string()?,
        };
        match self.eat_any(&[Kw::STATUS, Kw::MUTEX, Kw::LOGS]) {
            Some(word) => Ok(ShowKind::Engine {
                engine,
                what: word.spelling().to_owned(),
            }),
            None => self.fail(),
        }
    }

    /// `PROFILE [types] [FOR QUERY n]`.
    fn show_profile(&mut self) -> Result<ShowKind> {
        let mut types = Vec::new();
        if !self.at_end() && !self.at_any(&[Kw::FOR, Kw::LIMIT]) {
            types = self.comma_list(|parser| {
                let words = [Kw::ALL, Kw::CPU, Kw::IPC, Kw::MEMORY, Kw::SOURCE, Kw::SWAPS];
                if let Some(word) = parser.eat_any(&words) {
                    return Ok(word.spelling().to_owned());
                }
                let pairs = [
                    (Kw::BLOCK, Kw::IO),
                    (Kw::CONTEXT, Kw::SWITCHES),
                    (Kw::PAGE, Kw::FAULTS),
                ];
                match pairs.iter().find(|(first, _)| parser.at(*first)) {
                    Some((first, second)) => {
                        parser.take();
                        parser.expect(*second)?;
                        Ok(format!("{} {}", first.spelling(), second.spelling()))
                    }
                    None => parser.fail(),
                }
            })?;
        }
        let query = match self.eat(Kw::FOR) {
            true => {
                self.expect(Kw::QUERY)?;
                Some(self.unsigned()?)
            }
            false => None,
        };
        Ok(ShowKind::Profile { types, query })
    }

    /// `FUNCTION | PROCEDURE STATUS | CODE`.
    fn show_routine(&mut self, function: bool) -> Result<ShowKind> {
        match self.eat_any(&[Kw::STATUS, Kw::CODE]) {
            Some(Kw::STATUS) if function => Ok(ShowKind::FunctionStatus),
            Some(Kw::STATUS) => Ok(ShowKind::ProcedureStatus),
            Some(_) if function => self.table_name().map(ShowKind::FunctionCode),
            Some(_) => self.table_name().map(ShowKind::ProcedureCode),
            None => self.fail(),
        }
    }
}
