//! Helpers of the operator tests: tables in memory, plans built by hand, and runs under configurations that must not
//! change a result.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_functions::{
    Accumulator, AggregateFunction, Argument, Coercibility, EvaluationContext, aggregate,
};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_plan::physical::{
    AggregateCall, ClientType, Grouping, Operator, OutputColumn, Plan, Purpose, QueryPlan,
    SetOperationKind, SharedResult, SortKey, TemporaryTable,
};
use mayfly_plan::{ColumnSource, Comparison, Expression, ExpressionKind, TableId, TableSource};
use mayfly_storage::{
    BatchTable, HashFunction, Resources, StatementOwner, Table, TempTableContext, TempTableOptions,
};
use mayfly_types::convert::array_value;
use mayfly_types::{
    Batch, CollationId, Diagnostics, Interrupt, PhysicalType, Result, SessionParameters, SqlType,
    Value,
};

use crate::context::{Counters, ExecutionContext, ExecutionOptions, Progress, TableOpener};
use crate::expression::values::array_of;
use crate::measure::Measures;
use crate::representation::column_type;

pub(crate) type Row = Vec<Value>;

/// One configuration to run a plan under.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) name: &'static str,
    pub(crate) threads: usize,
    pub(crate) batch_rows: usize,
    pub(crate) memory: u64,
    pub(crate) hash: HashFunction,
    pub(crate) force_overflow: bool,
    /// Value of [`ExecutionOptions::parallel_rows_min`].
    pub(crate) parallel_rows_min: u64,
}

/// Configurations under which every result must be the same.
pub(crate) fn configs() -> Vec<Config> {
    use HashFunction::{Colliding, Standard};
    const ROWS: usize = 8192;
    const ALL: u64 = u64::MAX;
    let configs = [
        ("default", 1, ROWS, ALL, Standard, false),
        ("threads", 3, ROWS, ALL, Standard, false),
        ("batches of 3", 1, 3, ALL, Standard, false),
        ("colliding", 1, ROWS, ALL, Colliding, false),
        ("overflow", 1, ROWS, ALL, Standard, true),
        ("tiny", 2, 64, 1 << 20, Standard, false),
    ];
    let config = |(name, threads, batch_rows, memory, hash, force_overflow)| Config {
        name,
        threads,
        batch_rows,
        memory,
        hash,
        force_overflow,
        // In one configuration there are too few rows to be divided.
        parallel_rows_min: if batch_rows == 3 { u64::MAX } else { 1 },
    };
    configs.into_iter().map(config).collect()
}

struct Tables(Vec<Arc<dyn Table>>);

impl TableOpener for Tables {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        Ok(Arc::clone(&self.0[id.0 as usize]))
    }
}

