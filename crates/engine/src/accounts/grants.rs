//! Grants of an account: privileges globally and on databases, tables and columns, and roles.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use mayfly_syntax::printer::quoted_identifier;

use super::account_name::AccountName;
use super::host;
use super::privileges::{DynamicSet, PrivilegeSet};
use crate::names::{same_name, word_if};

/// Privileges on a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TableGrant {
    /// Privileges on the whole table.
    pub(crate) privileges: PrivilegeSet,
    /// Privileges on single columns.
    pub(crate) columns: BTreeMap<String, PrivilegeSet>,
}

impl TableGrant {
    /// The union of privileges on its columns.
    pub(crate) fn any_column(&self) -> PrivilegeSet {
        self.columns.values().copied().collect()
    }

    fn add_to_column(&mut self, name: &str, privileges: PrivilegeSet) {
        self.columns
            .entry(name.to_owned())
            .or_default()
            .add(privileges);
    }

    /// The privileges on a column, without the table's.
    pub(crate) fn column(&self, name: &str) -> PrivilegeSet {
        let mut columns = self.columns.iter();
        let found = columns.find(|(column, _)| same_name(column, name));
        found.map_or(PrivilegeSet::NONE, |(_, privileges)| *privileges)
    }

    fn is_empty(&self) -> bool {
        self.privileges.is_empty() && self.columns.is_empty()
    }
}

/// Level of a GRANT or REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Level {
    /// `*.*`
    Global,
    /// `db.*`: a pattern.
    Database(String),
    /// `db.t`
    Table(String, String),
}

/// The privileges of a GRANT or REVOKE.
#[derive(Debug, Clone, Default)]
pub(crate) struct Granted {
    /// Static privileges.
    pub(crate) privileges: PrivilegeSet,
    /// Dynamic privileges.
    pub(crate) dynamic: DynamicSet,
    /// Column privileges.
    pub(crate) columns: Vec<(String, PrivilegeSet)>,
}

/// All grants of an account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Grants {
    pub(crate) global: PrivilegeSet,
    pub(crate) dynamic: DynamicSet,
    /// Dynamic privileges with GRANT OPTION.
    pub(crate) dynamic_grantable: DynamicSet,
    /// Database privileges, by pattern.
    pub(crate) databases: BTreeMap<String, PrivilegeSet>,
    /// Table privileges, by database and name.
    pub(crate) tables: BTreeMap<(String, String), TableGrant>,
    /// Granted roles, with ADMIN OPTION or without.
    pub(crate) roles: BTreeMap<AccountName, bool>,
    pub(crate) default_roles: BTreeSet<AccountName>,
}

impl Grants {
    /// All privileges on everything.
    pub(crate) fn all() -> Self {
        Self {
            global: PrivilegeSet::GLOBAL.with(PrivilegeSet::GRANT_OPTION),
            dynamic: DynamicSet::ALL,
            dynamic_grantable: DynamicSet::ALL,
            ..Self::default()
        }
    }

    /// GRANT. This function alone decides what a GRANT adds.
    pub(crate) fn grant(&mut self, granted: &Granted, level: &Level, grant_option: bool) {
        let mut privileges = granted.privileges;
        // Without a static privilege GRANT OPTION is of the dynamic ones alone.
        if grant_option && (granted.dynamic.is_empty() || !privileges.is_empty()) {
            privileges.add(PrivilegeSet::GRANT_OPTION);
        }
        match level {
            Level::Global => {
                self.global.add(privileges);
                self.dynamic.add(granted.dynamic);
                if grant_option {
                    self.dynamic_grantable.add(granted.dynamic);
                }
            }
            Level::Database(pattern) => {
                if !privileges.is_empty() {
                    self.add_to_database(pattern, privileges);
                }
            }
            Level::Table(database, table) => {
                if privileges.is_empty() && granted.columns.is_empty() {
                    return;
                }
                let key = (database.clone(), table.clone());
                let table = self.tables.entry(key).or_default();
                table.privileges.add(privileges);
                for (column, privileges) in &granted.columns {
                    table.add_to_column(column, *privileges);
                }
            }
        }
    }

    fn add_to_database(&mut self, pattern: &str, privileges: PrivilegeSet) {
        let database = self.databases.entry(pattern.to_owned()).or_default();
        database.add(privileges);
    }

