//! `SHOW`.

use super::cursor::{Parser, Result};
use crate::ast::{Show, ShowCreate, ShowFilter, ShowKind, Statement, TableName, VariableScope};
use crate::keywords::{Kw, kw};
use crate::lexer::token::Kind;

impl Parser<'_> {
    pub(crate) fn show(&mut self) -> Result<Statement> {
        self.expect(Kw::SHOW)?;
        let mut show = Show {
            kind: self.show_kind()?,
            filter: None,
            limit: None,
        };
        match &show.kind {
            ShowKind::Databases
            | ShowKind::Tables { .. }
            | ShowKind::TemporaryTables
            | ShowKind::Cluster
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
        let condition = self.after(Kw::WHERE, Self::expr)?;
        Ok(condition.map(ShowFilter::Where))
    }

    /// `[FROM | IN] database`.
    fn show_database(&mut self) -> Result<Option<String>> {
        let is_named = self.eat_any(&kw![FROM IN]).is_some();
        is_named.then(|| self.name()).transpose()
    }

    /// `FROM | IN table [FROM | IN database]`.
    fn show_table(&mut self) -> Result<TableName> {
        self.expect_any(&kw![FROM IN])?;
        let mut table = self.table_name()?;
        let database = self.show_database()?;
        table.database = database.or(table.database);
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
                Ok(ShowKind::TemporaryTables)
            }
            _ if self.text(token).eq_ignore_ascii_case("CLUSTER") => Ok(ShowKind::Cluster),
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
                let scope = VariableScope::of(token.keyword).unwrap_or(VariableScope::Session);
                Ok(match self.expect_any(&kw![VARIABLES STATUS])? {
                    Kw::VARIABLES => ShowKind::Variables { scope },
                    _ => ShowKind::Status { scope },
                })
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
                let account = self.after(Kw::FOR, Self::account)?;
                let using = match &account {
                    Some(_) => self.list_after(Kw::USING, Self::account)?,
                    None => Vec::new(),
                };
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
            Kw::BINARY if self.eat(Kw::LOGS) => Ok(ShowKind::BinaryLogs),
            Kw::BINARY => {
                self.expect_all(&kw![LOG STATUS])?;
                Ok(ShowKind::BinaryLogStatus)
            }
            Kw::BINLOG | Kw::RELAYLOG => {
                self.expect(Kw::EVENTS)?;
                Ok(ShowKind::LogEvents {
                    relay: token.keyword == Kw::RELAYLOG,
                    rest: self.rest().to_owned(),
                })
            }
            Kw::REPLICAS => Ok(ShowKind::Replicas),
            Kw::REPLICA => self.show_replica_status(),
            // The names before MySQL 8.4.
            Kw::SLAVE if self.eat(Kw::HOSTS) => Ok(ShowKind::Replicas),
            Kw::SLAVE => self.show_replica_status(),
            Kw::MASTER if self.eat(Kw::LOGS) => Ok(ShowKind::BinaryLogs),
            Kw::MASTER => {
                self.expect(Kw::STATUS)?;
                Ok(ShowKind::BinaryLogStatus)
            }
            _ if token.kind == Kind::End => self.fail(),
            _ => self.fail_at_previous(),
        }
    }

    /// Parses the rest behind `SHOW REPLICA`.
    fn show_replica_status(&mut self) -> Result<ShowKind> {
        self.expect(Kw::STATUS)?;
        let is_named = self.eat_phrase(&kw![FOR CHANNEL])?;
        let channel = is_named.then(|| self.name_or_string()).transpose()?;
        Ok(ShowKind::ReplicaStatus { channel })
    }

    /// Parses the rest behind `FULL` and `EXTENDED`.
    fn show_full(&mut self, full: bool, extended: bool) -> Result<ShowKind> {
        if extended && !full && self.eat_any(&kw![INDEX INDEXES KEYS]).is_some() {
            return Ok(ShowKind::Index {
                extended,
                table: self.show_table()?,
            });
        }
        match self.expect_any(&kw![TABLES COLUMNS FIELDS PROCESSLIST TRIGGERS])? {
            Kw::TABLES => Ok(ShowKind::Tables {
                full,
                extended,
                database: self.show_database()?,
            }),
            Kw::COLUMNS | Kw::FIELDS => Ok(ShowKind::Columns {
                full,
                extended,
                table: self.show_table()?,
            }),
            Kw::PROCESSLIST if !extended => Ok(ShowKind::ProcessList { full }),
            Kw::TRIGGERS if !extended => Ok(ShowKind::Triggers {
                full,
                database: self.show_database()?,
            }),
            _ => self.fail_at_previous(),
        }
    }

    fn show_create(&mut self) -> Result<ShowCreate> {
        let token = self.take();
        match token.keyword {
            Kw::TABLE => self.table_name().map(ShowCreate::Table),
            Kw::VIEW => self.table_name().map(ShowCreate::View),
            Kw::DATABASE | Kw::SCHEMA => Ok(ShowCreate::Database {
                if_not_exists: self.if_not_exists()?,
                name: self.name()?,
            }),
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
        self.parens(|parser| parser.expect_kind(Kind::Star))?;
        Ok(match self.expect_any(&kw![WARNINGS ERRORS])? {
            Kw::WARNINGS => ShowKind::CountWarnings,
            _ => ShowKind::CountErrors,
        })
    }

    /// `ENGINE name STATUS | MUTEX | LOGS`.
    fn show_engine(&mut self) -> Result<ShowKind> {
        let engine = self.unless(Kw::ALL, Self::name_or_string)?;
        let what = self.expect_any(&kw![STATUS MUTEX LOGS])?;
        Ok(ShowKind::Engine {
            engine: engine.unwrap_or_else(|| "ALL".to_owned()),
            what: what.spelling().to_owned(),
        })
    }

    /// `PROFILE [types] [FOR QUERY n]`.
    fn show_profile(&mut self) -> Result<ShowKind> {
        let mut types = Vec::new();
        if !self.at_end() && !self.at_any(&kw![FOR LIMIT]) {
            types = self.comma_list(|parser| {
                for phrase in [kw![BLOCK IO], kw![CONTEXT SWITCHES], kw![PAGE FAULTS]] {
                    if parser.eat_phrase(&phrase)? {
                        return Ok(phrase.map(Kw::spelling).join(" "));
                    }
                }
                let word = parser.expect_any(&kw![ALL CPU IPC MEMORY SOURCE SWAPS])?;
                Ok(word.spelling().to_owned())
            })?;
        }
        let is_of_query = self.eat_phrase(&kw![FOR QUERY])?;
        let query = is_of_query.then(|| self.unsigned()).transpose()?;
        Ok(ShowKind::Profile { types, query })
    }

    /// `FUNCTION | PROCEDURE STATUS | CODE`.
    fn show_routine(&mut self, function: bool) -> Result<ShowKind> {
        match self.expect_any(&kw![STATUS CODE])? {
            Kw::STATUS if function => Ok(ShowKind::FunctionStatus),
            Kw::STATUS => Ok(ShowKind::ProcedureStatus),
            _ if function => self.table_name().map(ShowKind::FunctionCode),
            _ => self.table_name().map(ShowKind::ProcedureCode),
        }
    }
}
