//! CREATE, ALTER and DROP DATABASE, and USE.

use mayfly_syntax::ast::{AlterDatabase, CreateDatabase, DatabaseOption, DropDatabase};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use super::drop_table::refuse_parents;
use crate::catalog::FullName;
use crate::ddl::column_type::DeclaredCollation;
use crate::error::refuse;
use crate::locks::table::TableUse;
use crate::names::check_name;
use crate::result::{Outcome, StatementResult};
use crate::session::{Session, StatementContext};
use crate::statements::table_names::refuse_system_schema;
use crate::system_schemas;
use crate::variables::typed::{self, Text, Variable};

fn collation(
    context: &StatementContext<'_>,
    options: &[DatabaseOption],
) -> Result<Option<CollationId>> {
    let mut declared = DeclaredCollation::new(context.options());
    for option in options {
        match option {
            DatabaseOption::Charset(name) => declared.charset(name)?,
            DatabaseOption::Collation(name) => declared.collation(name)?,
            DatabaseOption::Encryption(_) | DatabaseOption::ReadOnly(_) => {}
        }
    }
    Ok(declared.named())
}

/// CREATE DATABASE
pub(super) fn create(
    context: &mut StatementContext<'_>,
    statement: &CreateDatabase,
) -> Result<Outcome> {
    context.session.transaction.refuse_under_locks()?;
    let name = statement.name.as_str();
    check_name(name, &codes::ER_WRONG_DB_NAME)?;
    // `sys` is built in here but an ordinary database in MySQL: a dump of a whole server creates it.
    let is_new = !name.eq_ignore_ascii_case("sys") && {
        refuse_system_schema(context, name)?;
        let collation = collation(context, &statement.options)?;
        let collation = collation.unwrap_or(context.options().collation_server);
        context
            .catalog()
            .create_database(context, name, collation)?
    };
    if !is_new {
        let error = codes::ER_DB_CREATE_EXISTS.with(&[&name]);
        context.note_if(statement.if_not_exists, error)?;
    }
    Ok(StatementResult::affected(1).into())
}

/// ALTER DATABASE
pub(super) fn alter(
    context: &mut StatementContext<'_>,
    statement: &AlterDatabase,
) -> Result<Outcome> {
    let name = context.database_or_current(statement.name.as_deref())?;
    refuse_system_schema(context, name)?;
    if let Some(collation) = collation(context, &statement.options)? {
        context.catalog().alter_database(context, name, collation)?;
    }
    Ok(StatementResult::affected(1).into())
}

/// DROP DATABASE: the session's temporary tables in it stay.
pub(super) fn drop(
    context: &mut StatementContext<'_>,
    statement: &DropDatabase,
) -> Result<Outcome> {
    let name = statement.name.as_str();
    check_name(name, &codes::ER_WRONG_DB_NAME)?;
    refuse_system_schema(context, name)?;
    context.session.transaction.refuse_under_locks()?;
    let (mut held, mut views) = (Vec::new(), Vec::new());
    if let Some(entry) = context.catalog().databases().get(name) {
        let tables = entry.tables.keys();
        let tables: Vec<FullName> = tables.map(|it| (name.to_owned(), it.clone())).collect();
        refuse_parents(context, &tables)?;
        for (_, table) in &tables {
            held.extend(context.hold_table(name, table, TableUse::Alone)?);
        }
        for view in entry.views.keys() {
            views.push(context.hold_view(name, view, TableUse::Alone)?);
        }
    }
    let Some(tables) = context.catalog().drop_database(context, name)? else {
        let error = codes::ER_DB_DROP_EXISTS.with(&[&name]);
        context.note_if(statement.if_exists, error)?;
        return Ok(StatementResult::default().into());
    };
    for (table, _) in &held {
        context.session.temporary_tables.forget(table);
    }
    if context.current_database() == Some(name) {
        context.session.set_current_database(None);
    }
    Ok(StatementResult::affected(tables as u64).into())
}

impl Session {
    /// Sets the default database: 1049 when it does not exist, 1044 without any privilege in it, 1046 for the empty
    /// name.
    pub(crate) fn use_database(&mut self, name: &str) -> Result<()> {
        refuse(name.is_empty(), || codes::ER_NO_DB_ERROR.error())?;
        check_name(name, &codes::ER_WRONG_DB_NAME)?;
        if !self.privileges.is_unrestricted() && !self.privileges.rights().may_use(name) {
            return Err(self.privileges.rights().denied_database(name));
        }
        let collation = self
            .database
            .catalog
            .database_collation(name)
            .ok_or_else(|| codes::ER_BAD_DB_ERROR.with(&[&name]))?;
        let name = if system_schemas::is_schema(name) {
            name.to_lowercase()
        } else {
            name.to_owned()
        };
        self.set_current_database(Some(&name));
        let row = crate::character_sets::row(collation);
        let mut put = |variable: Variable<Text>, text: &str| {
            let (position, setting) = variable.setting(Some(text.into()));
            self.set_setting(position, setting);
        };
        put(typed::COLLATION_DATABASE, row.name);
        put(typed::CHARACTER_SET_DATABASE, row.charset.name());
        Ok(())
    }
}
