//! Properties of statements by their kind, independent of their names' meaning.

use mayfly_syntax::ast::{
    AccountStatement, ExplainTarget, InsertSource, ShowCreate, ShowKind, Statement,
    StoredProgramKind, TableVerb,
};

use crate::status::Counter;

/// The properties of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementProperties {
    /// Status counter: `Com_select` and the like.
    pub(crate) counter: Option<Counter>,
    /// Whether the statement is planned before it runs, so that its plan can be cached.
    pub(crate) has_plan: bool,
    /// Whether MAX_UPDATES_PER_HOUR counts the statement.
    pub(crate) is_update: bool,
    /// Whether it commits the open transaction before it runs (the manual, "Statements That Cause an Implicit
    /// Commit").
    pub(crate) commits_implicitly: bool,
    /// Whether it begins a transaction, or ends one explicitly.
    pub(crate) delimits_transaction: bool,
    /// Whether it changes definitions: a READ ONLY transaction refuses it.
    pub(crate) changes_definitions: bool,
    /// Whether it can be prepared (the manual, "SQL Syntax Permitted in Prepared Statements").
    pub(crate) is_preparable: bool,
    /// Whether it shows the diagnostics of the statement before it and keeps them (a diagnostic statement).
    pub(crate) keeps_diagnostics: bool,
    /// Whether it may set a new password, and so is allowed while the old one is expired.
    pub(crate) sets_password: bool,
}

impl StatementProperties {
    const fn counted(self, counter: Counter) -> Self {
        Self {
            counter: Some(counter),
            ..self
        }
    }

    const fn unpreparable(self) -> Self {
        Self {
            is_preparable: false,
            ..self
        }
    }

    /// Whether the statement ends the open transaction, before or after it runs.
    pub(crate) const fn ends_transaction(self) -> bool {
        self.delimits_transaction || self.commits_implicitly
    }
}

/// A statement that reads, or changes only its session.
const PASSIVE: StatementProperties = StatementProperties {
    counter: None,
    has_plan: false,
    is_update: false,
    commits_implicitly: false,
    delimits_transaction: false,
    changes_definitions: false,
    is_preparable: true,
    keeps_diagnostics: false,
    sets_password: false,
};
/// A planned statement that changes rows.
const ROW_CHANGE: StatementProperties = StatementProperties {
    has_plan: true,
    ..UPDATE
};
/// A statement that counts as an update.
const UPDATE: StatementProperties = StatementProperties {
    is_update: true,
    ..PASSIVE
};
/// An update that commits the open transaction.
const ADMINISTRATION: StatementProperties = StatementProperties {
    commits_implicitly: true,
    ..UPDATE
};
/// A statement that changes definitions and commits the open transaction.
const DEFINITION: StatementProperties = StatementProperties {
    changes_definitions: true,
    ..ADMINISTRATION
};
/// A statement that creates or drops a temporary table.
const TEMPORARY_DEFINITION: StatementProperties = StatementProperties {
    commits_implicitly: false,
    ..DEFINITION
};
/// A statement that begins or ends a transaction.
const TRANSACTION: StatementProperties = StatementProperties {
    delimits_transaction: true,
    ..PASSIVE
};

/// The unsupported statements that MySQL allows to be prepared.
const PREPARABLE: &[&str] = &[
    "ALTER EVENT",
    "ALTER INSTANCE",
    "BINLOG",
    "CALL",
    "CHANGE",
    "CHANGE REPLICATION FILTER",
    "CHANGE REPLICATION SOURCE",
    "CREATE EVENT",
    "INSTALL PLUGIN",
    "RESET",
    "SHOW PARSE_TREE",
    "START REPLICA",
    "STOP REPLICA",
    "UNINSTALL PLUGIN",
];

