//! A catalog of three small tables, and statements planned against it, for the tests of this crate.

use std::sync::Arc;

use mayfly_syntax::ast::Statement;
use mayfly_syntax::{ParseOptions, ast, parse_one};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlMode, SqlType, TypeKind, Value};

use crate::catalog::VariableScope;
use crate::logical::Query;
use crate::{Catalog, ColumnSource, OptimizerSwitches, PlanOptions, TableId, TableSource};

/// `t (a int, b varchar(10), id int primary key)`, 1000 rows; `u (a int, c int)`, 10 rows;
/// `v (a int not null, d text)`, 100000 rows.
pub(crate) struct FakeCatalog {
    tables: Vec<Arc<TableSource>>,
}

impl FakeCatalog {
    pub(crate) fn new() -> Self {
        let int = || SqlType::integer(TypeKind::Int);
        let varchar = || SqlType::varchar(10, CollationId::default());
        let text = || SqlType::text(TypeKind::Text, CollationId::default());
        Self {
            tables: vec![
                table(
                    1,
                    "t",
                    1000,
                    &[
                        ("a", int(), true),
                        ("b", varchar(), true),
                        ("id", int(), false),
                    ],
                    &[&[2]],
                ),
                table(2, "u", 10, &[("a", int(), true), ("c", int(), true)], &[]),
                table(
                    3,
                    "v",
                    100_000,
                    &[("a", int(), false), ("d", text(), true)],
                    &[],
                ),
            ],
        }
    }
}

fn table(
    id: u64,
    name: &str,
    row_count: u64,
    columns: &[(&str, SqlType, bool)],
    unique_keys: &[&[usize]],
) -> Arc<TableSource> {
    Arc::new(TableSource {
        id: TableId(id),
        database: "test".to_owned(),
        name: name.to_owned(),
        columns: columns
            .iter()
            .map(|(name, ty, nullable)| ColumnSource {
                name: (*name).to_owned(),
                ty: ty.clone(),
                nullable: *nullable,
                invisible: false,
                default: crate::catalog::DefaultSource::None,
            })
            .collect(),
        unique_keys: unique_keys.iter().map(|key| key.to_vec()).collect(),
        row_count,
        temporary: false,
    })
}

impl Catalog for FakeCatalog {
    fn current_database(&self) -> Option<&str> {
        Some("test")
    }

    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        let database = database.unwrap_or("test");
        let found = self
            .tables
            .iter()
            .find(|table| table.name == name && table.database == database);
        match found {
            Some(table) => Ok(Arc::clone(table)),
            None => Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name])),
        }
    }

    fn system_variable(
        &self,
        _scope: Option<VariableScope>,
        name: &str,
    ) -> Result<(Value, SqlType)> {
        Err(codes::ER_UNKNOWN_SYSTEM_VARIABLE.with(&[&name]))
    }

    fn warn(&self, _warning: mayfly_types::Error) {}

    fn user_variable_type(&self, _name: &str) -> SqlType {
        SqlType::bigint()
    }
}

/// MySQL's defaults.
pub(crate) fn options() -> PlanOptions {
    PlanOptions {
        sql_mode: SqlMode::DEFAULT,
        collation_connection: CollationId::default(),
        div_precision_increment: 4,
        group_concat_max_len: 1024,
        sql_select_limit: u64::MAX,
        parameters: Vec::new(),
        switches: OptimizerSwitches {
            derived_merge: true,
            derived_condition_pushdown: true,
            semijoin: true,
            group_by_limit_pushdown: true,
        },
        optimizer: true,
    }
}

/// The tree of a query.
pub(crate) fn parsed(sql: &str) -> Box<ast::Query> {
    let parsed = parse_one(sql, &ParseOptions::MYSQL_DEFAULT).expect("the test's SQL parses");
    match parsed.statement {
        Statement::Query(query) => query,
        other => panic!("not a query: {other:?}"),
    }
}

/// A query bound and not yet rewritten.
pub(crate) fn bound(sql: &str) -> Result<Query> {
    crate::bind::bind(&parsed(sql), &FakeCatalog::new(), &options())
}

/// A query as the rules leave it.
pub(crate) fn rewritten(sql: &str) -> Query {
    let mut query = bound(sql).expect("the test's SQL binds");
    crate::rules::rewrite(&mut query, &options());
    query
}
