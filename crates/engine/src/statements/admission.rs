//! Access control of statements before their names are bound: whether the session may run one at all ([`admit`]),
//! and the privileges that follow from its kind and its tables ([`statement`]). What a statement reads, the rows
//! that it adds and what it changes of others is checked where names are resolved: when an expression or a query
//! is bound (see [`SessionCatalog`]), and when the table is found that rows are added to ([`added_rows`]), so
//! that no statement can leave it out. SET, KILL and the statements on accounts check their own operands.
//!
//! [`SessionCatalog`]: crate::binding::session_catalog::SessionCatalog

use std::sync::Arc;

use mayfly_syntax::ast::{
    AlterAction, AlterTable, CreateTable, Describe, Described, ExplainTarget, Flush, FlushTarget,
    IntoTarget, Privilege, References, ShowCreate, ShowKind, Statement, TableElement, TableFactor,
    TableName, TableVerb, TableWithJoins, VariableScope,
};
use mayfly_types::Result;

use super::properties::properties;
use crate::accounts::privileges::{PROCESS, PrivilegeSet, SUPER};
use crate::accounts::rights::{Rights, is_open};
use crate::catalog::FullName;
use crate::error::{ensure, refuse};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;
use crate::variables::definition::SystemVariable;

/// Columns and options of a statement that adds rows, as far as its privileges depend on them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Additions<'n> {
    /// Rows with duplicate keys are removed.
    pub(crate) replaces: bool,
    /// The columns that are updated in rows with duplicate keys.
    pub(crate) updated: &'n [&'n str],
    /// The columns that the statement names, if it names some.
    pub(crate) listed: Option<&'n [&'n str]>,
    /// Columns that get values of their own beside those of the list.
    pub(crate) assigned: &'n [&'n str],
}

const fn set(privileges: &[Privilege]) -> PrivilegeSet {
    PrivilegeSet::of(privileges)
}

const SELECT: PrivilegeSet = set(&[Privilege::Select]);
const INSERT: PrivilegeSet = set(&[Privilege::Insert]);
const UPDATE: PrivilegeSet = set(&[Privilege::Update]);
const DELETE: PrivilegeSet = set(&[Privilege::Delete]);
const CREATE: PrivilegeSet = set(&[Privilege::Create]);
const DROP: PrivilegeSet = set(&[Privilege::Drop]);
const ALTER: PrivilegeSet = set(&[Privilege::Alter]);
const INDEX: PrivilegeSet = set(&[Privilege::Index]);
const REFERENCES: PrivilegeSet = set(&[Privilege::References]);
const CREATE_VIEW: PrivilegeSet = set(&[Privilege::CreateView]);
const SHOW_VIEW: PrivilegeSet = set(&[Privilege::ShowView]);
const FILE: PrivilegeSet = set(&[Privilege::File]);
const SHUTDOWN: PrivilegeSet = set(&[Privilege::Shutdown]);
const RELOAD: PrivilegeSet = set(&[Privilege::Reload]);

/// Checks whether the session may run statements at all: 1820 while the password is expired, 1226 beyond the
/// account's limits.
pub(crate) fn admit(context: &StatementContext<'_>, statement: &Statement) -> Result<()> {
    if context.privileges().is_unrestricted() {
        return Ok(());
    }
    let properties = properties(statement);
    if !properties.sets_password {
        context.privileges().refuse_expired()?;
    }
    if context.rights().counts_statements() {
        let (privileges, now) = (context.privileges(), context.now());
        privileges.count_against_limits(properties.is_update, now)?;
    }
    Ok(())
}

/// Refuses a statement that the session has no right to.
pub(crate) fn statement(context: &StatementContext<'_>, statement: &Statement) -> Result<()> {
    if context.privileges().is_unrestricted() {
        return Ok(());
    }
    let check = Check {
        context,
        rights: context.rights(),
    };
    check.statement(statement)
}

/// Privileges of the session that runs a statement.
struct Check<'s> {
    context: &'s StatementContext<'s>,
    rights: Arc<Rights>,
}

