//! Times of whole plans over `gtest(i int unsigned, c char(50))`: the statements that the project
//! promises figures for, without SQL on top, each under several memory limits.
//!
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
use mayfly_functions::{Argument, Coercibility, EvaluationContext, SignatureContext, aggregate};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_plan::physical::{
    AggregateCall, ClientType, JoinKey, JoinKind, Operator, OutputColumn, Plan, Purpose, QueryPlan,
    SetOperationKind, SortKey, TemporaryTable,
};
use mayfly_plan::{ColumnSource, Expression, TableId, TableSource};
use mayfly_storage::{
    BatchTable, Resources, StatementOwner, Table, TempTableContext, TempTableOptions,
};
use mayfly_types::sql_type::TypeKind;
use mayfly_types::{Batch, CollationId, Diagnostics, Interrupt, Result, SqlMode, SqlType, Value};

const CHUNK_ROWS: usize = 64 << 10;
const BATCH_ROWS: usize = 8192;
const I: usize = 0;
const C: usize = 1;
const FEW: usize = 2;

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
        let source = TableSource {
            id: TableId(0),
            database: "test".into(),
            name: "gtest".into(),
            columns: columns
                .map(|(name, ty)| ColumnSource {
                    name: name.into(),
                    ty,
                    nullable: true,
                    invisible: false,
                    hidden: false,
                    generated: None,
                    default: mayfly_plan::DefaultSource::None,
                    traits: mayfly_plan::ColumnTraits::default(),
                })
                .collect(),
            unique_keys: Vec::new(),
            indexes: Vec::new(),
            row_count: rows as u64,
            temporary: false,
            partitioned: false,
        };
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
            evaluation: Arc::new(EvaluationContext::new(SqlMode::DEFAULT, diagnostics, 0)),
            signature: signature_context(),
            options: ExecutionOptions::new(self.threads),
            temp,
            tables: Arc::new(Tables(Arc::clone(&self.table))),
            counters: Arc::new(Counters::default()),
            progress: Arc::new(Progress::default()),
        })
    }

    fn scan(&self, columns: &[usize]) -> Plan {
        let output = columns.iter().map(|column| types()[*column].clone());
        Plan {
            output: output.collect(),
            estimated_rows: self.source.row_count as f64,
            operator: Operator::TableScan {
                table: Arc::clone(&self.source),
                alias: "gtest".into(),
                columns: columns.to_vec(),
                predicate: None,
                possible: Vec::new(),
            },
        }
    }
}

fn signature_context() -> SignatureContext {
    SignatureContext {
        sql_mode: SqlMode::DEFAULT,
        div_precision_increment: 4,
        group_concat_max_len: 1024,
        collation_connection: CollationId::default(),
    }
}

fn temporary(purpose: Purpose) -> TemporaryTable {
    TemporaryTable {
        purpose,
        cause: "bench".into(),
    }
}

fn columns(plan: &Plan) -> Vec<Expression> {
    let types = plan.output.iter().enumerate();
    types
        .map(|(column, ty)| Expression::column(column, ty.clone(), true))
        .collect()
}

fn plan(output: Vec<SqlType>, operator: Operator) -> Plan {
    Plan {
        operator,
        output,
        estimated_rows: 1e6,
    }
}

fn call(name: &str, argument: Option<Expression>, distinct: bool) -> AggregateCall {
    let function = aggregate::by_name(name).unwrap();
    let arguments: Vec<Argument<'_>> = argument
        .iter()
        .map(|argument| Argument {
            ty: &argument.ty,
            nullable: argument.nullable,
            constant: None,
            coercibility: Coercibility::Implicit,
        })
        .collect();
    AggregateCall {
        function,
        signature: function
            .signature(&arguments, &signature_context())
            .unwrap(),
        arguments: argument.into_iter().collect(),
        options: Vec::new(),
        distinct,
        order_by: Vec::new(),
        text: name.into(),
    }
}

/// Groups by all columns of the input.
fn group(input: Plan, calls: Vec<AggregateCall>, first_groups: Option<u64>) -> Plan {
    let keys = columns(&input);
    let results = calls.iter().map(|call| call.signature.result.clone());
    let output = input.output.iter().cloned().chain(results).collect();
    plan(
        output,
        Operator::Aggregate {
            input: Box::new(input),
            keys,
            aggregates: calls,
            rollup: false,
            first_groups,
            ordered: false,
            temporary: Some(temporary(Purpose::GroupBy)),
        },
    )
}

fn total(input: Plan, call: AggregateCall) -> Plan {
    plan(
        vec![call.signature.result.clone()],
        Operator::Aggregate {
            input: Box::new(input),
            keys: Vec::new(),
            aggregates: vec![call],
            rollup: false,
            first_groups: None,
            ordered: false,
            temporary: None,
        },
    )
}

