//! CREATE VIEW, ALTER VIEW and DROP VIEW.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::{
    AccountReference, CreateView, DropView, Expr, Query, Statement, TableName, ViewAlgorithm,
    visit_expressions,
};
use mayfly_syntax::encodings::variable;
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::accounts::refuse_system_user;
use super::drop_table::report_missing;
use super::{select, view_names};
use crate::accounts::account::AccountName;
use crate::accounts::privileges::SUPER;
use crate::binding::session_catalog::SessionCatalog;
use crate::catalog::fixed_literals::fix_literals;
use crate::catalog::view::{self, ViewDefinition};
use crate::catalog::{FullName, view_query};
use crate::ddl::account::named;
use crate::error::{parse_own, refuse};
use crate::locks::table::TableUse;
use crate::session::StatementContext;
use crate::statements::insert::parameter_index;
use crate::statements::table_names::{qualified, refuse_system_schema};
use crate::variables::typed;

/// CREATE VIEW and ALTER VIEW.
pub(super) fn create(context: &StatementContext<'_>, statement: &CreateView) -> Result<()> {
    context.session.transaction.refuse_under_locks()?;
    let (database, name) = qualified(context, &statement.name)?;
    refuse_system_schema(context, &database)?;
    let _held = context.hold_view(&database, &name, TableUse::Alone)?;
    let catalog = context.catalog();
    if !catalog.has_database(&database) {
        return Err(codes::ER_BAD_DB_ERROR.with(&[&database]));
    }
    let replaces = statement.or_replace || statement.alter;
    if catalog.table(&database, &name).is_some() {
        return Err(if replaces {
            codes::ER_WRONG_OBJECT.with(&[&database, &name, &"VIEW"])
        } else {
            codes::ER_TABLE_EXISTS_ERROR.with(&[&name])
        });
    }
    let old = catalog.view(&database, &name);
    if old.is_some() && !replaces {
        let error = codes::ER_TABLE_EXISTS_ERROR.with(&[&name]);
        return context.note_if(statement.if_not_exists, error);
    }
    if let Some(old) = old.as_deref().filter(|_| statement.or_replace) {
        refuse_of_system(context, old)?;
    }
    let view = match (old, statement.alter) {
        (None, true) => return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name])),
        (Some(old), true) => definition(context, &completed(statement, &old), database, name)?,
        (_, false) => definition(context, statement, database, name)?,
    };
    catalog.put_view(context, Arc::new(view))
}

/// ALTER VIEW with omitted clauses taken from the old definition.
fn completed(statement: &CreateView, old: &ViewDefinition) -> CreateView {
    let (user, host) = &old.definer;
    let definer = || AccountReference::Named {
        user: user.clone(),
        host: Some(host.clone()),
    };
    CreateView {
        algorithm: match statement.algorithm {
            ViewAlgorithm::Undefined => old.algorithm,
            algorithm => algorithm,
        },
        definer: statement.definer.clone().or_else(|| Some(definer())),
        invoker_security: statement.invoker_security.or(Some(old.invoker_security)),
        ..statement.clone()
    }
}

