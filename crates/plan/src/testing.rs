//! A catalog of three small tables, and statements planned against it, for the tests of this crate.

use std::cell::RefCell;
use std::sync::Arc;

use mayfly_syntax::ast::{self, Statement};
use mayfly_syntax::{ParseOptions, parse_one};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, IndexMethod, Result, SqlType, TypeKind, Value};

use crate::catalog::Explanation;
use crate::catalog::VariableScope;
use crate::constants::Constants;
use crate::trace::Trace;
use crate::tree::logical::Query;
use crate::tree::physical::QueryPlan;
use crate::{
    Catalog, ColumnSource, IndexContent, IndexPartSource, IndexSource, PlanOptions, TableId,
    TableSource, TableStatistics, ValueRange,
};

/// `t (a int, b varchar(10), id int primary key)`, 1000 rows; `u (a int, c int)`, 10 rows;
/// `v (a int not null, d text)`, 100000 rows; `w`, 10000 rows, with the indexes of [`indexed`].
pub(crate) struct FakeCatalog {
    tables: Vec<Arc<TableSource>>,
    trace: Option<Trace>,
}

impl FakeCatalog {
    /// The test catalog with a trace of the planning.
    pub(crate) fn traced(trace: Trace) -> Self {
        Self {
            trace: Some(trace),
            ..Self::new()
        }
    }

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
                indexed(),
            ],
            trace: None,
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
    let columns = columns.iter();
    let columns =
        columns.map(|(name, ty, nullable)| ColumnSource::new(name, ty.clone(), *nullable));
    Arc::new(TableSource {
        unique_keys: unique_keys.iter().map(|key| key.to_vec()).collect(),
        index_content: IndexContent::Rows,
        ..TableSource::new(TableId(id), "test", name, columns.collect(), row_count)
    })
}

/// `w (id int primary key, a int, b varchar(10), c decimal(10,2), d datetime, e bigint unsigned, f varchar(20) collate
/// utf8mb4_general_ci, g int)` with the indexes `ka (a, b)`, `kb (b)`, `kc (c)`, `kd (d desc)`, `ke (e)` and `kp
/// (f(3))`: each key and each range that is not a key has ten rows.
fn indexed() -> Arc<TableSource> {
    let int = || SqlType::integer(TypeKind::Int);
    let varchar = |length| SqlType::varchar(length, CollationId::default());
    let source = table(
        4,
        "w",
        10_000,
        &[
            ("id", int(), false),
            ("a", int(), true),
            ("b", varchar(10), true),
            ("c", SqlType::decimal(10, 2), true),
            ("d", SqlType::temporal(TypeKind::DateTime, 0), true),
            ("e", SqlType::bigint_unsigned(), true),
            (
                "f",
                SqlType::varchar(20, CollationId::UTF8MB4_GENERAL_CI),
                true,
            ),
            ("g", int(), true),
        ],
        &[&[0]],
    );
    let index = |id: usize, name: &str, columns: &[usize]| IndexSource {
        id: Some(id),
        name: name.to_owned(),
        parts: columns
            .iter()
            .map(|column| IndexPartSource {
                column: *column,
                prefix: (name == "kp").then_some(3),
                descending: name == "kd",
                approximate: false,
                elements: None,
            })
            .collect(),
        unique: name == "PRIMARY",
        method: match name {
            "PRIMARY" => IndexMethod::Clustered,
            _ => IndexMethod::BTree,
        },
        visible: true,
        covers: [&[0], columns].concat(),
    };
    let mut source = Arc::unwrap_or_clone(source);
    source.indexes = vec![
        index(0, "PRIMARY", &[0]),
        index(1, "ka", &[1, 2]),
        index(2, "kb", &[2]),
        index(3, "kc", &[3]),
        index(4, "kd", &[4]),
        index(5, "ke", &[5]),
        index(6, "kp", &[6]),
    ];
    Arc::new(source)
}

/// Statistics of `w`.
#[derive(Debug)]
struct TenRows;

impl TableStatistics for TenRows {
    fn distinct_keys(&self, _index: usize, _parts: usize) -> u64 {
        1000
    }

    fn rows_in_range(&self, _index: usize, _range: &ValueRange) -> u64 {
        10
    }
}

impl Constants for FakeCatalog {}

impl Catalog for FakeCatalog {
    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

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