/// Database of a test.
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
        let columns = types.iter().enumerate();
        let columns = columns.map(|(n, ty)| ColumnSource::new(&format!("c{n}"), ty.clone(), true));
        let (name, rows) = (format!("t{id}"), rows.len() as u64);
        let source = TableSource::new(TableId(id), "test", &name, columns.collect(), rows);
        let source = Arc::new(source);
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
                ..TempTableOptions::default()
            },
            Interrupt::default(),
        );
        let diagnostics = Arc::new(Diagnostics::new(64));
        Arc::new(ExecutionContext {
            evaluation: Arc::new(EvaluationContext::new(Arc::default(), diagnostics, 0)),
            options: ExecutionOptions {
                batch_rows: config.batch_rows,
                parallel_rows_min: config.parallel_rows_min,
                partitioned_join_rows_min: if config.threads > 1 { 1 } else { u64::MAX },
                ..ExecutionOptions::new(config.threads)
            },
            temp,
            tables: Arc::new(Tables(self.tables.clone())),
            counters: Arc::new(Counters::default()),
            progress: Arc::new(Progress::default()),
            other_engine: None,
            measures: Some(Arc::new(Measures::new(2))),
            kept: Arc::new(crate::kept::NothingKept),
        })
    }

    /// Runs a plan under a configuration and returns its rows. Memory and files are back at zero after it.
    pub(crate) fn run(&self, query: &Arc<QueryPlan>, config: &Config) -> Result<Vec<Row>> {
        let statement = self.statement(config);
        let result = (|| {
            let mut stream = crate::execute(query, &statement, &[])?;
            stream.give_in_any_order();
            let mut rows = Vec::new();
            while let Some(batch) = stream.next_batch()? {
                assert!(!batch.is_empty());
                rows.extend(rows_of(&batch));
            }
            Ok(rows)
        })();
        drop(statement);
        let (name, registry) = (config.name, &self.resources.registry);
        assert_eq!(self.memory.used(), 0, "{name}: memory was given back");
        assert_eq!(self.temp_space.used(), 0, "{name}: files were given back");
        assert!(registry.is_empty(), "{name}: tables are gone");
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
        self.check_under(configs(), query, expected);
    }

    /// [`Self::check`] for many keys, without the configurations in which all hashes are equal, which would take too
    /// long.
    pub(crate) fn check_many_keys(&self, query: QueryPlan, expected: &[Row]) {
        let mut configs = configs();
        configs.retain(|config| config.hash != HashFunction::Colliding);
        self.check_under(configs, query, expected);
    }

    /// [`Self::check`] with `memory` bytes for a temporary table, on one thread and on two.
    pub(crate) fn check_within(&self, memory: u64, query: QueryPlan, expected: &[Row]) {
        let mut configs = configs();
        configs.retain(|config| ["default", "threads"].contains(&config.name));
        for config in &mut configs {
            config.memory = memory;
        }
        self.check_under(configs, query, expected);
    }

    fn check_under(&self, configs: Vec<Config>, query: QueryPlan, expected: &[Row]) {
        let query = Arc::new(query);
        let expected = sorted(expected.to_vec());
        for config in configs {
            let rows = self.run(&query, &config).unwrap();
            assert_eq!(sorted(rows), expected, "{}", config.name);
        }
    }

    /// Number of rows of tables that a query reads.
    pub(crate) fn rows_examined(&self, query: QueryPlan) -> u64 {
        let statement = self.statement(&configs()[0]);
        let mut stream = crate::execute(&Arc::new(query), &statement, &[]).unwrap();
        stream.give_in_any_order();
        while stream.next_batch().unwrap().is_some() {}
        let counters = &statement.counters;
        counters.rows_examined.load(Ordering::Relaxed)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

/// Rows in a canonical order, for comparison.
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

pub(crate) fn rows_of(batch: &Batch) -> Vec<Row> {
    let columns = batch.columns();
    (0..batch.row_count())
        .map(|row| {
            columns
                .iter()
                .map(|column| array_value(column, row))
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

/// A DECIMAL value, as SUM gives it.
pub(crate) fn d(value: i64) -> Value {
    Value::Decimal {
        unscaled: i256::from_i128(value.into()),
        scale: 0,
    }
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
    Expression::new(ExpressionKind::Parameter(index), ty, true)
}

pub(crate) fn boolean(kind: ExpressionKind) -> Expression {
    Expression::predicate(kind, true)
}

pub(crate) fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
    boolean(ExpressionKind::Compare {
        comparison,
        left: Box::new(left),
        right: Box::new(right),
    })
}

pub(crate) fn why(purpose: Purpose) -> TemporaryTable {
    TemporaryTable::new(purpose, "a test")
}

pub(crate) fn plan(operator: Operator, output: &[SqlType]) -> Plan {
    Plan {
        number: 0,
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
            pushed: Vec::new(),
            order: Vec::new(),
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
        buffered: None,
    });
    QueryPlan {
        columns: columns.collect(),
        root,
        shared,
        operator_count: 1,
        parameter_count,
        date_operands: Vec::new(),
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

/// One row.
pub(crate) fn values(row: Vec<Expression>) -> Plan {
    let output: Vec<SqlType> = row.iter().map(|value| value.ty.clone()).collect();
    plan(Operator::Values { rows: vec![row] }, &output)
}

/// An operator that gives the columns of its input.
pub(crate) fn over(input: Plan, operator: impl FnOnce(Box<Plan>) -> Operator) -> Plan {
    let output = input.output.clone();
    plan(operator(Box::new(input)), &output)
}

pub(crate) fn filter(input: Plan, predicate: Expression) -> Plan {
    over(input, |input| Operator::Filter { input, predicate })
}

pub(crate) fn project(input: Plan, expressions: Vec<Expression>) -> Plan {
    let output: Vec<SqlType> = expressions.iter().map(|value| value.ty.clone()).collect();
    let input = Box::new(input);
    plan(Operator::Project { input, expressions }, &output)
}

pub(crate) fn limit(input: Plan, offset: u64, count: u64) -> Plan {
    over(input, |input| Operator::Limit {
        input,
        offset,
        count,
    })
}

pub(crate) fn union_all(inputs: Vec<Plan>) -> Plan {
    let output = inputs[0].output.clone();
    let operator = Operator::SetOperation {
        kind: SetOperationKind::Union,
        all: true,
        inputs,
        temporary: None,
    };
    plan(operator, &output)
}

pub(crate) fn group(input: Plan, keys: Vec<Expression>, aggregates: Vec<AggregateCall>) -> Plan {
    group_by(
        input,
        Grouping {
            temporary: (!keys.is_empty()).then(|| why(Purpose::GroupBy)),
            keys,
            aggregates,
            ..Grouping::default()
        },
    )
}

pub(crate) fn group_by(input: Plan, grouping: Grouping) -> Plan {
    let calls = grouping.aggregates.iter();
    let results = calls.flat_map(|call| match grouping.gives_states {
        true => call.signature.state.clone(),
        false => vec![call.signature.result.clone()],
    });
    let keys = grouping.keys.iter().map(|key| key.ty.clone());
    let level = grouping.rollup.then(SqlType::bigint);
    let output: Vec<SqlType> = keys.chain(results).chain(level).collect();
    let input = Box::new(input);
    plan(Operator::Aggregate { input, grouping }, &output)
}

/// COUNT(argument) or COUNT(*).
pub(crate) fn count(argument: Option<Expression>) -> AggregateCall {
    call("count", argument)
}

pub(crate) fn sum(argument: Expression) -> AggregateCall {
    call("sum", Some(argument))
}

/// GROUP_CONCAT-like call: values joined by commas, which depends on order and has no partial state.
pub(crate) fn concat(argument: Expression) -> AggregateCall {
    call("group_concat", Some(argument))
}

/// A call that panics.
pub(crate) fn panicking(argument: Expression) -> AggregateCall {
    AggregateCall {
        function: &PANICKING,
        ..count(Some(argument))
    }
}

pub(crate) fn call(name: &str, argument: Option<Expression>) -> AggregateCall {
    let function = aggregate::by_name(name).unwrap();
    let arguments = argument.iter().map(|argument| Argument {
        ty: &argument.ty,
        nullable: argument.nullable,
        constant: None,
        coercibility: Coercibility::Implicit,
        mixes_integers: false,
    });
    let signature = function.signature(
        &arguments.collect::<Vec<_>>(),
        &SessionParameters::default(),
    );
    AggregateCall {
        function,
        signature: signature.unwrap(),
        arguments: argument.into_iter().collect(),
        options: Vec::new(),
        distinct: false,
        order_by: Vec::new(),
        merges: false,
        text: String::new(),
    }
}

static PANICKING: AggregateFunction = AggregateFunction::new(
    mayfly_functions::aggregate::Kind::AnyValue,
    &["panicking"],
    1..=1,
    |_| unreachable!("it has the signature of COUNT"),
    |_, _| Ok(Box::new(PanickingStates)),
);

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
