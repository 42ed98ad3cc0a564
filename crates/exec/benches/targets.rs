//! Times of whole plans over `gtest(i int unsigned, c char(50))`: the statements whose figures the project states,
//! without sessions on top, each under several memory limits.
//! `cargo bench -p mayfly-exec --bench targets -- [rows] [filter] [runs] [threads]`
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BinaryViewArray, Int64Array, UInt64Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use mayfly_exec::{Counters, ExecutionContext, ExecutionOptions, Progress, TableOpener, execute};
use mayfly_functions::EvaluationContext;
use mayfly_memory::{Budget, BudgetKind};
use mayfly_plan::catalog::VariableScope;
use mayfly_plan::physical::QueryPlan;
use mayfly_plan::{
    Catalog, ColumnSource, Constants, PlanOptions, TableId, TableSource, TableStatistics,
};
use mayfly_storage::{
    BatchTable, Resources, StatementOwner, Table, TempTableContext, TempTableOptions,
};
use mayfly_syntax::ast::Statement;
use mayfly_syntax::{ParseOptions, parse_one};
use mayfly_types::sql_type::TypeKind;
use mayfly_types::{Batch, CollationId, Diagnostics, Error, Interrupt, Result, SqlType, Value};

const CHUNK_ROWS: usize = 64 << 10;
const BATCH_ROWS: usize = 8192;

fn hex(number: u64, out: &mut Vec<u8>) {
    // As long and as random as SHA-1 in hexadecimal, much cheaper to make.
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF0;
    for _ in 0..5 {
        state ^= state >> 31;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        for nibble in 0..8 {
            out.push(b"0123456789abcdef"[(state >> (nibble * 4 + 20)) as usize & 15]);
        }
    }
}

fn strings(rows: usize, text: impl Fn(usize, &mut Vec<u8>)) -> ArrayRef {
    let mut values = Vec::new();
    let mut views = Vec::with_capacity(rows);
    for row in 0..rows {
        let start = values.len();
        text(row, &mut values);
        let length = values.len() - start;
        let prefix = u32::from_le_bytes(values[start..start + 4].try_into().unwrap());
        views.push(length as u128 | u128::from(prefix) << 32 | (start as u128) << 96);
    }
    let buffers = vec![Buffer::from_vec(values)];
    Arc::new(BinaryViewArray::new(
        ScalarBuffer::from(views),
        buffers,
        None,
    ))
}

struct Tables(Arc<dyn Table>);

impl TableOpener for Tables {
    fn open(&self, _id: TableId) -> Result<Arc<dyn Table>> {
        Ok(Arc::clone(&self.0))
    }
}

struct World {
    resources: Resources,
    table: Arc<dyn Table>,
    source: Arc<TableSource>,
    threads: usize,
}

fn types() -> [SqlType; 3] {
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let mut i = SqlType::integer(TypeKind::Int);
    i.unsigned = true;
    [
        i,
        SqlType::char(50, collation),
        SqlType::text(TypeKind::Text, collation),
    ]
}

impl World {
    fn new(rows: usize, threads: usize) -> Self {
        let resources = Resources::with_defaults(std::env::temp_dir(), threads);
        let distinct = rows as u64 * 95 / 100;
        let mut batches = Vec::new();
        for start in (0..rows).step_by(CHUNK_ROWS) {
            let count = CHUNK_ROWS.min(rows - start);
            let number = |row: usize| {
                let n = (start + row) as u64;
                if n < distinct { n } else { n * 7919 % distinct }
            };
            let random =
                |row: usize| ((start + row) as u64 * 0x9E37_79B9_7F4A_7C15 % (1 << 61)) >> 24;
            let numbers: UInt64Array = (0..count).map(|row| Some(random(row) % 100_000)).collect();
            let c = strings(count, |row, out| hex(number(row), out));
            let few = strings(count, |row, out| {
                out.extend_from_slice(format!("{:0>100}", random(row) % 500).as_bytes());
            });
            let chunk = Batch::new(vec![Arc::new(numbers), c, few], count);
            for at in (0..count).step_by(BATCH_ROWS) {
                batches.push(chunk.slice(at, BATCH_ROWS.min(count - at)));
            }
        }
        let table = BatchTable::new(types().iter().map(SqlType::physical).collect(), batches);
        let columns = ["i", "c", "few"].into_iter().zip(types());
        let columns = columns.map(|(name, ty)| ColumnSource::new(name, ty, true));
        let columns = columns.collect();
        let source = TableSource::new(TableId(0), "test", "gtest", columns, rows as u64);
        Self {
            resources,
            table: Arc::new(table),
            source: Arc::new(source),
            threads,
        }
    }