fn definition(
    context: &StatementContext<'_>,
    statement: &CreateView,
    database: String,
    name: String,
) -> Result<ViewDefinition> {
    refuse_variables(&statement.query)?;
    // The view's query must be one that could run.
    let planned = select::plan_described(context, &statement.query)?;
    let mut query = statement.query.clone();
    let given = &statement.columns;
    let columns = if given.is_empty() {
        let own = planned.columns.iter();
        let mut names: Vec<String> = own.map(|column| column.name.clone()).collect();
        view_names::make_unique(&mut query, &mut names)?;
        names
    } else {
        view_names::check(given)?;
        given.clone()
    };
    if columns.len() != planned.columns.len() {
        return Err(codes::ER_VIEW_WRONG_LIST.error());
    }
    fix_literals(&mut query, &context.options().session);
    let catalog = SessionCatalog::describing(context);
    view_query::fix_names(&mut query, &catalog, context.current_database())?;
    if let Some(table) = catalog.temporary_table_read() {
        return Err(codes::ER_VIEW_SELECT_TMPTABLE.with(&[&table]));
    }
    let view_of = |database: &str, name: &str| context.catalog().view(database, name);
    if view::reads(&query, (&database, &name), &view_of, &mut BTreeSet::new()) {
        return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name]));
    }
    let text = |variable| context.settings().text(variable).to_owned();
    let mut written = ViewDefinition {
        definer: definer(context, statement)?,
        ..ViewDefinition::of_full_text(
            &CreateView {
                name: TableName {
                    database: Some(database.clone()),
                    name,
                },
                columns,
                query,
                ..statement.clone()
            },
            &database,
        )
    };
    if written.algorithm == ViewAlgorithm::Merge && !written.is_mergeable() {
        written.algorithm = ViewAlgorithm::Undefined;
        context.warn(codes::ER_WARN_VIEW_MERGE.error());
    }
    // The view is read back from its record in the dictionary.
    let Ok(Statement::CreateView(recorded)) = parse_own(&written.full_text()) else {
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"a view of this query"]));
    };
    let view = ViewDefinition::of_full_text(&recorded, &database);
    if statement.check_option.is_some() && !view.is_updatable(&view_of) {
        return Err(codes::ER_VIEW_NONUPD_CHECK.with(&[&database, &view.name()]));
    }
    select::plan_trusted_description(context, &view.source.query)?;
    Ok(ViewDefinition {
        columns_named: !given.is_empty(),
        created: context.now(),
        character_set: text(typed::CHARACTER_SET_CLIENT),
        collation: text(typed::COLLATION_CONNECTION),
        ..view
    })
}

/// The account of DEFINER, by default the session's. 1227 without the privilege to create views of others.
fn definer(context: &StatementContext<'_>, statement: &CreateView) -> Result<(String, String)> {
    let own = context.privileges().own_account();
    let reference = statement.definer.as_ref();
    let name = named(context, reference.unwrap_or(&AccountReference::Current))?;
    if name != own {
        let rights = context.rights();
        rights.require(SUPER, &["SET_ANY_DEFINER"], "SUPER or SET_ANY_DEFINER")?;
        if context.database().accounts.get(&name).is_none() {
            let names = "SUPER or ALLOW_NONEXISTENT_DEFINER";
            rights.require(SUPER, &["ALLOW_NONEXISTENT_DEFINER"], names)?;
            let unknown = codes::ER_NO_SUCH_USER.with(&[&name.user, &name.host]);
            context.warn(unknown);
        }
    }
    Ok((name.user, name.host))
}

/// 1227: only an account with SYSTEM_USER may replace or drop a view whose definer has it.
fn refuse_of_system(context: &StatementContext<'_>, view: &ViewDefinition) -> Result<()> {
    let (user, host) = &view.definer;
    let definer = AccountName::new(user, Some(host))?;
    match context.database().accounts.get(&definer) {
        Some(account) => refuse_system_user(context, &account),
        None => Ok(()),
    }
}

/// 1351: a view's query may have neither variables nor `?`.
pub(super) fn refuse_variables(query: &Query) -> Result<()> {
    let flow = visit_expressions(query, |expr: &Expr| match variable(expr) {
        None if parameter_index(expr).is_none() => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    refuse(flow.is_break(), || codes::ER_VIEW_SELECT_VARIABLE.error())
}

/// DROP VIEW: all of the list or none.
pub(super) fn drop(context: &StatementContext<'_>, statement: &DropView) -> Result<()> {
    context.session.transaction.refuse_under_locks()?;
    let views = statement.views.iter();
    let mut asked: Vec<FullName> = views
        .map(|view| qualified(context, view))
        .collect::<Result<_>>()?;
    // Locked in one order everywhere, to avoid deadlocks.
    asked.sort();
    let mut names = Vec::with_capacity(asked.len());
    let mut missing = Vec::new();
    let mut held = Vec::with_capacity(asked.len());
    for (database, name) in &asked {
        refuse_system_schema(context, database)?;
        held.push(context.hold_view(database, name, TableUse::Alone)?);
    }
    for view in &statement.views {
        let (database, name) = qualified(context, view)?;
        let catalog = context.catalog();
        if let Some(view) = catalog.view(&database, &name) {
            refuse_of_system(context, &view)?;
            names.push((database, name));
        } else if catalog.table(&database, &name).is_some() {
            return Err(codes::ER_WRONG_OBJECT.with(&[&database, &name, &"VIEW"]));
        } else {
            missing.push(format!("{database}.{name}"));
        }
    }
    report_missing(context, statement.if_exists, &missing)?;
    context.catalog().drop_views(context, &names)
}
