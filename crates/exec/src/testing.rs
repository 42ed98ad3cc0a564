//! What the tests of operators share: tables in memory, three small aggregate functions, plans by
//! hand, and runs under configurations that must not change a result.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use mayfly_functions::{
    Accumulator, AggregateFunction, AggregateSignature, Binding, EvaluationContext,
    SignatureContext,
};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_plan::physical::{
    AggregateCall, ClientType, Operator, OutputColumn, Plan, Purpose, QueryPlan, SharedResult,
    SortKey, TemporaryTable,
};
use mayfly_plan::{ColumnSource, Comparison, Expression, ExpressionKind, TableId, TableSource};
use mayfly_storage::{
    BatchTable, HashFunction, Resources, StatementOwner, Table, TempTableContext, TempTableOptions,
};
use mayfly_types::{
    Batch, CollationId, Diagnostics, Interrupt, PhysicalType, Result, SqlMode, SqlType, Value,
};

use crate::context::{Counters, ExecutionContext, ExecutionOptions, Progress, TableOpener};
use crate::expression::values::{array_of, value_at};
use crate::representation::column_type;

pub(crate) type Row = Vec<Value>;

/// One way to run a plan.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) name: &'static str,
    pub(crate) threads: usize,
    pub(crate) batch_rows: usize,
    pub(crate) memory: u64,
    pub(crate) hash: HashFunction,
    pub(crate) force_overflow: bool,
}

/// Configurations under which every result must be the same.
pub(crate) fn configs() -> Vec<Config> {
    let base = Config {
        name: "default",
        threads: 1,
        batch_rows: 8192,
        memory: u64::MAX,
        hash: HashFunction::Standard,
        force_overflow: false,
    };
    vec![
        base.clone(),
        Config {
            name: "threads",
            threads: 3,
            ..base.clone()
        },
        Config {
            name: "batches of 3",
            batch_rows: 3,
            ..base.clone()
        },
        Config {
            name: "colliding",
            hash: HashFunction::Colliding,
            ..base.clone()
        },
        Config {
            name: "overflow",
            force_overflow: true,
            ..base.clone()
        },
        Config {
            name: "tiny",
            threads: 2,
            batch_rows: 64,
            memory: 1 << 20,
            ..base
        },
    ]
}

struct Tables(Vec<Arc<dyn Table>>);

impl TableOpener for Tables {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        Ok(Arc::clone(&self.0[id.0 as usize]))
    }
}

/// A database of a test.
pub(crate) struct World {
    pub(crate) resources: Resources,
    pub(crate) memory: Budget,
    pub(crate) temp_space: Budget,
    tables: Vec<Arc<dyn Table>>,
    sources: Vec<Arc<TableSource>>,
    directory: std::path::PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory =
            std::env::temp_dir().join(format!("mayfly-exec-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Self {
            resources: Resources::with_defaults(directory.clone(), 3),
            memory: Budget::unlimited(BudgetKind::Memory),
            temp_space: Budget::unlimited(BudgetKind::TempSpace),
            tables: Vec::new(),
            sources: Vec::new(),
            directory,
        }
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, types: &[SqlType], rows: &[Row]) -> Arc<TableSource> {
        let physical: Vec<PhysicalType> = types.iter().map(column_type).collect();
        let batches = rows.chunks(100).map(|rows| batch(&physical, rows));
        let table = BatchTable::new(physical.clone(), batches.collect::<Vec<_>>());
        let id = self.tables.len() as u64;
        self.tables.push(Arc::new(table));
        let columns = types.iter().enumerate().map(|(n, ty)| ColumnSource {
            name: format!("c{n}"),
            ty: ty.clone(),
            nullable: true,
            invisible: false,
            hidden: false,
            generated: None,
            default: mayfly_plan::DefaultSource::None,
            traits: mayfly_plan::ColumnTraits::default(),
        });
        let source = Arc::new(TableSource {
            id: TableId(id),
            database: "test".into(),
            name: format!("t{id}"),
            columns: columns.collect(),
            unique_keys: Vec::new(),
            indexes: Vec::new(),
            row_count: rows.len() as u64,
            temporary: false,
            partitioned: false,
        });
        self.sources.push(Arc::clone(&source));
        source
    }

