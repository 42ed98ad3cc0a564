//! Effective privileges of a session or of a view's definer: the grants of an account and of its active roles, in a
//! form for fast checks.

use std::sync::Arc;

use mayfly_syntax::ast::Privilege;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::account::{Account, AccountName};
use super::privileges::{DynamicSet, PrivilegeSet};
use crate::error::ensure;

/// Effective privileges of a session or a view's definer. Immutable: a GRANT replaces it.
#[derive(Debug)]
pub(crate) struct Rights {
    /// The account's name in errors.
    user: String,
    host: String,
    /// Whether there are no checks, as for an embedded session.
    unrestricted: bool,
    global: PrivilegeSet,
    dynamic: DynamicSet,
    dynamic_grantable: DynamicSet,
    /// The account, and its active roles.
    sources: Vec<Arc<Account>>,
}

impl Rights {
    /// The rights of an embedded session.
    pub(crate) fn unrestricted(user: &str, host: &str) -> Self {
        Self {
            user: user.to_owned(),
            host: host.to_owned(),
            unrestricted: true,
            global: PrivilegeSet::GLOBAL.with(PrivilegeSet::GRANT_OPTION),
            dynamic: DynamicSet::ALL,
            dynamic_grantable: DynamicSet::ALL,
            sources: Vec::new(),
        }
    }

    /// The rights of an account and its roles; none without any.
    pub(crate) fn of(user: &str, host: &str, sources: Vec<Arc<Account>>) -> Self {
        let all = || sources.iter().map(|source| &source.grants);
        Self {
            user: user.to_owned(),
            host: host.to_owned(),
            unrestricted: false,
            global: all().map(|grants| grants.global).collect(),
            dynamic: all().map(|grants| grants.dynamic).collect(),
            dynamic_grantable: all().map(|grants| grants.dynamic_grantable).collect(),
            sources,
        }
    }

    /// Whether there are no checks.
    pub(crate) fn is_unrestricted(&self) -> bool {
        self.unrestricted
    }

    /// Whether the account's statements are counted.
    #[inline]
    pub(crate) fn counts_statements(&self) -> bool {
        let account = self.sources.first();
        account.is_some_and(|account| account.limits.counts_statements())
    }

    /// The global privileges.
    pub(crate) fn global(&self) -> PrivilegeSet {
        self.global
    }

    /// Whether a dynamic privilege is granted.
    pub(crate) fn has_dynamic(&self, name: &str) -> bool {
        DynamicSet::of(name).is_some_and(|set| self.dynamic.has(set))
    }

    /// Whether all these dynamic privileges are granted.
    pub(crate) fn has_dynamic_set(&self, set: DynamicSet) -> bool {
        self.dynamic.has(set)
    }

    /// Whether these dynamic privileges can be granted to others.
    pub(crate) fn may_grant_dynamic(&self, set: DynamicSet) -> bool {
        self.dynamic_grantable.has(set)
    }

