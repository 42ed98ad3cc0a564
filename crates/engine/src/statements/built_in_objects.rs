//! Statements that would create, drop or fill an object of `sys`.
//!
//! MySQL keeps the tables and views of `sys` as ordinary ones, so a dump of all databases holds them: `mariadb-dump
//! --all-databases` writes DROP, CREATE, ALTER TABLE … DISABLE KEYS and INSERT for each. Mayfly makes these objects
//! itself. Such a statement changes nothing and says so in a warning, so that the dump can be loaded; every other
//! statement that would change `sys` is error 1044.

use mayfly_syntax::ast::{AlterAction, InsertSource, Statement, TableName};
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::information_schema;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

const SCHEMA: &str = "sys";

/// Answers a statement all of whose objects are built into `sys`; `None` for every other one.
pub(super) fn run(
    context: &StatementContext<'_>,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    let objects = match statement {
        Statement::CreateTable(create) if !create.is_temporary() => {
            std::slice::from_ref(&create.name)
        }
        Statement::CreateView(create) => std::slice::from_ref(&create.name),
        Statement::DropTable(drop) if !drop.temporary => &drop.tables,
        Statement::DropView(drop) => &drop.views,
        Statement::AlterTable(alter) if alter.actions.iter().all(enables_keys) => {
            std::slice::from_ref(&alter.table)
        }
        Statement::Insert(insert) if matches!(insert.source, InsertSource::Values(_)) => {
            std::slice::from_ref(&insert.table)
        }
        _ => return Ok(None),
    };
    let mut names = Vec::with_capacity(objects.len());
    for object in objects {
        match built_in(context, object) {
            Some(name) => names.push(name),
            None => return Ok(None),
        }
    }
    for name in names {
        context.warn(codes::ER_BUILT_IN_OBJECT.with(&[&SCHEMA, &name]));
    }
    Ok(Some(StatementResult::default().into()))
}

fn enables_keys(action: &AlterAction) -> bool {
    matches!(action, AlterAction::EnableKeys | AlterAction::DisableKeys)
}

/// The name of an object that is built into `sys`.
fn built_in(context: &StatementContext<'_>, object: &TableName) -> Option<String> {
    let (database, name) = qualified(context, object).ok()?;
    if !database.eq_ignore_ascii_case(SCHEMA) {
        return None;
    }
    let is_table = information_schema::table(SCHEMA, &name).is_some();
    let exists = is_table || context.catalog().view(SCHEMA, &name).is_some();
    exists.then(|| name.to_lowercase())
}
