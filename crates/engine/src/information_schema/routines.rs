//! `information_schema.ROUTINES` and `PARAMETERS`: the stored functions that an embedding program has added.
//!
//! Such a function runs with the rights and the `sql_mode` of its caller, and so has no definer and no mode of its own.
//! The text of a statement is its definition; the body of any other is outside of SQL, as the manual has it for
//! routines in other languages.

use std::sync::Arc;

use mayfly_functions::{DataAccess, StoredFunction};
use mayfly_types::{SqlType, Value};

use super::columns::type_values;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, yes_no};
use crate::accounts::privileges::PrivilegeSet;
use crate::catalog::stored_functions::Routine;
use crate::catalog::type_text;
use crate::{character_sets, convert};
use mayfly_syntax::ast::Privilege;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::new("ROUTINES", routines),
    Relation::new("PARAMETERS", parameters),
];

/// The functions of all databases on whose routines the session has a privilege.
fn visible(context: &RelationContext) -> Vec<Arc<StoredFunction>> {
    let rights = context.rights();
    let any = [
        Privilege::Execute,
        Privilege::CreateRoutine,
        Privilege::AlterRoutine,
    ];
    let sees = |database: &str| {
        any.iter().any(|privilege| {
            let privilege = PrivilegeSet::of(&[*privilege]);
            rights.global().has(privilege) || rights.on_database(database).has(privilege)
        })
    };
    let mut functions = context.catalog().all_functions();
    functions.retain(|function| sees(&function.database));
    functions
}

fn routines(context: &RelationContext) -> Vec<Row> {
    let zone = &context.options().session.time_zone;
    let row = |function: &Arc<StoredFunction>| {
        let routine = function.body.downcast_ref::<Routine>();
        let text = routine.and_then(Routine::text);
        let created = routine.map_or(0, |routine| routine.created);
        let created = convert::datetime_of_unix(created, zone);
        let database = context.catalog().database_collation(&function.database);
        let database = database.unwrap_or_default();
        let mut row = row![
            &function.name,
            "def",
            &function.database,
            &function.name,
            "FUNCTION"
        ];
        row.extend(type_values(&function.result));
        row.extend(row![
            type_text::column_type(&function.result),
            if text.is_some() { "SQL" } else { "EXTERNAL" },
            text,
            Value::Null,
            if text.is_some() { "SQL" } else { "" },
            "SQL",
            yes_no(function.is_deterministic),
            match function.access {
                DataAccess::NoSql => "NO SQL",
                DataAccess::ContainsSql => "CONTAINS SQL",
                DataAccess::ReadsSqlData => "READS SQL DATA",
                DataAccess::ModifiesSqlData => "MODIFIES SQL DATA",
            },
            Value::Null,
            "INVOKER",
            created.clone(),
            created,
            "",
            "",
            "",
            "utf8mb4",
            "utf8mb4_0900_ai_ci",
            character_sets::row(database).name,
        ]);
        row
    };
    visible(context).iter().map(row).collect()
}

/// The result of each function, which has number 0, and its parameters.
fn parameters(context: &RelationContext) -> Vec<Row> {
    let rows = visible(context).into_iter().flat_map(|function| {
        let row = |number: u64, name: Option<&str>, ty: &SqlType| {
            let mode = name.map(|_| "IN");
            let (database, function) = (&function.database, &function.name);
            let mut row = row!["def", database, function, number, mode, name];
            row.extend(type_values(ty));
            row.extend(row![type_text::column_type(ty), "FUNCTION"]);
            row
        };
        let result = row(0, None, &function.result);
        let parameters = (1..).zip(&function.parameters);
        let parameters = parameters.map(|(number, (name, ty))| row(number, Some(name), ty));
        let rows: Vec<Row> = std::iter::once(result).chain(parameters).collect();
        rows
    });
    rows.collect()
}
