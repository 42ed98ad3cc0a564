//! System tables: relations computed from the engine's state when a statement opens them.
//!
//! A relation is one file or one entry: its columns and a function that returns its rows. For the planner it is an
//! ordinary table.

pub(crate) mod asked;
mod column_statistics;
mod columns;
mod connect_attributes;
mod constraints;
pub(crate) mod definitions;
mod extensions;
mod key_caches;
pub(crate) mod logs;
mod mysql;
mod optimizer_trace;
pub(crate) mod performance;
mod privileges;
mod processlist;
mod profiling;
mod relation;
mod schemata;
mod server;
mod source_definition;
mod standard;
mod statistics;
mod tables;
mod temp_tables;
mod variables;
mod views;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use mayfly_plan::{IndexContent, TableId, TableSource};
use mayfly_storage::{BatchTable, Table};
use mayfly_types::{Result, SqlType};

use self::asked::{Asked, Question};
use self::relation::{Relation, Rows};
use crate::accounts::privileges::PROCESS;
use crate::builder;
use crate::session::StatementContext;
use crate::system_schemas::{FIRST_SYSTEM_ID, is_schema};

/// The database with relations about accounts, beside its stored tables.
const MYSQL: &str = "mysql";

/// Every relation.
const RELATIONS: &[&[Relation]] = &[
    schemata::RELATIONS,
    tables::RELATIONS,
    columns::RELATIONS,
    column_statistics::RELATIONS,
    statistics::RELATIONS,
    constraints::RELATIONS,
    server::RELATIONS,
    variables::RELATIONS,
    views::RELATIONS,
    processlist::RELATIONS,
    profiling::RELATIONS,
    optimizer_trace::RELATIONS,
    connect_attributes::RELATIONS,
    temp_tables::RELATIONS,
    key_caches::RELATIONS,
    extensions::RELATIONS,
    privileges::RELATIONS,
    mysql::RELATIONS,
    logs::RELATIONS,
];

struct Relations {
    all: Vec<Relation>,
    /// The relations as the planner sees them, in the order of `all`.
    sources: Vec<Arc<TableSource>>,
    /// Their positions, by database and name in lower case.
    by_name: HashMap<(String, String), usize>,
}

static ALL: LazyLock<Relations> = LazyLock::new(|| {
    let mut all: Vec<Relation> = [RELATIONS, performance::RELATIONS].concat().concat();
    // Relations of unsupported features, such as routines and events, are empty.
    for name in standard::names() {
        if !all.iter().any(|relation| relation.name == name) {
            all.push(Relation::new(name, |_| Vec::new()));
        }
    }
    let source = |(position, relation): (u64, &Relation)| {
        let (schema, name) = relation.full_name();
        Arc::new(TableSource {
            id: TableId(FIRST_SYSTEM_ID + position),
            database: schema.to_owned(),
            name: name.to_owned(),
            columns: standard::columns(relation.name).to_vec(),
            unique_keys: Vec::new(),
            indexes: Vec::new(),
            row_count: 100,
            temporary: false,
            partitioned: false,
            index_content: IndexContent::Unavailable,
            takes_terms: false,
        })
    };
    let sources = (0..).zip(&all).map(source).collect();
    let key = |relation: &Relation| {
        let (schema, name) = relation.full_name();
        (schema.to_owned(), name.to_lowercase())
    };
    let by_name = all
        .iter()
        .enumerate()
        .map(|(at, relation)| (key(relation), at))
        .collect();
    Relations {
        all,
        sources,
        by_name,
    }
});

/// The relation with a case-insensitive name.
pub(crate) fn table(schema: &str, name: &str) -> Option<Arc<TableSource>> {
    if !is_schema(schema) && schema != MYSQL {
        return None;
    }
    let key = (schema.to_lowercase(), name.to_lowercase());
    let position = ALL.by_name.get(&key)?;
    Some(Arc::clone(&ALL.sources[*position]))
}

/// The table of a relation without its rows, if `id` is a relation's.
///
/// # Errors
/// 1227 where it needs a privilege that the session lacks.
pub(crate) fn announce(
    context: &StatementContext<'_>,
    id: TableId,
) -> Result<Option<Arc<dyn Table>>> {
    let Some((relation, source)) = relation(id) else {
        return Ok(None);
    };
    if relation.needs_process {
        context.rights().require(PROCESS, &[], "PROCESS")?;
    }
    let columns = source.columns.iter().map(|column| column.ty.physical());
    Ok(Some(Arc::new(BatchTable::new(
        columns.collect(),
        std::iter::empty(),
    ))))
}

fn relation(id: TableId) -> Option<(&'static Relation, &'static Arc<TableSource>)> {
    let position = id.0.checked_sub(FIRST_SYSTEM_ID)?;
    let position = usize::try_from(position).ok()?;
    Some((ALL.all.get(position)?, ALL.sources.get(position)?))
}

/// The current rows of a relation.
pub(crate) fn open(
    context: &StatementContext<'_>,
    question: &Question<'_>,
) -> Option<Arc<dyn Table>> {
    let (relation, source) = relation(question.id)?;
    let rows = match relation.rows {
        Rows::OfState(rows) => rows(context),
        Rows::OfTables(rows) => {
            let asked = Asked::new(context, question, source, &ALL.sources);
            rows(context, &asked)
        }
    };
    let types = source.columns.iter().map(|column| column.ty.clone());
    let types: Vec<SqlType> = types.collect();
    let rows: Vec<_> = rows
        .into_iter()
        .map(|row| relation::stored(row, &types))
        .collect();
    let columns = types.iter().map(SqlType::physical).collect();
    // In batches, so that a small batch size is tested here too.
    let batches = rows.chunks(4096).map(|rows| builder::batch(&types, rows));
    Some(Arc::new(BatchTable::new(columns, batches)))
}
