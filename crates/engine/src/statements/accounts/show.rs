//! SHOW GRANTS, SHOW CREATE USER and SHOW PRIVILEGES.

use std::sync::Arc;

use mayfly_syntax::ast::{AccountReference, Privilege};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, Value};

use super::super::simple::text_rows;
use super::{MISSING, failed};
use crate::accounts::account::{Account, AccountName};
use crate::accounts::privileges::{DYNAMIC, PrivilegeSet, STATIC};
use crate::ddl::account::{create_text, named};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::variables::typed;

const SELECT: PrivilegeSet = PrivilegeSet::of(&[Privilege::Select]);

/// An account by its name.
fn account(context: &StatementContext<'_>, name: &AccountName) -> Option<Arc<Account>> {
    let mut accounts = context.privileges().shown_accounts().into_iter();
    accounts.find(|account| account.name == *name)
}

/// SHOW GRANTS: with roles, what these add too.
pub(in super::super) fn grants(
    context: &StatementContext<'_>,
    reference: Option<&AccountReference>,
    using: &[AccountReference],
) -> Result<Outcome> {
    let own = context.privileges().own_account();
    let name = match reference {
        Some(reference) => named(context, reference)?,
        None => own.clone(),
    };
    let rights = context.rights();
    if name != own && !rights.on_table("mysql", "user").has(SELECT) {
        return Err(rights.denied_table("SELECT", "user"));
    }
    let missing = || codes::ER_NONEXISTING_GRANT.with(&[&name.user, &name.host]);
    let account = account(context, &name).ok_or_else(missing)?;
    let mut grants = account.grants.clone();
    let mut roles = std::collections::BTreeSet::new();
    for role in using {
        let role = named(context, role)?;
        if !grants.roles.contains_key(&role) {
            let error = codes::ER_ROLE_NOT_GRANTED;
            return Err(error.with(&[&role.quoted(), &name.quoted()]));
        }
        roles.insert(role);
    }
    if reference.is_none() {
        roles.clone_from(context.privileges().roles());
        for role in context.database().accounts.roles_of(&account) {
            grants.roles.entry(role).or_insert(false);
        }
    }
    let sources = context.database().accounts.with_roles(&name, &roles);
    for role in sources.iter().filter(|source| source.name != name) {
        grants.add(&role.grants);
    }
    let title = format!("Grants for {}@{}", name.user, name.host);
    let statements = grants.statements(&name);
    let rows = statements.iter().map(|text| [Value::from(text.as_str())]);
    let rows: Vec<[Value; 1]> = rows.collect();
    let ty = SqlType::varchar(1024, CollationId::UTF8MB4_0900_AI_CI);
    let result = StatementResult::of_rows(&[(title.as_str(), ty)], &rows);
    Ok(result.never_null(|_| true).into())
}

/// SHOW CREATE USER
pub(in super::super) fn create(
    context: &StatementContext<'_>,
    reference: &AccountReference,
) -> Result<Outcome> {
    let name = named(context, reference)?;
    if name != context.privileges().own_account() {
        context.rights().require_in_database("mysql", SELECT)?;
    }
    let missing = || failed("SHOW CREATE USER", std::slice::from_ref(&name), MISSING);
    let account = account(context, &name).ok_or_else(missing)?;
    let as_hex = context.settings().get(typed::PRINT_IDENTIFIED_WITH_AS_HEX);
    let title = format!("CREATE USER for {}@{}", name.user, name.host);
    let text = create_text(&account, as_hex);
    let result = text_rows(&[(title.as_str(), 256)], &[[text]]);
    Ok(result.never_null(|_| true).into())
}

/// SHOW PRIVILEGES
pub(in super::super) fn privileges() -> Outcome {
    let sentence = |name: &str| {
        let mut name = name.to_lowercase();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        name
    };
    let row =
        |name: String, context: &str, comment: &str| [name, context.to_owned(), comment.to_owned()];
    let own = [
        ("Proxy", "To make proxy user possible"),
        ("Usage", "No privileges - allow connect only"),
    ];
    let own = own.map(|(name, comment)| row(name.to_owned(), "Server Admin", comment));
    let known = STATIC.iter();
    let known = known.map(|it| row(sentence(it.name), it.context, it.comment));
    let mut rows: Vec<[String; 3]> = known.chain(own).collect();
    rows.sort();
    let dynamic = DYNAMIC.iter();
    rows.extend(dynamic.map(|name| row((*name).to_owned(), "Server Admin", "")));
    let columns = [("Privilege", 10), ("Context", 15), ("Comment", 64)];
    text_rows(&columns, &rows).never_null(|_| true).into()
}
