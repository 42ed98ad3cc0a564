//! System tables: relations computed from the engine's state when a statement scans them.
//!
//! A relation is one file or one entry: its columns and a function that returns its rows. For a statement it is a table
//! of a provider ([`TableProvider`]): the scan's request tells which rows and values to make.

mod asked;
mod column_statistics;
mod columns;
mod connect_attributes;
mod constraints;
mod context;
pub(crate) mod definitions;
mod extensions;
mod key_caches;
pub(crate) mod logs;
mod mysql;
mod open_relation;
mod optimizer_trace;
pub(crate) mod performance;
mod privileges;
mod processlist;
mod profiling;
mod relation;
mod routines;
mod row;
mod schemata;
mod server;
mod source_definition;
mod standard;
mod statistics;
mod tables;
mod temp_tables;
mod variables;
mod view_columns;
mod views;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use mayfly_plan::{ScanCapabilities, TableId, TableSource};
use mayfly_storage::Table;
use mayfly_types::{Result, TermShape, TermSupport};

pub(crate) use self::context::RelationContext;
use self::open_relation::OpenRelation;
use self::relation::Relation;
use crate::accounts::privileges::PROCESS;
use crate::catalog::provided::ProvidedTable;
use crate::catalog::provider::TableProvider;
use crate::session::StatementContext;
use crate::system_schemas::is_schema;

/// Id of the first relation in plans. No base table reaches these ids.
const FIRST_ID: u64 = 1 << 62;

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
    routines::RELATIONS,
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
    // Relations of unsupported features, such as events, are empty.
    for name in standard::names() {
        if !all.iter().any(|relation| relation.name == name) {
            all.push(Relation::new(name, |_| Vec::new()));
        }
    }
    let source = |(position, relation): (u64, &Relation)| {
        let (schema, name) = relation.full_name();
        let columns = standard::columns(relation.name).to_vec();
        Arc::new(TableSource {
            scans: Some(Arc::new(WholePredicate)),
            ..TableSource::new(TableId(FIRST_ID + position), schema, name, columns, 0)
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

/// Relations make use of the whole predicate alone ([`asked`]).
#[derive(Debug)]
struct WholePredicate;

impl ScanCapabilities for WholePredicate {
    fn term(&self, _: &TermShape) -> TermSupport {
        TermSupport::Unsupported
    }
}

/// A relation as a table of its database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemTable {
    relation: &'static Relation,
    /// The table as the planner sees it.
    pub(crate) source: &'static Arc<TableSource>,
}

/// The relation with a case-insensitive name.
pub(crate) fn find(schema: &str, name: &str) -> Option<SystemTable> {
    if !is_schema(schema) && schema != MYSQL {
        return None;
    }
    let key = (schema.to_lowercase(), name.to_lowercase());
    let position = *ALL.by_name.get(&key)?;
    Some(SystemTable {
        relation: ALL.all.get(position)?,
        source: ALL.sources.get(position)?,
    })
}

/// The relation with a case-insensitive name, as the planner sees it.
pub(crate) fn table(schema: &str, name: &str) -> Option<Arc<TableSource>> {
    find(schema, name).map(|table| Arc::clone(table.source))
}

/// The state that the relations of a statement are computed from.
pub(crate) fn context_of(context: &StatementContext<'_>) -> RelationContext {
    RelationContext::new(context, &ALL.sources)
}

impl SystemTable {
    /// Called when a statement names the table: a statement that reads optimizer traces leaves none.
    pub(crate) fn note_use(self, context: &StatementContext<'_>) {
        if let ("OPTIMIZER_TRACE", Some(traced)) = (&*self.source.name, &context.trace) {
            traced.discard();
        }
    }

    /// The table as the planner sees it, with its current row count.
    pub(crate) fn source_in(self, state: &RelationContext) -> Arc<TableSource> {
        let mut source = Arc::clone(self.source);
        Arc::make_mut(&mut source).row_count = (self.relation.row_count)(state);
        source
    }

    /// The rows of the table, which are made when they are scanned.
    ///
    /// # Errors
    /// 1227 where it needs a privilege that the session lacks.
    pub(crate) fn open(
        self,
        context: &StatementContext<'_>,
        state: &Arc<RelationContext>,
    ) -> Result<Arc<dyn Table>> {
        if self.relation.needs_process {
            context.rights().require(PROCESS, &[], "PROCESS")?;
        }
        let relation = OpenRelation::new(self.relation, self.source, state);
        let provider: Arc<dyn TableProvider> = Arc::new(relation);
        Ok(Arc::new(ProvidedTable::new(&provider, &self.source.name)))
    }
}
