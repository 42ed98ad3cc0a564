//! `mandatory_roles`: roles that every account has, without a GRANT.

use std::collections::BTreeSet;

use mayfly_syntax::ast::{AccountReference, AccountStatement, RoleChoice, Statement};
use mayfly_syntax::{ParseOptions, parse_one};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::Accounts;
use super::account::{Account, AccountName};

/// The roles that a text names, as SET ROLE would; `None` when it is no list of roles.
pub(crate) fn parse(text: &str) -> Option<BTreeSet<AccountName>> {
    if text.trim().is_empty() {
        return Some(BTreeSet::new());
    }
    let statement = format!("SET ROLE {text}");
    let parsed = parse_one(&statement, &ParseOptions::MYSQL_DEFAULT).ok()?;
    let Statement::Account(statement) = parsed.statement else {
        return None;
    };
    let AccountStatement::SetRole(RoleChoice::List(list)) = *statement else {
        return None;
    };
    let name = |reference: &AccountReference| match reference {
        AccountReference::Named { user, host } => AccountName::new(user, host.as_deref()).ok(),
        AccountReference::Current => None,
    };
    list.iter().map(name).collect()
}

impl Accounts {
    /// `mandatory_roles` has this value now.
    pub(crate) fn set_mandatory(&self, text: &str) {
        let roles = parse(text).unwrap_or_default();
        *self.mandatory.write() = roles;
    }

    /// The mandatory roles that there are.
    pub(crate) fn mandatory(&self) -> BTreeSet<AccountName> {
        let roles = self.mandatory.read();
        if roles.is_empty() {
            return BTreeSet::new();
        }
        let table = self.table();
        let there = roles.iter().filter(|role| table.contains_key(role));
        there.cloned().collect()
    }

    /// The roles that an account may have active: those that it was granted, and the mandatory ones.
    pub(crate) fn roles_of(&self, account: &Account) -> BTreeSet<AccountName> {
        let mut roles: BTreeSet<_> = account.grants.roles.keys().cloned().collect();
        roles.extend(self.mandatory());
        roles.remove(&account.name);
        roles
    }

    /// The roles that are active for who logs in to an account.
    pub(crate) fn roles_at_login(&self, account: &Account, all: bool) -> BTreeSet<AccountName> {
        match all {
            true => self.roles_of(account),
            false => account.grants.default_roles.clone(),
        }
    }

    /// 3628 for a mandatory role, which nobody revokes or drops.
    pub(crate) fn refuse_mandatory(&self, roles: &[AccountName]) -> Result<()> {
        let mandatory = self.mandatory();
        match roles.iter().find(|role| mandatory.contains(role)) {
            Some(role) => Err(codes::ER_MANDATORY_ROLE.with(&[&role.quoted()])),
            None => Ok(()),
        }
    }
}