impl Check<'_> {
    fn statement(&self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::SelectInto(into) => match into.target {
                IntoTarget::Variables(_) => Ok(()),
                _ => self.rights.require(FILE, &[], "FILE"),
            },
            // For several tables, the changed ones are known only when they are bound.
            Statement::Update(update) => match only_table(&update.tables) {
                Some(table) => self.columns(&table, UPDATE),
                None => Ok(()),
            },
            Statement::Delete(delete) => match only_table(&delete.from) {
                Some(table) if delete.targets.is_empty() => self.table(&table, DELETE),
                _ => Ok(()),
            },
            Statement::LoadData(load) => {
                refuse(!load.local && !self.rights.global().has(FILE), || {
                    self.context.privileges().access_denied()
                })
            }
            Statement::CreateTable(create) => self.create_table(create),
            Statement::AlterTable(alter) => self.alter_table(alter),
            Statement::DropTable(drop) if drop.temporary => Ok(()),
            Statement::DropTable(drop) => {
                let mut tables = drop.tables.iter();
                tables.try_for_each(|table| self.table(table, DROP))
            }
            Statement::TruncateTable(table) => self.table(table, DROP),
            Statement::RenameTable(rename) => {
                let mut renames = rename.renames.iter();
                renames.try_for_each(|(old, new)| self.renamed(old, new, DROP.with(ALTER)))
            }
            Statement::CreateIndex(create) => self.table(&create.table, INDEX),
            Statement::DropIndex(drop) => self.table(&drop.table, INDEX),
            Statement::CreateView(create) if create.or_replace || create.alter => {
                self.base_table(&create.name, CREATE_VIEW.with(DROP))
            }
            Statement::CreateView(create) => self.base_table(&create.name, CREATE_VIEW),
            Statement::DropView(drop) => {
                let mut views = drop.views.iter();
                views.try_for_each(|view| self.base_table(view, DROP))
            }
            Statement::CreateDatabase(create) => {
                self.rights.require_in_database(&create.name, CREATE)
            }
            Statement::AlterDatabase(alter) => {
                let name = self.context.database_or_current(alter.name.as_deref())?;
                self.rights.require_in_database(name, ALTER)
            }
            Statement::DropDatabase(drop) => self.rights.require_in_database(&drop.name, DROP),
            Statement::Show(show) => self.show(&show.kind),
            Statement::Describe(Describe { table, .. }) => match table {
                Described::Table(table) => self.shown_columns(table),
                // The function checks what it reads.
                Described::Call(_) => Ok(()),
            },
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Statement { statement, .. } => self.statement(statement),
                _ => Ok(()),
            },
            Statement::Flush(flush) => self.flush(flush),
            Statement::SetTransaction(set) if set.scope == Some(VariableScope::Global) => {
                global_variables(&self.rights)
            }
            Statement::LockTables(tables) => tables.iter().try_for_each(|lock| {
                const LOCK: PrivilegeSet = set(&[Privilege::LockTables]);
                if let Some((database, _)) = self.lasting(&lock.table)? {
                    self.rights.require_in_database(&database, LOCK)?;
                }
                self.columns(&lock.table, SELECT)
            }),
            Statement::TableMaintenance(maintenance) => {
                const INDEX: PrivilegeSet = set(&[Privilege::Index]);
                let wanted = match maintenance.verb {
                    TableVerb::CacheIndex | TableVerb::LoadIndex => INDEX,
                    TableVerb::Check | TableVerb::Checksum => SELECT,
                    TableVerb::Analyze | TableVerb::Optimize | TableVerb::Repair => {
                        SELECT.with(INSERT)
                    }
                };
                let mut tables = maintenance.tables.iter();
                tables.try_for_each(|table| self.columns(table, wanted))
            }
            Statement::Shutdown => self.rights.require(SHUTDOWN, &[], "SHUTDOWN"),
            Statement::ResetPersist { .. } => global_variables(&self.rights),
            // These need no privilege, or check it where names are resolved.
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Use(_)
            | Statement::Help(_)
            | Statement::Set(_)
            | Statement::SetStatement(..)
            | Statement::SetTransaction(_)
            | Statement::StartTransaction(_)
            | Statement::Commit(_)
            | Statement::Rollback(_)
            | Statement::Savepoint(_)
            | Statement::RollbackToSavepoint(_)
            | Statement::ReleaseSavepoint(_)
            | Statement::Do(_)
            | Statement::Kill { .. }
            | Statement::Prepare(_)
            | Statement::Execute(_)
            | Statement::Deallocate(_)
            | Statement::UnlockTables
            | Statement::Account(_)
            | Statement::DropStoredProgram(_)
            | Statement::Handler(_)
            | Statement::Empty
            | Statement::Unsupported(_) => Ok(()),
        }
    }

    /// The full name of a base table or view; `None` for a temporary table, which is the session's own.
    fn lasting(&self, table: &TableName) -> Result<Option<FullName>> {
        let (database, name) = qualified(self.context, table)?;
        let own = self.context.temporary_table(&database, &name);
        Ok(own.is_none().then_some((database, name)))
    }

    /// 1142 unless these privileges hold on a table.
    fn table(&self, table: &TableName, wanted: PrivilegeSet) -> Result<()> {
        match self.lasting(table)? {
            Some((database, name)) => self.rights.require_on_table(&database, &name, wanted),
            None => Ok(()),
        }
    }

    /// 1142 unless these privileges hold on a table or some of its columns.
    fn columns(&self, table: &TableName, wanted: PrivilegeSet) -> Result<()> {
        match self.lasting(table)? {
            Some((database, name)) => self.rights.require_on_columns(&database, &name, wanted),
            None => Ok(()),
        }
    }

    /// 1142 for a name that never means a temporary table.
    fn base_table(&self, table: &TableName, wanted: PrivilegeSet) -> Result<()> {
        let (database, name) = qualified(self.context, table)?;
        self.rights.require_on_table(&database, &name, wanted)
    }

    fn create_table(&self, create: &CreateTable) -> Result<()> {
        let (database, name) = qualified(self.context, &create.name)?;
        if create.is_temporary() {
            const TEMPORARY: PrivilegeSet = set(&[Privilege::CreateTemporaryTables]);
            self.rights.require_in_database(&database, TEMPORARY)?;
        } else {
            let mut wanted = CREATE;
            if create.select.is_some() {
                wanted = wanted.with(INSERT);
            }
            if create.or_replace {
                wanted = wanted.with(DROP);
            }
            self.rights.require_on_table(&database, &name, wanted)?;
        }
        if let Some(like) = &create.like {
            self.columns(like, SELECT)?;
        }
        if create.is_temporary() {
            return Ok(());
        }
        self.parents(&database, create.elements.iter())
    }

    /// REFERENCES on the tables that foreign keys refer to.
    fn parents<'e>(
        &self,
        database: &str,
        mut elements: impl Iterator<Item = &'e TableElement>,
    ) -> Result<()> {
        elements.try_for_each(|element| {
            let TableElement::ForeignKey(foreign) = element else {
                return Ok(());
            };
            let References { table, columns, .. } = &foreign.references;
            let parent = table.database.as_deref().unwrap_or(database);
            let rights = &self.rights;
            let on_column = |column: &String| rights.on_column(parent, &table.name, column);
            let has = rights.on_table(parent, &table.name).has(REFERENCES)
                || (!columns.is_empty() && columns.iter().all(|it| on_column(it).has(REFERENCES)));
            ensure(has, || {
                let full = format!("{parent}.{}", table.name);
                rights.denied_table(&REFERENCES.names(), &full)
            })
        })
    }

    fn alter_table(&self, alter: &AlterTable) -> Result<()> {
        let Some((database, name)) = self.lasting(&alter.table)? else {
            return Ok(());
        };
        self.rights.require_on_table(&database, &name, ALTER)?;
        for action in &alter.actions {
            match action {
                AlterAction::RenameTo(new) => self.renamed(&alter.table, new, ALTER.with(DROP))?,
                AlterAction::Add(element) => self.parents(&database, std::iter::once(element))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn renamed(&self, old: &TableName, new: &TableName, wanted: PrivilegeSet) -> Result<()> {
        let Some((database, name)) = self.lasting(old)? else {
            return Ok(());
        };
        self.rights.require_on_table(&database, &name, wanted)?;
        self.base_table(new, INSERT.with(CREATE))
    }

    /// 1142 unless the session has any privilege on the table or its columns, or on its whole database.
    fn shown_columns(&self, table: &TableName) -> Result<()> {
        match self.lasting(table)? {
            Some((database, name)) if !self.rights.sees_columns(&database, &name) => {
                Err(self.rights.denied_table("SELECT", &name))
            }
            _ => Ok(()),
        }
    }

    /// 1044 unless the session has any privilege in the database.
    fn shown_database(&self, database: Option<&str>) -> Result<()> {
        let current = self.context.current_database();
        match database.or(current) {
            Some(name) if !self.rights.may_use(name) => Err(self.rights.denied_database(name)),
            _ => Ok(()),
        }
    }

    fn show(&self, kind: &ShowKind) -> Result<()> {
        match kind {
            ShowKind::Tables { database, .. }
            | ShowKind::TableStatus { database }
            | ShowKind::OpenTables { database }
            | ShowKind::Triggers { database, .. }
            | ShowKind::Events { database } => self.shown_database(database.as_deref()),
            ShowKind::Columns { table, .. } | ShowKind::Index { table, .. } => {
                self.shown_columns(table)
            }
            ShowKind::Create(ShowCreate::Table(table)) => {
                let Some((database, name)) = self.lasting(table)? else {
                    return Ok(());
                };
                let held = self.rights.on_table(&database, &name);
                if is_open(&database, &name) {
                    return Ok(());
                }
                ensure(held.meets(PrivilegeSet::TABLE), || {
                    self.rights.denied_table("SHOW", &name)
                })?;
                match self.context.catalog().view(&database, &name) {
                    Some(_) => self.shown_view(&database, &name),
                    None => Ok(()),
                }
            }
            ShowKind::Create(ShowCreate::View(table)) => {
                let (database, name) = qualified(self.context, table)?;
                self.shown_view(&database, &name)
            }
            ShowKind::Create(ShowCreate::Database { name, .. }) => self.shown_database(Some(name)),
            ShowKind::Engine { .. } => self.rights.require(PROCESS, &[], "PROCESS"),
            ShowKind::BinaryLogs | ShowKind::BinaryLogStatus | ShowKind::ReplicaStatus { .. } => {
                const EITHER: PrivilegeSet = set(&[Privilege::Super, Privilege::ReplicationClient]);
                self.rights
                    .require(EITHER, &[], "SUPER, REPLICATION CLIENT")
            }
            ShowKind::Replicas | ShowKind::LogEvents { .. } => {
                const SLAVE: PrivilegeSet = set(&[Privilege::ReplicationSlave]);
                self.rights.require(SLAVE, &[], "REPLICATION SLAVE")
            }
            _ => Ok(()),
        }
    }

    fn shown_view(&self, database: &str, name: &str) -> Result<()> {
        self.rights.require_on_table(database, name, SELECT)?;
        self.rights.require_on_table(database, name, SHOW_VIEW)
    }

    fn flush(&self, flush: &Flush) -> Result<()> {
        for target in &flush.targets {
            let dynamic = match target {
                FlushTarget::Status => "FLUSH_STATUS",
                FlushTarget::Tables { .. } => "FLUSH_TABLES",
                FlushTarget::Other(name) => match name.as_str() {
                    "PRIVILEGES" => "FLUSH_PRIVILEGES",
                    "USER_RESOURCES" => "FLUSH_USER_RESOURCES",
                    "OPTIMIZER_COSTS" => "FLUSH_OPTIMIZER_COSTS",
                    _ => {
                        self.rights.require(RELOAD, &[], "RELOAD")?;
                        continue;
                    }
                },
            };
            let names = format!("RELOAD or {dynamic}");
            self.rights.require(RELOAD, &[dynamic], &names)?;
            if let FlushTarget::Tables {
                tables,
                read_lock: true,
                ..
            } = target
            {
                let mut tables = tables.iter();
                tables.try_for_each(|table| self.columns(table, SELECT))?;
            }
        }
        Ok(())
    }
}

/// Checks INSERT on the columns that a statement lists, or on the table if it lists none, and the privileges needed
/// for rows with duplicate keys: 1142 and 1143. Columns that it reads are checked where its expressions are bound.
pub(crate) fn added_rows(
    rights: &Rights,
    table: (&str, &str),
    additions: Additions<'_>,
) -> Result<()> {
    let (database, name) = table;
    let mut wanted = INSERT;
    if additions.replaces {
        wanted = wanted.with(DELETE);
    }
    if !additions.updated.is_empty() {
        wanted = wanted.with(UPDATE);
    }
    rights.require_on_columns(database, name, wanted)?;
    for column in additions.updated {
        rights.require_on_column(table, column, UPDATE)?;
    }
    if rights.on_table(database, name).has(INSERT) {
        return Ok(());
    }
    let listed = additions.listed.unwrap_or_default();
    let names_none = additions.listed.is_none() || listed.len() + additions.assigned.len() == 0;
    if names_none {
        return Err(rights.denied_table(&INSERT.names(), name));
    }
    let mut named = listed.iter().chain(additions.assigned);
    named.try_for_each(|column| rights.require_on_column(table, column, INSERT))
}

/// The one table that a statement names in its FROM, if it has no join and no derived table.
fn only_table(tables: &[TableWithJoins]) -> Option<TableName> {
    match tables {
        [
            TableWithJoins {
                relation: TableFactor::Table { name, .. },
                joins,
            },
        ] if joins.is_empty() => TableName::from_object_name(name),
        _ => None,
    }
}

/// 1227 unless the session may SET GLOBAL.
pub(crate) fn global_variables(rights: &Rights) -> Result<()> {
    let names = "SUPER or SYSTEM_VARIABLES_ADMIN";
    rights.require(SUPER, &["SYSTEM_VARIABLES_ADMIN"], names)
}

/// 1227 unless the session may SET GLOBAL this variable: `offline_mode` needs a privilege whose holders it does not
/// disconnect.
pub(crate) fn global_variable(rights: &Rights, name: &str) -> Result<()> {
    global_variables(rights)?;
    match name {
        "offline_mode" => rights.require(SUPER, &["CONNECTION_ADMIN"], "CONNECTION_ADMIN"),
        "mandatory_roles" => rights.require(SUPER, &["ROLE_ADMIN"], "ROLE_ADMIN"),
        _ => Ok(()),
    }
}

/// 1227 unless the session may set its own value of a variable.
pub(crate) fn session_variable(rights: &Rights, variable: &SystemVariable) -> Result<()> {
    if !variable.restricted {
        return Ok(());
    }
    let names = "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN";
    let dynamic = ["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"];
    rights.require(SUPER, &dynamic, names)
}