    /// REVOKE; returns whether there was any grant on that level.
    pub(crate) fn revoke(&mut self, granted: &Granted, level: &Level) -> bool {
        match level {
            Level::Global => {
                self.global.remove(granted.privileges);
                self.dynamic.remove(granted.dynamic);
                self.dynamic_grantable.remove(granted.dynamic);
                true
            }
            Level::Database(pattern) => {
                let Some(database) = self.databases.get_mut(pattern) else {
                    return false;
                };
                database.remove(granted.privileges);
                if database.is_empty() {
                    self.databases.remove(pattern);
                }
                true
            }
            Level::Table(database, table) => {
                let key = (database.clone(), table.clone());
                let Some(grant) = self.tables.get_mut(&key) else {
                    return false;
                };
                grant.privileges.remove(granted.privileges);
                // Privileges revoked on the table are revoked on its columns.
                for column in grant.columns.values_mut() {
                    column.remove(granted.privileges);
                }
                for (name, privileges) in &granted.columns {
                    if let Some(column) = grant.columns.get_mut(name) {
                        column.remove(*privileges);
                    }
                }
                grant.columns.retain(|_, privileges| !privileges.is_empty());
                if grant.is_empty() {
                    self.tables.remove(&key);
                }
                true
            }
        }
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION: roles are kept.
    pub(crate) fn revoke_all(&mut self) {
        *self = Self {
            roles: std::mem::take(&mut self.roles),
            default_roles: std::mem::take(&mut self.default_roles),
            ..Self::default()
        };
    }

    /// Adds the privileges of a role.
    pub(crate) fn add(&mut self, role: &Self) {
        self.global.add(role.global);
        self.dynamic.add(role.dynamic);
        self.dynamic_grantable.add(role.dynamic_grantable);
        for (pattern, privileges) in &role.databases {
            self.add_to_database(pattern, *privileges);
        }
        for (name, grant) in &role.tables {
            let table = self.tables.entry(name.clone()).or_default();
            table.privileges.add(grant.privileges);
            for (column, privileges) in &grant.columns {
                table.add_to_column(column, *privileges);
            }
        }
    }

    /// The privileges of the most specific pattern that matches a database.
    pub(crate) fn on_database(&self, database: &str) -> PrivilegeSet {
        let patterns = self.databases.iter();
        let fitting = patterns.filter(|(pattern, _)| {
            pattern.as_str() == database || host::is_name_like(database, pattern)
        });
        let first = fitting.max_by_key(|(pattern, _)| specificity(pattern));
        first.map_or(PrivilegeSet::NONE, |(_, privileges)| *privileges)
    }

    /// The privileges on a table, without those on its database.
    pub(crate) fn on_table(&self, database: &str, table: &str) -> Option<&TableGrant> {
        if self.tables.is_empty() {
            return None;
        }
        self.tables.get(&(database.to_owned(), table.to_owned()))
    }

    /// The GRANT statements of all grants, as SHOW GRANTS prints them.
    pub(crate) fn statements(&self, account: &AccountName) -> Vec<String> {
        let to = account.quoted();
        let mut statements = vec![self.global_statement(&to)];
        let without = self.dynamic.without(self.dynamic_grantable);
        for (set, option) in [
            (without, ""),
            (self.dynamic_grantable, " WITH GRANT OPTION"),
        ] {
            if !set.is_empty() {
                let names = set.names().join(",");
                statements.push(format!("GRANT {names} ON *.* TO {to}{option}"));
            }
        }
        let mut databases: Vec<_> = self.databases.iter().collect();
        databases.sort_by_key(|(pattern, _)| std::cmp::Reverse(specificity(pattern)));
        for (pattern, privileges) in databases {
            let names = names(*privileges, PrivilegeSet::DATABASE);
            let pattern = quoted_identifier(pattern);
            let option = option(*privileges);
            statements.push(format!("GRANT {names} ON {pattern}.* TO {to}{option}"));
        }
        for ((database, table), grant) in &self.tables {
            statements.push(format!(
                "GRANT {} ON {}.{} TO {to}{}",
                table_names(grant),
                quoted_identifier(database),
                quoted_identifier(table),
                option(grant.privileges)
            ));
        }
        for (admin, option) in [(false, ""), (true, " WITH ADMIN OPTION")] {
            let roles = self.roles.iter().filter(|(_, known)| **known == admin);
            let roles = roles.map(|(role, _)| role.quoted()).join(",");
            if !roles.is_empty() {
                statements.push(format!("GRANT {roles} TO {to}{option}"));
            }
        }
        statements
    }

    fn global_statement(&self, to: &str) -> String {
        // The list is written out: ALL means different privileges in each version.
        let names = match self.global.without(PrivilegeSet::GRANT_OPTION) {
            PrivilegeSet::NONE => "USAGE".to_owned(),
            privileges => privileges.names(),
        };
        format!("GRANT {names} ON *.* TO {to}{}", option(self.global))
    }
}

/// Specificity of a pattern: greater ones are tried first.
fn specificity(pattern: &str) -> usize {
    host::first_wildcard(pattern).unwrap_or(usize::MAX)
}

fn option(privileges: PrivilegeSet) -> &'static str {
    let has_it = privileges.has(PrivilegeSet::GRANT_OPTION);
    word_if(has_it, " WITH GRANT OPTION")
}

fn names(privileges: PrivilegeSet, all: PrivilegeSet) -> String {
    let privileges = privileges.without(PrivilegeSet::GRANT_OPTION);
    if privileges.is_empty() {
        return "USAGE".to_owned();
    }
    if privileges == all {
        return "ALL PRIVILEGES".to_owned();
    }
    privileges.names()
}

/// `SELECT, SELECT (a, b), DELETE`
fn table_names(grant: &TableGrant) -> String {
    let privileges = grant.privileges.without(PrivilegeSet::GRANT_OPTION);
    if grant.columns.is_empty() {
        return names(privileges, PrivilegeSet::TABLE);
    }
    let mut parts = Vec::new();
    for row in privileges.with(grant.any_column()).members() {
        let one = PrivilegeSet::of(&[row.privilege]);
        if privileges.has(one) {
            parts.push(row.name.to_owned());
        }
        let columns = grant.columns.iter().filter(|(_, set)| set.has(one));
        let columns = columns.map(|(name, _)| quoted_identifier(name)).join(", ");
        if !columns.is_empty() {
            parts.push(format!("{} ({columns})", row.name));
        }
    }
    parts.join(", ")
}
