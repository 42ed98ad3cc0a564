//! Calls of table functions: the values of their arguments, and the facts of the statement that they are given.

use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ParseOptions;
use mayfly_syntax::ast::{
    Expr, Privilege, Statement, TableElement, TableFunctionCall, Value as Literal,
    visit_expressions,
};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Interrupt, Result};

use crate::accounts::privileges::PrivilegeSet;
use crate::accounts::rights::Rights;
use crate::binding::expressions;
use crate::catalog::BaseTable;
use crate::catalog::table_functions::{
    FILE_FUNCTION, ReadColumnTypes, TableArguments, TableFunctionContext, table_name,
};
use crate::ddl::column_type::{self, TypeContext};
use crate::error::{from_syntax, refuse};
use crate::files::{StatementFiles, StatementStores, StoreAccess, StoreOptions};
use crate::session::StatementContext;
use crate::statement_memory::StatementMemory;

/// The table that a call gives, for the running statement alone. `rights` are those that apply where the call stands.
pub(super) fn call(
    context: &StatementContext<'_>,
    call: &TableFunctionCall,
    rights: &Rights,
) -> Result<BaseTable> {
    let catalog = &context.database().catalog;
    let function_name = match &call.name {
        Some(name) => name.value.as_str(),
        None => FILE_FUNCTION,
    };
    let function = catalog.table_functions.get(function_name)?;
    let values = call.arguments.iter().map(|argument| {
        let is_unknown = context.parameters().values.is_empty() && has_parameter(&argument.value);
        refuse(is_unknown, || {
            let why = format!("{function_name}: the value of a ? is not known yet");
            codes::ER_WRONG_ARGUMENTS.with(&[&why])
        })?;
        let (value, ty) = expressions::evaluate_in_definition(context, &argument.value)?;
        let name = argument.name.as_ref().map(|name| name.value.clone());
        Ok((name, value, ty))
    });
    let values: Vec<_> = values.collect::<Result<_>>()?;
    let facts = facts(context, rights);
    let provider = function.table(TableArguments::new(function_name, values), &facts)?;
    let id = catalog.next_table_id();
    Ok(BaseTable::provided(
        id,
        ("", &name_of(call, function_name)),
        &provider,
        context.now(),
    ))
}

/// The facts of the statement, for rights that apply in a part of it.
pub(crate) fn facts(context: &StatementContext<'_>, rights: &Rights) -> TableFunctionContext {
    let interrupt = context.temp_table_context().interrupt();
    facts_until(context, rights, interrupt)
}

/// The facts of a statement that `interrupt` ends.
pub(crate) fn facts_until(
    context: &StatementContext<'_>,
    rights: &Rights,
    interrupt: &Interrupt,
) -> TableFunctionContext {
    const FILE: PrivilegeSet = PrivilegeSet::of(&[Privilege::File]);
    let database = context.database();
    let temp = context.temp_table_context();
    let (batch_rows, threads) = context.rows_at_once();
    let memory = StatementMemory::new(&database.resources, temp.memory());
    let access = StoreAccess {
        interrupt: interrupt.clone(),
        memory: memory.clone(),
        options: StoreOptions::default(),
    };
    let stores = context.catalog().object_stores.read().clone();
    TableFunctionContext {
        files: StatementFiles::new(
            &database.file_rules,
            rights.is_unrestricted() || rights.global().has(FILE),
            StatementStores::new(stores, access),
        ),
        session: Arc::clone(&context.options().session),
        memory,
        interrupt: interrupt.clone(),
        diagnostics: Arc::clone(context.diagnostics()),
        workers: database.resources.workers.clone(),
        threads,
        batch_rows,
        sampling: context.sampling.clone(),
        column_types: column_types(context),
    }
}

/// Reads the columns that a text declares, under the settings of the statement.
fn column_types(context: &StatementContext<'_>) -> ReadColumnTypes {
    let options = Arc::clone(context.options());
    let diagnostics = Arc::clone(context.diagnostics());
    Arc::new(move |text| {
        let sql = format!("CREATE TABLE t ({text}\n)");
        let parsed = mayfly_syntax::parse_one(&sql, &ParseOptions::MYSQL_DEFAULT);
        let parsed = parsed.map_err(|error| from_syntax(&error))?;
        let unsupported = || codes::ER_NOT_SUPPORTED_YET.with(&[&"more than names and types"]);
        let Statement::CreateTable(table) = parsed.statement else {
            return Err(unsupported());
        };
        refuse(
            table.select.is_some() || table.partitioning.is_some() || !table.options.is_empty(),
            unsupported,
        )?;
        let types = TypeContext {
            options: &options,
            table_collation: CollationId::default(),
            strict: true,
            diagnostics: &diagnostics,
        };
        let mut columns = Vec::new();
        for element in table.elements {
            match element {
                TableElement::Column(column) if column.attributes.is_empty() => {
                    let (ty, _) = column_type::resolve(&column.name, &column.data_type, &types)?;
                    columns.push((column.name, ty));
                }
                _ => return Err(unsupported()),
            }
        }
        Ok(columns)
    })
}

fn has_parameter(expression: &Expr) -> bool {
    let found = visit_expressions(expression, |inner| match inner {
        Expr::Value(Literal::Placeholder(_)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// The name of a call's table where no alias is given: a file's, or the function's.
fn name_of(call: &TableFunctionCall, function: &str) -> String {
    match (&call.name, call.arguments.first().map(|it| &it.value)) {
        (None, Some(Expr::Value(Literal::SingleQuotedString(path)))) => table_name(path),
        _ => function.to_lowercase(),
    }
}