fn limit(input: Plan, count: u64) -> Plan {
    plan(
        input.output.clone(),
        Operator::Limit {
            input: Box::new(input),
            offset: 0,
            count,
        },
    )
}

fn sort(input: Plan, range: Option<(u64, u64)>) -> Plan {
    let keys = columns(&input).into_iter().map(|expression| SortKey {
        expression,
        descending: false,
    });
    plan(
        input.output.clone(),
        Operator::Sort {
            keys: keys.collect(),
            input: Box::new(input),
            limit: range,
            temporary: temporary(Purpose::OrderBy),
        },
    )
}

fn self_join(world: &World) -> Plan {
    let (left, right) = (world.scan(&[C]), world.scan(&[C]));
    let key = JoinKey {
        left: columns(&left).remove(0),
        right: columns(&right).remove(0),
        null_safe: false,
    };
    let output = left.output.iter().chain(&right.output).cloned().collect();
    plan(
        output,
        Operator::HashJoin {
            kind: JoinKind::Inner,
            left: Box::new(left),
            right: Box::new(right),
            keys: vec![key],
            residual: None,
            build_left: false,
            temporary: temporary(Purpose::Join),
        },
    )
}

fn union(world: &World) -> Plan {
    let inputs = vec![world.scan(&[C]), world.scan(&[C])];
    plan(
        inputs[0].output.clone(),
        Operator::SetOperation {
            kind: SetOperationKind::Union,
            all: false,
            inputs,
            temporary: Some(temporary(Purpose::SetOperation)),
        },
    )
}

fn query(root: Plan) -> Arc<QueryPlan> {
    let columns = root.output.iter().map(|ty| OutputColumn {
        name: String::new(),
        ty: ty.clone(),
        nullable: true,
        origin: None,
        client_type: ClientType::Plain,
    });
    Arc::new(QueryPlan {
        columns: columns.collect(),
        root,
        shared: Vec::new(),
        parameter_count: 0,
        date_parameters: Vec::new(),
        tables: Vec::new(),
        limit: None,
    })
}

/// Rows of the result, and its first number.
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

/// Processor time of this process in hundredths of a second: what a busy machine does not spoil.
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
    let count = || call("count", None, false);
    let column = |ty: usize| Expression::column(0, types()[ty].clone(), true);
    let one_row = plan(vec![], Operator::Values { rows: vec![vec![]] });
    let one = plan(
        vec![SqlType::bigint()],
        Operator::Project {
            input: Box::new(one_row),
            expressions: vec![Expression::literal(Value::Int(1), SqlType::bigint())],
        },
    );
    let of = |columns: &[usize]| world.scan(columns);
    let statements = [
        ("headline", limit(group(of(&[C]), vec![count()], None), 10)),
        (
            "headline, first groups",
            limit(group(of(&[C]), vec![count()], Some(10)), 10),
        ),
        (
            "group by c, every group",
            group(of(&[C]), vec![count()], None),
        ),
        ("group by i", group(of(&[I]), vec![count()], None)),
        ("group by 500 texts", group(of(&[FEW]), vec![count()], None)),
        ("select distinct c", group(of(&[C]), vec![], None)),
        (
            "count of distinct c",
            total(group(of(&[C]), vec![], None), count()),
        ),
        (
            "count(distinct c)",
            total(of(&[C]), call("count", Some(column(C)), true)),
        ),
        (
            "count(distinct i)",
            total(of(&[I]), call("count", Some(column(I)), true)),
        ),
        ("count of union", total(union(&world), count())),
        (
            "order by c, i limit 500000, 10",
            sort(of(&[C, I]), Some((500_000, 10))),
        ),
        ("order by c, i limit 10", sort(of(&[C, I]), Some((0, 10)))),
        ("order by c, i", sort(of(&[C, I]), None)),
        ("order by i, c", sort(of(&[I, C]), None)),
        ("self-join", total(self_join(&world), count())),
        ("count(*)", total(of(&[I]), count())),
        (
            "sum(i)",
            total(of(&[I]), call("sum", Some(column(I)), false)),
        ),
        (
            "max(c)",
            total(of(&[C]), call("max", Some(column(C)), false)),
        ),
        ("select c", of(&[C])),
        ("select 1", one),
    ];
    let unlimited = u64::MAX;
    let limits = [
        ("", unlimited, unlimited),
        ("64 MiB", unlimited, 64 << 20),
        ("1 MiB of 8", 1 << 20, 8 << 20),
    ];
    for (limit, table, all) in limits {
        for (name, plan) in &statements {
            let name = if limit.is_empty() {
                (*name).to_owned()
            } else {
                format!("{name} @ {limit}")
            };
            // Limits only where the filter names them.
            if !name.contains(&filter) || (!filter.contains('@') && !limit.is_empty()) {
                continue;
            }
            let query = query(plan.clone());
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