/// The properties of a statement.
pub(crate) fn properties(statement: &Statement) -> StatementProperties {
    match statement {
        Statement::Query(_) => StatementProperties {
            has_plan: true,
            ..PASSIVE.counted(Counter::ComSelect)
        },
        Statement::SelectInto(_) => PASSIVE.counted(Counter::ComSelect),
        Statement::Insert(insert) => ROW_CHANGE.counted(match (insert.replace, &insert.source) {
            (false, InsertSource::Values(_)) => Counter::ComInsert,
            (false, InsertSource::Query(_)) => Counter::ComInsertSelect,
            (true, InsertSource::Values(_)) => Counter::ComReplace,
            (true, InsertSource::Query(_)) => Counter::ComReplaceSelect,
        }),
        Statement::Update(update) => ROW_CHANGE.counted(match update.tables.as_slice() {
            [only] if only.joins.is_empty() => Counter::ComUpdate,
            _ => Counter::ComUpdateMulti,
        }),
        Statement::Delete(delete) if delete.targets.is_empty() => {
            ROW_CHANGE.counted(Counter::ComDelete)
        }
        Statement::Delete(_) => ROW_CHANGE.counted(Counter::ComDeleteMulti),
        Statement::LoadData(_) => UPDATE.counted(Counter::ComLoad).unpreparable(),
        Statement::CreateTable(create) if create.is_temporary() => {
            TEMPORARY_DEFINITION.counted(Counter::ComCreateTable)
        }
        Statement::CreateTable(_) => DEFINITION.counted(Counter::ComCreateTable),
        Statement::AlterTable(_) => DEFINITION.counted(Counter::ComAlterTable),
        Statement::DropTable(drop) if drop.temporary => {
            TEMPORARY_DEFINITION.counted(Counter::ComDropTable)
        }
        Statement::DropTable(_) => DEFINITION.counted(Counter::ComDropTable),
        Statement::TruncateTable(_) => DEFINITION.counted(Counter::ComTruncate),
        Statement::RenameTable(_) => DEFINITION.counted(Counter::ComRenameTable),
        Statement::CreateIndex(_) => DEFINITION.counted(Counter::ComCreateIndex),
        Statement::DropIndex(_) => DEFINITION.counted(Counter::ComDropIndex),
        Statement::CreateView(_) => DEFINITION.counted(Counter::ComCreateView),
        Statement::DropView(_) => DEFINITION.counted(Counter::ComDropView),
        Statement::DropStoredProgram(drop) => StatementProperties {
            is_preparable: drop.kind == StoredProgramKind::Event,
            ..DEFINITION.counted(match drop.kind {
                StoredProgramKind::Procedure => Counter::ComDropProcedure,
                StoredProgramKind::Function => Counter::ComDropFunction,
                StoredProgramKind::Trigger => Counter::ComDropTrigger,
                StoredProgramKind::Event => Counter::ComDropEvent,
            })
        },
        Statement::CreateDatabase(_) => DEFINITION.counted(Counter::ComCreateDb),
        Statement::AlterDatabase(_) => DEFINITION.counted(Counter::ComAlterDb).unpreparable(),
        Statement::DropDatabase(_) => DEFINITION.counted(Counter::ComDropDb),
        Statement::Use(_) => PASSIVE.counted(Counter::ComChangeDb).unpreparable(),
        Statement::Show(show) => {
            let keeps_diagnostics = matches!(
                show.kind,
                ShowKind::Warnings
                    | ShowKind::Errors
                    | ShowKind::CountWarnings
                    | ShowKind::CountErrors
            );
            StatementProperties {
                keeps_diagnostics,
                is_preparable: !keeps_diagnostics,
                ..PASSIVE.counted(show_counter(&show.kind))
            }
        }
        Statement::Describe(_) => PASSIVE.counted(Counter::ComShowFields),
        Statement::Explain(explain) => match explain.target {
            ExplainTarget::Connection(_) => PASSIVE.counted(Counter::ComExplainOther),
            _ => PASSIVE,
        },
        Statement::Help(_) => PASSIVE.counted(Counter::ComHelp).unpreparable(),
        Statement::Set(_) => PASSIVE.counted(Counter::ComSetOption),
        // SET STATEMENT runs its inner statement, which is counted when it begins, with its settings.
        Statement::SetStatement(_, inner) => StatementProperties {
            counter: None,
            has_plan: false,
            commits_implicitly: false,
            ..properties(inner)
        },
        Statement::SetTransaction(_) => PASSIVE,
        Statement::Flush(_) => ADMINISTRATION.counted(Counter::ComFlush),
        Statement::StartTransaction(_) => TRANSACTION.counted(Counter::ComBegin).unpreparable(),
        Statement::Commit(_) => TRANSACTION.counted(Counter::ComCommit),
        Statement::Rollback(_) => TRANSACTION.counted(Counter::ComRollback),
        Statement::Savepoint(_) => PASSIVE.counted(Counter::ComSavepoint).unpreparable(),
        Statement::RollbackToSavepoint(_) => PASSIVE
            .counted(Counter::ComRollbackToSavepoint)
            .unpreparable(),
        Statement::ReleaseSavepoint(_) => {
            PASSIVE.counted(Counter::ComReleaseSavepoint).unpreparable()
        }
        Statement::Do(_) => PASSIVE.counted(Counter::ComDo),
        Statement::Kill { .. } => PASSIVE.counted(Counter::ComKill),
        Statement::Shutdown => PASSIVE.counted(Counter::ComShutdown).unpreparable(),
        Statement::ResetPersist { .. } => PASSIVE.counted(Counter::ComReset).unpreparable(),
        Statement::Prepare(_) => PASSIVE.counted(Counter::ComPrepareSql).unpreparable(),
        Statement::Execute(_) => PASSIVE.counted(Counter::ComExecuteSql).unpreparable(),
        Statement::Deallocate(_) => PASSIVE.counted(Counter::ComDeallocSql).unpreparable(),
        Statement::LockTables(_) => ADMINISTRATION
            .counted(Counter::ComLockTables)
            .unpreparable(),
        Statement::UnlockTables => PASSIVE.counted(Counter::ComUnlockTables).unpreparable(),
        Statement::TableMaintenance(maintenance) => match maintenance.verb {
            TableVerb::Analyze => ADMINISTRATION.counted(Counter::ComAnalyze),
            TableVerb::CacheIndex => ADMINISTRATION.counted(Counter::ComAssignToKeycache),
            TableVerb::LoadIndex => ADMINISTRATION.counted(Counter::ComPreloadKeys),
            TableVerb::Check => ADMINISTRATION.counted(Counter::ComCheck).unpreparable(),
            TableVerb::Checksum => UPDATE.counted(Counter::ComChecksum),
            TableVerb::Optimize => ADMINISTRATION.counted(Counter::ComOptimize),
            TableVerb::Repair => ADMINISTRATION.counted(Counter::ComRepair),
        },
        Statement::Handler(_) => UPDATE.unpreparable(),
        Statement::Account(account) => {
            let base = match **account {
                AccountStatement::SetRole(_) => UPDATE,
                AccountStatement::AlterUser(_) | AccountStatement::SetPassword { .. } => {
                    StatementProperties {
                        sets_password: true,
                        ..DEFINITION
                    }
                }
                _ => DEFINITION,
            };
            base.counted(account_counter(account))
        }
        Statement::Empty => UPDATE.counted(Counter::ComEmptyQuery).unpreparable(),
        Statement::Unsupported(name) if PREPARABLE.contains(&name.as_str()) => UPDATE,
        Statement::Unsupported(_) => UPDATE.unpreparable(),
    }
}