    fn statistics(&self, id: TableId) -> Option<Arc<dyn TableStatistics>> {
        (id == TableId(4)).then(|| Arc::new(TenRows) as Arc<dyn TableStatistics>)
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

/// A catalog that records the explanations of statements.
pub(crate) struct Explaining {
    catalog: FakeCatalog,
    pub(crate) explanation: RefCell<Option<Explanation>>,
}

impl Default for Explaining {
    fn default() -> Self {
        Self {
            catalog: FakeCatalog::new(),
            explanation: RefCell::new(None),
        }
    }
}

impl Explaining {
    /// A catalog with another index of a table, over columns such as `a, b DESC`.
    pub(crate) fn with_index(table: &str, columns: &str) -> Self {
        let mut explaining = Self::default();
        let mut tables = explaining.catalog.tables.iter_mut();
        let source = tables.find(|source| source.name == table).expect("a table");
        let mut changed = TableSource::clone(source);
        let parts: Vec<IndexPartSource> = columns
            .split(", ")
            .map(|column| {
                let name = column.strip_suffix(" DESC");
                let wanted = name.unwrap_or(column);
                let mut known = changed.columns.iter();
                IndexPartSource {
                    column: known
                        .position(|known| known.name == wanted)
                        .expect("a column"),
                    prefix: None,
                    descending: name.is_some(),
                    approximate: false,
                    elements: None,
                }
            })
            .collect();
        let covers = parts.iter().map(|part| part.column).collect();
        changed.indexes.push(IndexSource {
            id: Some(changed.indexes.len()),
            name: "added".to_owned(),
            parts,
            unique: false,
            method: IndexMethod::BTree,
            visible: true,
            covers,
        });
        *source = Arc::new(changed);
        explaining
    }
}

impl Constants for Explaining {}

impl Catalog for Explaining {
    fn current_database(&self) -> Option<&str> {
        self.catalog.current_database()
    }

    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        self.catalog.table(database, name)
    }

    fn statistics(&self, id: TableId) -> Option<Arc<dyn TableStatistics>> {
        self.catalog.statistics(id)
    }

    fn system_variable(
        &self,
        scope: Option<VariableScope>,
        name: &str,
    ) -> Result<(Value, SqlType)> {
        self.catalog.system_variable(scope, name)
    }

    fn warn(&self, _warning: mayfly_types::Error) {}

    fn user_variable_type(&self, name: &str) -> SqlType {
        self.catalog.user_variable_type(name)
    }

    fn explains(&self) -> bool {
        true
    }

    fn explain(&self, explanation: Explanation) {
        self.explanation.replace(Some(explanation));
    }
}

/// Syntax tree of a query.
pub(crate) fn parsed(sql: &str) -> Box<ast::Query> {
    let parsed = parse_one(sql, &ParseOptions::MYSQL_DEFAULT).expect("the test's SQL parses");
    match parsed.statement {
        Statement::Query(query) => query,
        other => panic!("not a query: {other:?}"),
    }
}

/// A bound query before the rules.
pub(crate) fn bound(sql: &str) -> Result<Query> {
    crate::bind::bind(&parsed(sql), &FakeCatalog::new(), &PlanOptions::default())
}

/// A query after the rules.
pub(crate) fn rewritten(sql: &str) -> Query {
    let mut query = bound(sql).expect("the test's SQL binds");
    let options = PlanOptions::default();
    crate::rules::rewrite(&mut query, &crate::rules::Planning::quiet(&options));
    query
}

/// The planned query where rules make every rewrite that applies, whatever its cost.
pub(crate) fn rewritten_wholly(sql: &str) -> Query {
    let mut query = bound(sql).expect("the test's SQL binds");
    let options = PlanOptions {
        all_rewrites: true,
        ..PlanOptions::default()
    };
    crate::rules::rewrite(&mut query, &crate::rules::Planning::quiet(&options));
    query
}

/// A planned query.
pub(crate) fn planned(sql: &str) -> QueryPlan {
    crate::bind_query(&parsed(sql), &FakeCatalog::new(), &PlanOptions::default())
        .expect("the test's SQL plans")
}

/// Checks the results of `find` for statements. The expected result follows each statement, indented further; adjacent
/// statements expect one result. Lines that begin with `#` are comments.
#[track_caller]
pub(crate) fn check_cases(cases: &str, find: impl Fn(&str) -> String) {
    let lines: Vec<&str> = cases
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'))
        .collect();
    let margin = lines[0].len() - lines[0].trim_start().len();
    let expected_of = |line: &&str| line[margin..].strip_prefix("  ").map(str::to_owned);
    let mut rest = lines.as_slice();
    let mut differences = Vec::new();
    while !rest.is_empty() {
        let statements = rest.iter().take_while(|line| expected_of(line).is_none());
        let (statements, behind) = rest.split_at(statements.count());
        let expected: Vec<String> = behind.iter().map_while(expected_of).collect();
        for sql in statements {
            let found = find(sql.trim());
            let found: Vec<&str> = found.lines().collect();
            if found != expected {
                differences.push(format!("{}\n  {}", sql.trim(), found.join("\n  ")));
            }
        }
        rest = &behind[expected.len()..];
    }
    let all = differences.join("\n");
    assert!(differences.is_empty(), "these became another plan:\n{all}");
}