    pub(crate) fn statement(&self, config: &Config) -> Arc<ExecutionContext> {
        let temp = TempTableContext::new(
            self.resources.clone(),
            self.memory.child("tmp_memory", config.memory),
            self.temp_space.child("tmp_space", u64::MAX),
            StatementOwner::default(),
            TempTableOptions {
                tmp_table_size: config.memory,
                threads: config.threads,
                batch_rows: config.batch_rows,
                hash: config.hash,
                force_overflow: config.force_overflow,
            },
            Interrupt::default(),
        );
        let diagnostics = Arc::new(Diagnostics::new(64));
        Arc::new(ExecutionContext {
            evaluation: Arc::new(EvaluationContext::new(SqlMode::DEFAULT, diagnostics, 0)),
            signature: signature_context(),
            options: ExecutionOptions {
                batch_rows: config.batch_rows,
                parallel_rows_min: 1,
                partitioned_join_rows_min: if config.threads > 1 { 1 } else { u64::MAX },
                ..ExecutionOptions::new(config.threads)
            },
            temp,
            tables: Arc::new(Tables(self.tables.clone())),
            counters: Arc::new(Counters::default()),
            progress: Arc::new(Progress::default()),
        })
    }

    /// The rows of a plan under a configuration. Memory and files are back at nothing after it.
    pub(crate) fn run(&self, query: &Arc<QueryPlan>, config: &Config) -> Result<Vec<Row>> {
        let statement = self.statement(config);
        let result = (|| {
            let mut stream = crate::execute(query, &statement, &[])?;
            let mut rows = Vec::new();
            while let Some(batch) = stream.next_batch()? {
                assert!(!batch.is_empty());
                rows.extend(rows_of(&batch, &query.root.output));
            }
            Ok(rows)
        })();
        drop(statement);
        assert_eq!(
            self.memory.used(),
            0,
            "{}: memory was given back",
            config.name
        );
        assert_eq!(
            self.temp_space.used(),
            0,
            "{}: files were given back",
            config.name
        );
        assert!(
            self.resources.registry.is_empty(),
            "{}: tables are gone",
            config.name
        );
        result
    }

    /// Runs under every configuration and compares with `expected`, in order.
    pub(crate) fn check_ordered(&self, query: QueryPlan, expected: &[Row]) {
        let query = Arc::new(query);
        for config in configs() {
            let rows = self.run(&query, &config).unwrap();
            assert_eq!(rows, expected, "{}", config.name);
        }
    }