fn account_counter(statement: &AccountStatement) -> Counter {
    match statement {
        AccountStatement::CreateUser(_) => Counter::ComCreateUser,
        AccountStatement::AlterUser(_) => Counter::ComAlterUser,
        AccountStatement::Drop { roles: true, .. } => Counter::ComDropRole,
        AccountStatement::Drop { .. } => Counter::ComDropUser,
        AccountStatement::Rename(_) => Counter::ComRenameUser,
        AccountStatement::CreateRole { .. } => Counter::ComCreateRole,
        AccountStatement::Grant(_) | AccountStatement::Proxy => Counter::ComGrant,
        AccountStatement::Revoke(_) => Counter::ComRevoke,
        AccountStatement::GrantRoles { .. } => Counter::ComGrantRoles,
        AccountStatement::RevokeRoles { .. } => Counter::ComRevokeRoles,
        AccountStatement::RevokeAll { .. } => Counter::ComRevokeAll,
        AccountStatement::SetPassword { .. } => Counter::ComSetPassword,
        AccountStatement::SetRole(_) => Counter::ComSetRole,
        AccountStatement::SetDefaultRole { .. } => Counter::ComAlterUserDefaultRole,
    }
}

fn show_counter(kind: &ShowKind) -> Counter {
    match kind {
        ShowKind::Databases => Counter::ComShowDatabases,
        ShowKind::Tables { .. } | ShowKind::TemporaryTables => Counter::ComShowTables,
        ShowKind::Cluster => Counter::ComShowEngineStatus,
        ShowKind::TableStatus { .. } => Counter::ComShowTableStatus,
        ShowKind::OpenTables { .. } => Counter::ComShowOpenTables,
        ShowKind::Columns { .. } => Counter::ComShowFields,
        ShowKind::Index { .. } => Counter::ComShowKeys,
        ShowKind::Create(object) => match object {
            ShowCreate::Table(_) | ShowCreate::View(_) => Counter::ComShowCreateTable,
            ShowCreate::Database { .. } => Counter::ComShowCreateDb,
            ShowCreate::Trigger(_) => Counter::ComShowCreateTrigger,
            ShowCreate::Function(_) => Counter::ComShowCreateFunc,
            ShowCreate::Procedure(_) => Counter::ComShowCreateProc,
            ShowCreate::Event(_) => Counter::ComShowCreateEvent,
            ShowCreate::User(_) => Counter::ComShowCreateUser,
        },
        ShowKind::Variables { .. } => Counter::ComShowVariables,
        ShowKind::Status { .. } => Counter::ComShowStatus,
        ShowKind::Warnings => Counter::ComShowWarnings,
        ShowKind::Errors => Counter::ComShowErrors,
        // They are queries of @@warning_count and @@error_count.
        ShowKind::CountWarnings | ShowKind::CountErrors => Counter::ComSelect,
        ShowKind::Engines => Counter::ComShowStorageEngines,
        ShowKind::Engine { what, .. } => match what.as_str() {
            "MUTEX" => Counter::ComShowEngineMutex,
            "LOGS" => Counter::ComShowEngineLogs,
            _ => Counter::ComShowEngineStatus,
        },
        ShowKind::Collation => Counter::ComShowCollations,
        ShowKind::CharacterSet => Counter::ComShowCharsets,
        ShowKind::ProcessList { .. } => Counter::ComShowProcesslist,
        ShowKind::Grants { .. } => Counter::ComShowGrants,
        ShowKind::Plugins => Counter::ComShowPlugins,
        ShowKind::Privileges => Counter::ComShowPrivileges,
        ShowKind::Profiles => Counter::ComShowProfiles,
        ShowKind::Profile { .. } => Counter::ComShowProfile,
        ShowKind::Triggers { .. } => Counter::ComShowTriggers,
        ShowKind::Events { .. } => Counter::ComShowEvents,
        ShowKind::FunctionStatus => Counter::ComShowFunctionStatus,
        ShowKind::ProcedureStatus => Counter::ComShowProcedureStatus,
        ShowKind::FunctionCode(_) => Counter::ComShowFunctionCode,
        ShowKind::ProcedureCode(_) => Counter::ComShowProcedureCode,
        ShowKind::BinaryLogs => Counter::ComShowBinlogs,
        ShowKind::BinaryLogStatus => Counter::ComShowBinaryLogStatus,
        ShowKind::LogEvents { relay: true, .. } => Counter::ComShowRelaylogEvents,
        ShowKind::LogEvents { .. } => Counter::ComShowBinlogEvents,
        ShowKind::Replicas => Counter::ComShowReplicas,
        ShowKind::ReplicaStatus { .. } => Counter::ComShowReplicaStatus,
    }
}