    /// Whether a role can be granted to others.
    pub(crate) fn administers(&self, role: &AccountName) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| source.grants.roles.get(role) == Some(&true))
    }

    /// The privileges in a database.
    pub(crate) fn on_database(&self, database: &str) -> PrivilegeSet {
        let sources = self.sources.iter();
        let own = sources.map(|source| source.grants.on_database(database));
        own.fold(self.global, PrivilegeSet::with)
    }

    /// The privileges on a table.
    pub(crate) fn on_table(&self, database: &str, table: &str) -> PrivilegeSet {
        let own = self.table_grants(database, table);
        let own = own.map(|grant| grant.privileges);
        own.fold(self.on_database(database), PrivilegeSet::with)
    }

    /// The privileges on a table or any of its columns.
    pub(crate) fn on_any_column(&self, database: &str, table: &str) -> PrivilegeSet {
        let own = self.table_grants(database, table);
        let own = own.map(|grant| grant.any_column());
        own.fold(self.on_table(database, table), PrivilegeSet::with)
    }

    /// The privileges on a column.
    pub(crate) fn on_column(&self, database: &str, table: &str, column: &str) -> PrivilegeSet {
        let own = self.table_grants(database, table);
        let own = own.map(|grant| grant.column(column));
        own.fold(self.on_table(database, table), PrivilegeSet::with)
    }

    fn table_grants<'r>(
        &'r self,
        database: &'r str,
        table: &'r str,
    ) -> impl Iterator<Item = &'r super::grants::TableGrant> {
        let sources = self.sources.iter();
        sources.filter_map(move |source| source.grants.on_table(database, table))
    }

    /// Whether a database is visible.
    pub(crate) fn sees_database(&self, database: &str) -> bool {
        const ALL: PrivilegeSet = PrivilegeSet::of(&[Privilege::ShowDatabases]);
        let is_shown = || database.eq_ignore_ascii_case("performance_schema");
        self.global.has(ALL) || self.may_use(database) || is_shown()
    }

    /// Whether a database can be the current one.
    pub(crate) fn may_use(&self, database: &str) -> bool {
        let sources = self.sources.iter();
        let mut tables = sources.flat_map(|source| source.grants.tables.keys());
        self.unrestricted
            || is_information_schema(database)
            || self.on_database(database).meets(PrivilegeSet::DATABASE)
            || tables.any(|(known, _)| known == database)
    }

    /// Whether a table is visible.
    pub(crate) fn sees_table(&self, database: &str, table: &str) -> bool {
        let held = || self.on_any_column(database, table);
        self.unrestricted || is_open(database, table) || held().meets(PrivilegeSet::TABLE)
    }

    /// Whether the columns of a table can be listed: only those with a privilege are visible.
    pub(crate) fn sees_columns(&self, database: &str, table: &str) -> bool {
        self.unrestricted
            || is_open(database, table)
            || self.on_database(database).meets(PrivilegeSet::COLUMN)
            || self.table_grants(database, table).next().is_some()
    }

    /// Whether a column is visible.
    pub(crate) fn sees_column(&self, database: &str, table: &str, column: &str) -> bool {
        let held = self.on_column(database, table, column);
        held.meets(PrivilegeSet::COLUMN)
    }

    /// Whether the query of a view is visible.
    pub(crate) fn sees_query(&self, database: &str, view: &str) -> bool {
        const BOTH: PrivilegeSet = PrivilegeSet::of(&[Privilege::Select, Privilege::ShowView]);
        self.unrestricted || self.on_table(database, view).has(BOTH)
    }

    /// 1227 unless one of these static privileges, or the dynamic one, is granted. `names` is their list in the
    /// error.
    pub(crate) fn require(
        &self,
        privileges: PrivilegeSet,
        dynamic: &[&str],
        names: &str,
    ) -> Result<()> {
        let has =
            self.global.meets(privileges) || dynamic.iter().any(|name| self.has_dynamic(name));
        ensure(has, || {
            codes::ER_SPECIFIC_ACCESS_DENIED_ERROR.with(&[&names])
        })
    }

    /// 1044 unless all these privileges hold in a database.
    pub(crate) fn require_in_database(&self, database: &str, wanted: PrivilegeSet) -> Result<()> {
        ensure(
            self.global.has(wanted) || self.on_database(database).has(wanted),
            || self.denied_database(database),
        )
    }

    /// 1370 unless a privilege holds on the routines of a database.
    pub(crate) fn require_on_routine(
        &self,
        database: &str,
        name: &str,
        wanted: Privilege,
    ) -> Result<()> {
        let privilege = PrivilegeSet::of(&[wanted]);
        ensure(
            self.global.has(privilege) || self.on_database(database).has(privilege),
            || {
                let wanted = match wanted {
                    Privilege::AlterRoutine => "alter routine",
                    _ => "execute",
                };
                let routine = format!("{database}.{name}");
                let denied = codes::ER_PROCACCESS_DENIED_ERROR;
                denied.with(&[&wanted, &self.user, &self.host, &routine])
            },
        )
    }

    /// 1142 unless all these privileges hold on a table; the error names the missing ones.
    pub(crate) fn require_on_table(
        &self,
        database: &str,
        table: &str,
        wanted: PrivilegeSet,
    ) -> Result<()> {
        self.require_among(wanted, table, || self.on_table(database, table))
    }

    /// 1142 unless these privileges hold on the table or on at least one of its columns; the columns are checked
    /// later.
    pub(crate) fn require_on_columns(
        &self,
        database: &str,
        table: &str,
        wanted: PrivilegeSet,
    ) -> Result<()> {
        self.require_among(wanted, table, || self.on_any_column(database, table))
    }

    fn require_among(
        &self,
        wanted: PrivilegeSet,
        table: &str,
        all: impl FnOnce() -> PrivilegeSet,
    ) -> Result<()> {
        if self.global.has(wanted) {
            return Ok(());
        }
        let missing = wanted.without(all());
        ensure(missing.is_empty(), || {
            self.denied_table(&missing.names(), table)
        })
    }

    /// 1143 unless a privilege holds on a column.
    pub(crate) fn require_on_column(
        &self,
        (database, table): (&str, &str),
        column: &str,
        wanted: PrivilegeSet,
    ) -> Result<()> {
        if self.global.has(wanted) || self.on_column(database, table, column).has(wanted) {
            return Ok(());
        }
        let denied = codes::ER_COLUMNACCESS_DENIED_ERROR;
        Err(denied.with(&[&wanted.names(), &self.user, &self.host, &column, &table]))
    }

    /// 1044
    pub(crate) fn denied_database(&self, database: &str) -> Error {
        codes::ER_DBACCESS_DENIED_ERROR.with(&[&self.user, &self.host, &database])
    }

    /// 1142
    pub(crate) fn denied_table(&self, command: &str, table: &str) -> Error {
        codes::ER_TABLEACCESS_DENIED_ERROR.with(&[&command, &self.user, &self.host, &table])
    }
}

/// Tables of performance_schema that everybody may read, as in MySQL: their rows depend on the reader.
const OPEN: &[&str] = &[
    "global_status",
    "global_variables",
    "persisted_variables",
    "processlist",
    "session_account_connect_attrs",
    "session_status",
    "session_variables",
    "variables_metadata",
];

fn is_information_schema(database: &str) -> bool {
    database.eq_ignore_ascii_case("information_schema")
}

/// Whether everybody may read a table: its rows depend on the reader.
pub(crate) fn is_open(database: &str, table: &str) -> bool {
    let is_listed = || OPEN.iter().any(|open| open.eq_ignore_ascii_case(table));
    is_information_schema(database)
        || database.eq_ignore_ascii_case("performance_schema") && is_listed()
}