    /// Runs under every configuration and compares with `expected`, in any order.
    pub(crate) fn check(&self, query: QueryPlan, expected: &[Row]) {
        let query = Arc::new(query);
        let expected = sorted(expected.to_vec());
        for config in configs() {
            let rows = self.run(&query, &config).unwrap();
            assert_eq!(sorted(rows), expected, "{}", config.name);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

pub(crate) fn signature_context() -> SignatureContext {
    SignatureContext {
        sql_mode: SqlMode::DEFAULT,
        div_precision_increment: 4,
        group_concat_max_len: 1024,
        collation_connection: CollationId::default(),
    }
}

/// Rows in an order of their own, for comparison.
pub(crate) fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    rows
}

pub(crate) fn batch(types: &[PhysicalType], rows: &[Row]) -> Batch {
    let columns = types.iter().enumerate().map(|(column, physical)| {
        let values: Vec<Value> = rows.iter().map(|row| row[column].clone()).collect();
        array_of(&values, *physical)
    });
    Batch::new(columns.collect(), rows.len())
}

pub(crate) fn rows_of(batch: &Batch, types: &[SqlType]) -> Vec<Row> {
    (0..batch.row_count())
        .map(|row| {
            let columns = batch.columns().iter().zip(types);
            columns
                .map(|(array, ty)| value_at(array, row, ty.physical()))
                .collect()
        })
        .collect()
}

pub(crate) fn int() -> SqlType {
    SqlType::bigint()
}

pub(crate) fn text() -> SqlType {
    SqlType::varchar(100, CollationId::UTF8MB4_0900_AI_CI)
}

pub(crate) fn binary() -> SqlType {
    SqlType::varchar(100, CollationId::BINARY)
}

pub(crate) fn n(value: i64) -> Value {
    Value::Int(value)
}

pub(crate) fn s(value: &str) -> Value {
    Value::from(value)
}

pub(crate) const NULL: Value = Value::Null;

pub(crate) fn column(index: usize, ty: SqlType) -> Expression {
    Expression::column(index, ty, true)
}

pub(crate) fn literal(value: Value, ty: SqlType) -> Expression {
    Expression::literal(value, ty)
}

pub(crate) fn parameter(index: usize, ty: SqlType) -> Expression {
    Expression {
        kind: ExpressionKind::Parameter(index),
        ty,
        nullable: true,
    }
}

pub(crate) fn boolean(kind: ExpressionKind) -> Expression {
    Expression {
        kind,
        ty: SqlType::boolean(),
        nullable: true,
    }
}

pub(crate) fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
    boolean(ExpressionKind::Compare {
        comparison,
        left: Box::new(left),
        right: Box::new(right),
    })
}

pub(crate) fn why(purpose: Purpose) -> TemporaryTable {
    TemporaryTable {
        purpose,
        cause: "a test".into(),
    }
}

pub(crate) fn plan(operator: Operator, output: &[SqlType]) -> Plan {
    Plan {
        operator,
        output: output.to_vec(),
        estimated_rows: 1.0,
    }
}

pub(crate) fn scan(table: &Arc<TableSource>) -> Plan {
    let output: Vec<SqlType> = table
        .columns
        .iter()
        .map(|column| column.ty.clone())
        .collect();
    plan(
        Operator::TableScan {
            table: Arc::clone(table),
            alias: table.name.clone(),
            columns: (0..output.len()).collect(),
            predicate: None,
            possible: Vec::new(),
        },
        &output,
    )
}

pub(crate) fn query(root: Plan) -> QueryPlan {
    query_with(root, Vec::new(), 0)
}

pub(crate) fn query_with(
    root: Plan,
    shared: Vec<SharedResult>,
    parameter_count: usize,
) -> QueryPlan {
    let columns = root.output.iter().map(|ty| OutputColumn {
        name: "c".into(),
        ty: ty.clone(),
        nullable: true,
        origin: None,
        client_type: ClientType::Plain,
    });
    QueryPlan {
        columns: columns.collect(),
        root,
        shared,
        parameter_count,
        date_parameters: Vec::new(),
        tables: Vec::new(),
        limit: None,
    }
}

pub(crate) fn key(expression: Expression, descending: bool) -> SortKey {
    SortKey {
        expression,
        descending,
    }
}

pub(crate) fn group(input: Plan, keys: Vec<Expression>, aggregates: Vec<AggregateCall>) -> Plan {
    let output: Vec<SqlType> = keys
        .iter()
        .map(|key| key.ty.clone())
        .chain(aggregates.iter().map(|call| call.signature.result.clone()))
        .collect();
    let temporary = (!keys.is_empty()).then(|| why(Purpose::GroupBy));
    plan(
        Operator::Aggregate {
            input: Box::new(input),
            keys,
            aggregates,
            rollup: false,
            first_groups: None,
            ordered: false,
            temporary,
        },
        &output,
    )
}

/// COUNT(argument) or COUNT(*).
pub(crate) fn count(argument: Option<Expression>) -> AggregateCall {
    call(&COUNT, argument, &[int()], int())
}

pub(crate) fn sum(argument: Expression) -> AggregateCall {
    call(&SUM, Some(argument), &[int()], int())
}

/// Values joined by commas: depends on order and has no partial state.
pub(crate) fn concat(argument: Expression) -> AggregateCall {
    call(&CONCAT, Some(argument), &[], binary())
}

/// A call with a bug.
pub(crate) fn panicking(argument: Expression) -> AggregateCall {
    call(&PANICKING, Some(argument), &[int()], int())
}

fn call(
    function: &'static AggregateFunction,
    argument: Option<Expression>,
    state: &[SqlType],
    result: SqlType,
) -> AggregateCall {
    AggregateCall {
        function,
        signature: AggregateSignature {
            arguments: argument
                .iter()
                .map(|argument| argument.ty.clone())
                .collect(),
            state: state.to_vec(),
            result,
            nullable: true,
        },
        arguments: argument.into_iter().collect(),
        options: Vec::new(),
        distinct: false,
        order_by: Vec::new(),
        text: String::new(),
    }
}

static COUNT: AggregateFunction = AggregateFunction::new(&["count"], 0..=1, unbound, |_, _, _| {
    Ok(Box::new(CountStates::default()))
});
static SUM: AggregateFunction = AggregateFunction::new(&["sum"], 1..=1, unbound, |_, _, _| {
    Ok(Box::new(SumStates::default()))
});
static PANICKING: AggregateFunction =
    AggregateFunction::new(&["panicking"], 1..=1, unbound, |_, _, _| {
        Ok(Box::new(PanickingStates::default()))
    });
static CONCAT: AggregateFunction =
    AggregateFunction::new(&["concat"], 1..=1, unbound, |_, _, _| {
        Ok(Box::new(ConcatStates::default()))
    })
    .order_sensitive();

fn unbound(_: &Binding<'_>) -> Result<AggregateSignature> {
    unreachable!("plans of tests bring their signatures")
}

#[derive(Default)]
struct CountStates(Vec<i64>);

impl Accumulator for CountStates {
    fn resize(&mut self, group_count: usize) {
        self.0.resize(group_count.max(self.0.len()), 0);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _: &EvaluationContext,
    ) -> Result<()> {
        for (row, group) in groups.iter().enumerate() {
            let counts = arguments.iter().all(|argument| argument.is_valid(row));
            self.0[*group as usize] += i64::from(counts);
        }
        Ok(())
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef], _: &EvaluationContext) -> Result<()> {
        for (group, n) in groups
            .iter()
            .zip(state[0].as_primitive::<Int64Type>().values())
        {
            self.0[*group as usize] += n;
        }
        Ok(())
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(Int64Array::from(std::mem::take(
            &mut self.0,
        )))])
    }

    fn take_result(&mut self, _: &EvaluationContext) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(std::mem::take(&mut self.0))))
    }

    fn memory_bytes(&self) -> usize {
        self.0.capacity() * 8
    }
}