    fn statement(&self, table_limit: u64, all: u64) -> Arc<ExecutionContext> {
        let temp = TempTableContext::new(
            self.resources.clone(),
            Budget::root(BudgetKind::Memory, "temptable_max_ram", all),
            Budget::unlimited(BudgetKind::TempSpace),
            StatementOwner::default(),
            TempTableOptions {
                tmp_table_size: table_limit,
                threads: self.threads,
                batch_rows: BATCH_ROWS,
                ..TempTableOptions::default()
            },
            Interrupt::default(),
        );
        let diagnostics = Arc::new(Diagnostics::new(64));
        Arc::new(ExecutionContext {
            evaluation: Arc::new(EvaluationContext::new(Arc::default(), diagnostics, 0)),
            other_engine: None,
            options: ExecutionOptions::new(self.threads),
            temp,
            tables: Arc::new(Tables(Arc::clone(&self.table))),
            counters: Arc::new(Counters::default()),
            progress: Arc::new(Progress::default()),
            measures: None,
            kept: Arc::new(mayfly_exec::NothingKept),
        })
    }

    /// A planned statement; `first_groups`: GROUP BY stops once it has the groups of a LIMIT.
    fn planned(&self, sql: &str, first_groups: bool) -> Arc<QueryPlan> {
        let mut options = PlanOptions::default();
        options.switches.group_by_limit_pushdown = first_groups;
        let parsed = parse_one(sql, &ParseOptions::MYSQL_DEFAULT).unwrap();
        let Statement::Query(query) = parsed.statement else {
            panic!("not a query: {sql}");
        };
        Arc::new(mayfly_plan::bind_query(&query, self, &options).unwrap())
    }
}

impl Constants for World {}

impl Catalog for World {
    fn current_database(&self) -> Option<&str> {
        Some("test")
    }

    fn table(&self, _database: Option<&str>, _name: &str) -> Result<Arc<TableSource>> {
        Ok(Arc::clone(&self.source))
    }

    fn statistics(&self, _id: TableId) -> Option<Arc<dyn TableStatistics>> {
        None
    }

    fn system_variable(
        &self,
        _scope: Option<VariableScope>,
        _name: &str,
    ) -> Result<(Value, SqlType)> {
        unreachable!("no statement reads a variable")
    }

    fn user_variable_type(&self, _name: &str) -> SqlType {
        unreachable!("no statement reads a variable")
    }

    fn warn(&self, _warning: Error) {}
}

/// (rows of the result, its first number).
fn run(query: &Arc<QueryPlan>, statement: &Arc<ExecutionContext>) -> Result<(usize, i64)> {
    let mut stream = execute(query, statement, &[])?;
    let (mut rows, mut number) = (0, 0);
    while let Some(batch) = stream.next_batch()? {
        if rows == 0 {
            let first = batch.columns().first();
            let first = first.and_then(|column| column.as_primitive_opt::<Int64Type>());
            number = first.map_or(0, |array: &Int64Array| array.value(0));
        }
        rows += batch.row_count();
    }
    Ok((rows, number))
}

