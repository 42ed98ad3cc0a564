//! `mandatory_roles`: roles that every account has, without a GRANT.

use std::collections::BTreeSet;

use mayfly_syntax::ast::{AccountStatement, RoleChoice, Statement};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::Accounts;
use super::account::{Account, AccountName};
use crate::error::parse_own;

/// Parses a list of roles, as SET ROLE would; `None` when it is invalid.
pub(crate) fn parse(text: &str) -> Option<BTreeSet<AccountName>> {
    if text.trim().is_empty() {
        return Some(BTreeSet::new());
    }
    let Statement::Account(statement) = parse_own(&format!("SET ROLE {text}")).ok()? else {
        return None;
    };
    let AccountStatement::SetRole(RoleChoice::List(list)) = *statement else {
        return None;
    };
    list.iter().map(AccountName::of).collect()
}

impl Accounts {
    /// Sets `mandatory_roles`.
    pub(crate) fn set_mandatory(&self, text: &str) {
        *self.mandatory.write() = parse(text).unwrap_or_default();
    }

    /// The mandatory roles that exist.
    pub(crate) fn mandatory(&self) -> BTreeSet<AccountName> {
        let mut roles = self.mandatory.read().clone();
        if !roles.is_empty() {
            let table = self.table();
            roles.retain(|role| table.contains_key(role));
        }
        roles
    }

    /// The roles that an account may activate: granted and mandatory ones.
    pub(crate) fn roles_of(&self, account: &Account) -> BTreeSet<AccountName> {
        let mut roles: BTreeSet<_> = account.grants.roles.keys().cloned().collect();
        roles.extend(self.mandatory());
        roles.remove(&account.name);
        roles
    }

    /// The active roles after a login to an account.
    pub(crate) fn roles_at_login(&self, account: &Account, all: bool) -> BTreeSet<AccountName> {
        if all {
            self.roles_of(account)
        } else {
            account.grants.default_roles.clone()
        }
    }

    /// 3628 for a mandatory role, which cannot be revoked or dropped.
    pub(crate) fn refuse_mandatory(&self, roles: &[AccountName]) -> Result<()> {
        let mandatory = self.mandatory();
        match roles.iter().find(|role| mandatory.contains(role)) {
            Some(role) => Err(codes::ER_MANDATORY_ROLE.with(&[&role.quoted()])),
            None => Ok(()),
        }
    }
}