#[derive(Default)]
struct SumStates(Vec<Option<i64>>);

impl Accumulator for SumStates {
    fn resize(&mut self, group_count: usize) {
        self.0.resize(group_count.max(self.0.len()), None);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()> {
        self.merge(groups, arguments, context)
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef], _: &EvaluationContext) -> Result<()> {
        for (group, n) in groups.iter().zip(state[0].as_primitive::<Int64Type>()) {
            if let Some(n) = n {
                *self.0[*group as usize].get_or_insert(0) += n;
            }
        }
        Ok(())
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(Int64Array::from(std::mem::take(
            &mut self.0,
        )))])
    }

    fn take_result(&mut self, _: &EvaluationContext) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(std::mem::take(&mut self.0))))
    }

    fn memory_bytes(&self) -> usize {
        self.0.capacity() * 16
    }
}

#[derive(Default)]
struct ConcatStates(Vec<Option<Vec<u8>>>);

impl Accumulator for ConcatStates {
    fn resize(&mut self, group_count: usize) {
        self.0.resize(group_count.max(self.0.len()), None);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _: &EvaluationContext,
    ) -> Result<()> {
        for (group, value) in groups.iter().zip(arguments[0].as_binary_view()) {
            if let Some(value) = value {
                match &mut self.0[*group as usize] {
                    Some(all) => {
                        all.push(b',');
                        all.extend_from_slice(value);
                    }
                    empty => *empty = Some(value.to_vec()),
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, _: &[u32], _: &[ArrayRef], _: &EvaluationContext) -> Result<()> {
        unreachable!("it has no partial states")
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        unreachable!("it has no partial states")
    }

    fn take_result(&mut self, _: &EvaluationContext) -> Result<ArrayRef> {
        let values = std::mem::take(&mut self.0);
        let values = values.iter().map(|value| value.as_deref());
        Ok(Arc::new(values.collect::<BinaryViewArray>()))
    }

    fn memory_bytes(&self) -> usize {
        self.0.capacity() * 24
    }
}

#[derive(Default)]
struct PanickingStates;

impl Accumulator for PanickingStates {
    fn resize(&mut self, _: usize) {}

    fn update(&mut self, _: &[u32], _: &[ArrayRef], _: &EvaluationContext) -> Result<()> {
        panic!("a bug")
    }

    fn merge(&mut self, _: &[u32], _: &[ArrayRef], _: &EvaluationContext) -> Result<()> {
        panic!("a bug")
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        panic!("a bug")
    }

    fn take_result(&mut self, _: &EvaluationContext) -> Result<ArrayRef> {
        panic!("a bug")
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