/// Processor time of this process in hundredths of a second, which the load of the machine does not distort.
fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(' ').collect::<Vec<_>>();
    let from_end = |n: usize| fields.get(n).and_then(|field| field.trim().parse().ok());
    // Fields 14 and 15 of 52.
    from_end(52 - 14).unwrap_or(0) + from_end(52 - 15).unwrap_or(0)
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let mut number = |default: usize| {
        let argument = arguments.next();
        (
            argument.clone(),
            argument.and_then(|n| n.parse().ok()).unwrap_or(default),
        )
    };
    let rows = number(4_000_000).1;
    let filter = number(0).0.unwrap_or_default();
    let runs = number(5).1;
    let threads = number(2).1;
    let world = World::new(rows, threads);
    let statements = [
        (
            "headline",
            "SELECT COUNT(*), c FROM gtest GROUP BY c LIMIT 10",
        ),
        (
            "headline, first groups",
            "SELECT COUNT(*), c FROM gtest GROUP BY c LIMIT 10",
        ),
        (
            "group by c, every group",
            "SELECT COUNT(*), c FROM gtest GROUP BY c",
        ),
        ("group by i", "SELECT COUNT(*), i FROM gtest GROUP BY i"),
        (
            "group by 500 texts",
            "SELECT COUNT(*), few FROM gtest GROUP BY few",
        ),
        ("select distinct c", "SELECT DISTINCT c FROM gtest"),
        (
            "count of distinct c",
            "SELECT COUNT(*) FROM (SELECT DISTINCT c FROM gtest) d",
        ),
        ("count(distinct c)", "SELECT COUNT(DISTINCT c) FROM gtest"),
        ("count(distinct i)", "SELECT COUNT(DISTINCT i) FROM gtest"),
        (
            "count of union",
            "SELECT COUNT(*) FROM (SELECT c FROM gtest UNION SELECT c FROM gtest) d",
        ),
        (
            "order by c, i limit 500000, 10",
            "SELECT c, i FROM gtest ORDER BY c, i LIMIT 500000, 10",
        ),
        (
            "order by c, i limit 10",
            "SELECT c, i FROM gtest ORDER BY c, i LIMIT 10",
        ),
        ("order by c, i", "SELECT c, i FROM gtest ORDER BY c, i"),
        ("order by i, c", "SELECT i, c FROM gtest ORDER BY i, c"),
        (
            "self-join",
            "SELECT COUNT(*) FROM gtest a JOIN gtest b ON a.c = b.c",
        ),
        ("count(*)", "SELECT COUNT(*) FROM gtest"),
        ("sum(i)", "SELECT SUM(i) FROM gtest"),
        ("max(c)", "SELECT MAX(c) FROM gtest"),
        ("select c", "SELECT c FROM gtest"),
        ("select 1", "SELECT 1"),
    ];
    let unlimited = u64::MAX;
    let limits = [
        ("", unlimited, unlimited),
        ("64 MiB", unlimited, 64 << 20),
        ("1 MiB of 8", 1 << 20, 8 << 20),
    ];
    for (limit, table, all) in limits {
        for (name, sql) in &statements {
            let query = world.planned(sql, name.contains("first groups"));
            let name = if limit.is_empty() {
                (*name).to_owned()
            } else {
                format!("{name} @ {limit}")
            };
            // Limits only where the filter names them.
            if !name.contains(&filter) || (!filter.contains('@') && !limit.is_empty()) {
                continue;
            }
            let tiny = name.starts_with("select 1");
            let mut times = Vec::new();
            let mut note = String::new();
            let before = processor_ticks();
            for _ in 0..runs {
                let statement = world.statement(table, all);
                let begun = Instant::now();
                let result = if tiny {
                    (0..1000).for_each(|_| assert_eq!(run(&query, &statement).unwrap().0, 1));
                    run(&query, &statement)
                } else {
                    run(&query, &statement)
                };
                times.push(begun.elapsed().as_secs_f64() * 1e3);
                note = match result {
                    Ok((rows, number)) => format!("{rows} rows, first {number}"),
                    Err(error) => error.to_string(),
                };
                note += &format!(", peak {} MiB", statement.temp.memory().peak() >> 20);
            }
            times.sort_by(f64::total_cmp);
            let (least, median) = (times[0], times[times.len() / 2]);
            let processor = (processor_ticks() - before) * 10 / runs as u64;
            println!(
                "{name:<36} {median:7.1} ms median {least:7.1} min {processor:5} processor  {note}"
            );
        }
    }
}
